"""Our worker's path without Spark beside vLLM's own, on one GPU, with made weights.

The same requests go through a Spark worker's engine as Arrow batches, through one `LLM.chat` call
of vLLM as it comes, and, with texts of the same lengths, through `vllm bench throughput`. Each way
is a process of its own that gets the same engine arguments; this one watches the GPU by nvidia-smi
and kills each way while it answers. The weights are of the shape of an 8-billion model and made up
by vLLM: it computes as much with them, and what it answers means nothing.

    python -m benchmarks.gpu [--tiny] [--rounds 1] [--limit 470] [--output PAGE.md]
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.gpu_report import Event, Way, report
from benchmarks.gpu_setup import FULL, TINY, Setup, write_model
from benchmarks.gpu_watch import Watch, of_session
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.engines import vllm_args
from medhelm_spark.operating_system import usable_cpus

SECONDS_AFTER_THE_KILL = 10.0


class Machine:
    """Where the ways run: the engines, the variables, and the time that is left."""

    def __init__(self, setup: Setup, tokenizer: Path, folder: Path, limit: float) -> None:
        self.setup, self.folder = setup, folder
        self.deadline = time.monotonic() + limit
        model = write_model(setup, tokenizer, folder / "model")
        fixed = {"model": str(model), "load_format": "dummy", "dtype": "bfloat16"}
        self.engines: list[dict[str, Any]] = []
        for engine in setup.engines:
            arguments = {**fixed, **setup.arguments, **engine["arguments"]}
            plan = launch_plan(arguments)
            self.engines.append({**engine, "arguments": arguments, "all": dict(plan.engine)})
        self.env = {**os.environ, **plan.env}

    def environment(self, way: str) -> dict[str, str]:
        """The variables of ours; vLLM's own ways start their process as it does by default."""
        own = dict(self.env)
        if way == "ours":
            return own
        # What the engine sets by a call of glibc, for processes that it does not live in.
        largest = str(1 << 30)
        own |= {"MALLOC_MMAP_THRESHOLD_": largest, "MALLOC_TRIM_THRESHOLD_": largest}
        for name in vllm_args.OWN_PROCESS:
            own.pop(name, None)
        return own | {"VLLM_PLUGINS": ""}

    def run(self, way: str, rounds: int, watch: Watch) -> Way:
        """One way from its start to ten seconds after its kill."""
        # Ours completes the arguments itself.
        key = "arguments" if way == "ours" else "all"
        engines = [{**engine, "arguments": engine[key]} for engine in self.engines]
        plan, events = self.folder / f"{way}.json", self.folder / f"{way}.jsonl"
        plan.write_text(json.dumps({"way": way, "engines": engines, "rounds": rounds}))
        command = [sys.executable, "-m", "benchmarks.gpu_ways", str(plan), str(events)]
        result = Way()
        with (self.folder / f"{way}.log").open("w") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environment(way), start_new_session=True
            )
            try:
                while process.poll() is None and time.monotonic() < self.deadline:
                    result.events = read_events(events)
                    if next(result.matching("answering"), None):
                        kill(process, result, watch)
                        break
                    time.sleep(0.1)
            finally:
                result.events = read_events(events)
                end_session(process)
        if result.killed_at is None:
            late = time.monotonic() >= self.deadline
            result.problem = "no time was left" if late else trouble(self.folder / f"{way}.log")
        return result

    def bench(self) -> Mapping[str, Any] | None:
        """The output of `vllm bench throughput` on its load; None where it did not end."""
        engine = self.engines[-1]
        (load,) = (each for each in engine["loads"] if each["name"] == self.setup.benched)
        measured = self.folder / "bench.json"
        lengths = {"random-input-len": load["words"], "random-output-len": load["max_tokens"]}
        options = {"dataset-name": "random", "num-prompts": load["requests"], **lengths}
        command = [sys.executable, "-m", "benchmarks.gpu_ways", "bench"]
        command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
        command += [*flags(engine["all"]), "--output-json", str(measured)]
        with (self.folder / "bench.log").open("w") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=self.environment("bench"),
                start_new_session=True,
            )
            try:
                process.wait(timeout=max(1.0, self.deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            finally:
                end_session(process)
        return json.loads(measured.read_text()) if measured.is_file() else None


def launch_plan(arguments: Mapping[str, Any]) -> vllm_args.VllmPlan:
    """What our engine would start vLLM with, for a deployment of these arguments."""
    deployment = Deployment(
        name="bench/model",
        model="bench/model",
        engine="vllm",
        locality=Locality.LOCAL,
        args=arguments,
    )
    gpus = 0 if vllm_args.is_cpu_build() else 1
    return vllm_args.plan(deployment, vllm_args.known_arguments(), gpus, cpus=usable_cpus())


def kill(process: "subprocess.Popen[bytes]", result: Way, watch: Watch) -> None:
    """End one process without a warning, and count what of it is left."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    result.killed_at = time.time()
    time.sleep(SECONDS_AFTER_THE_KILL)
    result.processes_left = len(of_session(process.pid))
    result.memory_left = watch.memory(time.time())


def trouble(log: Path) -> str:
    """The last line of a log that names an error, else its last one."""
    lines = log.read_text(errors="replace").splitlines() or [""]
    error_lines = [
        line for line in lines if re.match(r"(\(\w.*?\) .*?)?[\w.]+(Error|Exception)\b", line)
    ]
    return (error_lines or lines)[-1][-200:].replace("|", "/")


def read_events(path: Path) -> list[Event]:
    """The lines that are whole."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def end_session(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all that it has started."""
    for pid in of_session(process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()


def flags(arguments: Mapping[str, Any]) -> list[str]:
    """Engine arguments as vLLM's command line has them."""
    options = []
    for name, value in arguments.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            options += [f"--{flag}", str(value)]
    return options


def main() -> None:
    """Measure, print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a tiny shape, for a CPU")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=470, help="seconds for all of it")
    parser.add_argument("--tokenizer", type=Path, help="default: SmolLM2's, as the tests use it")
    default = Path(__file__).parent / "results" / "gpu.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        setup = TINY if args.tiny else FULL
        machine = Machine(setup, args.tokenizer or small_tokenizer(), Path(name), args.limit)
        with Watch() as watch:
            before = watch.memory(time.time())
            ways = {way: machine.run(way, args.rounds, watch) for way in ("ours", "chat")}
            text = report(setup, watch, before, ways, machine.bench(), args.rounds)
    args.output.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def small_tokenizer() -> Path:
    """The folder of the small model of the tests."""
    from tests.vllm.model import smollm2

    return smollm2()


if __name__ == "__main__":
    main()
