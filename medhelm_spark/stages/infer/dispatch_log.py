"""What a wave is about to send beyond this job, noted before it is sent."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import UNKNOWN, Deployment, Locality
from medhelm_spark.domain.sending import BegunWave
from medhelm_spark.engines import factory_of
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.stages.context import Context, now

# The levels are those that the texts are sent with, so they are counted where they are made.
TEXTS = """
SELECT model_deployment, access_level, count(DISTINCT request_id) AS texts
FROM {requests} GROUP BY model_deployment, access_level
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    model_deployment: str
    access_level: AccessLevel
    texts: int


def record_begun(
    ctx: Context, write_id: str, requests: DataFrame, deployments: Mapping[str, Deployment]
) -> None:
    """Note how many texts a wave sends out of this job's processes, and where to: one commit."""
    away = [name for name, each in deployments.items() if _is_sent(each)]
    if not away:
        return
    sent = requests.where(F.col("model_deployment").isin(away))
    at = now()
    rows = [
        BegunWave(
            write_id=write_id,
            suite=ctx.suite,
            model_deployment=row.model_deployment,
            access_level=row.access_level,
            locality=deployments[row.model_deployment].locality or UNKNOWN,
            destination=factory_of(deployments[row.model_deployment]).destination(
                deployments[row.model_deployment]
            ),
            texts=row.texts,
            begun_at=at,
            in_flight=deployments[row.model_deployment].max_concurrency,
            most_tries=deployments[row.model_deployment].most_sends,
        )
        for row in rows_of(ctx.lake.query(TEXTS, requests=sent), _Texts)
    ]
    ctx.lake.append_rows("begun_waves", rows, write_id)


def _is_sent(deployment: Deployment) -> bool:
    """Whether its text leaves this job: to a server, or where nobody says that it stays."""
    is_local = deployment.locality is Locality.LOCAL
    return not is_local or bool(factory_of(deployment).place(deployment))
