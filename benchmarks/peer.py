"""The same 1,000 PubMedQA rows and model through MedHELM 0.8.0 and through us, on one machine.

Every way is a process of its own, from nothing to scores; an engine's start counts. MedHELM runs as
it does by default (the model in its process) and against a vLLM server with several numbers of
threads; its summarise step is left out, ours is counted.

    python -m benchmarks.peer --medhelm VENV --vllm VENV --model FOLDER [--rows 1000]
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.vllm_stream import ORIGINAL

PORT = 8011
PROMPT = "Abstract: {context}\n\nQuestion: {question}\n\nReply with one word: yes, no or maybe."
ENTRY = "medhelm_configurable_benchmark:config_path=benchmark.yaml,model={}"
NAME, MODEL = "pubmedqa-timed", "local/smollm2"


def make_data(folder: Path, data: Path, rows: int) -> None:
    """A configurable benchmark that both sides read; its paths are relative to the folder."""
    found = list(json.loads(data.read_text(encoding="utf-8")).values())[:rows]
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "context", "question", "correct_answer"])
        for place, row in enumerate(found):
            text = " ".join(row["CONTEXTS"])
            writer.writerow([place, text, row["QUESTION"], row["final_decision"]])
    (folder / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    config = {
        "name": NAME,
        "description": "PubMedQA, for a measurement.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "access_level": "public",
        "max_tokens": 16,
        "metrics": [{"name": "exact_match"}],
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


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
    place = {"pretrained_model_name_or_path": str(own)}
    server = {"base_url": f"http://127.0.0.1:{PORT}/v1/", "vllm_model_name": "smollm2"}
    clients = {
        "vllm/smollm2": ("helm.clients.vllm_client.VLLMChatClient", server),
        "huggingface/smollm2": (
            "helm.clients.huggingface_client.HuggingFaceClient",
            {**place, "apply_chat_template": True},
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
            "args": place,
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
            "release_date": "2025-01-01",
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
        "client_spec": {"args": {"model": str(model), "max_num_seqs": 64}},
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
        "--max-model-len", "2048", "--max-num-seqs", "64",
    ]  # fmt: skip
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **quiet)
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
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")


def theirs(medhelm: Path, folder: Path, deployment: str, threads: int) -> None:
    """One run of MedHELM without its cache."""
    entry = f"{ENTRY.format(MODEL)},model_deployment={deployment}"
    _run(
        [
            str(medhelm / "bin" / "medhelm-run"), "--run-entries", entry,
            "-m", "100000", "-o", "out", "--local-path", "theirs", "--disable-cache",
            "-n", str(threads), "--suite", f"{deployment.replace('/', '-')}-{threads}",
        ],
        folder,
    )  # fmt: skip


def ours(vllm: Path, folder: Path) -> None:
    """One run of ours on a fresh lake."""
    _run(
        [
            str(vllm / "bin" / "medhelm-spark"), "run", "-r", ENTRY.format(MODEL), "--suite", "s",
            "-o", f"lake-{time.monotonic_ns()}", "--local-path", "ours", "--no-tracking",
        ],
        folder,
    )  # fmt: skip


def main() -> None:
    """Measure every way and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--medhelm", "--vllm", "--model"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--threads", type=int, nargs="+", default=[4, 32, 64])
    parser.add_argument("--skip-in-process", action="store_true", help="it takes a quarter hour")
    parser.add_argument("--data", type=Path, default=ORIGINAL)
    default = Path(__file__).parent / "results" / "medhelm.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "2", "DO_NOT_TRACK": "1"}
    medhelm, vllm, model = args.medhelm.absolute(), args.vllm.absolute(), args.model.absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_data(folder, args.data, args.rows)
        make_theirs(folder, model)
        make_ours(folder, model)
        rows = []

        def timed(label: str, work: Any) -> None:
            started = time.perf_counter()
            work()
            rows.append((label, time.perf_counter() - started))
            sys.stderr.write(f"{label}: {rows[-1][1]:.1f} s\n")

        def served(threads: int) -> None:
            with server(vllm, model):
                theirs(medhelm, folder, "vllm/smollm2", threads)

        timed("medhelm_spark, vLLM in the executor", lambda: ours(vllm, folder))
        for threads in args.threads:
            label = f"MedHELM 0.8.0, vLLM server, {threads} threads"
            timed(label, lambda threads=threads: served(threads))
        timed("medhelm_spark again, fresh lake", lambda: ours(vllm, folder))
        if not args.skip_in_process:
            label = "MedHELM 0.8.0, in process (its default)"
            timed(label, lambda: theirs(medhelm, folder, "huggingface/smollm2", 4))
    text = report(rows, args.rows)
    args.output.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def report(rows: Sequence[tuple[str, float]], count: int) -> str:
    """The table as markdown."""
    best = min(seconds for label, seconds in rows if label.startswith("medhelm_spark"))
    lines = [
        "# End to end beside MedHELM 0.8.0",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, no GPU; {count:,} PubMedQA rows, "
        "SmolLM2-135M-Instruct, greedy, 16 tokens at most, 64 sequences at once. One run each, "
        "engine start counted; MedHELM without its summarise step, ours with it.",
        "",
        "| way | seconds | rows/s | to ours |",
        "|---|---|---|---|",
    ]
    for label, seconds in rows:
        lines.append(f"| {label} | {seconds:.0f} | {count / seconds:.2f} | {seconds / best:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
