"""HDFS on this machine: Hadoop's own name node and one data node, a process each."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import HOST, free_port
from tests.yarn.daemons import java, launch, write_settings

SERVER = "org.apache.hadoop.hdfs.server"
NAMES = f"{SERVER}.namenode.NameNode"
DATA = f"{SERVER}.datanode.DataNode"
SHELL = "org.apache.hadoop.fs.FsShell"
STARTED = re.compile(r"NameNode RPC up at")
REGISTERED = re.compile(r"successfully registered with NN")


@dataclass
class Hdfs:
    """A file system of its own; `conf` is what a driver has as HADOOP_CONF_DIR."""

    folder: Path
    port: int = field(default_factory=free_port)
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def conf(self) -> Path:
        return self.folder / "conf"

    @property
    def address(self) -> str:
        return f"hdfs://{HOST}:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings of `hdfs-site.xml`: one copy of each block, everybody may write."""
        nodes = {
            "namenode.name.dir": str(self.folder / "names"),
            "namenode.rpc-bind-host": HOST,
            "namenode.http-address": f"{HOST}:0",
            "namenode.safemode.extension": "0",
            "datanode.data.dir": str(self.folder / "data"),
            "replication": "1",
            "permissions.enabled": "false",
        }
        ports = ("address", "http.address", "ipc.address")
        listening = {f"datanode.{name}": f"{HOST}:0" for name in ports}
        return {f"dfs.{name}": value for name, value in {**nodes, **listening}.items()}

    def start(self) -> None:
        """Format it, start both, and wait until the data node is registered."""
        self.conf.mkdir(parents=True)
        core_settings = {"fs.defaultFS": self.address, "hadoop.tmp.dir": str(self.folder / "tmp")}
        write_settings(self.conf / "core-site.xml", core_settings)
        write_settings(self.conf / "hdfs-site.xml", self.settings)
        self._do(NAMES, "-format", "-nonInteractive")
        for name, ready in ((NAMES, STARTED), (DATA, REGISTERED)):
            self.processes.append(launch(self.folder, name, ready))

    def stop(self) -> None:
        """End both."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def copied(self, source: str, target: Path) -> Path:
        """A folder of HDFS as one of this machine."""
        self._do(SHELL, "-get", source, str(target))
        return target

    def _do(self, name: str, *words: str) -> None:
        done = subprocess.run(
            java(self.conf, name, *words), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-4000:]
