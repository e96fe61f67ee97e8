"""The sizes of `benchmarks.gpu`: a model without weights, its engines, and what they are asked."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "rope_theta": 500_000.0,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "max_position_embeddings": 8192,
}


@dataclass(frozen=True, slots=True)
class Setup:
    """A size of everything: the model's shape, the engines, and what each is asked."""

    shape: Mapping[str, int]
    arguments: Mapping[str, Any]
    engines: Sequence[Mapping[str, Any]]
    benched: str
    """The load of the last engine that `vllm bench throughput` gets too."""


def _load(name: str, words: int, max_tokens: int, requests: int, **settings: Any) -> dict[str, Any]:
    return {
        "name": name,
        "words": words,
        "max_tokens": max_tokens,
        "requests": requests,
        **settings,
    }


THROUGHPUT = {"performance_mode": "throughput", "reasoning_parser": "qwen3"}
FULL = Setup(
    shape={
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 128_256,
    },
    # The greedy answers asked for here need no sampler; its kernel would be compiled at a start.
    arguments={"max_model_len": 4096, "env": {"VLLM_USE_FLASHINFER_SAMPLER": 0}},
    engines=(
        {
            "name": "as it comes",
            "arguments": {},
            "loads": [
                _load("choice (600, 4)", 600, 4, 400),
                _load("note (2,000, 128)", 2000, 128, 128),
                _load("judge with schema (1,500, 200)", 1500, 200, 128, schema=True),
            ],
        },
        {
            "name": "throughput",
            "arguments": THROUGHPUT,
            "loads": [
                _load("thinking (600, 512)", 600, 512, 128),
                _load("1,024 / 128", 1024, 128, 256),
            ],
        },
    ),
    benched="1,024 / 128",
)
TINY = Setup(
    shape={
        "hidden_size": 256,
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "vocab_size": 49_280,
    },
    arguments={"max_model_len": 1024, "max_num_seqs": 8, "kv_cache_memory_bytes": 64 << 20},
    engines=(
        {
            "name": "as it comes",
            "arguments": {},
            "loads": [
                _load("choice (60, 4)", 60, 4, 24),
                _load("note (200, 16)", 200, 16, 16),
                _load("judge with schema (100, 40)", 100, 40, 8, schema=True),
            ],
        },
        {
            "name": "throughput",
            "arguments": THROUGHPUT,
            "loads": [
                _load("thinking (60, 32)", 60, 32, 8),
                _load("128 / 16", 128, 16, 32),
            ],
        },
    ),
    benched="128 / 16",
)


def write_model(setup: Setup, tokenizer: Path, folder: Path) -> Path:
    """A model's folder without weights: a configuration, and a tokenizer with thinking."""
    folder.mkdir()
    config = {**LLAMA, **setup.shape}
    (folder / "config.json").write_text(json.dumps(config))
    for path in tokenizer.iterdir():
        if path.suffix in (".json", ".jinja") and path.name not in ("config.json",):
            shutil.copy(path, folder)
    tokenizer_json = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer_json["model"]["vocab"]
    first_free_id = 1 + max(
        *vocabulary.values(), *(token["id"] for token in tokenizer_json["added_tokens"])
    )
    token_flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokenizer_json["added_tokens"] += [
        {"id": first_free_id + n, "content": text, "special": False, **token_flags}
        for n, text in enumerate(("<think>", "</think>"))
    ]
    # A word for every number that the model may answer: after one without a text, a tokenizer
    # decodes the prompt again for each token.
    vocabulary |= {f"\u0120word{n}": n for n in range(first_free_id + 2, setup.shape["vocab_size"])}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json), encoding="utf-8")
    return folder
