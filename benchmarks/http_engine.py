"""One worker that asks a server which answers at once: requests a second, and its own CPU time.

As a task of Spark does it: Arrow batches of requests in, batches of results out, through the engine
`openai`. Beside it aiohttp alone, with the same bodies, and the same worker of an earlier version.

    python -m benchmarks.http_engine [--earlier FOLDER_OF_A_CHECKOUT]
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PORT = 8013
URL = f"http://127.0.0.1:{PORT}/v1"
IN_FLIGHT = (64, 512)
SECONDS = 8.0
BATCH = 500
PROMPT = "A note of a ward round, with what was found and what was done. " * 27
Measured = tuple[float, float]
"""Requests a second, and microseconds of CPU time for one."""


def _asking(infer: Any, deployments: Mapping[str, Any], policy: Any) -> Any:
    """The function that asks in a task: of this version, or of an earlier checkout."""
    if not find_spec(f"{infer.__name__}.asking"):
        return import_module(f"{infer.__name__}.stage").AskEngines(deployments, policy)
    asking = import_module(f"{infer.__name__}.asking").AskEngines(deployments, policy)
    return import_module(f"{infer.__name__}.rounds").AskInTurn(asking)


def through_the_engine(in_flight: int, count: int) -> Measured:
    """So many requests as a task asks them; an eighth of them before the clock starts."""
    from medhelm_spark.domain.access import AccessLevel
    from medhelm_spark.domain.deployment import Deployment, Locality
    from medhelm_spark.domain.policy import Policy
    from medhelm_spark.domain.request import Decoding, Request, RequestResult
    from medhelm_spark.domain.scenario import Message
    from medhelm_spark.lake.columnar import decode_batch, encode_batch
    from medhelm_spark.stages import infer

    name = "local/yes"
    deployment = Deployment(
        name=name,
        model=name,
        engine="openai",
        locality=Locality.LOCAL,
        max_concurrency=in_flight,
        args={"base_url": URL, "model": "yes", "logprobs": False},
    )
    policy = Policy(allowed=((AccessLevel.PRIVATE, (Locality.LOCAL,)),), version="1")
    asking = _asking(infer, {name: deployment}, policy)

    def batches(count: int) -> Iterator[Any]:
        for begin in range(0, count, BATCH):
            requests = [
                Request(
                    request_id=f"{number:040d}",
                    model_deployment=name,
                    messages=(Message(role="user", content=f"{PROMPT}{number}"),),
                    text="",
                    decoding=Decoding(max_tokens=16),
                    access_level=AccessLevel.PRIVATE,
                )
                for number in range(begin, min(begin + BATCH, count))
            ]
            yield encode_batch(Request, requests)

    def answer_all(request_batches: Sequence[Any]) -> None:
        rows = (row for batch in request_batches for row in decode_batch(Request, batch))
        results = []
        for result in asking(rows):
            if not result.is_answer:
                raise SystemExit(f"no answer: {result.failure} ({result.reason})")
            results.append(result)
            if len(results) == BATCH:
                encode_batch(RequestResult, results)
                results = []

    answer_all(list(batches(count // 8)))
    measured = list(batches(count))
    return _timed(count, lambda: answer_all(measured))


def by_aiohttp(in_flight: int, count: int) -> Measured:
    """The same bodies by aiohttp's session, with nothing of ours."""
    import aiohttp

    async def ask_all(count: int) -> None:
        numbers = iter(range(count))
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def ask() -> None:
                for number in numbers:
                    message = {"role": "user", "content": f"{PROMPT}{number}"}
                    body = {"model": "yes", "messages": [message], "max_tokens": 16}
                    async with session.post(f"{URL}/chat/completions", json=body) as reply:
                        json.loads(await reply.read())

            await asyncio.gather(*(ask() for _ in range(in_flight)))

    asyncio.run(ask_all(count // 8))
    return _timed(count, lambda: asyncio.run(ask_all(count)))


def _timed(count: int, work: Any) -> Measured:
    started, used = time.perf_counter(), time.process_time()
    work()
    seconds, used = time.perf_counter() - started, time.process_time() - used
    return count / seconds, 1e6 * used / count


WAYS = {"engine": through_the_engine, "aiohttp": by_aiohttp}


def measure_in_process(way: str, in_flight: int, folder: Path, count: int) -> Measured | None:
    """A way in a process of its own, with the package in a folder; None where an answer failed."""
    process = subprocess.run(
        [sys.executable, __file__, way, str(in_flight), str(count)],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        sys.stderr.write(process.stderr[-300:])
        return None
    rate, used = process.stdout.split()
    return float(rate), float(used)


def best(way: str, in_flight: int, folder: Path, rounds: int) -> Iterator[Measured]:
    """The best of the rounds so far, after each; a round takes about `SECONDS`."""
    least = 2 * in_flight
    probe = measure_in_process(way, in_flight, folder, least)
    count = max(least, int(probe[0] * SECONDS)) if probe else least
    fastest: Measured = (0.0, 0.0)
    for _ in range(rounds):
        fastest = max(fastest, measure_in_process(way, in_flight, folder, count) or fastest)
        yield fastest


def report(measurements: Mapping[str, Mapping[int, Measured]], rounds: int, load: str) -> str:
    """The table as markdown."""
    heads = " | ".join(f"{in_flight} in flight: requests/s | CPU, µs" for in_flight in IN_FLIGHT)
    lines = [
        "# One worker of the engine `openai` beside a server that answers at once",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} hardware threads, one of them the "
        f"server's, Python {sys.version.split()[0]}, aiohttp {version('aiohttp')}. Prompts of "
        f"{len(PROMPT):,} bytes; Arrow batches of requests in, batches of results out. The best "
        f"of {rounds} runs by turns, each a process of its own; CPU time is of the whole process. "
        f"Load of the machine before and after: {load}.",
        "",
        f"| client | {heads} |",
        f"|---|{'---|' * 2 * len(IN_FLIGHT)}",
    ]
    for client, measured in measurements.items():
        cells = " | ".join(f"{rate:,.0f} | {used:,.0f}" for rate, used in measured.values())
        lines.append(f"| {client} | {cells} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure every client at every number in flight and keep the numbers."""
    # Not above: a process of an earlier checkout runs this file too.
    from benchmarks.answering_server import answering

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--earlier", type=Path, help="a checkout of an earlier version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/http_engine.md")
    args = parser.parse_args()
    clients = {"medhelm_spark": ("engine", ROOT), "aiohttp alone": ("aiohttp", ROOT)}
    if args.earlier:
        clients["medhelm_spark, by the packages openai and httpx2"] = (
            "engine",
            args.earlier.absolute(),
        )
    measurements: dict[str, dict[int, Measured]] = {client: {} for client in clients}
    before = os.getloadavg()[0]
    with answering(PORT):
        for in_flight in IN_FLIGHT:
            turns = [
                best(way, in_flight, checkout, args.rounds) for way, checkout in clients.values()
            ]
            for round_rates in zip(*turns, strict=True):
                for client, measured in zip(clients, round_rates, strict=True):
                    measurements[client][in_flight] = measured
                sys.stderr.write(f"{in_flight}: {round_rates}\n")
    page = report(measurements, args.rounds, f"{before:.0f} and {os.getloadavg()[0]:.0f}")
    args.output.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WAYS:
        print(*WAYS[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3])))
    else:
        main()
