"""Marked text goes into every stage, every stage breaks, and no log shows a mark.

A process of its own runs the commands at log level INFO, which clusters use, and prints all that
driver and executors log. `broken/sitecustomize.py` breaks one function per step.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.lake.reader import open_reader
from tests.spark.conftest import Site

ROOT = Path(__file__).resolve().parents[2]
MARK = "PLANTED-"
COUNT = 3

DRIVER = """
import json, pathlib, sys
from medhelm_spark.cli import main
choice = pathlib.Path(sys.argv[1])
for name, argv in json.loads(pathlib.Path(sys.argv[2]).read_text()):
    choice.write_text(name)
    sys.stderr.write(f"STEP {name}\\n")
    sys.stderr.write(f"EXIT {name}={main(argv)}\\n")
"""

LOG4J = """
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = stderr
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = info
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d %p %c{1}: %m%n%ex
"""

# What breaks, the function that the error names, and the error's type.
STEPS = {
    "parser": ("Read", "ValueError at sitecustomize.py:"),
    "renderer": ("Renderer", "ValueError at sitecustomize.py:"),
    "engine": ("PullChunks", "ValueError at sitecustomize.py:"),
    "judge prompt": ("AskJudges", "ValueError at sitecustomize.py:"),
    "judge parser": ("ReadVerdicts", "ValueError at sitecustomize.py:"),
    "metric": ("Scorer", "ValueError at sitecustomize.py:"),
    "metric type": ("Scorer", "TypeError at stats.py:"),
    "responses": ("ReadResponses", "ValueError at sitecustomize.py:"),
}


def planted_entry(site: Site) -> str:
    """A gated benchmark with marks in every cell, a model that repeats them, a judge that adds."""
    site.deploy("acme/echo", mode="echo")
    site.deploy("acme/judge", mode="judge", score=3, text=f"{MARK}JUDGE")
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
    }
    prompt = (
        '<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
        "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
    )
    rows = [
        {"id": f"{MARK}ID-{i}", "question": f"{MARK}CELL-{i}", "correct_answer": f"{MARK}GOLD-{i}"}
        for i in range(COUNT)
    ]
    return site.benchmark(
        "bench", rows, metrics=["exact_match", jury], judge_prompt=prompt, access_level="gated"
    )


def response_file(path: Path, *, broken: bool = False) -> str:
    rows = [{"source_id": f"{MARK}ID-{i}", "completion": f"{MARK}FILE-{i}"} for i in range(COUNT)]
    lines = [json.dumps(row)[: -1 if broken else None] + "\n" for row in rows]
    path.write_text("".join(lines))
    return str(path)


def commands(site: Site) -> list[tuple[str, list[str]]]:
    entry = planted_entry(site)
    location_flags = ["--suite", "s", "-o", str(site.lake_path), "--no-tracking"]
    location_flags += ["--local-path", str(site.folder / "prod_env")]
    run = ["run", "-r", f"{entry},model=acme/echo", *location_flags]
    attest_flags = ["--attest-locality", "local"]
    take = [
        "import-responses",
        "-r",
        f"{entry},model=team/model",
        *location_flags,
        *attest_flags,
        "--file",
    ]
    good = response_file(site.folder / "good.jsonl")
    bad = response_file(site.folder / "bad.jsonl", broken=True)
    steps = [(name, run) for name in STEPS if name != "responses"]
    return [
        *steps,
        ("nothing", run),
        ("responses", [*take, good]),
        ("broken file", [*take, bad]),
        ("unknown id", ["import-responses", *run[1:], "--file", good, "--fields", "source_id=x"]),
    ]


def logs_of(site: Site) -> str:
    """Everything that one process with all the steps printed."""
    (site.folder / "steps.json").write_text(json.dumps(commands(site)))
    (site.folder / "log4j2.properties").write_text(LOG4J)
    # One attempt per task: each would log the same again.
    settings = "spark: {spark.log.level: INFO, spark.master: 'local[2,1]'}\n"
    (site.folder / "prod_env" / "settings.yaml").write_text(settings)
    choice = site.folder / "choice"
    choice.write_text("")
    log = site.folder / "log"
    with log.open("w") as stream:
        process = subprocess.run(
            [sys.executable, "-c", DRIVER, str(choice), str(site.folder / "steps.json")],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(
                    [str(ROOT / "tests" / "spark" / "broken"), str(ROOT)]
                ),
                "MEDHELM_SPARK_TEST_BREAK": str(choice),
                "SPARK_CONF_DIR": str(site.folder),
            },
            cwd=site.folder,
            stdout=stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    assert process.returncode == 0, f"see {log}"
    return log.read_text(errors="replace")


@pytest.mark.long
def test_no_marked_text_is_logged_whatever_breaks(tmp_path: Path, spark: SparkSession) -> None:
    site = Site(tmp_path, spark)
    logs = logs_of(site)
    assert " INFO " in logs, "Spark logs what it does"
    for name, (function, error) in STEPS.items():
        step = logs.partition(f"STEP {name}\n")[2].partition(f"EXIT {name}=")
        assert step[2].startswith("1\n"), name
        messages = [line for line in step[0].splitlines() if line.startswith("medhelm-spark: ")]
        assert len(messages) == 1, name
        assert f"{function} failed with {error}" in messages[0]
    assert "EXIT nothing=0\n" in logs, "the breaking was what broke it"
    assert "line 1: broken_json" in logs
    marked_lines = [line[:300] for line in logs.splitlines() if MARK in line]
    assert not marked_lines
    stored = open_reader(str(site.lake_path)).query("SELECT completions FROM {request_results}")
    assert MARK in str(stored.to_pylist()), "the marks went all the way"
    for commit in site.lake_path.glob("*/_delta_log/*.json"):
        assert MARK not in commit.read_text(), commit.parent.parent.name
