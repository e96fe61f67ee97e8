"""Memory and time of `import-helm` on one run whose requests fill a given size.

A `scenario_state.json` of 2 GB is made of long notes and imported in a process of its own; with
`--export` it is exported again, which sorts all of its text. What is measured is the largest
resident size of the driver: its Python and its JVM, in which on one machine the tasks run too, and
the tasks' Python workers beside it.

    python -m benchmarks.helm_results [--gigabytes 2] [--export]
"""

import argparse
import json
import os
import random
import string
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.processes import Usage, measured

NOTE = 50_000
"""Characters of one note; a request has it twice, as in HELM."""

NAME = "NOTES:model=acme_one"


def write_run(folder: Path, size: int) -> int:
    """Write a run whose `scenario_state.json` has about `size` bytes; returns its requests."""
    folder.mkdir(parents=True)
    adapter = {"method": "generation", "model": "acme/one", "model_deployment": "acme/one"}
    run_spec = {
        "name": NAME,
        "scenario_spec": {"class_name": "made.up.Notes", "args": {}},
        "adapter_spec": adapter,
        "metric_specs": [],
        "groups": ["NOTES"],
    }
    (folder / "run_spec.json").write_text(json.dumps(run_spec, indent=2))
    stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0, "mean": 1.0}
    (folder / "stats.json").write_text(json.dumps([stat], indent=2))
    randomly = random.Random(0)
    words = ["".join(randomly.choices(string.ascii_lowercase, k=7)) for _ in range(5000)]
    count = 0
    with (
        (folder / "scenario_state.json").open("w") as states,
        (folder / "per_instance_stats.json").open("w") as values,
    ):
        states.write('{"adapter_spec": {}, "request_states": [\n')
        values.write("[\n")
        while states.tell() < size:
            text = " ".join(randomly.choices(words, k=NOTE // 8))
            separator = ",\n" if count else ""
            states.write(separator + json.dumps(_state(count, text), indent=2))
            row = {"instance_id": f"id{count}", "train_trial_index": 0, "stats": [stat]}
            values.write(separator + json.dumps(row, indent=2))
            count += 1
        states.write("]}\n")
        values.write("]\n")
    return count


def _state(number: int, text: str) -> dict[str, object]:
    return {
        "instance": {
            "input": {"text": text},
            "references": [{"output": {"text": "yes"}, "tags": ["correct"]}],
            "split": "test",
            "id": f"id{number}",
        },
        "train_trial_index": 0,
        "request": {"prompt": f"{text}\nAnswer:", "max_tokens": 5, "temperature": 0.0},
        "result": {"success": True, "completions": [{"text": "yes", "logprob": 0, "tokens": []}]},
    }


def command(*arguments: str) -> list[str]:
    """A command line of ours, in a process of its own."""
    return [sys.executable, "-m", "medhelm_spark.cli", *arguments]


def main() -> None:
    """Make, import, export, and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--export", action="store_true")
    default = Path(__file__).parent / "results" / "helm_results.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        count = write_run(folder / "helm" / "runs" / "s" / NAME, int(args.gigabytes * 1e9))
        size = (folder / "helm" / "runs" / "s" / NAME / "scenario_state.json").stat().st_size
        lake = ["--suite", "s", "-o", str(folder / "lake")]
        text_flags = ["--text-levels", "private"]
        usages = {}
        steps = {"import-helm": (str(folder / "helm"), "--no-tracking", *lake)}
        if args.export:
            steps["export-helm"] = (str(folder / "out"), *text_flags, *lake)
        for name, arguments in steps.items():
            usages[name] = measured(command(name, *arguments))
            args.output.write_text(report(usages, count, size), encoding="utf-8")


def report(usages: Mapping[str, Usage], count: int, size: int) -> str:
    """The numbers as markdown."""
    lines = [
        "# Memory of import-helm",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores. One run of {count:,} requests, a "
        f"`scenario_state.json` of {size / 1e9:.2f} GB. Largest resident sizes in GB; the tasks "
        "run in the driver's JVM.",
        "",
        "| command | seconds | driver's Python | JVM | Python workers | driver in all |",
        "|---|---|---|---|---|---|",
        *(
            f"| `{name}` | {usage.seconds:.0f} | {usage.gigabytes['python']:.2f} "
            f"| {usage.gigabytes['jvm']:.2f} | {usage.gigabytes.get('workers', 0):.2f} "
            f"| **{usage.gigabytes['python'] + usage.gigabytes['jvm']:.2f}** |"
            for name, usage in usages.items()
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
