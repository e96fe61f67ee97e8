"""How busy slots are: the waves of before and the order that slots pull, on simulated GPUs.

The step model is an 8B model on an H100, by published rates and arithmetic; no GPU was at hand. A
step reads the weights (6 ms), prefills up to 16,384 tokens at 30,000 a second, and takes 34 us for
each running sequence, of which there are 1,024 at most. An engine starts in 60 s, and in 10 s more
where another one was there. `waves` plays what infer did up to 0.2: a gap of 15 s before each wave
for its plan and commit, slots that wait for the slowest, one model after another. `pulled` plays
what it does now: the code that hands out chunks is the product's own `Dispatcher`, whose clock is
the simulated one. Judges join the order as answers come, each with 512 requests or when the models
have ended; the column `judges after` has them as an order of their own behind the models.

    python -m benchmarks.slot_simulation > benchmarks/results/slot_simulation.md
"""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from medhelm_spark.stages.infer.dispatcher import Chunk, Dispatcher
from medhelm_spark.stages.infer.follow_ups import READY

WEIGHTS, SEQUENCE = 0.006, 34e-6
"""Seconds of a step: to read the weights, and for each running sequence."""
PREFILL, BUDGET, SEQUENCES = 30_000.0, 16_384, 1_024
"""Prompt tokens a second, prompt tokens of a step, sequences that run at once."""
IN_ENGINE = round(1.1 * SEQUENCES)
"""Requests that an engine has at most, those that wait among them."""
START, RESTART, GAP = 60.0, 10.0, 15.0
WAVE, FIRST, GROWTH, DECLARED, MOST = 600.0, 0.1, 16.0, 1_500.0, 200_000
WAIT = 1.0
"""Seconds between two looks of a slot that waits for answers of others."""
CHUNK, STEPS = 64, 4
"""Requests of a chunk, and steps between two looks for another one."""

Kinds = Sequence[tuple[float, float, float, int]]
MODEL: Kinds = ((0.40, 300, 3, 5), (0.35, 2000, 90, 256), (0.25, 500, 300, 1024))
"""Share, median of prompt and answer in tokens, most tokens: choices, notes, open questions."""
JUDGE: Kinds = ((1.0, 1500, 60, 256),)


@dataclass(frozen=True)
class Load:
    """The requests of one model: tokens of prompts, of answers, at most, and as estimated."""

    prompt: np.ndarray
    answer: np.ndarray
    most: np.ndarray

    @property
    def estimate(self) -> np.ndarray:
        """What the plan expects: the prompt and a quarter of what the answer may have."""
        return np.ceil(self.prompt + 0.25 * self.most).astype(int)

    @property
    def work(self) -> float:
        """Seconds of one GPU that is always full."""
        answers = self.answer.sum() * (SEQUENCE + WEIGHTS / SEQUENCES)
        return float(self.prompt.sum() / PREFILL + answers)

    def __len__(self) -> int:
        return len(self.prompt)


@dataclass(frozen=True)
class Played:
    """What a simulation came to, in seconds of the whole and of all slots."""

    slots: int
    seconds: float
    starts: int
    work: float

    @property
    def busy(self) -> float:
        """The share of the slots' time, in percent, that the work needs at full speed."""
        return 100 * self.work / self.slots / self.seconds

    @property
    def limit(self) -> float:
        """The same with one start for each slot and nothing else lost."""
        return 100 * (self.work / self.slots) / (self.work / self.slots + START)


def load(count: int, seed: int, kinds: Kinds) -> Load:
    """Requests of these kinds, drawn by a seed."""
    draw = np.random.default_rng(seed)
    kind = draw.choice(len(kinds), count, p=[share for share, *_ in kinds])
    prompt, answer, most = (np.zeros(count, int) for _ in range(3))
    for number, (_, median, reply, limit) in enumerate(kinds):
        own = kind == number
        many = int(own.sum())
        prompt[own] = np.clip(draw.lognormal(math.log(median), 0.35, many), 20, 7_500)
        spread = 0.5 if reply > 10 else 0.01
        answer[own] = np.clip(draw.lognormal(math.log(reply), spread, many), 1, limit)
        most[own] = limit
    return Load(prompt, answer, most)


def waves(loads: Mapping[str, Load], slots: int) -> Played:
    """One model after another in waves, each slot with a share of the estimated tokens."""
    now, starts, engines = 0.0, 0, [""] * slots
    for name, model_load in loads.items():
        order = np.random.default_rng(1).permutation(len(model_load))
        position, speed, is_known = 0, DECLARED, False
        while position < len(model_load):
            estimate = model_load.estimate[order[position:]]
            share = WAVE * (1.0 if is_known else FIRST)
            take = len(estimate)
            if estimate.sum() / (slots * speed) > WAVE or take > MOST:
                upto = np.cumsum(estimate) / (slots * speed)
                take = max(1, min(MOST, int(np.searchsorted(upto, share, side="right"))))
            wave = order[position : position + take]
            position, now = position + take, now + GAP
            upto = np.cumsum(model_load.estimate[wave])
            slot_of = np.ceil(slots * upto / upto[-1]).astype(int).clip(1, slots) - 1
            begin_times, end_times = [], []
            for slot in range(slots):
                begin = now
                if engines[slot] != name:
                    begin += START + (RESTART if engines[slot] else 0.0)
                    engines[slot], starts = name, starts + 1
                own = wave[slot_of == slot]
                begin_times.append(begin)
                end_times.append(begin + batch_seconds(model_load, own))
            elapsed = max(max(end_times) - min(begin_times), 0.001)
            speed = min(model_load.estimate[wave].sum() / elapsed / slots, GROWTH * speed)
            now, is_known = max(end_times), True
    return Played(slots, now, starts, sum(model_load.work for model_load in loads.values()))


def batch_seconds(model_load: Load, own: np.ndarray) -> float:
    """Seconds of one engine for requests that are all there, the longest first.

    The engine's thread adds up to IN_ENGINE requests before its first step.
    """
    if not len(own):
        return 0.0
    own = own[np.lexsort((np.arange(len(own)), -model_load.most[own]))]
    prompt, remaining = model_load.prompt[own].copy(), model_load.answer[own].copy()
    added = (0.35 + 0.0018 * prompt) / 1_000
    num_admitted = min(len(own), IN_ENGINE)
    seconds, first, num_done = float(added[:num_admitted].sum()), 0, 0
    running, filling = np.zeros(0, int), -1
    unread = prompt.copy()
    while num_done < len(own):
        budget, used = BUDGET - len(running), 0
        while budget > 0:
            if filling < 0:
                if first >= num_admitted or len(running) >= SEQUENCES:
                    break
                filling, first = first, first + 1
            read = min(int(unread[filling]), budget)
            unread[filling] -= read
            budget, used = budget - read, used + read
            if unread[filling]:
                break
            running, filling = np.append(running, filling), -1
        step = WEIGHTS + used / PREFILL + SEQUENCE * len(running)
        many = (
            int(remaining[running].min())
            if not used and first >= num_admitted and len(running)
            else 1
        )
        many = max(1, many)
        seconds += step * many
        remaining[running] -= many
        ended = int((remaining[running] <= 0).sum())
        if ended:
            num_done += ended
            running = running[remaining[running] > 0]
            more = min(len(own) - num_admitted, ended)
            if more:
                seconds += max(
                    0.0, float(added[num_admitted : num_admitted + more].sum()) - step / 2
                )
                num_admitted += more
    return seconds


@dataclass
class Gpu:
    """A slot of `pulled`: the answer tokens left of what runs, and the requests that wait."""

    name: str = ""
    running: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    waiting: list[list[int]] = field(default_factory=list)


def pulled(
    model_loads: Mapping[str, Load],
    slots: int,
    judging: Mapping[str, Load] | None = None,
    *,
    is_warm: bool = False,
    start: float = START,
    restart: float = RESTART,
) -> Played:
    """Slots that pull the chunks of one order.

    `judging` join it: as many in a hundred of each as there are answers. With `is_warm` another
    model's engine is in each slot.
    """
    now, answers, due = 0.0, 0, sum(map(len, model_loads.values()))
    judges = dict(judging or {})
    loads = {**model_loads, **judges}
    orders = {name: _longest_first(model_load) for name, model_load in loads.items()}
    chunks = [chunk for name in model_loads for chunk in _chunks(name, loads[name], orders[name])]
    judge_chunks = {name: _chunks(name, loads[name], orders[name]) for name in judges}
    expected = {name: float(model_load.estimate.sum()) for name, model_load in judges.items()}
    dispatcher = Dispatcher(chunks, slots, clock=lambda: now, expected=expected)
    gpus = [Gpu("before" if is_warm else "") for _ in range(slots)]
    events = [(0.0, slot) for slot in range(slots)]
    starts, end = 0, 0.0
    while events:
        now, slot = heapq.heappop(events)
        gpu = gpus[slot]
        has_room = len(gpu.running) + len(gpu.waiting) < IN_ENGINE
        if gpu.name in loads and has_room and (chunk := dispatcher.chunk(slot)):
            rows = orders[gpu.name][CHUNK * chunk.number + np.asarray(chunk.rows)]
            model_load = loads[gpu.name]
            gpu.waiting += [
                [int(model_load.prompt[row]), int(model_load.answer[row])] for row in rows
            ]
            dispatcher.done(slot, chunk.key)
        if not len(gpu.running) and not gpu.waiting:
            name = dispatcher.deployment(slot)
            if name is None and any(judge_chunks.values()):
                heapq.heappush(events, (now + WAIT, slot))
            elif name is None:
                end = max(end, now)
            elif name == gpu.name:
                heapq.heappush(events, (now + (WAIT if name in judges else 0.0), slot))
            else:
                begin = start + (restart if gpu.name else 0.0)
                gpu.name, starts = name, starts + 1
                heapq.heappush(events, (now + begin, slot))
            continue
        seconds, ended = next_steps(gpu)
        heapq.heappush(events, (now + seconds, slot))
        answers += ended if gpu.name in model_loads else 0
        if judges:
            _join(
                dispatcher,
                judge_chunks,
                {name: len(model_load) for name, model_load in judges.items()},
                answers / due,
            )
    return Played(slots, end, starts, sum(model_load.work for model_load in loads.values()))


def _join(
    dispatcher: Dispatcher,
    judge_chunks: dict[str, list[Chunk]],
    requests: Mapping[str, int],
    share: float,
) -> None:
    """Judges' chunks join once enough are ready, by the share of the answers that are there."""
    for name, waiting_chunks in judge_chunks.items():
        num_chunks = -(-requests[name] // CHUNK)
        ready = (
            len(waiting_chunks)
            if share == 1
            else len(waiting_chunks) - num_chunks + int(requests[name] * share / CHUNK)
        )
        if CHUNK * ready >= READY or share == 1:
            dispatcher.add(waiting_chunks[:ready])
            judge_chunks[name] = waiting_chunks[ready:]
    if not any(judge_chunks.values()):
        dispatcher.end()


def next_steps(gpu: Gpu) -> tuple[float, int]:
    """Seconds of a few steps of an engine, and how many answers ended; these free their slots."""
    budget, used, filled = STEPS * (BUDGET - len(gpu.running)), 0, 0
    new: list[int] = []
    for request in gpu.waiting:
        if budget <= 0 or len(gpu.running) + len(new) >= SEQUENCES:
            break
        read = min(request[0], budget)
        request[0] -= read
        budget, used = budget - read, used + read
        if request[0]:
            break
        new.append(request[1])
        filled += 1
    del gpu.waiting[:filled]
    gpu.running = np.concatenate([gpu.running, np.asarray(new, int)])
    steps = STEPS
    if not used and not gpu.waiting and len(gpu.running):
        steps = max(1, min(STEPS, int(gpu.running.min())))
    over = float(np.clip(steps - gpu.running, 0, None).sum())
    seconds = steps * WEIGHTS + used / PREFILL
    seconds += SEQUENCE * (steps * len(gpu.running) - over)
    before = len(gpu.running)
    gpu.running = gpu.running - steps
    gpu.running = gpu.running[gpu.running > 0]
    return seconds, before - len(gpu.running)


def _longest_first(model_load: Load) -> np.ndarray:
    order = np.random.default_rng(1).permutation(len(model_load))
    return order[np.argsort(-model_load.most[order], kind="stable")]


def _chunks(name: str, model_load: Load, order: np.ndarray) -> list[Chunk]:
    estimate = model_load.estimate[order]
    return [
        Chunk(
            file=name,
            number=number,
            rows=range(min(CHUNK, len(model_load) - CHUNK * number)),
            model_deployment=name,
            tokens=float(estimate[CHUNK * number : CHUNK * (number + 1)].sum()),
        )
        for number in range(-(-len(model_load) // CHUNK))
    ]


def one_after_the_other(parts: Sequence[Played]) -> Played:
    """Orders of which each begins when the one before has ended."""
    return Played(
        parts[0].slots,
        sum(each.seconds for each in parts),
        sum(each.starts for each in parts),
        sum(each.work for each in parts),
    )


def models(count: int) -> dict[str, Load]:
    """Models with 46 benchmarks of 1,000 questions each."""
    return {f"m{number}": load(46_000, number, MODEL) for number in range(count)}


def judges(count: int) -> dict[str, Load]:
    """Judges of half of the answers of three models."""
    return {f"j{number}": load(69_000, 10 + number, JUDGE) for number in range(count)}


LOADS = ("3 models + 2 judges", "20 models", "1 model, 1 M requests")
MEASURED = ((LOADS[0], 8), (LOADS[0], 64), (LOADS[0], 128), (LOADS[1], 8), (LOADS[2], 128))


def judges_after(slots: int) -> Played:
    """The first load with the judges as an order of their own."""
    return one_after_the_other([pulled(models(3), slots), pulled(judges(2), slots, is_warm=True)])


def before_and_now(name: str, slots: int) -> tuple[Played, Played]:
    """A load by waves and by pull."""
    if name == LOADS[0]:
        model_loads, judge_loads = models(3), judges(2)
        return waves({**model_loads, **judge_loads}, slots), pulled(model_loads, slots, judge_loads)
    model_loads = models(20) if name == LOADS[1] else {"m": load(1_000_000, 5, MODEL)}
    return waves(model_loads, slots), pulled(model_loads, slots)


def main() -> None:
    """Print the table."""
    print(f"# Slots, simulated\n\n{__doc__.split('    python')[0].strip()}\n")
    print(
        "| load | slots | waves: s | starts | busy % | judges after: s | starts | busy % "
        "| pulled: s | starts | busy % | limit % |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, slots in MEASURED:
        played = [*before_and_now(name, slots)]
        limit = f"{played[-1].limit:.0f}"
        if name == LOADS[0]:
            played.insert(1, judges_after(slots))
        cells = [
            f"{result.seconds:,.0f} | {result.starts:,} | {result.busy:.0f}" for result in played
        ]
        if len(cells) < 3:
            cells.insert(1, " | | ")
        print(f"| {name} | {slots} | {' | '.join(cells)} | {limit} |", flush=True)
    print(
        "\nBusy is the work at full speed by slots and time; the limit has one start for each slot "
        "and loses nothing else."
    )


if __name__ == "__main__":
    main()
