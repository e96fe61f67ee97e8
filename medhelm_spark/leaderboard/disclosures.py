"""What text was sent where: counted from the results of requests, not from what was planned.

A wave whose results were never committed is bounded by what was noted before it began.
"""

from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import UNKNOWN
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.lake.reader import Reader

# A row of request_results is written by whoever asked, after asking. What the policy held back and
# what came from a file was not sent; every other row was tried, answered or not.
SENT = f"""
SELECT access_level, model_deployment, coalesce(destination, '') AS destination,
       coalesce(locality, '{UNKNOWN}') AS locality,
       CAST(CAST(completed_at AS DATE) AS STRING) AS sent_on,
       CAST(count(DISTINCT request_id) AS BIGINT) AS texts, CAST(count(*) AS BIGINT) AS times,
       CAST(sum(CASE WHEN failure IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS answered,
       false AS is_bound
FROM {{request_results}}
WHERE destination IS NOT NULL AND (failure IS NULL OR failure <> '{FailureKind.DENIED}')
GROUP BY access_level, model_deployment, destination, locality, CAST(completed_at AS DATE)
"""

BEGUN = """
SELECT access_level, model_deployment, destination, locality,
       CAST(CAST(begun_at AS DATE) AS STRING) AS sent_on,
       CAST(sum(texts) AS BIGINT) AS texts, CAST(sum(texts) AS BIGINT) AS times,
       CAST(0 AS BIGINT) AS answered, true AS is_bound
FROM {begun_waves} WHERE write_id NOT IN (SELECT write_id FROM {request_results})
GROUP BY access_level, model_deployment, destination, locality, CAST(begun_at AS DATE)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """Requests of one level that went to one place on one day.

    `destination` is a host and port, or `this job`; `locality` what the deployment was declared to
    be when it was asked, `unknown` where it said nothing. `texts` are requests with a text each,
    `times` how often they were asked in all, `answered` how many of those ended in an answer.
    `sent_on` is the day of the last try, by the lake's clock.

    With `is_bound` it is about waves that were begun and whose results are not in the lake: under
    way, or never committed. `texts` were sent at most then, and none of their answers is kept.
    """

    access_level: AccessLevel
    model_deployment: str
    destination: str
    locality: str
    sent_on: str
    texts: int
    times: int
    answered: int
    is_bound: bool = False


def disclosures_of(reader: Reader) -> list[Disclosure]:
    """Everything that the lake's requests sent, strictest level first, then day by day."""
    rows = [*reader.rows(SENT, Disclosure), *reader.rows(BEGUN, Disclosure)]
    return sorted(
        rows, key=lambda row: (-row.access_level.strictness, row.sent_on, row.model_deployment)
    )
