"""What `doctor --offline` and `doctor --egress` find."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pyspark import __version__ as pyspark_version

from medhelm_spark.air_gap.addresses import by_hand, derived
from medhelm_spark.air_gap.bundle import problems_of
from medhelm_spark.air_gap.egress import OPEN, OUTSIDE, TriedEgress, from_executors, try_all
from medhelm_spark.doctor import CheckFinding, CheckState
from medhelm_spark.doctor.checks import DRIVER
from medhelm_spark.engines.model_files import model_file
from medhelm_spark.errors import SetupError
from medhelm_spark.lake.jvm import PACKAGES, delta_conf
from medhelm_spark.workspace.workspace import Workspace

OFFLINE, EGRESS = "offline", "egress"
SHOWN = 5


def offline_findings(workspace: Workspace, bundle: Path | None) -> Iterator[CheckFinding]:
    """Whether this machine, and a bundle where one is named, has what an offline run needs."""
    if bundle:
        yield from _of_bundle(bundle)
    jars = "Delta's jars are in the cache"
    if PACKAGES in delta_conf(pyspark_version):
        cure = "take a bundle's cache (. BUNDLE/env.sh), or set MEDHELM_SPARK_JARS"
        yield _finding(OFFLINE, DRIVER, CheckState.WRONG, "Delta's jars are not here", cure)
    else:
        yield _finding(OFFLINE, DRIVER, CheckState.OK, jars)
    try:
        yield _finding(OFFLINE, DRIVER, CheckState.OK, f"embedded model: {model_file()}")
    except SetupError:
        cure = "take a bundle's cache (. BUNDLE/env.sh), if you use the model"
        yield _finding(OFFLINE, DRIVER, CheckState.WARNING, "the embedded model is not here", cure)
    for address in derived(workspace):
        yield _finding(OFFLINE, DRIVER, CheckState.OK, f"left open: {address}")


def _of_bundle(bundle: Path) -> Iterator[CheckFinding]:
    problems = list(problems_of(bundle))
    cure = "copy the bundle again, or make it anew by `doctor bundle`"
    for problem in problems[:SHOWN]:
        yield _finding(OFFLINE, str(bundle), CheckState.WRONG, problem, cure)
    if len(problems) > SHOWN:
        more = f"and {len(problems) - SHOWN:,} more"
        yield _finding(OFFLINE, str(bundle), CheckState.WRONG, more, cure)
    if not problems:
        yield _finding(OFFLINE, str(bundle), CheckState.OK, "every file is as it was made")


def egress_findings(
    workspace: Workspace, addresses: Sequence[str], *, on_executors: bool
) -> Iterator[CheckFinding]:
    """Whether a connection can be made to addresses that must be closed, and to those on the list.

    Args:
        workspace: the site, whose files give the list.
        addresses: what has to be closed, as HOST or HOST:PORT; none: OUTSIDE.
        on_executors: whether each executor tries too, for which Spark is started.
    """
    closed = tuple(by_hand(addresses)) or OUTSIDE
    needed = tuple((each.host, each.port) for each in derived(workspace) if each.port)
    every = (*closed, *(server for server in needed if server not in closed))
    machines = [try_all(every, DRIVER)]
    if on_executors:
        machines += from_executors(workspace, every)
    for machine in machines:
        yield from _judged(machine, len(closed))
    if not on_executors:
        cure = "add --executors: their machines may have another rule"
        yield _finding(EGRESS, "executors", CheckState.WARNING, "not looked at", cure)


def _judged(machine: TriedEgress, num_closed: int) -> Iterator[CheckFinding]:
    where = machine.name if machine.name == DRIVER else f"executor {machine.name}"
    for index, (tried, outcome) in enumerate(zip(machine.tried, machine.outcomes, strict=True)):
        found = f"{tried}: {outcome}"
        if index < num_closed and outcome == OPEN:
            cure = "close it by the site's network rule: only what a run needs may be reached"
            yield _finding(EGRESS, where, CheckState.WRONG, found, cure)
        elif index >= num_closed and outcome != OPEN:
            cure = "the site's files name this server: open the rule for it"
            yield _finding(EGRESS, where, CheckState.WARNING, found, cure)
        else:
            yield _finding(EGRESS, where, CheckState.OK, found)


def _finding(
    check: str, where: str, state: CheckState, found: str, remedy: str = ""
) -> CheckFinding:
    return CheckFinding(check=check, where=where, state=state, found=found, remedy=remedy)
