"""A suite's runs as the files of HELM's that its own summary reads."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from errno import EEXIST, ENOTEMPTY
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.helm_results import (
    PER_INSTANCE,
    RUN_SPEC,
    RUNS,
    SCENARIO,
    STATES,
    STATS,
    is_stored,
)
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.domain.stages import EXPORT_HELM
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm_results.export_stage import (
    exported_states,
    exported_stats,
    exported_values,
    has_requests,
    scenario_of,
)
from medhelm_spark.medhelm_results.write import (
    LIST_HEAD,
    LIST_TAIL,
    STATE_TAIL,
    StateLines,
    StatLines,
    run_names,
    run_spec_document,
    scenario_document,
    state_head,
    stats_document,
)
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.render.table import html_table
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import suite_runs
from medhelm_spark.whole_files import whole_folder
from medhelm_spark.workspace.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmExport:
    """A suite's runs as HELM's files.

    `folder` is what HELM's `--output-path` names. `redacted` are the runs whose text was left out.
    """

    folder: Path
    suite: str
    runs: tuple[str, ...]
    redacted: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    HEADER = ("name", "text")

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per run."""
        for name in self.runs:
            yield {"name": name, "text": "redacted" if name in self.redacted else "written"}

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()), columns=list(self.HEADER))

    def __str__(self) -> str:
        return (
            f"{counted(len(self.runs), 'run')} in {self.folder / RUNS / self.suite}, "
            f"{len(self.redacted)} without text"
        )

    def _repr_html_(self) -> str:
        return html_table(self.HEADER, [list(row.values()) for row in self.rows()], [str(self)])


def export_results(
    workspace: Workspace, root: str | Path, suite: str, levels: Collection[AccessLevel]
) -> HelmExport:
    """Write the summarised runs of a suite into a new folder `runs/SUITE` below `root`.

    `levels` are those whose text is written; of the others every text is redacted.

    Raises:
        ConfigError: the folder exists and is not empty, or a run's name is no folder's.
        LakeError: the lake has no such suite.
    """
    target = Path(root).expanduser() / RUNS / suite
    ctx = workspace.context(suite)
    rows = suite_runs(ctx, [suite])
    check_plugins(workspace.registry.policy, {row.run_spec.access_level for row in rows})
    workspace.expect({row.run_spec.access_level for row in rows})
    names = run_names(row.run_spec for row in rows)
    for name in names.values():
        _check_name(name)
    present = {path.name for path in target.iterdir()} if target.is_dir() else set()
    if present - set(names.values()):
        raise ConfigError(f"{target} is there already and not empty; give a new folder.")
    redacted, written, left_out = [], [], []
    try:
        with whole_folder(target) as folder:
            for row in rows:
                name = names[row.name]
                if not _write_run(ctx, row, folder / name, levels):
                    left_out.append(name)
                    continue
                written.append(name)
                if row.run_spec.access_level not in levels:
                    redacted.append(name)
    except OSError as error:
        if error.errno not in (EEXIST, ENOTEMPTY):
            raise
        raise ConfigError(f"{target} contains another export; give a new folder.") from None
    done = HelmExport(
        folder=Path(root),
        suite=suite,
        runs=tuple(written),
        redacted=tuple(redacted),
        left_out=tuple(left_out),
    )
    if left_out:
        workspace.say(f"{EXPORT_HELM.name}: not summarised yet: {first_of(left_out)}")
    if redacted:
        workspace.say(
            f"{EXPORT_HELM.name}: text of {first_of(redacted)} is redacted; --text-levels says "
            "which levels' text may be written"
        )
    workspace.say(f"{EXPORT_HELM.name}: {done}")
    return done


def _check_name(name: str) -> None:
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise ConfigError(
            f"run {name!r}: HELM keeps a run in a folder of its name; it can be none."
        )


def _write_run(ctx: Context, row: SuiteRun, folder: Path, levels: Collection[AccessLevel]) -> bool:
    """The five files of a run; its RunSpec comes last, without which HELM leaves a run out."""
    spec, keeps_ids = row.run_spec, is_stored(row.run_spec)
    stats = exported_stats(ctx, spec)
    if not stats:
        return False
    folder.mkdir(parents=True)
    if has_requests(ctx, spec):
        lines = exported_states(ctx, spec, StateLines(spec.model, frozenset(levels), keeps_ids))
        _write_list(folder / STATES, state_head(row), lines, STATE_TAIL)
        lines = exported_values(ctx, spec, StatLines(keeps_ids))
        _write_list(folder / PER_INSTANCE, LIST_HEAD, lines, LIST_TAIL)
    _write(folder / SCENARIO, scenario_document(row, scenario_of(ctx, spec)))
    _write(folder / STATS, stats_document(spec, stats))
    _write(folder / RUN_SPEC, run_spec_document(row, folder.name))
    return True


def _write(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _write_list(path: Path, head: str, lines: Iterable[str], tail: str) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.write(head)
        separator = ""
        for line in lines:
            stream.write(separator + line)
            separator = ",\n"
        stream.write(tail)
