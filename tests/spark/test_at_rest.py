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
conf = SparkSession.getActiveSession().sparkContext.getConf()
print(conf.get("spark.io.encryption.enabled"), conf.get("spark.local.dir"), code)
"""


@pytest.mark.attack("rest", "a local lake, mlflow.db and Spark's folders, read by another user")
def test_nobody_else_reads_what_a_private_run_leaves(tmp_path: Path, spark: SparkSession) -> None:
    site = Site(tmp_path, spark)
    site.deploy("acme/yes", text="yes")
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o755)
    entry = f"{site.benchmark('bench', questions(3), access_level='private')},model=acme/yes"
    where = ["-o", str(site.lake_path), "--local-path", str(tmp_path / "prod_env")]
    before = os.umask(0o022)
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, "run", "-r", entry, "--suite", "s", *where],
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.umask(before)
    encrypted, local, code = done.stdout.split()[-3:]
    assert (encrypted, code) == ("true", "0"), done.stderr
    assert Path(local).parent.parent == temporary
    left = [site.lake_path, *site.lake_path.rglob("*"), *temporary.rglob("*")]
    assert site.lake_path / "mlflow.db" in left
    assert len([path for path in left if path.suffix == ".parquet"]) > 5
    open_to_others = [
        path for path in left if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    assert not open_to_others
