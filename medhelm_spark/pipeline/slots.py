"""How many engines of a run's models would run at once, told by `--dry-run`."""

from collections.abc import Iterable

from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import SetupError
from medhelm_spark.lake.session import is_started
from medhelm_spark.stages.infer.capacity import slot_lines, slots_by_name
from medhelm_spark.workspace.workspace import Workspace


def print_slots(workspace: Workspace, deployments: Iterable[Deployment]) -> None:
    """Say how many engines that load a model run at once here, and where the number comes from.

    No session is started for it: on a cluster that has none yet a run itself tells it. GPUs that
    Spark does not count are looked for by a run alone, too.
    An engine that no executor has the GPUs for is told, not refused.
    """
    own = [each for each in deployments if factory_of(each).exclusive]
    is_local = workspace.settings.platform is Platform.LOCAL
    if is_local:  # the one engine that a machine without GPUs holds goes without saying
        own = [each for each in own if factory_of(each).gpus(each) != 0]
    if not own:
        return
    if is_local or workspace.provided_session or is_started():
        try:
            lines = slot_lines(slots_by_name(workspace.cluster(), own, workspace.settings.slots))
        except SetupError as error:
            lines = [f"slots: {error}"]
        for line in lines:
            workspace.say(line)
    else:
        workspace.say("slots: not known before Spark is started")
