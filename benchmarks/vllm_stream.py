"""Our engine's stream against one bare `LLM.chat` call with all requests at once, in one process.

Pairs alternate on the same loaded model, with an empty prefix cache before each. Two loads: the
short answers of PubMedQA, and a mixture of short answers, long answers and shared prefixes.

    python -m benchmarks.vllm_stream MODEL_FOLDER [--requests 256] [--pairs 5] [--data pqal.json]
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.bench import WORDS
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.policy import Decision
from medhelm_spark.domain.request import Decoding, Request
from medhelm_spark.domain.scenario import AccessLevel, Message
from medhelm_spark.engines import build_engine

ALLOWED = Decision(allowed=True, rule="benchmark")
ORIGINAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "pubmedqa" / "ori_pqal.json"


def request(name: str, text: str, max_tokens: int) -> Request:
    """One conversation of one turn."""
    return Request(
        request_id=name,
        model_deployment="bench",
        messages=(Message(role="user", content=text),),
        text="",
        decoding=Decoding(max_tokens=max_tokens),
        access_level=AccessLevel.PUBLIC,
    )


def abstracts(data: Path, count: int) -> list[str]:
    """PubMedQA's questions with their abstracts; made ones of its size where it is absent."""
    if data.is_file():
        rows = list(json.loads(data.read_text(encoding="utf-8")).values())[:count]
        return [f"{' '.join(row['CONTEXTS'])}\nQuestion: {row['QUESTION']}" for row in rows]
    draw = random.Random(0)
    return [" ".join(draw.choices(WORDS, k=220)) + "?" for _ in range(count)]


def short_answers(texts: Sequence[str]) -> list[Request]:
    """Yes, no or maybe: nearly all the work is reading."""
    return [
        request(f"s{n}", f"{text}\nAnswer yes, no or maybe:", 3) for n, text in enumerate(texts)
    ]


def mixed(texts: Sequence[str]) -> list[Request]:
    """Short answers, answers of 200 tokens, and questions to one long text, in turns."""
    shared = " ".join(texts[:2])
    kinds: Sequence[Callable[[int, str], Request]] = (
        lambda n, text: request(f"a{n}", f"{text[:400]}\nAnswer yes, no or maybe:", 3),
        lambda n, text: request(f"b{n}", f"Write a long essay on: {text[-120:]}", 200),
        lambda n, text: request(f"c{n}", f"{shared}\nWhat follows for: {text[-120:]}", 32),
    )
    return [kinds[n % 3](n, text) for n, text in enumerate(texts)]


def bare(engine: Any, requests: Sequence[Request]) -> int:
    """One `LLM.chat` call; returns the tokens that it made."""
    from vllm import SamplingParams

    turns = [[{"role": t.role, "content": t.content} for t in one.messages] for one in requests]
    params = [
        SamplingParams(max_tokens=one.decoding.max_tokens, temperature=0.0) for one in requests
    ]
    outputs = engine._llm.chat(turns, params, use_tqdm=False)
    return sum(len(output.outputs[0].token_ids) for output in outputs)


def streamed(engine: Any, requests: Sequence[Request]) -> int:
    """The same through `answer`; returns the tokens that it made."""
    results = list(engine.answer(requests, lambda _: ALLOWED))
    assert len(results) == len(requests)
    assert all(result.is_answer for result in results)
    return sum(result.completion_tokens or 0 for result in results)


def timed(engine: Any, work: Callable[[Any, Sequence[Request]], int], load: Any) -> float:
    """Tokens made per second, from an empty prefix cache."""
    engine._llm.reset_prefix_cache()
    started = time.perf_counter()
    made = work(engine, load)
    return made / (time.perf_counter() - started)


def compare(engine: Any, name: str, load: Sequence[Request], pairs: int) -> str:
    """A row of the table: the medians, and the median ratio of the pairs."""
    for work in (bare, streamed):
        timed(engine, work, load[:8])
    found = []
    for pair in range(pairs):
        order = (bare, streamed) if pair % 2 == 0 else (streamed, bare)
        speeds = {work: timed(engine, work, load) for work in order}
        found.append((speeds[bare], speeds[streamed]))
        sys.stderr.write(f"{name} pair {pair + 1}: {speeds[bare]:.1f} {speeds[streamed]:.1f}\n")
    ratios = [100 * ours / theirs for theirs, ours in found]
    plain, ours = (statistics.median(column) for column in zip(*found, strict=True))
    spread = f"{min(ratios):.0f} to {max(ratios):.0f}"
    return (
        f"| {name} | {len(load)} | {plain:.1f} | {ours:.1f} | "
        f"**{statistics.median(ratios):.0f} %** | {spread} |"
    )


def report(rows: Sequence[str], engine: Any, start: float, pairs: int) -> str:
    """The table as markdown, with the machine and the engine it comes from."""
    return "\n".join(
        [
            "# The stream against one call of bare vLLM",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.machine()}, Python "
            f"{platform.python_version()}; median of {pairs} alternating pairs in one process, "
            "empty prefix cache before each. Tokens are generated ones.",
            "",
            f"Engine start {start:.0f} s. `{engine.fingerprint}`",
            "",
            "| load | requests | `LLM.chat`, tokens/s | streamed, tokens/s | ratio | pairs, % |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Measure both loads and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--data", type=Path, default=ORIGINAL)
    parser.add_argument("--max-num-seqs", type=int, default=64)
    parser.add_argument("--cache-gb", type=int, default=2, help="memory for text in flight")
    default = Path(__file__).parent / "results" / "vllm.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    deployment = Deployment(
        name="bench",
        model="bench",
        engine="vllm",
        locality=Locality.LOCAL,
        args={
            "model": str(args.model),
            "max_model_len": 2048,
            "max_num_seqs": args.max_num_seqs,
            "kv_cache_memory_bytes": args.cache_gb << 30,
        },
    )
    started = time.perf_counter()
    engine = build_engine(deployment)
    start = time.perf_counter() - started
    texts = abstracts(args.data, args.requests)
    loads = {"short answers": short_answers(texts), "mixed": mixed(texts)}
    rows = [compare(engine, name, load, args.pairs) for name, load in loads.items()]
    engine.close()
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(report(rows, engine, start, args.pairs), encoding="utf-8")
    sys.stdout.write(report(rows, engine, start, args.pairs))


if __name__ == "__main__":
    main()
