"""What an order is about to send beyond this job, noted before it is sent."""

from collections import Counter
from collections.abc import Iterable, Mapping

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import UNKNOWN, Deployment, Locality
from medhelm_spark.domain.sending import BegunOrder
from medhelm_spark.engines import factory_of
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer.order import OrderedChunk

ANY = 1 << 62
"""In flight where each text may be: it is never more than the texts without a result."""


def record_begun(
    ctx: Context,
    write_id: str,
    chunks: Iterable[OrderedChunk],
    deployments: Mapping[str, Deployment],
    *,
    is_ended: bool,
) -> None:
    """Note how many texts are sent out of this job's processes, and where to: one commit.

    Before the job `is_ended`, answers may wait for their commit, and each text without one may have
    been sent; then only what was in flight. Of several rows for one write the highest number of
    texts and the lowest in flight count: those that join an order later are listed with those of
    before, and any of them may be in flight.
    """
    away = {name: each for name, each in deployments.items() if is_sent(each)}
    texts: Counter[tuple[str, AccessLevel]] = Counter()
    for chunk in chunks:
        for level in AccessLevel:
            texts[chunk.model_deployment, level] += chunk.count(level)
    at = now()
    rows = [
        BegunOrder(
            write_id=write_id,
            suite=ctx.suite,
            model_deployment=name,
            access_level=level,
            locality=away[name].locality or UNKNOWN,
            destination=factory_of(away[name]).destination(away[name]),
            texts=count,
            begun_at=at,
            in_flight=away[name].max_concurrency if is_ended else ANY,
            most_tries=away[name].most_sends,
        )
        for (name, level), count in sorted(texts.items())
        if count and name in away
    ]
    ctx.lake.append_rows("begun_waves", rows, write_id)


def is_sent(deployment: Deployment) -> bool:
    """Whether its text leaves this job: to a server, or where nobody says that it stays."""
    is_local = deployment.locality is Locality.LOCAL
    return not is_local or bool(factory_of(deployment).place(deployment))
