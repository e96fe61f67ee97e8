"""A standalone cluster on this machine whose workers see none of the driver's folders.

Master and workers are Spark's own classes. Each worker runs in a mount namespace of its own, in
which an empty folder is mounted over the driver's, with a home, cache and working folder of its
own; what they share with the driver is the lake. A path of the driver's that a task opens does not
exist.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = "Successfully registered with master"
SECONDS = 90.0


@dataclass
class Standalone:
    """A master and its workers; `hidden` are folders that workers must not see."""

    folder: Path
    hidden: tuple[Path, ...]
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    url: str = ""

    def start(self, workers: int, *, gpus: int = 0, cores: int = 1) -> None:
        """Start the master and this many workers of so many cores, announcing GPUs."""
        log = self.folder / "master.log"
        arguments = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self._launch("master.Master", arguments, log, self.folder / "master", {})
        self.url = self._seen(log, STARTED)
        for number in range(workers):
            own_folder = self.folder / f"worker-{number}"
            log = self.folder / f"worker-{number}.log"
            arguments = (
                *(
                    "--host",
                    "127.0.0.1",
                    "--webui-port",
                    "0",
                    "--work-dir",
                    str(own_folder / "work"),
                ),
                *("--cores", str(cores), "--memory", f"{cores}g", self.url),
            )
            devices = self._devices(own_folder, gpus) if gpus else {}
            self._launch("worker.Worker", arguments, log, own_folder, devices, is_apart=True)
            self._seen(log, re.compile(REGISTERED))

    def stop(self) -> None:
        """End what was started, the executors with it."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)  # executors unpack half a gigabyte each

    def _launch(
        self,
        name: str,
        arguments: tuple[str, ...],
        log: Path,
        own_folder: Path,
        environment: Mapping[str, str],
        *,
        is_apart: bool = False,
    ) -> None:
        own_folder.mkdir(parents=True)
        home = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
        spark_class = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
        command = [*spark_class, *arguments]
        if is_apart:
            cover = " && ".join(f"mount -t tmpfs none '{folder}'" for folder in self.hidden)
            command = ["unshare", "--mount", "sh", "-c", f'{cover} && exec "$@"', "sh", *command]
        inherited = ("PATH", "JAVA_HOME", "LANG")
        variables = {key: os.environ[key] for key in inherited if key in os.environ}
        variables |= {
            "HOME": str(own_folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(own_folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_NO_DAEMONIZE": "1",
            **environment,
        }
        (own_folder / "local").mkdir()
        with log.open("wb") as stream:
            self.processes.append(
                subprocess.Popen(
                    command,
                    cwd=own_folder,
                    env=variables,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def _devices(self, own_folder: Path, gpus: int) -> dict[str, str]:
        """A worker's own announcement of GPUs, as a discovery script makes it."""
        script = self.folder / f"{own_folder.name}-gpus.sh"
        addresses = ",".join(f'"{number}"' for number in range(gpus))
        script.write_text(f'#!/bin/sh\necho \'{{"name": "gpu", "addresses": [{addresses}]}}\'\n')
        script.chmod(0o755)
        options = {
            "spark.worker.resource.gpu.amount": str(gpus),
            "spark.worker.resource.gpu.discoveryScript": str(script),
        }
        return {"SPARK_WORKER_OPTS": " ".join(f"-D{key}={value}" for key, value in options.items())}

    def _seen(self, log: Path, pattern: "re.Pattern[str]") -> str:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if found := pattern.search(log.read_text(errors="replace")):
                return found[found.lastindex or 0]
            assert self.processes[-1].poll() is None, log.read_text(errors="replace")[-2000:]
            time.sleep(0.1)
        raise AssertionError(f"{log.name} does not show {pattern.pattern!r} in {SECONDS:.0f} s")
