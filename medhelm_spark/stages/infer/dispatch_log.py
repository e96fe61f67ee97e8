"""Records what an order is about to send beyond this job, before it is sent."""

from collections import Counter
from collections.abc import Iterable, Mapping

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import UNKNOWN, Deployment, Locality
from medhelm_spark.domain.sending import BegunOrder
from medhelm_spark.engines import factory_of
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer.order import OrderedChunk

ANY = 1 << 62
"""`in_flight` while each text without a result may be in flight."""


def record_begun(
    ctx: Context,
    write_id: str,
    chunks: Iterable[OrderedChunk],
    deployments: Mapping[str, Deployment],
    *,
    is_ended: bool,
) -> None:
    """Record how many texts are sent out of this job's processes, and where to, in one commit.

    Before the job `is_ended`, answers may wait for their commit, and each text without an answer
    may have been sent; afterwards only those that were in flight. Of several rows for one write the
    highest `texts` and the lowest `in_flight` count: a later row also counts the texts that were
    listed before.
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
    """Whether its text leaves this job: it goes to a server, or its locality is not local."""
    is_local = deployment.locality is Locality.LOCAL
    return not is_local or bool(factory_of(deployment).host(deployment))
