"""Own code beside the library that does the same: equal results, and the ratio of speed.

Processor seconds, the least of five rounds, since other work runs on most machines. The notes are
those of aci_bench where MEDHELM_SPARK_REAL_DATA names a folder that has them, else made ones. What
came of it: docs/decisions/0014-own-code.md.

    python -m benchmarks.own_code [--output benchmarks/results/own_code.md]
"""

import argparse
import os
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement

from benchmarks import own_code_locks as locks, own_code_metrics as metrics, own_code_text as text
from benchmarks.own_code_timing import Comparison, closure, import_seconds, timed
from medhelm_spark.engines.slots import listed_gpus

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = {
    "rouge-score": "rouge_score.rouge_scorer",
    "nltk": "nltk.stem.porter",
    "sacrebleu": "sacrebleu.metrics",
    "filelock": "filelock",
    "nvidia-ml-py": "pynvml",
    "rich": "rich.table",
    "pyhocon": "pyhocon",
}
"""Distribution -> what of it is imported."""


def core() -> set[str]:
    """All that the package brings without extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return closure([Requirement(line).name for line in project["dependencies"]])


def costs() -> Iterator[str]:
    """Rows of a table: what each library would cost the core."""
    yield "| Library | imports in s | packages it adds to the core |"
    yield "|---|---|---|"
    present = core()
    for name, module in LIBRARIES.items():
        new = sorted(closure([name]) - present)
        additions = f"{len(new)}: {', '.join(new)}" if new else "none, it is one of them"
        yield f"| {name} {version(name)} | {import_seconds(module):.2f} | {additions} |"


def _listed_by_nvml() -> str:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ""
    try:
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return "".join(
            f"{index}, {pynvml.nvmlDeviceGetUUID(handle)}\n" for index, handle in enumerate(handles)
        )
    finally:
        pynvml.nvmlShutdown()


def gpus() -> tuple[Comparison, str]:
    """The driver's list of devices, by its program and by its library; which machine this is."""
    (own, own_seconds), (theirs, their_seconds) = timed(listed_gpus.__wrapped__, _listed_by_nvml)
    comparison = Comparison(
        what="nvidia-smi beside nvidia-ml-py",
        items="list of GPUs" if own else "list of no GPUs",
        equal="same" if own == theirs else "differ",
        own=1 / own_seconds,
        theirs=1 / their_seconds,
    )
    has = f"{len(own.splitlines())} GPUs" if own else "no NVIDIA driver: both list no GPU"
    return comparison, f"- This machine has {has}."


def report() -> str:
    """Everything as markdown."""
    description, pairs = metrics.notes()
    credentials, forms = text.credentials_comparison()
    devices, machine = gpus()
    comparisons = [
        *metrics.comparisons(pairs),
        locks.comparison(),
        devices,
        credentials,
        text.table_comparison(),
    ]
    lines = [
        "# Own code beside a library",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, Python {sys.version.split()[0]}; "
        f"{description}. Rates are per processor second, the best of five rounds.",
        "",
        "| What | Item | Equal results | own, items/s | library, items/s | own / library |",
        "|---|---|---|---|---|---|",
        *(comparison.line() for comparison in comparisons),
        "",
        *(forms, machine, *text.table_facts()),
        "",
        *locks.facts(),
        "",
        *costs(),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = ROOT / "benchmarks" / "results" / "own_code.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    markdown = report()
    args.output.write_text(markdown)
    sys.stdout.write(markdown)


if __name__ == "__main__":
    main()
