"""The table of scenarios that MedHELM exported."""

from dataclasses import dataclass

from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.lake.tables import Purging, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenScenario(ImportedScenario):
    write_id: str


def _purged(row: _WrittenScenario, note: str) -> None:
    """Removes nothing: card and header are the package's own words."""


TABLES = (
    Table(
        name="imported_scenarios",
        row=ImportedScenario,
        key=("scenario_name", "imported_at"),
        indexed=("scenario_name", "data_version"),
        has_text=True,
        purging=Purging(by="data_version", row=_WrittenScenario, purged=_purged),
        description="Scenarios read out of another package; the newest of a name is current.",
    ),
)
