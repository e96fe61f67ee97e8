"""Eight fake GPUs on Spark, beside the simulation of the same load.

    python -m benchmarks.fake_gpus

The command runs in a session of `local[16]` that lists eight GPUs. A plug-in's engine fills its
GPU: it sleeps while it starts, and computes the steps of an engine by the model of
`benchmarks.slot_simulation`, whose seconds it sleeps. So everything but the GPUs is real: slots,
Python workers, chunks, answers in files, commits. All requests have 2,000 tokens, and answers 128.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml

from benchmarks.loads import write_benchmark
from benchmarks.slot_simulation import Load, Played, pulled

RESULTS = Path(__file__).parent / "results" / "fake_gpus.md"
GPUS, CORES = 8, 16
PROMPT, ANSWER = 2_000, 128
START, RESTART = 30.0, 5.0
LOADS = ((1, 4_000), (3, 1_400), (12, 350))
"""Models, and requests of each."""

PLUGIN = f"""
import time
from collections import deque
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchmarks.slot_simulation import CHUNK, IN_ENGINE, Gpu, next_steps
from medhelm_spark.engines import canned
from medhelm_spark.engines.slots import bound

STARTED = []


class FakeGpu(canned.CannedEngine):
    own_process = True
    events = None

    def answer(self, requests, gate):
        gpu, taken, source = Gpu(), deque(), iter(requests)
        due = time.monotonic()
        while True:
            if len(taken) < IN_ENGINE:
                more = list(islice(source, CHUNK))
                taken += more
                gpu.waiting += [[{PROMPT}, {ANSWER}] for _ in more]
            if not taken:
                return
            seconds, ended = next_steps(gpu)
            due += seconds
            time.sleep(max(0.0, due - time.monotonic()))
            done = [taken.popleft() for _ in range(ended)]
            if done:
                note(self.events, "answers", len(done))
            for request in done:
                yield self._reply(request)


def note(folder, what, count):
    with open(folder / "-".join(bound()), "a") as file:
        file.write(f"{{what}} {{count}} {{time.time()}}\\n")


def build(deployment, max_in_flight):
    args = dict(deployment.args)
    folder = Path(args.pop("events"))
    note(folder, "start", 1)
    start, restart = args.pop("start"), args.pop("restart")
    time.sleep(start + restart * bool(STARTED))
    STARTED.append(deployment.name)
    engine = FakeGpu(canned.read_settings(canned.CannedSettings, replace(deployment, args=args)))
    engine.events = folder
    return engine


ENGINES = {{
    "fake_gpu": replace(
        canned.ENGINE,
        build=build,
        check=lambda deployment: None,
        exclusive=True,
        gpus=lambda deployment: 1,
    )
}}
"""
MAIN = "import sys; from medhelm_spark.cli import main; sys.exit(main(sys.argv[1:]))"

HEAD = f"""# Eight fake GPUs on Spark

{{:%Y-%m-%d}}; {{}} hardware threads. `local[{CORES}]` with {GPUS} GPUs that the machine is said
to list, by `python -m benchmarks.fake_gpus`. Engines sleep what the
[step model](slot_simulation.md) computes for requests of {PROMPT:,} tokens and answers of {ANSWER};
a start takes {START:.0f} s, and {RESTART:.0f} s more where the worker had another model.
Seconds are from the first start of an engine to the last answer; busy is the work at full speed by
slots and these seconds. *Simulated* plays the same requests by the same `Dispatcher`. A single
model's engine starts while the data is read and planned.

| models | requests | slots | starts | simulated | s | simulated | busy % | simulated | of it |
|---|---|---|---|---|---|---|---|---|---|
{{}}
"""


@dataclass(frozen=True)
class Run:
    """What eight GPUs did: slots that answered, engine starts, answers, seconds."""

    slots: int
    starts: int
    answers: int
    seconds: float


def play(folder: Path, models: int, requests: int, start: float, restart: float) -> Run:
    """Run the command in an empty folder.

    Raises:
        SystemExit: the command failed.
    """
    events = folder / "events"
    events.mkdir()
    (folder / "fake_gpu_engine.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "site").mkdir()
    settings = {
        "plugins": ["fake_gpu_engine"],
        "spark": {"spark.master": f"local[{CORES}]", "spark.ui.enabled": "false"},
    }
    (folder / "site" / "settings.yaml").write_text(yaml.safe_dump(settings))
    names = [f"acme/m{number}" for number in range(models)]
    args = {"text": "yes", "events": str(events), "start": start, "restart": restart}
    deployments = [
        {
            "name": name,
            "engine": "fake_gpu",
            "locality": "local",
            "client_spec": {"args": {**args, "replies": {name: "yes"}}},
        }
        for name in names
    ]
    path = folder / "site" / "model_deployments.yaml"
    path.write_text(yaml.safe_dump({"model_deployments": deployments}))
    rows = ({"question": f"Is {number} a number?"} for number in range(requests))
    write_benchmark(folder, "{question}\nAnswer:", 5, rows)
    entry = f"medhelm_configurable_benchmark:config_path={folder}/benchmark.yaml"
    words = ["run", "-r", entry, "--models-to-run", *names, "--suite", "s", "--no-tracking"]
    process = subprocess.run(
        [sys.executable, "-c", MAIN, *words, "-o", "lake", "--local-path", "site"],
        cwd=folder,
        env=os.environ
        | {"MEDHELM_SPARK_SMALL_RUN_REQUESTS": "0"}
        | {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(GPUS)))}
        | {"PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parents[1])])},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise SystemExit(f"the command ended with {process.returncode}: {process.stderr}")
    return _read(events)


def _read(events: Path) -> Run:
    starts = answers = used_slots = 0
    times: list[float] = []
    for path in events.iterdir():
        answered = 0
        for event, count, moment in csv.reader(path.open(), delimiter=" "):
            times.append(float(moment))
            starts += event == "start"
            answered += int(count) if event == "answers" else 0
        answers += answered
        used_slots += answered > 0
    return Run(used_slots, starts, answers, max(times) - min(times))


def simulated(models: int, requests: int) -> Played:
    """The same load in the simulation."""
    load = Load(*(np.full(requests, size) for size in (PROMPT, ANSWER, ANSWER)))
    loads = {f"m{number}": load for number in range(models)}
    return pulled(loads, GPUS, start=START, restart=RESTART)


def main() -> None:
    """Measure and write the table, or print one run as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--start", type=float, default=START)
    args = parser.parse_args()
    if args.models:
        with tempfile.TemporaryDirectory() as folder:
            run = play(Path(folder), args.models, args.requests, args.start, args.start / 5)
            print(json.dumps(asdict(run)))
        return
    lines = []
    for models, requests in LOADS:
        with tempfile.TemporaryDirectory() as folder:
            run = play(Path(folder), models, requests, START, RESTART)
        expected = simulated(models, requests)
        busy = 100 * expected.work / GPUS / run.seconds
        lines.append(
            f"| {models} | {models * requests:,} | {run.slots} | {run.starts} | {expected.starts} "
            f"| {run.seconds:.0f} | {expected.seconds:.0f} | {busy:.0f} | {expected.busy:.0f} "
            f"| {100 * busy / expected.busy:.0f} % |"
        )
        print(lines[-1], flush=True)
    RESULTS.write_text(HEAD.format(datetime.now(UTC), os.cpu_count(), "\n".join(lines)))


if __name__ == "__main__":
    main()
