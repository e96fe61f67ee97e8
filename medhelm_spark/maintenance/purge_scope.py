"""What of a lake belongs to a scenario, and the files of its data in this machine's caches."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.data_source import SourceFile
from medhelm_spark.domain.purge import PurgeScope
from medhelm_spark.domain.scenario import Pin
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.scenarios import cached_copies, hub_copies
from medhelm_spark.workspace.names import check_known
from medhelm_spark.workspace.workspace import Workspace

WITH_DATA = ("scenarios", "instances", "quarantine", "imported_scenarios")
"""The tables that name a scenario beside a version of its data."""

_VERSIONS = "SELECT DISTINCT scenario_name, data_version FROM {{{table}}}"
_RUNS = """
SELECT DISTINCT suite, run_spec_id, run_spec['scenario_name'] AS scenario_name,
       run_spec['data_version'] AS data_version, run_spec['model_deployment'] AS model_deployment
FROM {run_specs}
"""
_OWN = "SELECT DISTINCT {column} AS id FROM {{requests}} WHERE run_spec_id IN ({runs})"
_SHARED = """
SELECT DISTINCT {column} AS id FROM {{requests}} WHERE run_spec_id IN ({runs})
AND {column} IN (SELECT {column} FROM {{requests}} WHERE run_spec_id NOT IN ({runs}))
"""
_UNASKED = """
SELECT DISTINCT prompt_id AS id FROM {{prompts}}
WHERE (subject_id IN (SELECT instance_id FROM {{instances}} WHERE data_version IN ({versions}))
       OR subject_id IN (SELECT request_id FROM {{requests}} WHERE run_spec_id IN ({runs})))
  AND prompt_id NOT IN (SELECT prompt_id FROM {{requests}})
"""


def named(reader: Reader, scenario: str) -> str:
    """The lake's own spelling of a scenario that is named with other capitals; else the name.

    Two scenarios whose names differ by capitals alone have to be named as they are.
    """
    known = versions_of(reader)
    alike = [name for name in known if name.casefold() == scenario.casefold()]
    return alike[0] if scenario not in known and len(alike) == 1 else scenario


def versions_of(reader: Reader) -> dict[str, set[str]]:
    """The data versions of each scenario of a lake."""
    versions: dict[str, set[str]] = {}
    for table in WITH_DATA:
        for row in reader.query(_VERSIONS.format(table=table)).to_pylist():
            versions.setdefault(row["scenario_name"], set()).add(row["data_version"])
    return versions


def scope_of(reader: Reader, scenario: str) -> PurgeScope:
    """What belongs to a scenario.

    Raises:
        UnknownNameError: the lake has no data of it.
    """
    versions = versions_of(reader)
    check_known("scenario", scenario, versions)
    planned = reader.query(_RUNS).to_pylist()
    own = [row for row in planned if row["scenario_name"] == scenario]
    deployments: dict[str, set[str]] = {}
    for row in own:
        deployments.setdefault(row["suite"], set()).add(row["model_deployment"])
    of_data = versions[scenario] | {row["data_version"] for row in own}
    run_ids = {row["run_spec_id"] for row in own}
    runs = literals(run_ids)

    def ids(sql: str, column: str) -> set[str]:
        names = {"column": column, "runs": runs, "versions": literals(of_data)}
        found: list[str] = reader.query(sql.format(**names))["id"].to_pylist()
        return set(found)

    shared = ids(_SHARED, "request_id")
    prompts = ids(_OWN, "prompt_id") - ids(_SHARED, "prompt_id")
    return PurgeScope(
        scenario_name=scenario,
        data_versions=frozenset(of_data),
        deployments={suite: frozenset(names) for suite, names in deployments.items()},
        run_spec_ids=frozenset(run_ids),
        request_ids=frozenset(ids(_OWN, "request_id") - shared),
        prompt_ids=frozenset(prompts | ids(_UNASKED, "prompt_id")),
        num_shared=len(shared),
    )


def cached_data(workspace: Workspace, scenario: str) -> Iterator[Path]:
    """The folders and files of a scenario's data in the caches of this machine."""
    pins: Mapping[str, str] = {
        row.address: row.pin
        for row in workspace.reader.rows("SELECT * FROM {pins}", Pin)
        if row.scenario_name == scenario
    }
    cards = workspace.registry.cards
    card = cards.get(scenario) or cards.get(scenario.partition(":")[0])
    source = card.source if card else None
    addresses = source.text_urls.values() if source else ()
    files = [*(source.files if source else ()), *(SourceFile(path="", url=u) for u in addresses)]
    yield from cached_copies(files, pins, cache_folder() / "data")
    if source and source.dataset:
        yield from hub_copies(source.dataset)
