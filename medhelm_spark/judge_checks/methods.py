"""`evaluation.judges`: whether juries may be trusted, and the judge cards."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from medhelm_spark.board import BoardRun, choose, load_runs
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.config.juries import DEFAULT_JURY
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import ConfigError
from medhelm_spark.judge_checks.check import check_jury
from medhelm_spark.judge_checks.lines import ALL_USES, Use
from medhelm_spark.judge_checks.physician_records import physician_records
from medhelm_spark.judge_checks.physicians import agreement_with_physicians
from medhelm_spark.judge_checks.results import JudgeCards, JudgeCheck, PhysicianAgreement
from medhelm_spark.judge_checks.side_by_side import compared_juries
from medhelm_spark.judge_checks.side_by_side_results import JuriesSideBySide
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.stages.context import now
from medhelm_spark.workspace.entries import Entries, entries_of, listed
from medhelm_spark.workspace.names import check_known

ITEMS = 50
HEALTH_BENCH = "health_bench"
"""The default rubric of `physicians`, which is asked once per criterion."""


class JudgeMethods(Methods):
    """Checks of juries."""

    @at_work
    def check(
        self,
        *,
        scenario: str,
        suite: str | None = None,
        jury: str | None = None,
        items: int = ITEMS,
        uses: str | Sequence[str] = (),
        entries: str | Sequence[str] | Entries = (),
        **options: Any,
    ) -> JudgeCheck:
        """Whether a jury may be trusted, by its stored verdicts and by planted answers.

        The judges are asked by the path, policy and cache of `run`. Stored verdicts, stats and
        boards stay as they are.

        Args:
            scenario: the benchmark whose answers the jury judged.
            suite: the suite (None: that planned last).
            jury: its name, or that of its annotator (None: the only one).
            items: from how many stored answers others are made, from 0 on; 0 asks nobody.
            uses: `rank`, `absolute`, `screen`, or several (none: all three).
            entries: run entries, as for `run`, where rubric or jury are in a benchmark's own files.
            options: fields of Entries.

        Raises:
            ConfigError: nobody judged, or the jury of the files is not the one that judged.
            PolicyError: the policy lets a judge not see the text; nothing was sent.
            OutageError: a judge gives no answers.
        """
        if type(items) is not int or items < 0:
            raise ConfigError(f"items is {items!r}; allowed: a whole number from 0 on.")
        for use in listed(uses):
            check_known("use", use, Use)
        run_entries = entries_of(entries, options) if entries or options else None
        card = check_jury(
            self._workspace,
            self._judged(suite, scenario),
            jury,
            items=items,
            entries=run_entries.load(self._workspace.site) if run_entries else None,
        )
        return JudgeCheck(card=card, requested=tuple(map(Use, listed(uses))) or ALL_USES)

    @at_work
    def compare(
        self,
        *,
        scenario: str,
        jury: str | None = None,
        against: str | None = None,
        suite: str | None = None,
        against_suite: str | None = None,
        entries: str | Sequence[str] | Entries = (),
        **options: Any,
    ) -> JuriesSideBySide:
        """Which of two juries, or rubrics, agrees better with the raters on the same answers.

        Stored verdicts and ratings are read; no judge is asked and nothing is stored.

        Args:
            scenario: the benchmark whose answers both judged.
            jury: the name of the first jury, or of its annotator or rubric (None: the only one).
            against: that of the second.
            suite: the suite of the first (None: that planned last).
            against_suite: the suite of the second (None: that of the first).
            entries: run entries, as for `run`, where rubrics or juries are in a benchmark's own
                files.
            options: fields of Entries.

        Raises:
            ConfigError: neither `against` nor `against_suite` is given, both juries are the same,
                no answer was judged by both, or a jury of the files is not the one that judged.
        """
        if against is None and against_suite is None:
            raise ConfigError("against is missing: name the second jury or rubric, or its suite.")
        run_entries = entries_of(entries, options) if entries or options else None
        comparison = compared_juries(
            self._workspace,
            (self._judged(suite, scenario), jury),
            (self._judged(against_suite or suite, scenario), against),
            run_entries.load(self._workspace.site) if run_entries else None,
        )
        return JuriesSideBySide(comparison=comparison)

    @at_work
    def physicians(
        self,
        file: str | Path,
        *,
        jury: str = DEFAULT_JURY,
        rubric: str = HEALTH_BENCH,
        access_level: AccessLevel | str = AccessLevel.PRIVATE,
    ) -> PhysicianAgreement:
        """How a jury's verdicts on single criteria agree with physicians': macro F1.

        HealthBench's meta-evaluation on records that the site has. The judges are asked by the
        path, policy and cache of `run`; boards stay as they are.

        Args:
            file: records with `prompt`, `completion`, `rubric` and `binary_labels`.
            jury: its name.
            rubric: one of kind `rubric`, asked once per record.
            access_level: of the records; the policy says which judges may read them.

        Raises:
            ConfigError: the rubric has criteria of its own.
            DataError: a record is unusable; nothing was sent.
            PolicyError: the policy lets a judge not see the text; nothing was sent.
            OutageError: a judge gives no answers.
        """
        check_known("level", access_level, AccessLevel)
        registry = self._workspace.registry
        check_known("jury", jury, registry.juries)
        check_known("rubric", rubric, registry.rubrics)
        agreements = agreement_with_physicians(
            self._workspace,
            physician_records(Path(file)),
            registry.juries[jury],
            registry.rubrics[rubric],
            AccessLevel(access_level),
        )
        return PhysicianAgreement(agreements=tuple(agreements), jury=jury, rubric=rubric)

    @at_work
    def cards(self) -> JudgeCards:
        """The judge cards of the lake, the newest first."""
        rows = self._workspace.reader.rows("SELECT * FROM {judge_cards}", JudgeCard)
        newest_first = sorted(rows, key=lambda card: card.checked_at, reverse=True)
        return JudgeCards(cards=tuple(newest_first), at=now())

    def _judged(self, suite: str | None, scenario: str) -> list[BoardRun]:
        """The runs of a suite on one scenario."""
        reader = self._workspace.reader
        runs = load_runs(reader, choose(reader, suite))
        check_known("scenario", scenario, {run.run_spec.scenario_name for run in runs})
        return [run for run in runs if run.run_spec.scenario_name == scenario]
