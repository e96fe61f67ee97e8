"""YARN on this machine: Hadoop's own resource manager and node manager, a process each.

Containers are processes of this machine and see its files. The home that YARN names to them is not
there, as on machines whose `/home` has no folder for a job.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from getpass import getuser
from pathlib import Path
from urllib.request import Request, urlopen
from xml.sax.saxutils import escape

from tests.hadoop import SPARK_HOME, hadoop_jars, jars_of
from tests.processes import below, command_line
from tests.servers import HOST, free_port

SERVERS = "org.apache.hadoop.yarn.server"
RESOURCES = f"{SERVERS}.resourcemanager.ResourceManager"
NODE = f"{SERVERS}.nodemanager.NodeManager"
CERTIFICATES = "org.bouncycastle:bcpkix-jdk18on:1.82"
"""The resource manager's proxy makes certificates; Hadoop's jar lacks what it makes them with."""
STARTED = re.compile(r"Transitioned to active state")
REGISTERED = re.compile(r"Registered with ResourceManager as")
SECONDS = 90.0
WEB = "webapp.address"
NO_HOME = "/no/such/home"
LOG = """\
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""
DRIVER = "org.apache.spark.deploy.yarn.ApplicationMaster"


def java_home() -> Path:
    """Where this machine's Java is."""
    if home := os.environ.get("JAVA_HOME"):
        return Path(home)
    return Path(str(shutil.which("java"))).resolve().parents[1]


def node_settings(work: Path) -> dict[str, str]:
    """A node of ten gigabytes and four cores, whatever the machine has."""
    node = {
        "address": f"{HOST}:0",
        "localizer.address": f"{HOST}:0",
        "webapp.address": f"{HOST}:0",
        "local-dirs": str(work / "local"),
        "log-dirs": str(work / "logs"),
        "user-home-dir": NO_HOME,
        "resource.memory-mb": "10240",
        "resource.cpu-vcores": "4",
        "vmem-check-enabled": "false",
        "pmem-check-enabled": "false",
        "disk-health-checker.max-disk-utilization-per-disk-percentage": "99.5",
        # what a container was given and wrote stays, for whoever looks why it failed
        "delete.debug-delay-sec": "600",
    }
    return {f"yarn.nodemanager.{name}": value for name, value in node.items()}


def resource_addresses() -> dict[str, str]:
    """Where the resource manager listens: on this machine alone, at ports that are free."""
    names = ("address", "scheduler.address", "resource-tracker.address", "admin.address", WEB)
    return {name: f"{HOST}:{free_port()}" for name in names}


def scheduler_settings() -> dict[str, str]:
    """One queue, all of which drivers may take: two of them wait on so small a node otherwise."""
    settings = {
        "root.queues": "default",
        "root.default.capacity": "100",
        "maximum-am-resource-percent": "1.0",
    }
    return {f"yarn.scheduler.capacity.{name}": value for name, value in settings.items()}


def write_settings(path: Path, settings: Mapping[str, str]) -> None:
    """A file of Hadoop's configuration."""
    rows = [
        f"  <property><name>{name}</name><value>{escape(value)}</value></property>"
        for name, value in settings.items()
    ]
    path.write_text("\n".join(["<configuration>", *rows, "</configuration>", ""]))


def java(conf: Path, name: str, *words: str) -> list[str]:
    """The command of a class of Hadoop's, with the settings of a folder."""
    hadoop_classes = [*hadoop_jars("hadoop-client-minicluster"), *jars_of(CERTIFICATES)]
    jars = [*hadoop_classes, SPARK_HOME / "jars" / "*"]
    command = [
        java_home() / "bin" / "java", "-Xmx512m", "-XX:TieredStopAtLevel=1",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",  # as Hadoop's own scripts do
        "-cp", os.pathsep.join(map(str, [conf, *jars])), name, *words,
    ]  # fmt: skip
    return [str(part) for part in command]


def launch(folder: Path, name: str, ready: "re.Pattern[str]") -> "subprocess.Popen[bytes]":
    """Start a daemon with the settings of `folder/conf`, and wait until its log shows `ready`."""
    (folder / "conf" / "log4j2.properties").write_text(LOG)
    log = folder / f"{name.rpartition('.')[2]}.log"
    # Containers have their Java from the node's environment, and nothing of the tests'.
    inherited = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    with log.open("wb") as stream:
        process = subprocess.Popen(
            java(folder / "conf", name),
            cwd=folder,
            env={**inherited, "JAVA_HOME": str(java_home())},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + SECONDS
    while not ready.search(log.read_text(errors="replace")):
        assert process.poll() is None, log.read_text(errors="replace")[-4000:]
        if time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"{log.name} lacks {ready.pattern!r}")
        time.sleep(0.2)
    return process


@dataclass
class Yarn:
    """A resource manager and one node; `conf` is what spark-submit has as HADOOP_CONF_DIR."""

    folder: Path
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=resource_addresses)

    @property
    def conf(self) -> Path:
        return self.folder / "conf"

    def start(self) -> None:
        """Start both, and wait until the node is registered."""
        self.conf.mkdir(parents=True)
        write_settings(
            self.conf / "core-site.xml",
            {"fs.defaultFS": "file:///", "hadoop.tmp.dir": str(self.folder / "tmp")},
        )
        addresses = {f"yarn.resourcemanager.{name}": at for name, at in self.addresses.items()}
        smallest = {"yarn.scheduler.minimum-allocation-mb": "256"}
        write_settings(
            self.conf / "yarn-site.xml", addresses | smallest | node_settings(self.folder)
        )
        write_settings(self.conf / "capacity-scheduler.xml", scheduler_settings())
        for name, ready in ((RESOURCES, STARTED), (NODE, REGISTERED)):
            self.processes.append(launch(self.folder, name, ready))

    def stop(self) -> None:
        """End both and their containers, which are sessions of their own."""
        started = [one for process in self.processes for one in below(process.pid)]
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        for one in filter(command_line, started):
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    def containers(self, words: str) -> list[int]:
        """The groups of processes of the containers whose command has these words."""
        node = self.processes[-1].pid
        return sorted({os.getpgid(one) for one in below(node) if words in command_line(one)})

    def applications(self) -> list[str]:
        """Those that have had a container, the last one last."""
        return sorted(path.name for path in (self.folder / "logs").glob("application_*"))

    def kill(self, application: str) -> None:
        """What `yarn application -kill` does: SIGTERM to its containers, SIGKILL soon after."""
        state = Request(
            f"http://{self.addresses[WEB]}/ws/v1/cluster/apps/{application}/state"
            f"?user.name={getuser()}",
            data=b'{"state": "KILLED"}',
            headers={"Content-Type": "application/json"},
            method="PUT",
        )
        urlopen(state, timeout=30).close()

    def outputs(self, application: str) -> Iterator[tuple[str, str]]:
        """What the containers of an application printed, by `CONTAINER/STREAM`."""
        for path in sorted((self.folder / "logs" / application).rglob("std*")):
            yield f"{path.parent.name}/{path.name}", path.read_text(errors="replace")
