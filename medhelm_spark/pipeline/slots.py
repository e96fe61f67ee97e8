"""Prints for `--dry-run` how many engines of a run's models would run at once."""

from collections.abc import Iterable

from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import SetupError
from medhelm_spark.lake.session import is_started
from medhelm_spark.stages.infer.capacity import slot_lines, slots_by_name
from medhelm_spark.workspace.workspace import Workspace


def print_slots(workspace: Workspace, deployments: Iterable[Deployment]) -> None:
    """Print how many engines that load a model run at once here, and the source of the number.

    It starts no session: on a cluster without one, only a run prints the number. GPUs that Spark
    does not count are also counted only by a run.
    If no executor has the GPUs for an engine, that is printed and not refused.
    """
    own = [each for each in deployments if factory_of(each).exclusive]
    is_local = workspace.settings.platform is Platform.LOCAL
    if is_local:  # a machine without GPUs always has one engine
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
