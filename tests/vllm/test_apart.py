"""Two executor JVMs, as on a cluster: an engine in each, and none when they are gone."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from tests.processes import below, command_line
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
from tests.vllm.nouns import Recipients, questions, small
model, log, warehouse, count, max_tokens = sys.argv[1:]
apart = {"spark.master": "local-cluster[2,1,1024]", "spark.sql.warehouse.dir": warehouse}
spark = open_session({**load_settings(None, {}).spark, **apart})
prompts = questions(int(count), max_tokens=int(max_tokens))
frame = Lake(spark, "none").frame(prompts, type(prompts[0])).repartition(2)
answers = map_rows(frame, Recipients(small(model), log), type(prompts[0]), RequestResult)
found = rows_of(answers, RequestResult)
print(len({one.request_id for one in found if one.is_answer}), len(found), flush=True)
spark.stop()
"""


def start(model: str, log: Path, count: int, max_tokens: int = 8) -> "subprocess.Popen[str]":
    home = Path(find_spec("pyspark").origin).parent
    arguments = (model, str(log), str(log.parent), str(count), str(max_tokens))
    return subprocess.Popen(
        [sys.executable, "-c", JOB, *arguments],
        env={**os.environ, "SPARK_HOME": str(home), "PYTHONPATH": str(ROOT)},
        cwd=log.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def last_line(process: "subprocess.Popen[str]") -> str:
    output, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors[-2000:]
    return output.splitlines()[-1]


def test_each_of_two_executors_has_its_engine(model, tmp_path):
    before, log = engine_pids(), tmp_path / "log"
    assert last_line(start(model, log, 8)) == "8 8"
    assert len({pid for pid, _, _ in lines(log)}) == 2, "one Python worker in each executor"
    assert not wait_until_gone(engine_pids() - before)


def test_an_executor_killed_with_its_engine_costs_its_own_task(model, tmp_path):
    """Its JVM gets SIGKILL: its Python worker and engine end too, its task is done elsewhere."""
    before, log, count = engine_pids(), tmp_path / "log", 48
    process = start(model, log, count, max_tokens=32)
    while len(answers := Counter(int(pid) for pid, _, _ in lines(log))) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    victim = answers.most_common(1)[0][0]
    (executor,) = (
        pid
        for pid in below(process.pid)
        if "CoarseGrainedExecutorBackend" in command_line(pid) and victim in below(pid)
    )
    os.kill(executor, signal.SIGKILL)
    assert not wait_until_gone({victim})
    assert last_line(process) == f"{count} {count}"
    assert len({pid for pid, _, _ in lines(log)}) > 2, "a task was done again"
    assert not wait_until_gone(engine_pids() - before)
