"""A million rows: multiple choice, ROUGE and codes from files to scores, with the canned engine.

Real questions and abstracts are repeated under new ids; where they are absent, made ones of their
form are, and notes with codes are always made. The id is in the text too, so that no two rows
share a request. Each size is one `medhelm-spark run` in a process of its own, on a fresh lake. The
executor is a JVM of its own, so that the driver's memory is the driver's alone.

    python -m benchmarks.million [--sets choice two_models rouge codes] [--rows 10000 1000000]
"""

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle, islice, pairwise, product
from pathlib import Path
from typing import Any

import yaml

from benchmarks.bench import WORDS
from benchmarks.driver_memory import APART, set_environment
from benchmarks.loads import DATA, ORIGINAL, write_benchmark
from benchmarks.processes import Usage, measured
from medhelm_spark.lake.reader import FileReader

SIZES = (10_000, 100_000, 1_000_000)
ORIGINAL_ROWS = 1_000
PUBLIC = ("--access-level", "public")
MEDQA = "phrases_no_exclude_test.jsonl"
STAGES = ("ingest", "plan", "infer", "score", "summarize")
ENDS = """
SELECT stage, min(started_at) AS first_at, max(finished_at) AS last_at FROM {runs} GROUP BY stage
"""
ENGINES: Mapping[str, dict[str, Any]] = {
    "bench/choice": {"mode": "choice"},
    "bench/second": {"mode": "choice"},
    "bench/echo": {"mode": "echo"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """When a stage began and when it was finished."""

    stage: str
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A job of so many rows: what it took, and the moment at which each stage was finished."""

    rows: int
    usage: Usage
    began: float
    ends: Mapping[str, float]


def choice(folder: Path, rows: int) -> list[str]:
    """MedQA's test questions, four options each; the answer is a letter made of the request."""
    path = DATA / "medqa" / MEDQA
    questions = _lines(path) if path.is_file() else _made_questions()
    with (folder / MEDQA).open("w", encoding="utf-8") as stream:
        for n, question in enumerate(islice(cycle(questions), rows)):
            answer_fields = {"options": question["options"], "answer_idx": question["answer_idx"]}
            stream.write(
                json.dumps({"question": f"[{n}] {question['question']}", **answer_fields}) + "\n"
            )
    return [*["-r", "med_qa:model=bench/choice", "--source", str(folder / MEDQA)], *PUBLIC]


def two_models(folder: Path, rows: int) -> list[str]:
    """The same asked of two models, which have a slot each: twice as many requests as rows."""
    option, entry, *others = choice(folder, rows)
    return [option, entry, "med_qa:model=bench/second", *others]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _made_questions() -> list[dict[str, Any]]:
    draw = random.Random(0)
    return [
        {
            "question": _words(draw, 120),
            "options": {letter: f"{letter} {_words(draw, 5)}" for letter in "ABCD"},
            "answer_idx": draw.choice("ABCD"),
        }
        for _ in range(ORIGINAL_ROWS)
    ]


def rouge(folder: Path, rows: int) -> list[str]:
    """PubMedQA's conclusions; the answer is the section of the abstract before them, as asked."""
    texts = _conclusions()
    examples = (
        {"text": f"[{n}] {text}", "correct_answer": conclusion}
        for n, (text, conclusion) in enumerate(islice(cycle(texts), rows))
    )
    write_benchmark(folder, "{text}", 256, examples, metric="rouge_l")
    return _own_benchmark(folder)


def _own_benchmark(folder: Path) -> list[str]:
    config = folder / "benchmark.yaml"
    return ["-r", f"medhelm_configurable_benchmark:config_path={config},model=bench/echo"]


def _conclusions() -> list[tuple[str, str]]:
    if ORIGINAL.is_file():
        records = json.loads(ORIGINAL.read_text(encoding="utf-8")).values()
        return [(record["CONTEXTS"][-1], record["LONG_ANSWER"]) for record in records]
    draw = random.Random(0)
    return [(_words(draw, 80), _words(draw, 40)) for _ in range(ORIGINAL_ROWS)]


def codes(folder: Path, rows: int) -> list[str]:
    """Made notes that name ten codes, six of the eight wanted; the answer is the note."""
    draw = random.Random(0)
    notes = [_note(draw) for _ in range(ORIGINAL_ROWS)]
    examples = (
        {"text": f"[{n}] {text}", "correct_answer": ",".join(expected_codes)}
        for n, (text, expected_codes) in enumerate(islice(cycle(notes), rows))
    )
    write_benchmark(folder, "{text}", 256, examples, metric="mimiciv_billing_code")
    return _own_benchmark(folder)


def _note(draw: random.Random) -> tuple[str, list[str]]:
    note_codes = sorted({f"{draw.choice('EIJKS')}{draw.randint(10, 99)}.{n}" for n in range(12)})
    draw.shuffle(note_codes)
    return f"{_words(draw, 60)}: {', '.join(note_codes[:10])}", note_codes[4:]


def _words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(WORDS, k=count))


SETS: Mapping[str, Callable[[Path, int], list[str]]] = {
    "choice": choice,
    "two_models": two_models,
    "rouge": rouge,
    "codes": codes,
}


def measure(name: str, rows: int) -> Measured:
    """One set of one size, from its files to the board."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        arguments = SETS[name](folder, rows)
        _write_site(folder / "prod_env")
        command = [
            sys.executable, "-m", "medhelm_spark.cli", "run", *arguments, "--suite", "million",
            "-o", str(folder / "lake"), "--local-path", str(folder / "prod_env"), "--no-tracking",
        ]  # fmt: skip
        usage = measured(command)
        stages = FileReader(str(folder / "lake")).rows(ENDS, Stage)
    ends = {one.stage: one.last_at.timestamp() for one in stages}
    (began,) = (one.first_at.timestamp() for one in stages if one.stage == STAGES[0])
    return Measured(rows=rows, usage=usage, began=began, ends=ends)


def _write_site(folder: Path) -> None:
    folder.mkdir()
    deployments = [
        {"name": name, "engine": "canned", "locality": "local", "client_spec": {"args": args}}
        for name, args in ENGINES.items()
    ]
    path = folder / "model_deployments.yaml"
    path.write_text(yaml.safe_dump({"model_deployments": deployments}))
    (folder / "settings.yaml").write_text(yaml.safe_dump({"spark": APART}))


def report(measurements: Mapping[str, Sequence[Measured]]) -> str:
    """The numbers as markdown."""
    lines = [
        "# Rows from files to scores, by stage and core",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} hardware threads, of which the executor "
        "had two. A stage's cell has its seconds, from the end of the stage before, and its "
        "rows per second of a core: per second of CPU time of all processes, so that it is "
        "comparable where others use the machine too. The whole job counts Spark's start and the "
        "board. "
        "Cores busy is its CPU time by its seconds; memory is the largest resident size in GB.",
        "",
    ]
    for name, sizes in measurements.items():
        description = SETS[name].__doc__ or ""
        lines += [f"## {name}", "", description, "", *_table(sizes), ""]
    return "\n".join(lines)


def _table(sizes: Sequence[Measured]) -> Iterator[str]:
    yield (
        f"| rows | {' | '.join(STAGES)} | whole job | cores busy | driver JVM | driver Python | "
        "executor JVM | workers |"
    )
    yield "|---" * (len(STAGES) + 7) + "|"
    for measured_job in sizes:
        moments = [measured_job.began, *(measured_job.ends[stage] for stage in STAGES)]
        cells = [_cell(measured_job, *span) for span in pairwise(moments)]
        job_span = measured_job.usage.started, measured_job.usage.ended
        cells.append(_cell(measured_job, *job_span))
        cells.append(
            f"{measured_job.usage.cpu_seconds(*job_span) / measured_job.usage.seconds:.1f}"
        )
        parts = ("jvm", "python", "executor", "workers")
        cells += [f"{measured_job.usage.gigabytes.get(part, 0):.2f}" for part in parts]
        yield f"| {measured_job.rows:,} | {' | '.join(cells)} |"


def _cell(measured_job: Measured, since: float, until: float) -> str:
    cpu = measured_job.usage.cpu_seconds(since, until)
    per_core = f"{measured_job.rows / cpu:,.0f}" if cpu else "too short to measure"
    return f"{until - since:.0f} s, {per_core}"


def main() -> None:
    """Measure every set at every size and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--rows", nargs="+", type=int, default=list(SIZES))
    default = Path(__file__).parent / "results" / "million.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    set_environment()
    args.output.parent.mkdir(exist_ok=True)
    measurements: dict[str, list[Measured]] = {name: [] for name in args.sets}
    for rows, name in product(args.rows, args.sets):
        measurements[name].append(measure(name, rows))
        args.output.write_text(report(measurements))
    sys.stdout.write(args.output.read_text())


if __name__ == "__main__":
    main()
