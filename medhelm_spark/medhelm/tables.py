"""The table of scenarios that MedHELM exported."""

from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.lake.tables import Table

TABLES = (
    Table(
        name="imported_scenarios",
        row=ImportedScenario,
        key=("scenario_name", "imported_at"),
        indexed=("scenario_name", "data_version"),
        has_text=True,
        description="Scenarios read out of another package; the newest of a name is current.",
    ),
)
