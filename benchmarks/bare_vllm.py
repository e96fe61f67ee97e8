"""A run on Spark against one `LLM.chat` call of bare vLLM that is given all requests at once.

Both have an engine of the same arguments, on the same machine, in turns; the first words of every
prompt change from pair to pair, so that no prefix is cached from the pair before. A run is timed by
its own records: the time that its engine had requests, and beside it what else its waves took:
Spark's part before the first request and the commit after the last answer, and the engine's start.

    python -m benchmarks.bare_vllm [MODEL_FOLDER] [--layers N] [--requests 1000] [--pairs 5]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.loads import (
    ORIGINAL,
    Ask,
    abstracts,
    first_layers,
    mixed,
    short_answers,
    write_benchmarks,
)
from tests.vllm.model import smollm2

MODEL = "bench/model"


@dataclass(frozen=True, slots=True)
class Timing:
    """What one way took, in seconds, and the tokens that it read and made.

    `seconds` is the time that the engine had requests, `overhead` the rest of the waves.
    """

    seconds: float
    overhead: float
    start: float
    prompt_tokens: int
    completion_tokens: int
    waves: int = 1

    @property
    def speed(self) -> float:
        """Tokens read and made per second of work."""
        return (self.prompt_tokens + self.completion_tokens) / self.seconds


class Bare:
    """One engine of vLLM in this process."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        """Load it; `start` is how long that took."""
        started = time.perf_counter()
        from vllm import LLM

        self.llm = LLM(**arguments, disable_log_stats=True, enable_prefix_caching=True)
        self.start = time.perf_counter() - started

    def take(self, load: Sequence[Ask]) -> Timing:
        """One call with everything."""
        from vllm import SamplingParams

        turns = [[{"role": "user", "content": ask.text}] for ask in load]
        params = [SamplingParams(max_tokens=ask.max_tokens, temperature=0.0) for ask in load]
        started = time.perf_counter()
        outputs = self.llm.chat(turns, params, use_tqdm=False)
        seconds = time.perf_counter() - started
        read = sum(len(output.prompt_token_ids) for output in outputs)
        generated = sum(len(output.outputs[0].token_ids) for output in outputs)
        start, self.start = self.start, 0.0
        return Timing(seconds, 0.0, start, read, generated)


class OnSpark:
    """`medhelm-spark run` in this process's Spark session, on a lake of its own each time."""

    def __init__(self, folder: Path, arguments: dict[str, Any]) -> None:
        """Write the deployment and start Spark."""
        from medhelm_spark.config.settings import load_settings
        from medhelm_spark.lake.session import open_session

        self.folder = folder
        deployment = {
            "name": MODEL,
            "engine": "vllm",
            "locality": "local",
            "client_spec": {"args": arguments},
        }
        path = folder / "prod_env" / "model_deployments.yaml"
        path.parent.mkdir()
        path.write_text(yaml.safe_dump({"model_deployments": [deployment]}), encoding="utf-8")
        self.session = open_session(load_settings(None, {}).spark, app_name="bench")

    def take(self, load: Sequence[Ask]) -> Timing:
        """One run, as its waves were recorded."""
        from medhelm_spark.cli import main
        from medhelm_spark.lake.reader import open_reader

        run_folder = Path(tempfile.mkdtemp(dir=self.folder))
        entries = [f"{entry},model={MODEL}" for entry in write_benchmarks(run_folder, "load", load)]
        code = main([
            "run", "-r", *entries, "--suite", "s", "-o", str(run_folder / "lake"), "--no-tracking",
            "--local-path", str(self.folder / "prod_env"),
        ])  # fmt: skip
        if code:
            raise SystemExit("the run failed")
        sql = "SELECT counts FROM {runs} WHERE stage = 'infer'"
        waves = open_reader(str(run_folder / "lake")).query(sql).to_pylist()
        counts = [dict(wave["counts"]) for wave in waves]
        start, busy, wall = (
            sum(wave_counts[f"{name}_milliseconds"] for wave_counts in counts) / 1000
            for name in ("start", "busy", "slot")
        )
        assert sum(wave_counts["requests"] for wave_counts in counts) == len(load)
        return Timing(
            busy,
            wall - busy - start,
            start,
            sum(wave_counts["prompt_tokens"] for wave_counts in counts),
            sum(wave_counts["completion_tokens"] for wave_counts in counts),
            len(waves),
        )


def marked(load: Sequence[Ask], pair: int) -> list[Ask]:
    """The load with first words of its own."""
    return [replace(ask, text=f"Round {pair}. {ask.text}") for ask in load]


def compare(ways: Sequence[Any], load: Sequence[Ask], pairs: int) -> list[tuple[Timing, Timing]]:
    """Pairs in alternating order, bare vLLM first in the first."""
    results = []
    for pair in range(pairs):
        requests = marked(load, pair)
        order = range(2) if pair % 2 == 0 else (1, 0)
        timings = {way: ways[way].take(requests) for way in order}
        results.append((timings[0], timings[1]))
        sys.stderr.write(f"pair {pair + 1}: {timings[0]}\n        {timings[1]}\n")
    return results


def row(name: str, count: int, results: Sequence[tuple[Timing, Timing]]) -> str:
    """A row of the table: the medians, and the median ratio of the pairs."""
    ratios = [100 * ours.speed / bare.speed for bare, ours in results]
    bare, ours = (
        f"{statistics.median(timing.speed for timing in column):,.0f} | "
        f"{statistics.median(count / timing.seconds for timing in column):.2f}"
        for column in zip(*results, strict=True)
    )
    spread = ", ".join(f"{ratio:.0f}" for ratio in ratios)
    starts = " / ".join(
        f"{max(timing.start for timing in c):.0f}" for c in zip(*results, strict=True)
    )
    overhead = statistics.median(ours.overhead for _, ours in results)
    waves = max(ours.waves for _, ours in results)
    return (
        f"| {name} | {count:,} | {bare} | {ours} | **{statistics.median(ratios):.0f} %** | "
        f"{spread} | {starts} | {waves} | {overhead:.1f} |"
    )


def report(rows: Sequence[str], model: str, arguments: dict[str, Any]) -> str:
    """The table as markdown."""
    printed_arguments = {name: value for name, value in arguments.items() if name != "model"}
    return "\n".join(
        [
            "# A run on Spark against one call of bare vLLM",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} hardware threads, no GPU; {model}; "
            f"`{json.dumps(printed_arguments)}`. Alternating pairs, a prefix cache without "
            "the load before each. Tokens are those read and made, per second that the engine had "
            "requests; around it: the seconds from the beginning of a wave to its first request, "
            "without the start of the engine, and from its last answer to the end of its commit.",
            "",
            "| load | requests | `LLM.chat` tokens/s | requests/s | run, tokens/s | requests/s | "
            "median ratio | pairs, % | start, s: bare / run | waves | around it, s |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Measure both loads and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, nargs="?", help="default: SmolLM2, as the tests use it")
    parser.add_argument("--layers", type=int, help="keep the model's first layers alone")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--loads", nargs="+", default=["short", "mixed"])
    parser.add_argument("--data", type=Path, default=ORIGINAL)
    default = Path(__file__).parent / "results" / "vllm.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "WARNING"}
    with tempfile.TemporaryDirectory() as name:
        folder, model = Path(name), args.model or smollm2()
        model_name = model.name
        if args.layers:
            model = first_layers(model, args.layers, folder / "model")
            model_name += f", cut to its first {args.layers} layers"
        arguments = {
            "model": str(model),
            "dtype": "float32",
            "max_model_len": 2048,
            "max_num_seqs": 64,
            "kv_cache_memory_bytes": 2 << 30,
            "enforce_eager": True,
        }
        spark = OnSpark(folder, arguments)  # first: vLLM changes this process's environment
        ways = (Bare(arguments), spark)
        rows = abstracts(args.data, args.requests)
        # A mixed request takes several times as long: fewer of them show as much.
        loads: dict[str, tuple[str, Callable[..., list[Ask]], int]] = {
            "short": ("PubMedQA, short answers", short_answers, args.requests),
            "mixed": ("mixed", mixed, max(1, args.requests // 5)),
        }
        lines = []
        for key in args.loads:
            label, make, count = loads[key]
            pairs = compare(ways, make(rows[:count]), args.pairs)
            lines.append(row(label, count, pairs))
            text = report(lines, model_name, arguments)
            args.output.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
