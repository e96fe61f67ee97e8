"""`evaluation.watch`: looks at releases, one after the other."""

from collections.abc import Mapping, Sequence
from typing import Any

from medhelm_spark.board import choose
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.errors import ConfigError
from medhelm_spark.releases.source import release_of
from medhelm_spark.watch.baseline import LookOptions
from medhelm_spark.watch.look import look_at, results_of
from medhelm_spark.watch.results import ReleaseLook, ReleaseLooks, looks_of
from medhelm_spark.workspace.entries import Entries, entries_of, listed
from medhelm_spark.workspace.workspace import Workspace


class WatchMethods(Methods):
    """Whether a model still answers as it did for a release."""

    @at_work
    def look(
        self,
        release: str,
        *,
        sample: int | None = None,
        margin: float | None = None,
        answers_margin: float | None = None,
        models: str | Sequence[str] = (),
        scenarios: str | Sequence[str] = (),
        metric: str | None = None,
        entries: str | Sequence[str] | Entries = (),
        **options: Any,
    ) -> ReleaseLook:
        """Ask a release's prompts again, and say whether scores, answers or fingerprints moved.

        False alarms over all looks and all lines together have a probability of at most 5 %. The
        release and its suites' boards stay as they are. A look that was cut short goes on within
        twelve hours; one that is finished is followed by another one.

        Args:
            release: its name.
            sample: so many instances of each run at most, the same ones in each look (None: the
                plan's; without one all).
            margin: a difference too small to matter, in the metric's units (None: that of the
                approval's monitoring plan, else that which the suite file declared).
            answers_margin: the share of other answers that is too small to matter (None: the
                plan's; without one the share is shown and decides nothing).
            models: models or deployments of the release (none: all).
            scenarios: its scenarios (none: all).
            metric: the stat to compare by (None: each main metric).
            entries: run entries, where a rubric or jury is in a benchmark's own files.
            options: fields of Entries.

        Raises:
            ConfigError: a margin is missing or wrong, the release was withdrawn, or nothing of it
                can be asked.
            UnknownNameError: the release has no such model, scenario or metric.
            LakeError: the lake does not have the release.
            PolicyError: the policy lets a model or judge not see the text; nothing was sent.
            OutageError: a model or judge gives no answers; the same call goes on with the look.
        """
        if sample is not None and (type(sample) is not int or sample < 1):
            raise ConfigError(
                f"sample (--sample) is {sample!r}; allowed: a whole number from 1 on."
            )
        plan = _plan_of(self._workspace, release)
        parsed = entries_of(entries, options) if entries or options else None
        rows = look_at(
            self._workspace,
            release,
            LookOptions(
                sample=int(plan["sample"]) if sample is None and "sample" in plan else sample,
                margin=_stated(margin, plan, "margin"),
                answers_margin=_stated(answers_margin, plan, "answers_margin"),
                models=listed(models),
                scenarios=listed(scenarios),
                metric=metric,
                entries=parsed.load(self._workspace.site) if parsed else None,
            ),
        )
        return ReleaseLook(release=release, look=rows[0].look, lines=tuple(rows))

    @at_work
    def looks(self, release: str) -> ReleaseLooks:
        """All looks at a release, the newest first; calls no model.

        Raises:
            LakeError: the lake does not have it.
        """
        reader = self._workspace.reader
        choose(reader, release=release)
        return ReleaseLooks(release=release, looks=looks_of(release, results_of(reader, release)))


def _plan_of(workspace: Workspace, release: str) -> Mapping[str, str]:
    """The monitoring plan of the current approval; empty where there is none."""
    approval = release_of(workspace.reader, release).state.approval
    plan = (approval.monitoring or {}) if approval else {}
    if plan:
        settings = ", ".join(f"{name} {value}" for name, value in plan.items())
        workspace.say(f"watch: monitoring plan of release {release!r}: {settings}")
    return plan


def _stated(argument: float | None, plan: Mapping[str, str], name: str) -> float | None:
    return float(plan[name]) if argument is None and name in plan else argument
