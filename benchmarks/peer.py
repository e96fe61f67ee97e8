"""The same 1,000 PubMedQA rows and model through MedHELM 0.8.0 and through us, on one machine.

Every way is a process of its own, from nothing to scores; an engine's start counts. MedHELM runs as
it does by default (the model in its process) and against a vLLM server with several numbers of
threads; its summarise step is left out, ours is counted.

    python -m benchmarks.peer --medhelm VENV --vllm VENV [--prompt sentence]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from benchmarks.loads import ORIGINAL, abstracts, write_benchmark
from tests.vllm.model import smollm2

PORT = 8011
OURS, IN_PROCESS = "medhelm_spark, vLLM in the executor", "MedHELM 0.8.0, in process (its default)"
Work = Callable[[], None]
MODEL = "local/smollm2"
ENTRY = f"medhelm_configurable_benchmark:config_path=benchmark.yaml,model={MODEL}"
SUFFIX = "Reply with one word: yes, no or maybe."


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked of a row, and how long the answer may be."""

    text: str
    max_tokens: int = 16


PROMPTS = {
    "question": Prompt("{question}\n\n" + SUFFIX),
    "abstract": Prompt("Abstract: {context}\n\nQuestion: {question}\n\n" + SUFFIX),
    "sentence": Prompt("{question}\n\nAnswer in one sentence that says why.", max_tokens=48),
}


def make_data(folder: Path, data: Path, rows: int, prompt: str) -> Path:
    """A configurable benchmark that both sides read, in a folder of its own; returns that."""
    benchmark_folder = folder / f"pubmedqa-{prompt}"
    benchmark_folder.mkdir()
    keys = ("context", "question", "correct_answer")
    records = [dict(zip(keys, row, strict=True)) for row in abstracts(data, rows)]
    write_benchmark(benchmark_folder, PROMPTS[prompt].text, PROMPTS[prompt].max_tokens, records)
    return benchmark_folder


def make_theirs(folder: Path, model: Path) -> None:
    """MedHELM's prod_env, and the model's folder as transformers 4 reads it."""
    own = folder / "model"
    shutil.copytree(model, own)
    config = json.loads((own / "config.json").read_text())
    config |= {"rope_theta": 100000.0, "torch_dtype": "bfloat16"}
    (own / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((own / "tokenizer_config.json").read_text())
    template = (own / "chat_template.jinja").read_text()
    tokenizer |= {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": template}
    (own / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    model_arguments = {"pretrained_model_name_or_path": str(own)}
    server = {"base_url": f"http://127.0.0.1:{PORT}/v1/", "vllm_model_name": "smollm2"}
    clients = {
        "vllm/smollm2": ("helm.clients.vllm_client.VLLMChatClient", server),
        "huggingface/smollm2": (
            "helm.clients.huggingface_client.HuggingFaceClient",
            {**model_arguments, "apply_chat_template": True},
        ),
    }
    deployments = [
        {
            "name": name,
            "model_name": MODEL,
            "tokenizer_name": MODEL,
            "max_sequence_length": 2048,
            "client_spec": {"class_name": client, "args": args},
        }
        for name, (client, args) in clients.items()
    ]
    tokenizers = {
        "name": MODEL,
        "tokenizer_spec": {
            "class_name": "helm.tokenizers.huggingface_tokenizer.HuggingFaceTokenizer",
            "args": model_arguments,
        },
        "prefix_token": "<|endoftext|>",
        "end_of_text_token": "<|im_end|>",
    }
    _write(folder / "theirs", model_deployments=deployments, tokenizer_configs=[tokenizers])
    models = [
        {
            "name": MODEL,
            "display_name": "SmolLM2",
            "description": "small",
            "creator_organization_name": "HF",
            "access": "open",
            "release_date": date(2025, 1, 1),
            "tags": ["TEXT_MODEL_TAG", "INSTRUCTION_FOLLOWING_MODEL_TAG"],
        }
    ]
    (folder / "theirs" / "model_metadata.yaml").write_text(yaml.safe_dump({"models": models}))


def make_ours(folder: Path, model: Path) -> None:
    """Our prod_env: the same model in the engine `vllm`."""
    deployment = {
        "name": MODEL,
        "engine": "vllm",
        "locality": "local",
        "max_sequence_length": 2048,
        "client_spec": {"args": {"model": str(model), "max_num_seqs": 64, "dtype": "float32"}},
    }
    _write(folder / "ours", model_deployments=[deployment])


def _write(folder: Path, **files: Any) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({name: content}))


@contextmanager
def server(vllm: Path, model: Path) -> Iterator[None]:
    """A server of vLLM itself, ready."""
    command = [
        str(vllm / "bin" / "python"), "-m", "vllm.entrypoints.openai.api_server",
        "--model", str(model), "--served-model-name", "smollm2", "--port", str(PORT),
        "--max-model-len", "2048", "--max-num-seqs", "64", "--dtype", "float32", "--enforce-eager",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not _is_ready():
            if process.poll() is not None:
                raise SystemExit("vLLM's server ended before it was ready")
            time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait()


def _is_ready() -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _run(command: Sequence[str], folder: Path) -> None:
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{process.stderr[-3000:]}")


def theirs(medhelm: Path, folder: Path, deployment: str, threads: int) -> None:
    """One run of MedHELM without its cache."""
    entry = f"{ENTRY},model_deployment={deployment}"
    _run(
        [
            str(medhelm / "bin" / "medhelm-run"), "--run-entries", entry,
            "-m", "100000", "-o", "out", "--local-path", "../theirs", "--disable-cache",
            "-n", str(threads), "--suite", f"{deployment.replace('/', '-')}-{threads}",
        ],
        folder,
    )  # fmt: skip


def ours(vllm: Path, folder: Path) -> None:
    """One run of ours on a fresh lake."""
    _run(
        [
            str(vllm / "bin" / "medhelm-spark"), "run", "-r", ENTRY, "--suite", "s",
            "-o", f"lake-{time.monotonic_ns()}", "--local-path", "../ours", "--no-tracking",
        ],
        folder,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Side:
    """Where everything is that both sides need."""

    medhelm: Path
    vllm: Path
    model: Path
    folder: Path

    def ways(
        self, benchmark_folder: Path, threads: Sequence[int], in_process: bool
    ) -> dict[str, Work]:
        """What is timed, in its order: ours first and again at the end."""

        def served(count: int) -> None:
            with server(self.vllm, self.model):
                theirs(self.medhelm, benchmark_folder, "vllm/smollm2", count)

        return {
            OURS: lambda: ours(self.vllm, benchmark_folder),
            **{
                f"MedHELM 0.8.0, vLLM server, {count} threads": partial(served, count)
                for count in threads
            },
            f"{OURS}, again on a fresh lake": lambda: ours(self.vllm, benchmark_folder),
            **(
                {
                    IN_PROCESS: lambda: theirs(
                        self.medhelm, benchmark_folder, "huggingface/smollm2", 4
                    )
                }
                if in_process
                else {}
            ),
        }


def main() -> None:
    """Measure every way and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--medhelm", "--vllm"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--model", type=Path, help="default: SmolLM2, as the tests use it")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--prompt", choices=PROMPTS, default="abstract")
    parser.add_argument("--threads", type=int, nargs="+", default=[4, 32, 64])
    parser.add_argument("--skip-in-process", action="store_true", help="it takes a quarter hour")
    parser.add_argument("--data", type=Path, default=ORIGINAL)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    output = args.output or Path(__file__).parent / "results" / f"medhelm_{args.prompt}.md"
    os.environ |= {"HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "2", "DO_NOT_TRACK": "1"}
    with tempfile.TemporaryDirectory() as name:
        model = args.model or smollm2()
        side = Side(args.medhelm.absolute(), args.vllm.absolute(), model.absolute(), Path(name))
        make_theirs(side.folder, side.model)
        make_ours(side.folder, side.model)
        benchmark_folder = make_data(side.folder, args.data, args.rows, args.prompt)
        timings: dict[str, float] = {}
        for label, work in side.ways(
            benchmark_folder, args.threads, not args.skip_in_process
        ).items():
            started = time.perf_counter()
            work()
            timings[label] = time.perf_counter() - started
            sys.stderr.write(f"{label}: {timings[label]:.1f} s\n")
            output.write_text(report(timings, args.rows, args.prompt), encoding="utf-8")
    sys.stdout.write(output.read_text(encoding="utf-8"))


def report(timings: Mapping[str, float], count: int, prompt: str) -> str:
    """The table as markdown."""
    best = min(seconds for label, seconds in timings.items() if label.startswith(OURS))
    lines = [
        f"# End to end beside MedHELM 0.8.0: PubMedQA, {prompt}",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} hardware threads, no GPU; {count:,} rows, "
        f"SmolLM2-135M-Instruct in float32, greedy, {PROMPTS[prompt].max_tokens} tokens at most, "
        "64 sequences at once, no graph compiled. One run each, from nothing to scores, engine "
        "start counted; MedHELM without its cache and its summarise step, ours with both.",
        "",
        "| way | seconds | rows/s | to ours |",
        "|---|---|---|---|",
    ]
    for label, seconds in timings.items():
        lines.append(f"| {label} | {seconds:.0f} | {count / seconds:.2f} | {seconds / best:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
