"""Whether settings, engines, juries and data are those of the release, by their hashes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from medhelm_spark.domain.comparability import JURY
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.stages.annotate.stage import jury_text
from medhelm_spark.watch.baseline import WatchedRun

_ENGINES = """
SELECT DISTINCT q.run_spec_id, r.engine_fingerprint
FROM ({requests}) q JOIN ({results}) r ON r.request_id = q.request_id
WHERE q.run_spec_id IN ({units}) AND q.purpose = 'evaluate' AND r.failure IS NULL
"""
SETTINGS, ENGINE, JUDGES, DATA = "settings", "engine", "jury", "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What one thing was for the release, and is now: hashes, or what an engine records."""

    name: str
    before: str
    now: str

    @property
    def reason(self) -> str:
        """What changed; empty where nothing did."""
        if self.before == self.now:
            return ""
        return f"was {self.before or 'not recorded'}, is {self.now or 'not recorded'}"


def fingerprints_of(
    reader: Reader, run: WatchedRun, looked: str, engines: dict[str, set[str]]
) -> Iterator[Fingerprint]:
    """Those of one run.

    Args:
        reader: the lake as it is now.
        run: the run of the release.
        looked: the run of the look.
        engines: by run, what engines recorded with the answers.
    """
    spec = run.board_run.run_spec
    yield Fingerprint(
        name=SETTINGS,
        before=_short(spec.deployment_fingerprint),
        now=_short(run.deployment.identity),
    )
    yield engine_fingerprint(engines.get(spec.run_spec_id, set()), engines.get(looked, set()))
    if run.annotators and run.board_run.cell:
        part = (run.board_run.cell.comparability or {}).get(JURY)
        if part:
            now_part = jury_text(run.annotators)
            yield Fingerprint(
                name=JUDGES, before=_short(part), now=_short(part if part == now_part else now_part)
            )
    if not spec.perturbations and not spec.prompt_variants:
        newest = _newest_data(reader, spec.scenario_name)
        yield Fingerprint(
            name=DATA, before=_short(spec.data_version), now=_short(newest or spec.data_version)
        )


def engines_of(reader: Reader, run_spec_ids: Sequence[str]) -> dict[str, set[str]]:
    """By run, what engines recorded with its answers: version, revision, hash of the weights."""
    sql = _ENGINES.format(
        requests=output_of("requests", PLAN),
        results=CURRENT_RESULTS,
        units=literals(run_spec_ids),
    )
    engines: dict[str, set[str]] = {}
    for row in reader.query(sql).to_pylist():
        engines.setdefault(row["run_spec_id"], set()).add(row["engine_fingerprint"])
    return engines


def engine_fingerprint(before: Set[str], now: Set[str]) -> Fingerprint:
    """What engines recorded with answers of the release and of the look: the fields that differ.

    One record of the look that the release has not is a change, whatever the others are. A record
    with some fields of one that the release has is none: of a refused text a server states less.
    """
    ours, theirs = list(map(_fields, sorted(before))), list(map(_fields, sorted(now)))
    are_records = bool(before) and all((*ours, *theirs))
    is_known = are_records and all(
        any(each.items() <= other.items() for other in ours) for each in theirs
    )
    values_before, values_now = _values(ours), _values(theirs)
    if now <= before or (is_known and values_now.keys() >= values_before.keys()):
        return Fingerprint(name=ENGINE, before="same", now="same")
    names = [
        name
        for name in {**values_before, **values_now}
        if values_before.get(name) != values_now.get(name)
    ]
    if not (are_records and names):
        return Fingerprint(
            name=ENGINE, before="; ".join(sorted(before)), now="; ".join(sorted(now))
        )
    texts = [
        ", ".join(f"{name} {' or '.join(values[name])}" for name in names if name in values)
        for values in (values_before, values_now)
    ]
    return Fingerprint(name=ENGINE, before=texts[0], now=texts[1])


def _fields(text: str) -> dict[str, Any]:
    """The fields of an engine's record; none of a text that is no such record."""
    try:
        record = json.loads(text)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _values(records: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Each field's values in some records of engines."""
    values: dict[str, set[str]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, set()).add(str(value))
    return {name: sorted(values[name]) for name in sorted(values)}


def _newest_data(reader: Reader, scenario: str) -> str | None:
    """The data version of a scenario that was ingested last; None where none is on record."""
    versions = reader.rows("SELECT * FROM {scenarios}", ScenarioVersion)
    own = {row.data_version for row in versions if row.scenario_name == scenario}
    sql = (
        f"SELECT unit_id, max(finished_at) AS at FROM {{runs}} WHERE stage = '{INGEST.name}' "
        f"AND unit_id IN ({literals(own)}) GROUP BY unit_id"
    )
    rows = reader.query(sql).to_pylist() if own else []
    return max(rows, key=lambda row: row["at"])["unit_id"] if rows else None


def _short(text: str) -> str:
    return content_id(text)[:12]
