"""Which subcategories of the taxonomy a board covers, and which it does not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from medhelm_spark.board.runs import BoardRun
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.render.table import TextTable

OTHER = "Other"
"""In place of a category: of benchmarks that name none, or one that is not in the taxonomy."""

NOT_COVERED = "not covered"

SHOWN = 4
"""Benchmarks of a subcategory that a table names; data has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredSubcategory:
    """A subcategory with the benchmarks of a board in it."""

    category: str
    subcategory: str
    benchmarks: tuple[str, ...]
    """Their titles; none where the board covers nothing of the subcategory."""
    num_models: int
    """The deployments with a number on one of them."""
    num_instances: int
    """The instances of all of them that some deployment has a score on."""


@dataclass(frozen=True, slots=True)
class TaxonomyCoverage(Result):
    """The subcategories of the taxonomy in its order, then benchmarks that it has none for."""

    subcategories: tuple[CoveredSubcategory, ...]
    banner: str = ""
    """As of a Board."""

    HEADER = tuple(CoveredSubcategory.__dataclass_fields__)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per subcategory."""
        yield from map(asdict, self.subcategories)

    def render(self, form: str = "table") -> str:
        """The subcategories as text: `table`, `md`, `csv`, `json` or `html`."""
        placed = [each for each in self.subcategories if each.category != OTHER]
        covered = sum(bool(each.benchmarks) for each in placed)
        table = TextTable(
            header=("Category", "Subcategory", "Benchmarks", "Models", "Instances"),
            rows=[_cells(each) for each in self.subcategories],
            notes=[
                f"{covered} of {counted(len(placed), 'subcategory')} covered. A benchmark in a "
                "subcategory is one of its tasks, not all that clinicians do there."
            ],
        )
        records = list(self.rows())
        report = Report(
            tables=[table],
            content={"subcategories": records},
            fields=self.HEADER,
            records=records,
            banner=self.banner,
        )
        return formatted(report, form)


def _cells(covered: CoveredSubcategory) -> tuple[str, ...]:
    if not covered.benchmarks:
        return covered.category, covered.subcategory, NOT_COVERED, "", ""
    names = first_of(covered.benchmarks, SHOWN)
    numbers = f"{covered.num_models:,}", f"{covered.num_instances:,}"
    return covered.category, covered.subcategory, names, *numbers


def taxonomy_coverage(
    runs: Iterable[BoardRun], taxonomy: Mapping[str, Sequence[str]]
) -> tuple[CoveredSubcategory, ...]:
    """The subcategories with the benchmarks of these runs.

    Args:
        runs: those of a board.
        taxonomy: the subcategories by category, in order.
    """
    by_subcategory: dict[tuple[str, str], list[BoardRun]] = {
        (category, subcategory): []
        for category, subcategories in taxonomy.items()
        for subcategory in subcategories
    }
    for run in runs:
        if run.cell and run.cell.count:
            key = (run.cell.category, run.cell.subcategory)
            by_subcategory.setdefault(key if key in by_subcategory else (OTHER, ""), []).append(run)
    return tuple(_covered(*key, own) for key, own in by_subcategory.items())


def _covered(category: str, subcategory: str, runs: Sequence[BoardRun]) -> CoveredSubcategory:
    sizes: dict[tuple[str, str], int] = {}
    titles, models = set(), set()
    for run in runs:
        if cell := run.cell:
            part = (cell.scenario_name, cell.part)
            sizes[part] = max(sizes.get(part, 0), cell.count)
            titles.add(cell.display_name)
            models.add(cell.model_deployment)
    return CoveredSubcategory(
        category=category,
        subcategory=subcategory,
        benchmarks=tuple(sorted(titles)),
        num_models=len(models),
        num_instances=sum(sizes.values()),
    )
