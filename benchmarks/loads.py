"""What the benchmarks of real engines ask: PubMedQA, and a mixture of short and long answers."""

import csv
import json
import os
import random
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import yaml

from benchmarks.bench import WORDS

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
DATA = Path(os.environ.get("MEDHELM_SPARK_REAL_DATA", _BESIDE))
ORIGINAL = DATA / "pubmedqa" / "ori_pqal.json"
CLOSED = "{text}\nQuestion: {question}\nYes, no or maybe?"


def as_installed() -> dict[str, str]:
    """This environment, in which Python keeps compiled modules, as an installation has them."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True, slots=True)
class Ask:
    """A turn of the user and how many tokens the answer may have."""

    text: str
    max_tokens: int


def abstracts(data: Path, count: int) -> list[tuple[str, str, str]]:
    """PubMedQA's (abstract, question, answer); made ones of their size where the file is absent."""
    if data.is_file():
        rows = list(json.loads(data.read_text(encoding="utf-8")).values())[:count]
        return [(" ".join(r["CONTEXTS"]), r["QUESTION"], r["final_decision"]) for r in rows]
    draw = random.Random(0)
    texts = (" ".join(draw.choices(WORDS, k=220)) for _ in range(count))
    return [(text, " ".join(draw.choices(WORDS, k=14)) + "?", "yes") for text in texts]


def short_answers(rows: Sequence[tuple[str, str, str]]) -> list[Ask]:
    """Yes, no or maybe to an abstract: nearly all the work is reading."""
    return [
        Ask(f"{text}\nQuestion: {question}\nYes, no or maybe?", 3) for text, question, _ in rows
    ]


def mixed(rows: Sequence[tuple[str, str, str]]) -> list[Ask]:
    """Short answers, answers of 200 tokens, and questions to one long text, in turns."""
    shared = f"{rows[0][0]} {rows[1][0]}"
    kinds = (
        lambda text, question: Ask(CLOSED.format(text=text[:400], question=question), 3),
        lambda text, question: Ask(f"Write a long essay on: {question}", 200),
        lambda text, question: Ask(f"{shared}\nWhat follows for: {question}", 32),
    )
    return [kinds[n % 3](text, question) for n, (text, question, _) in enumerate(rows)]


def write_benchmarks(folder: Path, name: str, load: Sequence[Ask]) -> list[str]:
    """A configurable benchmark for each length of answer; returns their run entries."""
    entries = []
    for max_tokens in sorted({ask.max_tokens for ask in load}):
        benchmark_folder = folder / f"{name}-{max_tokens}"
        benchmark_folder.mkdir(parents=True)
        texts = [ask.text for ask in load if ask.max_tokens == max_tokens]
        write_benchmark(benchmark_folder, "{text}", max_tokens, [{"text": text} for text in texts])
        entries.append(
            f"medhelm_configurable_benchmark:config_path={benchmark_folder}/benchmark.yaml"
        )
    return entries


def write_benchmark(
    folder: Path,
    prompt: str,
    max_tokens: int,
    rows: Iterable[dict[str, str]],
    metric: str = "exact_match",
) -> None:
    """Template, data and configuration; MedHELM reads them as well as we do."""
    remaining = iter(rows)
    first = next(remaining)
    columns = list(dict.fromkeys(["id", "correct_answer", *first]))
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns, restval="yes")
        writer.writeheader()
        writer.writerows({"id": str(n)} | row for n, row in enumerate(chain([first], remaining)))
    (folder / "prompt.txt").write_text(prompt, encoding="utf-8")
    config = {
        "name": folder.name,
        "description": "Made for a measurement.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "access_level": "public",
        "max_tokens": max_tokens,
        "answer_extraction": "strict",  # as MedHELM asks: no room for a sentence
        "metrics": [{"name": metric}],
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def first_layers(model: Path, layers: int, folder: Path) -> Path:
    """A copy of a Llama model's folder that keeps its first layers alone: fast, and no use."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(model, folder)
    weights = load_file(folder / "model.safetensors")
    selected = {
        name: weight
        for name, weight in weights.items()
        if not name.startswith("model.layers.") or int(name.split(".")[2]) < layers
    }
    save_file(selected, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] = layers
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
