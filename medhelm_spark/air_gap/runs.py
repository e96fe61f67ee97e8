"""The record of an evaluation that is offline (`features`)."""

from medhelm_spark.air_gap.guard import SWITCHES, is_offline, listed, texts_of
from medhelm_spark.air_gap.tables import OfflineRun
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.user import this_user
from medhelm_spark.pipeline.prepare import Prepared
from medhelm_spark.stages.context import Context, now
from medhelm_spark.workspace.workspace import Workspace


def prepared(prepared: Prepared) -> None:
    """Record the list that is in force, before a model is asked."""
    if not is_offline():
        return
    row = OfflineRun(
        suite=prepared.ctx.suite,
        began_at=now(),
        began_by=this_user(),
        addresses=texts_of(listed()),
        switches=tuple(f"{name}={value}" for name, value in sorted(SWITCHES.items())),
    )
    prepared.ctx.lake.append_rows("offline_runs", [row], new_write_id())


def summarized(workspace: Workspace, ctx: Context) -> None:
    """Do nothing: the list was recorded when the run began."""
