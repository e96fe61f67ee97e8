"""What a model needs of memory by its files, and whether a machine has it."""

import json
import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest

from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.machine import Machine
from medhelm_spark.engines.gguf import head
from medhelm_spark.engines.memory import ModelMemory, memory_note, memory_of, room_for

LLAMA_8B = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "torch_dtype": "bfloat16",
}
"""The published shape of Llama 3.1 8B: 131,072 bytes a token in half precision."""

CONFIGS = {
    "grouped heads": (LLAMA_8B, {}, 131_072),
    "one byte a number": (LLAMA_8B, {"kv_cache_dtype": "fp8_e4m3"}, 65_536),
    "single precision asked for": (LLAMA_8B, {"dtype": "float32"}, 262_144),
    "every head kept": ({**LLAMA_8B, "num_key_value_heads": None}, {}, 524_288),
    "heads of a stated size": ({**LLAMA_8B, "head_dim": 64}, {}, 65_536),
    "a model that reads images": ({"text_config": LLAMA_8B}, {}, 131_072),
    "layers that do not attend": (
        {**LLAMA_8B, "layer_types": ["linear_attention", "full_attention"] * 4},
        {},
        16_384,
    ),
    "latent attention": ({**LLAMA_8B, "kv_lora_rank": 512, "qk_rope_head_dim": 64}, {}, 36_864),
    "a configuration of another kind": ({"d_model": 64}, {}, None),
}


def vllm(**args: object) -> Deployment:
    return Deployment(name="m", model="m", engine="vllm", locality=Locality.LOCAL, args=args)


@pytest.mark.parametrize(("config", "args", "per_token"), CONFIGS.values(), ids=CONFIGS)
def test_a_folders_weights_and_cache(
    tmp_path: Path, config: dict, args: dict, per_token: int | None
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    for part, size in enumerate((3000, 2000)):
        (tmp_path / f"model-{part}.safetensors").write_bytes(bytes(size))
    (tmp_path / "pytorch_model.bin").write_bytes(bytes(9000))
    found = memory_of(vllm(model=str(tmp_path), **args))
    assert found == ModelMemory(weights=5000, cache_per_token=per_token)


def test_weights_that_are_not_on_this_machine_are_not_measured(tmp_path: Path) -> None:
    assert memory_of(vllm(model="somewhere/else")) is None
    (tmp_path / "config.json").write_text("{")
    assert memory_of(vllm(model=str(tmp_path))) is None
    server = Deployment(name="s", model="s", engine="openai", locality=Locality.LOCAL)
    assert memory_of(server) is None


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def number(key: str, value: int) -> bytes:
    return text(key) + struct.pack("<II", 4, value)


def gguf_file(path: Path, *pairs: bytes, size: int = 1000) -> Path:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs))
    path.write_bytes(path.read_bytes().ljust(size, b"\0"))
    return path


NAME = text("general.architecture") + struct.pack("<I", 8) + text("qwen2")
LANGUAGES = text("general.languages") + struct.pack("<IIQ", 9, 8, 2) + text("en") + text("de")
SHAPE = (
    number("qwen2.block_count", 30),
    number("qwen2.embedding_length", 576),
    number("qwen2.attention.head_count", 9),
    number("qwen2.attention.head_count_kv", 3),
)


def llama_cpp(path: Path) -> Deployment:
    args = {"path": str(path)}
    return Deployment(name="g", model="g", engine="llama_cpp", locality=Locality.LOCAL, args=args)


def test_a_gguf_files_weights_and_cache(tmp_path: Path) -> None:
    file = gguf_file(tmp_path / "a.gguf", NAME, LANGUAGES, *SHAPE)
    assert memory_of(llama_cpp(file)) == ModelMemory(weights=1000, cache_per_token=23_040)


def test_all_parts_of_a_gguf_file_are_its_weights(tmp_path: Path) -> None:
    file = gguf_file(tmp_path / "a-00001-of-00002.gguf", NAME, *SHAPE)
    gguf_file(tmp_path / "a-00002-of-00002.gguf", size=500)
    gguf_file(tmp_path / "b-00002-of-00002.gguf", size=500)
    assert memory_of(llama_cpp(file)) == ModelMemory(weights=1500, cache_per_token=23_040)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGUF",
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60),
        b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<I", 77),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 0, 1 << 40),
        b"PK" + bytes(100),
    ],
)
def test_a_file_without_a_readable_head_has_no_settings(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.gguf").write_bytes(content)
    assert head(tmp_path / "a.gguf") == {}


def machine(*gpus: tuple[str, int], memory: int = 0) -> Machine:
    return Machine(
        name="here",
        clock=datetime(2026, 1, 1, tzinfo=UTC),
        python="3.11",
        cores=8,
        gpus=tuple(name for name, _ in gpus),
        gpu_bytes=tuple(size for _, size in gpus),
        memory_bytes=memory,
    )


EIGHT_B = ModelMemory(weights=16_000_000_000, cache_per_token=131_072)
L40S = ("NVIDIA L40S", 48_000_000_000)


@pytest.mark.parametrize(
    ("args", "there", "memory", "note"),
    [
        (
            {},
            machine(L40S),
            EIGHT_B,
            "Memory of m: 16.0 GB of weights and 131 kB of cache for each token, 0.3 GB for the "
            "longest request (2,000 tokens). It fits into 90% of 1 x NVIDIA L40S (43.2 GB), with "
            "room for 103 such requests at once.",
        ),
        (
            {"tensor_parallel_size": 2},
            machine(L40S, L40S),
            ModelMemory(weights=141_000_000_000),
            "Memory of m: 141.0 GB of weights; its configuration does not say how large its cache "
            "is. It does not fit into 90% of 2 x NVIDIA L40S (86.4 GB): set "
            "args.tensor_parallel_size to 4, or use a smaller or quantized model.",
        ),
        (
            {},
            machine(memory=8_000_000_000),
            EIGHT_B,
            "Memory of m: 16.0 GB of weights and 131 kB of cache for each token, 0.3 GB for the "
            "longest request (2,000 tokens). It does not fit into this machine's memory (8.0 GB): "
            "use a smaller or quantized model.",
        ),
    ],
)
def test_a_note_says_whether_the_machine_has_it(
    args: dict, there: Machine, memory: ModelMemory, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medhelm_spark.engines.vllm_args.is_cpu_build", lambda: False)
    assert memory_note("m", memory, room_for(vllm(**args), there), 2_000) == note


def test_where_executors_load_it_the_note_names_who_looks_at_them() -> None:
    note = memory_note("m", ModelMemory(weights=98_000_000, cache_per_token=23_040), None)
    assert note == (
        "Memory of m: 98 MB of weights and 23 kB of cache for each token. `medhelm-spark doctor "
        "--executors` prints what the executors' machines have."
    )
