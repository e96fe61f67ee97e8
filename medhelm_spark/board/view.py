"""How a board shows runs where a schema file of HELM's differs from their cards."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.stats import UNBOUNDED, MetricInfo
from medhelm_spark.statistics.cell import BoardCell


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a run is shown by; None keeps what its card, or its metric, declares."""

    main_metric: str | None = None
    main_split: str | None = None
    display_name: str | None = None
    category: str | None = None
    lower_is_better: bool | None = None

    def row(self, row: SuiteRun) -> SuiteRun:
        """The run read by the view's main metric on its split.

        Primary endpoint and margin are declared of the card's main metric, and of no other.
        """
        declared = row.run_spec.main_metric
        spec = replace(
            row.run_spec,
            main_metric=self.main_metric or declared,
            main_split=self.main_split or row.run_spec.main_split,
        )
        if spec.main_metric != declared:
            row = replace(row, is_primary=None, margin=None)
        return replace(row, run_spec=spec)

    def info(self, info: MetricInfo | None, name: str) -> MetricInfo | None:
        """The metric's scale with the view's direction; of an unknown metric that alone."""
        if self.lower_is_better is None:
            return info
        known = info or replace(UNBOUNDED, name=name, display_name=name)
        return replace(known, lower_is_better=self.lower_is_better)

    def cell(self, cell: BoardCell | None) -> BoardCell | None:
        """The cell with the view's names and direction."""
        if cell is None:
            return None
        stated = {
            "display_name": self.display_name,
            "category": self.category,
            "lower_is_better": self.lower_is_better,
        }
        known = {name: value for name, value in stated.items() if value is not None}
        if self.category is not None:
            known["subcategory"] = ""
        return replace(cell, **known)  # type: ignore[arg-type]


ViewOf = Callable[[RunSpec], View]
"""What a run is shown by."""
AS_DECLARED = View()


def as_declared(spec: RunSpec) -> View:
    """Every run as its card declares it."""
    return AS_DECLARED


def read_by(metric: str, view_of: ViewOf) -> ViewOf:
    """Every run by this stat of its own, else as `view_of` says."""
    return lambda spec: replace(view_of(spec), main_metric=metric, lower_is_better=None)
