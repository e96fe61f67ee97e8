"""Files of the working folder that are called like modules, beside a session that is started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("random", "pandas", "json", "medhelm_spark_site", "sitecustomize")
PLANTED = """
import os, pathlib
pathlib.Path(os.environ["PLANTED_MARKS"], "{name}").touch()
"""
DRIVER = """
import os
from medhelm_spark.workspace.session import session_of, settings_of

def modules(batches):
    import random, sys
    for batch in batches:
        assert os.getcwd() not in sys.path and "" not in sys.path, sys.path
        yield batch

settings = settings_of(None)
for clients in ((), ("random",)):
    spark = session_of(settings, clients=clients)
    spark.range(4).repartition(2).mapInArrow(modules, "id long").count()
print("done")
"""


@pytest.mark.long
@pytest.mark.attack("code", "a random.py of the working folder, imported by Spark's Python workers")
def test_workers_import_nothing_of_the_working_folder(tmp_path: Path) -> None:
    folder, marks = tmp_path / "work", tmp_path / "marks"
    folder.mkdir()
    marks.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(PLANTED.format(name=name))
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    completed = subprocess.run(
        [sys.executable, "-P", "-c", DRIVER],
        cwd=folder,
        env={**own, "PLANTED_MARKS": str(marks)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.stdout.splitlines()[-1:] == ["done"], completed.stderr[-2000:]
    assert not list(marks.iterdir())
