"""ImportedScenario: a scenario as another evaluation package made it, stored in the lake."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.domain.access import AccessLevel

EXPORT_FORMAT = "medhelm"
"""The source format of a file that `medhelm_results.export_script` wrote."""

EXPORT_SHAPE = "exported"
"""The shape of its instances, which are taken as they are."""

EXPORT_FIELDS: Mapping[str, str] = {"id": "id", "split": "split", "sub_split": "sub_split"}
"""The roles of its instances' fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedScenario:
    """Row of `imported_scenarios`: one import; per `scenario_name` the newest is current.

    Run entries name it by `name` and its `args`; `scenario_name` is both together, as in
    `instances`. `card` is a ScenarioCard as JSON, with the package's own instructions; `header` is
    the export's first line, with the package's own RunSpec and judges' prompts.
    """

    scenario_name: str
    name: str
    args: Mapping[str, str]
    data_version: str
    access_level: AccessLevel
    card: str
    header: str
    package: str
    package_version: str
    imported_at: datetime
