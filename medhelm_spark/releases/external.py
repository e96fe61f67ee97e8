"""Releases that were made elsewhere, pinned with the status `external`."""

from collections.abc import Collection, Mapping

from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.releases.pinned import CURRENT_RELEASES
from medhelm_spark.releases.publish import publish
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.stages.context import Context


def own_releases(ctx: Context) -> Mapping[str, str]:
    """The releases of the lake that were not made elsewhere, with what each began as."""
    rows = ctx.lake.rows(CURRENT_RELEASES, ReleaseMember)
    return {row.release: row.status for row in rows if row.status != ReleaseStatus.EXTERNAL}


def pin_external(ctx: Context, name: str, runs: Collection[str], policy: Policy) -> None:
    """Pin these runs of the context's suite as an external release."""
    publish(ctx, name, [ctx.suite], policy=policy, status=ReleaseStatus.EXTERNAL, names=runs)
