"""What text was sent where: counted from the results of requests, not from what was planned.

Where an order has no committed result, the note made before it began gives an upper bound.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import UNKNOWN
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.domain.scenario import LOWERED_SOURCE, ScenarioVersion
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader

# The requests about data that was lowered on record, each with the level that the data had before.
LOWERED = """
SELECT q.request_id AS lowered_request, max(s.lowered_from) AS lowered_from
FROM {{requests}} q
JOIN (SELECT DISTINCT run_spec_id, CASE {cases} END AS lowered_from FROM {{run_specs}}) s
  ON s.run_spec_id = q.run_spec_id AND s.lowered_from IS NOT NULL
GROUP BY q.request_id
"""
NOTHING_LOWERED = "SELECT '' AS lowered_request, '' AS lowered_from"

# The process that asks writes a row of request_results afterwards. Requests that the policy
# denied, that had no key or whose answer came from a file were not sent; every other row was
# tried, answered or not.
SENT = f"""
SELECT access_level, coalesce(lowered_from, '') AS lowered_from, model_deployment,
       coalesce(destination, '') AS destination, coalesce(locality, '{UNKNOWN}') AS locality,
       coalesce(run_by, '') AS run_by,
       CAST(CAST(completed_at AS DATE) AS STRING) AS sent_on,
       CAST(count(DISTINCT request_id) AS BIGINT) AS texts,
       CAST(sum(coalesce(tries, attempts)) AS BIGINT) AS times,
       CAST(sum(CASE WHEN failure IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS answered,
       CAST(0 AS BIGINT) AS patients, false AS is_bound
FROM {{{{request_results}}}} r LEFT JOIN ({{lowered}}) l ON l.lowered_request = r.request_id
LEFT JOIN (SELECT write_id AS of_write, max(run_by) AS run_by FROM {{{{runs}}}} GROUP BY write_id) u
  ON u.of_write = r.write_id
WHERE destination IS NOT NULL AND (failure IS NULL OR failure <> '{FailureKind.DENIED}')
  AND coalesce(tries, attempts) > 0 {{scope}}
GROUP BY access_level, lowered_from, model_deployment, destination, locality, run_by,
         CAST(completed_at AS DATE)
"""

# A request may be about several instances, and so about several patients.
PATIENTS = f"""
SELECT r.access_level, coalesce(lowered_from, '') AS lowered_from, r.model_deployment,
       coalesce(r.destination, '') AS destination,
       coalesce(r.locality, '{UNKNOWN}') AS locality, coalesce(run_by, '') AS run_by,
       CAST(CAST(r.completed_at AS DATE) AS STRING) AS sent_on,
       CAST(count(DISTINCT coalesce(i.cluster_id, concat(i.data_version, i.instance_id)))
            AS BIGINT) AS patients
FROM {{{{request_results}}}} r LEFT JOIN ({{lowered}}) l ON l.lowered_request = r.request_id
LEFT JOIN (SELECT write_id AS of_write, max(run_by) AS run_by FROM {{{{runs}}}} GROUP BY write_id) u
  ON u.of_write = r.write_id
JOIN (SELECT DISTINCT request_id AS asked, run_spec_id AS asked_by, instance_id AS about
      FROM {{{{requests}}}}) q ON q.asked = r.request_id
JOIN (SELECT DISTINCT run_spec_id AS planned, run_spec['data_version'] AS planned_on
      FROM {{{{run_specs}}}}) s ON s.planned = q.asked_by
JOIN {{{{instances}}}} i ON i.data_version = s.planned_on AND i.instance_id = q.about
WHERE r.destination IS NOT NULL AND (r.failure IS NULL OR r.failure <> '{FailureKind.DENIED}')
  AND coalesce(r.tries, r.attempts) > 0 {{scope}}
GROUP BY r.access_level, lowered_from, r.model_deployment, destination, locality, run_by,
         CAST(r.completed_at AS DATE)
"""

# An order without any row is under way or lost; one with fewer rows than texts was cut short, and
# its open requests have none. Rows of older lakes do not say how many those may be.
BEGUN = """
SELECT access_level, '' AS lowered_from, model_deployment, destination, locality, '' AS run_by,
       CAST(CAST(begun_at AS DATE) AS STRING) AS sent_on,
       CAST(sum(open) AS BIGINT) AS texts,
       CAST(sum(open * coalesce(most_tries, 1)) AS BIGINT) AS times,
       CAST(0 AS BIGINT) AS answered, CAST(0 AS BIGINT) AS patients, true AS is_bound
FROM (SELECT b.*, CASE WHEN w.write IS NULL THEN texts
                       ELSE least(texts - coalesce(seen, 0), coalesce(in_flight, 0)) END AS open
      FROM (SELECT write_id, model_deployment, access_level, max(locality) AS locality,
                   max(destination) AS destination, max(texts) AS texts,
                   min(begun_at) AS begun_at, min(in_flight) AS in_flight,
                   max(most_tries) AS most_tries
            FROM {{begun_waves}} GROUP BY write_id, model_deployment, access_level) b
      LEFT JOIN (SELECT DISTINCT write_id AS write FROM {{request_results}}) w
        ON w.write = b.write_id
      LEFT JOIN (SELECT write_id AS of_write, model_deployment AS of_deployment,
                        access_level AS of_level, count(DISTINCT request_id) AS seen
                 FROM {{request_results}} GROUP BY write_id, model_deployment, access_level) r
        ON of_write = b.write_id AND of_deployment = b.model_deployment
       AND of_level = b.access_level) o
WHERE open > 0 {days}
GROUP BY access_level, model_deployment, destination, locality, CAST(begun_at AS DATE)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """Requests of one level that went to one destination on one day.

    `destination` is a host and port, or `this job`; `locality` what the deployment was declared to
    be when it was asked, `unknown` without a declaration. `run_by` is the user of the process that
    asked, empty where the lake does not say. `lowered_from` is the level that the data had before
    it was lowered on record, empty where it was not. `texts` are requests with a text each,
    `times` how often they were sent in all, tries that failed among them, `answered` how many
    requests ended in an answer. `sent_on` is the day of the last try, by the lake's clock.

    With `is_bound` it is about texts of orders that were begun whose results are not in the lake:
    under way, never committed, or open when their order was cut short. `texts` were sent at most
    then, `times` at most, and none of their answers is stored.
    """

    access_level: AccessLevel
    lowered_from: str
    model_deployment: str
    destination: str
    locality: str
    run_by: str
    sent_on: str
    texts: int
    times: int
    answered: int
    patients: int = 0
    """The distinct patients that the texts are about, by the card's cluster column, else instances;
    0 where the lake does not have their requests and instances. Of a bound it is not known."""
    is_bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosureScope:
    """Which disclosures are meant; without any field all of them."""

    run_spec_ids: Collection[str] | None = None
    """The runs whose requests were sent; None: all. Orders that were begun name no run."""

    since: date | None = None
    """The first day, by the lake's clock."""

    until: date | None = None
    """The last day."""

    @property
    def of_runs(self) -> str:
        """SQL that narrows results to the runs and days."""
        if self.run_spec_ids is None:
            return self.days("completed_at")
        units = literals(self.run_spec_ids) if self.run_spec_ids else "''"
        request_ids = f"SELECT request_id FROM {{requests}} WHERE run_spec_id IN ({units})"
        return f"AND r.request_id IN ({request_ids}) {self.days('completed_at')}"

    def days(self, column: str) -> str:
        """SQL that narrows to the days."""
        ends = (("since", self.since, ">="), ("until", self.until, "<="))
        return " ".join(
            f"AND CAST(CAST({column} AS DATE) AS STRING) {sign} '{day.isoformat()}'"
            for _, day, sign in ends
            if day
        )


EVERYTHING = DisclosureScope()
_KEY = (
    "access_level",
    "lowered_from",
    "model_deployment",
    "destination",
    "locality",
    "run_by",
    "sent_on",
)


def disclosures_of(reader: Reader, scope: DisclosureScope = EVERYTHING) -> list[Disclosure]:
    """What the lake's requests sent, strictest level first, then day by day."""
    levels = lowered_levels(reader.rows("SELECT * FROM {scenarios}", ScenarioVersion))
    parts = {"lowered": _lowered(levels), "scope": scope.of_runs}
    patients = {
        tuple(str(row[name]) for name in _KEY): row["patients"]
        for row in reader.query(PATIENTS.format(**parts)).to_pylist()
    }
    sent = [
        replace(row, patients=patients.get(tuple(str(getattr(row, name)) for name in _KEY), 0))
        for row in reader.rows(SENT.format(**parts), Disclosure)
    ]
    begun = BEGUN.format(days=scope.days("begun_at"))
    rows = [*sent, *reader.rows(begun, Disclosure)]
    return sorted(
        rows, key=lambda row: (-row.access_level.strictness, row.sent_on, row.model_deployment)
    )


def lowered_levels(versions: Iterable[ScenarioVersion]) -> dict[str, AccessLevel]:
    """By data version, the level before a lowering on record, for those made by one.

    Copies of lowered data (`perturbed`) count too.
    """
    known = {row.data_version: row for row in versions}
    levels: dict[str, AccessLevel] = {}
    for row in known.values():
        version: ScenarioVersion | None = row
        while version and " " in version.source:
            how, _, base = version.source.partition(" ")
            version = known.get(base)
            if f"{how} " == LOWERED_SOURCE and version:
                levels[row.data_version] = version.access_level
                break
    return levels


def _lowered(levels: Mapping[str, AccessLevel]) -> str:
    cases = " ".join(
        f"WHEN run_spec['data_version'] = {literals([version])} THEN '{level.value}'"
        for version, level in sorted(levels.items())
    )
    return LOWERED.format(cases=cases) if cases else NOTHING_LOWERED
