"""What has to be on record of a run before anybody relies on its numbers."""

from collections.abc import Iterable

from medhelm_spark.domain.comparability import UNKNOWN
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.statistics.cell import BoardCell


def not_on_record(
    planned: SuiteRun,
    cell: BoardCell | None,
    scenario: ScenarioVersion | None,
    records: Iterable[RunRecord],
) -> tuple[str, ...]:
    """What the lake does not say of a run; empty where its provenance is complete.

    `records` are of the finished work on the run and on its scenario's data.
    """
    held = tuple(records)
    recorded = (cell.comparability if cell else None) or {}
    known = {
        "when it was scored": any(record.stage == SCORE.name for record in held),
        "who ran it": bool(held) and all(record.run_by for record in held),
        "which code ran it": all(record.code_version for record in held),
        "where the model ran": planned.locality in list(Locality),
        "which data it was": bool(scenario and scenario.source),
        "what its scores rest on": bool(recorded) and UNKNOWN not in recorded.values(),
    }
    return tuple(what for what, is_there in known.items() if not is_there)
