"""A process of its own runs a private benchmark: nobody else can read what it leaves."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.conftest import Site, questions

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import sys
from medhelm_spark.cli import main
from pyspark.sql import SparkSession
code = main(sys.argv[1:])
context = SparkSession.getActiveSession().sparkContext
conf, blocks = context.getConf(), context._jvm.org.apache.spark.SparkEnv.get().blockManager()
reply = reply_of(blocks.blockManagerId().host(), blocks.blockManagerId().port())
encrypted, local = conf.get("spark.io.encryption.enabled"), conf.get("spark.local.dir")
print("SaslMessage" in reply, encrypted, local, code)
"""
STRANGER = '''
import socket, struct
def reply_of(host, port):
    """What Spark's server of blocks answers a process that shows no secret and requests one."""
    def text(value):
        return struct.pack(">I", len(value)) + value
    request = struct.pack(">I", 1) + text(b"broadcast_0_piece0")
    body = b"\\0" + text(b"app") + text(b"driver") + request
    head = struct.pack(">bqI", 3, 1, len(body))
    with socket.create_connection((host, port)) as connected:
        connected.sendall(struct.pack(">q", 8 + len(head) + len(body)) + head + body)
        reply = connected.makefile("rb")
        (size,) = struct.unpack(">q", reply.read(8))
        return reply.read(size - 8).decode("latin-1")
'''


@pytest.mark.long
@pytest.mark.attack("rest", "what Spark holds in memory, asked for at its ports by another user")
@pytest.mark.attack("rest", "a local lake, mlflow.db and Spark's folders, read by another user")
def test_nobody_else_reads_what_a_private_run_leaves(tmp_path: Path, spark: SparkSession) -> None:
    site = Site(tmp_path, spark)
    site.deploy("acme/yes", text="yes")
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o755)
    entry = f"{site.benchmark('bench', questions(3), access_level='private')},model=acme/yes"
    location_flags = ["-o", str(site.lake_path), "--local-path", str(tmp_path / "prod_env")]
    before = os.umask(0o022)
    try:
        completed = subprocess.run(
            [
                sys.executable,
                "-c",
                STRANGER + CHILD,
                "run",
                "-r",
                entry,
                "--suite",
                "s",
                *location_flags,
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.umask(before)
    refused, encrypted, local, code = completed.stdout.split()[-4:]
    assert (refused, encrypted, code) == ("True", "true", "0"), completed.stderr
    assert Path(local).parent.parent == temporary
    paths = [site.lake_path, *site.lake_path.rglob("*"), *temporary.rglob("*")]
    assert site.lake_path / "mlflow.db" in paths
    assert len([path for path in paths if path.suffix == ".parquet"]) > 5
    open_to_others = [
        path
        for path in paths
        if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    assert not open_to_others
