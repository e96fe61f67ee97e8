"""`evaluation.subgroups`: what models score by groups of patients, and how they compare there."""

from collections.abc import Sequence
from pathlib import Path

from medhelm_spark.board import BoardRun, as_of, choose
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.board.reading import compared
from medhelm_spark.board.schema import schema_of, shown_runs
from medhelm_spark.medhelm.schema_file import Schema
from medhelm_spark.subgroups.model_groups import check_columns, groups_of_runs
from medhelm_spark.subgroups.pairs import group_pairs
from medhelm_spark.subgroups.results import GroupComparison, Groups
from medhelm_spark.workspace.entries import columns_named


class SubgroupMethods(Methods):
    """Results by groups of patients."""

    @at_work
    def scores(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
        by: str | Sequence[str] = (),
        metric: str | None = None,
    ) -> Groups:
        """What models score by group: worst group, gap, difference to the rest.

        Args:
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            schema: as in `Evaluation.board`.
            by: the columns, as `sex,age_band` (none: all that the data is grouped by).
            metric: a stat to show in place of each benchmark's main metric.

        Raises:
            UnknownNameError: no run has the column or the metric.
        """
        reader, runs = self._workspace.reader, self._runs(suite, release, schema)
        groups = groups_of_runs(as_of(reader, release), runs, by=columns_named(by), metric=metric)
        return Groups(tuple(groups), choose(reader, release=release).banner if release else "")

    @at_work
    def compare(
        self,
        *models: str,
        suite: str | None = None,
        release: str | None = None,
        scenario: str | Sequence[str] | None = None,
        by: str | Sequence[str] = (),
    ) -> GroupComparison:
        """Whether a model widens a gap: in each group beside all others, against another model.

        The paired difference in a group less that in the rest, with interval and p-value, adjusted
        by Benjamini and Hochberg for all that is asked at once; groups that fall behind first.

        Args:
            models: as in `Evaluation.compare`.
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            scenario: the scenarios to compare on (None: all).
            by: the columns (none: all that the data is grouped by).

        Raises:
            UnknownNameError: a model, scenario or column is not on the board.
            ConfigError: the same model twice, or a single one.
        """
        runs, columns = self._runs(suite, release), columns_named(by)
        reader = as_of(self._workspace.reader, release)
        whole = compared(
            reader,
            runs,
            models,
            coverage_floor=self._workspace.coverage_floor,
            scenarios=[scenario] if isinstance(scenario, str) else list(scenario or ()),
        )
        check_columns(reader, runs, columns)
        pairs = group_pairs(
            reader,
            runs,
            whole.pairs,
            minimum=self._workspace.registry.policy.small_cells.minimum,
            by=columns,
        )
        return GroupComparison(whole.models, tuple(pairs))

    def _runs(
        self,
        suite: str | None,
        release: str | None,
        schema: Schema | str | Path | None = None,
    ) -> Sequence[BoardRun]:
        return shown_runs(self._workspace, suite, release, schema_of(schema), None).runs
