"""Two executor JVMs, as on a cluster: an engine in each, and none when they are gone."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.vllm.nouns import lines
from tests.vllm.processes import engine_pids, wait_until_gone

ROOT = Path(__file__).resolve().parents[2]
JOB = """
import sys
from medhelm_spark.config.settings import load_settings
from medhelm_spark.domain.request import RequestResult
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.lake.session import open_session
from tests.vllm.nouns import Asking, questions, small
model, log, warehouse = sys.argv[1:]
apart = {"spark.master": "local-cluster[2,1,1024]", "spark.sql.warehouse.dir": warehouse}
spark = open_session({**load_settings(None, {}).spark, **apart})
asked = questions(8)
frame = Lake(spark, "none").frame(asked, type(asked[0])).repartition(2)
answers = map_rows(frame, Asking(small(model), log), type(asked[0]), RequestResult)
found = rows_of(answers, RequestResult)
print(len([one for one in found if one.is_answer]), flush=True)
spark.stop()
"""


def test_each_of_two_executors_has_its_engine(model, tmp_path):
    before, log = engine_pids(), tmp_path / "log"
    home = Path(find_spec("pyspark").origin).parent
    done = subprocess.run(
        [sys.executable, "-c", JOB, model, str(log), str(tmp_path)],
        env={**os.environ, "SPARK_HOME": str(home), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.stdout.splitlines()[-1:] == ["8"], done.stderr[-2000:]
    assert len({pid for pid, _, _ in lines(log)}) == 2, "one Python worker in each executor"
    assert not wait_until_gone(engine_pids() - before)
