"""Small runs beside inspect_ai and MedHELM: the same questions through the same server, in one run.

Every way is a process of its own, from nothing to scores; the server answers at once, so that what
is measured is each program's own time. Ours is measured three times: on a fresh lake, again where
nothing is left to do, and as a second run of other questions in one session. Under it lies what
any program on Spark pays: the floor, part by part; and where the time of ten questions on a fresh
lake went, by the lines that the command prints as it goes.

    python -m benchmarks.small [--inspect VENV] [--medhelm VENV] [--sizes 10 2000 10000]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from compileall import compile_dir
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

import medhelm_spark
from benchmarks.answering_server import answering
from benchmarks.loads import ORIGINAL, abstracts, write_benchmark

PORT = 8012
URL = f"http://127.0.0.1:{PORT}/v1"
MODEL = "local/yes"
OURS, INSPECT, THEIRS = "medhelm_spark", "0.3.285", "0.8.0"
ENTRY = "medhelm_configurable_benchmark:config_path={}benchmark.yaml,model=" + MODEL
PROMPT = "Abstract: {context}\n\nQuestion: {question}\n\nReply with one word: yes, no or maybe."
CONCURRENCY = 64
SIZES = (10, 2_000, 10_000)
MAX_TOKENS = 16

INSPECT_TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.scorer import exact
from inspect_ai.solver import generate


@task
def questions():
    return Task(dataset=json_dataset("samples.jsonl"), solver=generate(), scorer=exact())
"""
FLOOR = """
import time
parts = [time.perf_counter()]
import medhelm_spark.cli
parts.append(time.perf_counter())
from medhelm_spark.config.settings import load_settings
from medhelm_spark.lake.session import open_session
spark = open_session(load_settings(None).spark)
parts.append(time.perf_counter())
spark.range(10).selectExpr("id AS key", "id % 3 AS rest").createOrReplaceTempView("numbers")
spark.sql("SELECT rest, count(*) FROM numbers GROUP BY rest").toArrow()
parts.append(time.perf_counter())
spark.range(10).mapInArrow(lambda batches: batches, "id long").toArrow()
parts.append(time.perf_counter())
spark.range(10).write.format("delta").save("floor")
parts.append(time.perf_counter())
spark.read.format("delta").load("floor").toArrow()
parts.append(time.perf_counter())
print(*(after - before for before, after in zip(parts, parts[1:])))
"""
FLOOR_PARTS = (
    "Python and its imports",
    "JVM and session",
    "first query",
    "first Python worker",
    "first Delta commit by Spark",
    "first read of it",
)
PROGRESS_PARTS = {
    "ingest: ": "start, JVM, first query and ingest",
    "plan: ": "plan",
    "infer: requests": "infer, until it asks",
    "score: ": "answers and score",
    "summarize: ": "summarize",
}
"""How the lines begin that a run prints, and what is done when each comes."""

SECOND_RUN = """
import sys, time
from medhelm_spark import Evaluation
evaluation = Evaluation("lake-session", site="ours", tracking=False)
for number, entry in enumerate(sys.argv[1:]):
    started = time.perf_counter()
    evaluation.run(entry, suite=f"s{number}")
    print(time.perf_counter() - started, flush=True)
"""


def write_all(folder: Path, data: Path, count: int) -> None:
    """The questions in the form of each program, with its configuration.

    The folders `first` and `second` contain as many questions each, which differ in their wording.
    """
    texts = abstracts(data, min(count, 1000))
    for name in ("first", "second"):
        # Where there are fewer abstracts than questions, a number makes each request a new one.
        rows = [
            {
                "context": texts[number % len(texts)][0],
                "question": f"{name} {number}: {texts[number % len(texts)][1]}",
                "correct_answer": texts[number % len(texts)][2],
            }
            for number in range(count)
        ]
        (folder / name).mkdir()
        write_benchmark(folder / name, PROMPT, MAX_TOKENS, rows)
    samples = ({"input": PROMPT.format(**row), "target": row["correct_answer"]} for row in rows)
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in samples))
    (folder / "questions.py").write_text(INSPECT_TASK)
    _write_ours(folder / "ours")
    _write_theirs(folder / "theirs")


def _write_ours(folder: Path) -> None:
    deployment = {
        "name": MODEL,
        "engine": "openai",
        "locality": "local",
        "max_concurrency": CONCURRENCY,
        "client_spec": {"args": {"base_url": URL, "model": "yes", "logprobs": False}},
    }
    _write(folder, model_deployments=[deployment])


def _write_theirs(folder: Path) -> None:
    """MedHELM's own, with its tokenizer of white space, which needs no download."""
    deployment = {
        "name": MODEL,
        "model_name": MODEL,
        "tokenizer_name": MODEL,
        "max_sequence_length": 100_000,
        "client_spec": {
            "class_name": "helm.clients.vllm_client.VLLMChatClient",
            "args": {"base_url": f"{URL}/", "vllm_model_name": "yes"},
        },
    }
    tokenizer = {
        "name": MODEL,
        "tokenizer_spec": {"class_name": "helm.tokenizers.simple_tokenizer.SimpleTokenizer"},
        "prefix_token": "",
        "end_of_text_token": "",
    }
    model = {
        "name": MODEL,
        "display_name": "yes",
        "description": "Always yes.",
        "creator_organization_name": "none",
        "access": "open",
        "release_date": date(2025, 1, 1),
        "tags": ["TEXT_MODEL_TAG", "INSTRUCTION_FOLLOWING_MODEL_TAG"],
    }
    _write(folder, model_deployments=[deployment], tokenizer_configs=[tokenizer])
    (folder / "model_metadata.yaml").write_text(yaml.safe_dump({"models": [model]}))


def _write(folder: Path, **files: Any) -> None:
    folder.mkdir()
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({name: content}))


def ours(lake: str) -> list[str]:
    """The command of ours."""
    return [
        sys.executable, "-m", "medhelm_spark.cli", "run", "-r", ENTRY.format("first/"),
        "--suite", "s", "-o", lake, "--local-path", "ours", "--no-tracking",
    ]  # fmt: skip


def inspect(venv: Path) -> list[str]:
    """The command of inspect_ai, as many requests at once as ours."""
    return [
        str(venv / "bin" / "inspect"), "eval", "questions.py", "--model", "openai-api/local/yes",
        "--max-connections", str(CONCURRENCY), "--max-samples", str(CONCURRENCY),
        "--display", "none", "--log-dir", "logs",
    ]  # fmt: skip


def medhelm(venv: Path) -> list[str]:
    """The command of MedHELM, without its cache."""
    return [
        str(venv / "bin" / "medhelm-run"), "--run-entries", ENTRY.format(""), "-m", "1000000",
        "-o", "out",
        "--local-path", "../theirs", "--disable-cache", "-n", str(CONCURRENCY), "--suite", "s",
    ]  # fmt: skip


def seconds_of(command: Sequence[str], folder: Path) -> float:
    """How long a command takes in a folder; SystemExit where it fails."""
    env = {"LOCAL_BASE_URL": URL, "LOCAL_API_KEY": "none", "HF_HUB_OFFLINE": "1"}
    started = time.perf_counter()
    process = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    if process.returncode:
        raise SystemExit(
            f"{' '.join(command)} failed:\n{(process.stdout + process.stderr)[-3000:]}"
        )
    return time.perf_counter() - started


def parts_of(command: Sequence[str], folder: Path) -> dict[str, float]:
    """Seconds of a run by its parts, as its lines on standard error come."""
    started, last = time.perf_counter(), 0.0
    parts: dict[str, float] = {}
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with process:
        for line in process.stderr or ():
            now = time.perf_counter() - started
            for part in (
                part for begins, part in PROGRESS_PARTS.items() if line.startswith(begins)
            ):
                parts[part], last = now - last, now
    if process.returncode or len(parts) < len(PROGRESS_PARTS):
        raise SystemExit(f"{' '.join(command)} failed or printed other lines: {list(parts)}")
    return {**parts, "board and end": time.perf_counter() - started - last}


def second_run(folder: Path) -> float:
    """The second of two runs of other questions in one session."""
    entries = [ENTRY.format("first/"), ENTRY.format("second/")]
    command = [sys.executable, "-c", SECOND_RUN, *entries]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return float(process.stdout.split()[-1])


def floor() -> dict[str, float]:
    """Seconds of what Spark itself needs before ten rows are computed and written, by part."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", FLOOR]
        process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return dict(zip(FLOOR_PARTS, map(float, process.stdout.split()), strict=True))


def fresh_by_part(data: Path) -> dict[str, float]:
    """Where the seconds of ten questions on a fresh lake go."""
    with tempfile.TemporaryDirectory() as name, answering(PORT):
        write_all(Path(name), data, SIZES[0])
        return parts_of(ours("lake"), Path(name))


def measure(count: int, data: Path, venvs: Mapping[str, Path]) -> dict[str, float]:
    """Seconds of every way at one size, ours before and after the others."""
    timings: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name, answering(PORT):
        folder = Path(name)
        write_all(folder, data, count)
        timings[f"{OURS}, fresh lake"] = seconds_of(ours("lake"), folder)
        timings[f"{OURS}, nothing left to do"] = seconds_of(ours("lake"), folder)
        timings[f"{OURS}, second run of a session"] = second_run(folder)
        if "inspect" in venvs:
            timings[f"inspect_ai {INSPECT}"] = seconds_of(inspect(venvs["inspect"]), folder)
        if "medhelm" in venvs:
            timings[f"MedHELM {THEIRS}"] = seconds_of(medhelm(venvs["medhelm"]), folder / "first")
        timings[f"{OURS}, fresh lake, again"] = seconds_of(ours("again"), folder)
    return timings


def report(
    timings: Mapping[int, Mapping[str, float]],
    parts: Mapping[str, float],
    fresh: Mapping[str, float],
) -> str:
    """The seconds of every way at every size, of the floor's parts, and of a run's, as markdown."""
    sizes = list(timings)
    lines = [
        "# Small runs beside inspect_ai and MedHELM",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} hardware threads. PubMedQA's questions to "
        f"one server that answers at once, {CONCURRENCY} at a time; seconds from nothing to "
        "scores, each way a process of its own, one after the other. MedHELM without its cache and "
        "its summarise step.",
        "",
        f"| way | {' | '.join(f'{size:,} questions' for size in sizes)} |",
        f"|---|{'---|' * len(sizes)}",
    ]
    for way in timings[sizes[0]]:
        cells = " | ".join(f"{timings[size][way]:.1f}" for size in sizes)
        lines.append(f"| {way} | {cells} |")
    lines += [
        "",
        "What Spark itself needs, in seconds, by a script that computes ten rows and commits them "
        "with the settings of ours. A run with nothing left to do starts no JVM.",
        "",
        "| part | seconds |",
        "|---|---|",
        *(f"| {part} | {seconds:.1f} |" for part, seconds in parts.items()),
        f"| together | {sum(parts.values()):.1f} |",
        "",
        "Ten questions on a fresh lake, in the same seconds, by the lines that the command prints "
        "as it goes.",
        "",
        "| part | seconds |",
        "|---|---|",
        *(f"| {part} | {seconds:.1f} |" for part, seconds in fresh.items()),
        f"| together | {sum(fresh.values()):.1f} |",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure every way at every size and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--inspect", "--medhelm"):
        parser.add_argument(name, type=Path, help="an environment of it; without, ours alone")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--data", type=Path, default=ORIGINAL)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/small.md")
    args = parser.parse_args()
    # As it is where a wheel was installed; a checkout may lie where Python does not write.
    compile_dir(medhelm_spark.__path__[0], quiet=1)
    environments = {"inspect": args.inspect, "medhelm": args.medhelm}
    venvs = {name: venv.absolute() for name, venv in environments.items() if venv}
    timings = {}
    for size in args.sizes:
        timings[size] = measure(size, args.data, venvs)
        sys.stderr.write(f"{size}: {timings[size]}\n")
    page = report(timings, floor(), fresh_by_part(args.data))
    args.output.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
