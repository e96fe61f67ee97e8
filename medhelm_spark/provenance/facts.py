"""What a run of a release came from, as its record says: read from the lake when it is pinned."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from medhelm_spark.board import as_of
from medhelm_spark.domain.comparability import UNKNOWN
from medhelm_spark.domain.engine_record import recorded_by
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.policy import PolicyDecision
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stages import PLAN, SCORE
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.lake.views import CURRENT_RESULTS, CURRENT_RUNS, output_of
from medhelm_spark.releases.pinned import ReleaseRows, Rows, StoredRelease, key_of, read_release
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import values_hash
from medhelm_spark.workspace.workspace import Workspace

ROWS = "rows."
"""What the name of a fact begins with that is the hash of a table's rows."""

FACTS: Mapping[str, str] = {
    "ran_by": "the operating system's users who ran it",
    "started_at": "when its first stage began",
    "finished_at": "when its last stage ended",
    "versions": "of medhelm-spark and Spark",
    "code": "SHA-256 of medhelm-spark's modules in the processes that ran it",
    "wheel": "SHA-256 of the wheel, where pip keeps it",
    "lock": "SHA-256 of all installed distributions with their versions",
    "model": "the model, and its deployment",
    "locality": "where the deployment runs, and its engine",
    "settings": "the hash of the deployment's settings",
    "weights": "revision, hash and numbers of the weights, as the engine recorded them",
    "engine": "SHA-256 of each fingerprint that the engine recorded",
    "data": "scenario, data version, level and hash of the source's bytes",
    "run_spec": "the content id of the whole RunSpec",
    "sampling": "how many instances at most, and the hash of how they are drawn",
    "decoding": "temperature, tokens, trials and stop sequences, as a hash",
    "judges": "rubric and judges",
    "policy": "the version and file of the policy in force",
    "decisions": "how many decisions of the policy, and the hash of their rows",
    "ratings": "how many ratings of its answers, and the hash of their rows without comments",
    "judge_cards": "how many cards of juries on its scenario, and the hash of their rows",
    "counts": "what the stages counted",
    "cost": "tokens and seconds of its answers, and money where the deployment has prices",
}
"""The facts of a run by name; `rows.TABLE` beside them is the hash of a table's rows."""

_DECISIONS = "SELECT * FROM {{policy_decisions}} WHERE {suites}"
_RATINGS = "SELECT * FROM {{ratings}} WHERE run_spec_id IN ({units})"
_TOOK = """
SELECT q.run_spec_id, r.engine_fingerprint, count(*) AS answers,
       CAST(sum(r.prompt_tokens) AS BIGINT) AS prompt_tokens,
       CAST(sum(r.completion_tokens) AS BIGINT) AS completion_tokens,
       CAST(sum(CAST(floor(r.request_time * 1000) AS BIGINT)) AS BIGINT) AS milliseconds
FROM (SELECT DISTINCT run_spec_id, request_id FROM ({requests}) p
      WHERE run_spec_id IN ({units}) AND purpose = 'evaluate') q
JOIN ({results}) r ON r.request_id = q.request_id
GROUP BY q.run_spec_id, r.engine_fingerprint
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Took:
    run_spec_id: str
    engine_fingerprint: str
    answers: int
    prompt_tokens: int | None
    completion_tokens: int | None
    milliseconds: int | None


def facts_of(
    workspace: Workspace, release: StoredRelease, at: datetime
) -> dict[str, dict[str, str]]:
    """The facts of each run of a release, by the run's name.

    Args:
        workspace: the lake, and the site's deployments with their prices.
        release: the release.
        at: the time of the record: later decisions do not belong to it.
    """
    reader = workspace.reader
    rows = read_release(reader, release.members)
    frozen = as_of(reader, release.name)
    units = [member.run_spec_id for member in release.members]
    took: dict[str, list[_Took]] = {}
    sql = _TOOK.format(
        requests=output_of("requests", PLAN), results=CURRENT_RESULTS, units=literals(units)
    )
    for row in frozen.rows(sql, _Took):
        took.setdefault(row.run_spec_id, []).append(row)
    records = frozen.rows(CURRENT_RUNS, RunRecord)
    scenarios = {version: row for (version, _), row in rows.scenarios.items()}
    decided, judged = decisions_of(reader, release, at), judged_by(reader, rows, at)
    made: dict[str, dict[str, str]] = {}
    for member in release.members:
        planned = rows.planned[key_of(member)]
        version = planned.run_spec.data_version
        own = [each for each in records if each.unit_id in (member.run_spec_id, version)]
        made[member.name] = {
            **_of_work(own),
            **_of_model(planned, took.get(member.run_spec_id, ()), workspace),
            **_of_data(planned, scenarios.get(version)),
            "judges": (release.manifest.judges if release.manifest else {}).get(
                member.name, "none"
            ),
            "policy": f"{release.manifest.policy_version} {release.manifest.policy}"
            if release.manifest
            else UNKNOWN,
            "decisions": decided[member.name],
            **judged[member.name],
            **rows_of(member),
        }
    return made


def rows_of(member: ReleaseMember) -> dict[str, str]:
    """The hashes of the rows behind a member, as facts."""
    return {f"{ROWS}{table}": value for table, value in (member.value_hashes or {}).items()}


def decisions_of(source: Rows, release: StoredRelease, at: datetime) -> dict[str, str]:
    """By the name of each run, the number of its decisions at `at`, and the hash of their rows."""
    sql = _DECISIONS.format(suites=among("suite", release.suites))
    rows = [row for row in source.rows(sql, PolicyDecision) if row.decided_at <= at]
    made = {}
    for member in release.members:
        own = [row for row in rows if (row.suite, row.run_name) == (member.suite, member.name)]
        made[member.name] = f"{len(own)} {values_hash(own)}"
    return made


def judged_by(source: Rows, rows: ReleaseRows, at: datetime) -> dict[str, dict[str, str]]:
    """The facts of ratings and judge cards of each run, by its name, as they were at `at`.

    The comments of raters do not count: a purge removes them.
    """
    units = literals(member.run_spec_id for member in rows.members)
    ratings: list[Any] = []
    if "ratings" in TABLES:
        ratings = source.rows(_RATINGS.format(units=units), TABLES["ratings"].row)
        ratings = [replace(row, comment="") for row in ratings if row.rated_at <= at]
    cards: list[Any] = []
    if "judge_cards" in TABLES:
        cards = source.rows("SELECT * FROM {judge_cards}", TABLES["judge_cards"].row)
        cards = [row for row in cards if row.checked_at <= at]
    made = {}
    for member in rows.members:
        planned = rows.planned.get(key_of(member))
        scenario = planned.run_spec.scenario_name if planned else ""
        by_name = {
            "ratings": [row for row in ratings if row.run_spec_id == member.run_spec_id],
            "judge_cards": [row for row in cards if row.scenario_name == scenario],
        }
        made[member.name] = {
            name: f"{len(own)} {values_hash(own)}" for name, own in by_name.items()
        }
    return made


def _of_work(records: Iterable[RunRecord]) -> dict[str, str]:
    ordered = sorted(records, key=lambda record: record.finished_at)
    if not ordered:
        return {}
    installed = [record.installed or {} for record in ordered]
    scored = [record for record in ordered if record.stage == SCORE.name]
    counts = scored[-1].counts if scored else ordered[-1].counts
    return {
        "ran_by": _several(record.run_by or UNKNOWN for record in ordered),
        "started_at": min(record.started_at for record in ordered).astimezone(UTC).isoformat(),
        "finished_at": ordered[-1].finished_at.astimezone(UTC).isoformat(),
        "versions": _several(
            f"medhelm-spark {each.code_version}, Spark {each.spark_version}" for each in ordered
        ),
        **{
            name: _several(each.get(name, UNKNOWN) for each in installed)
            for name in ("code", "wheel", "lock")
        },
        "counts": ", ".join(f"{name} {count}" for name, count in sorted(counts.items())),
    }


def _of_model(planned: SuiteRun, took: Iterable[_Took], workspace: Workspace) -> dict[str, str]:
    spec, took = planned.run_spec, list(took)
    weights = recorded_by(row.engine_fingerprint for row in took)
    tokens = [sum(row.prompt_tokens or 0 for row in took)]
    tokens.append(sum(row.completion_tokens or 0 for row in took))
    seconds = sum(row.milliseconds or 0 for row in took) / 1000
    cost = f"{tokens[0]} + {tokens[1]} tokens, {seconds:.3f} s"
    deployment = workspace.registry.deployments.get(spec.model_deployment)
    if deployment and (prices := deployment.prices):
        money = (tokens[0] * prices.prompt + tokens[1] * prices.completion) / 1e6
        cost += f", {money:.6f} {prices.currency or ''}".rstrip()
    return {
        "model": f"{spec.model}, {spec.model_deployment}",
        "locality": f"{planned.locality}, {planned.engine}",
        "settings": spec.deployment_fingerprint,
        "weights": "; ".join(f"{name} {' '.join(value)}" for name, value in weights.items())
        or UNKNOWN,
        "engine": _several(_sha256(row.engine_fingerprint) for row in took) or UNKNOWN,
        "cost": cost,
    }


def _of_data(planned: SuiteRun, scenario: ScenarioVersion | None) -> dict[str, str]:
    spec = planned.run_spec
    adapter = spec.adapter_spec
    source = (scenario.source_hash if scenario else None) or UNKNOWN
    return {
        "data": f"{spec.scenario_name}, version {spec.data_version}, {spec.access_level}, "
        f"source {source}",
        "run_spec": spec.run_spec_id,
        "sampling": f"{adapter.max_eval_instances or 'all'} instances, "
        f"{_sha256(canonical_json(spec.sampling))}",
        "decoding": f"temperature {adapter.temperature}, {adapter.max_tokens} tokens, "
        f"{adapter.requests_per_instance} per instance, {_sha256(canonical_json(adapter))}",
    }


def _several(values: Iterable[str]) -> str:
    return "; ".join(sorted(set(filter(None, values))))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
