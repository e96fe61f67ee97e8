"""How much memory an engine that loads weights needs, and whether a machine has it.

An engine needs its weights and a cache for each request that it answers.

The cache of attention has two vectors, key and value, of every key-value head in every layer for
each token: 2 x layers x heads x size of a head x bytes of a number. Multi-head latent attention has
one vector in their place: layers x (rank + size of the rotary part) x bytes. Layers that attend to
a window alone are counted in full, so that the need is an upper bound.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.machine import Machine
from medhelm_spark.engines import gguf
from medhelm_spark.engines.model_files import model_file
from medhelm_spark.engines.tokens import model_folder_file
from medhelm_spark.engines.vllm_args import gpus_requested
from medhelm_spark.errors import SetupError

CONFIG = "config.json"
WEIGHTS = ("*.safetensors", "*.bin", "*.pt", "*.gguf")
"""The forms of weights: the files of the first form that a folder has are its weights."""
ATTENDS = "attention"
HALF, SINGLE, BYTE = 2, 4, 1
ONE_BYTE = ("fp8", "int8")
UTILIZATION = 0.9
"""The share of a GPU's memory that vLLM takes where `args.gpu_memory_utilization` is not given."""
GB = 1e9
MOST_GPUS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMemory:
    """Bytes of weights in all, and bytes of cache for each token of a request.

    `cache_per_token` is None where the model's configuration does not say.
    """

    weights: int
    cache_per_token: int | None = None


def memory_of(deployment: Deployment) -> ModelMemory | None:
    """What a deployment's engine loads; None where it loads nothing, or not from this machine."""
    if deployment.engine == "llama_cpp":
        return _of_gguf(deployment)
    return _of_folder(deployment) if deployment.engine == "vllm" else None


def _of_gguf(deployment: Deployment) -> ModelMemory | None:
    try:
        file = model_file(str(deployment.args.get("path", "smollm2")))
    except SetupError:
        return None
    settings = gguf.head(file)
    own = {
        key.partition(".")[2]: value
        for key, value in settings.items()
        if key.startswith(f"{settings.get('general.architecture')}.")
    }
    layers, heads = own.get("block_count"), own.get("attention.head_count")
    kv_heads = own.get("attention.head_count_kv", heads)
    width = own.get("embedding_length")
    per_token = None
    if isinstance(layers, int) and isinstance(kv_heads, int) and isinstance(heads, int) and heads:
        shared = width // heads if isinstance(width, int) else 0
        sizes = [own.get(f"attention.{name}_length", shared) for name in ("key", "value")]
        per_token = layers * kv_heads * sum(int(size) for size in sizes) * HALF or None
    return ModelMemory(weights=_size(file), cache_per_token=per_token)


def _size(file: Path) -> int:
    """Bytes of a GGUF file with its further parts."""
    first, separator, parts = file.stem.rpartition("-of-")
    if not separator or not first.endswith("-00001"):
        return file.stat().st_size
    named = file.parent.glob(f"{first.removesuffix('00001')}*-of-{parts}{file.suffix}")
    return sum(part.stat().st_size for part in named)


def _of_folder(deployment: Deployment) -> ModelMemory | None:
    config = model_folder_file(str(deployment.args.get("model", "")), CONFIG)
    if config is None:
        return None
    forms = (list(config.parent.glob(form)) for form in WEIGHTS)
    weights = sum(file.stat().st_size for file in next(filter(None, forms), []))
    if not weights:
        return None
    return ModelMemory(weights=weights, cache_per_token=_per_token(config, deployment.args))


def _per_token(config: Path, args: Mapping[str, Any]) -> int | None:
    try:
        whole = json.loads(config.read_bytes())
        # Models that read images too have the settings of their language model below this key.
        settings = {**whole, **whole.get("text_config", {})}
        layers = _attending(settings)
        if rank := settings.get("kv_lora_rank"):
            vectors = int(rank) + int(settings.get("qk_rope_head_dim") or 0)
        else:
            heads = int(settings["num_attention_heads"])
            kv_heads = int(settings.get("num_key_value_heads") or heads)
            size = settings.get("head_dim") or int(settings["hidden_size"]) // heads
            vectors = 2 * kv_heads * int(size)
        return layers * vectors * _bytes(args)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
        return None


def _attending(settings: Mapping[str, Any]) -> int:
    """How many layers attend: those of other kinds have no cache that grows with a request."""
    kinds = settings.get("layer_types")
    if kinds:
        return sum(ATTENDS in str(kind) and "linear" not in str(kind) for kind in kinds)
    return int(settings["num_hidden_layers"])


def _bytes(args: Mapping[str, Any]) -> int:
    cache = str(args.get("kv_cache_dtype", "auto"))
    if cache.startswith(ONE_BYTE):
        return BYTE
    # vLLM's "auto" computes weights of single precision in half.
    kind = cache if cache != "auto" else str(args.get("dtype", "auto"))
    return SINGLE if kind.startswith("float32") else HALF


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRoom:
    """The memory that an engine may fill, in bytes, and its name for a person."""

    size: int
    name: str
    gpus: int = 0
    """How many devices share it; 0 is the memory of the machine itself."""


def room_for(deployment: Deployment, machine: Machine) -> MemoryRoom | None:
    """What a deployment's engine may fill on a machine; None where the machine does not say."""
    requested = gpus_requested(deployment) if deployment.engine == "vllm" else 0
    if requested == 0 or not machine.gpus:
        size = machine.memory_bytes
        return MemoryRoom(size=size, name="this machine's memory") if size else None
    used = min(requested or 1, len(machine.gpus))
    share = float(deployment.args.get("gpu_memory_utilization", UTILIZATION))
    size = int(used * min(machine.gpu_bytes, default=0) * share)
    name = f"{share:.0%} of {used} x {machine.gpus[0]}"
    return MemoryRoom(size=size, name=name, gpus=used) if size else None


def memory_note(
    name: str, memory: ModelMemory, room: MemoryRoom | None, tokens: int | None = None
) -> str:
    """What a model needs, and whether it fits into the room, in one line.

    Args:
        name: the deployment's name.
        memory: what its engine loads.
        room: what it may fill; None where that is not known here.
        tokens: prompt and answer of the longest request; None where nothing is planned.
    """
    return f"Memory of {name}: {' '.join(_sentences(memory, room, tokens))}"


def _sentences(memory: ModelMemory, room: MemoryRoom | None, tokens: int | None) -> Iterator[str]:
    request = tokens * memory.cache_per_token if tokens and memory.cache_per_token else 0
    yield f"{_size_text(memory.weights)} of weights{_cache_text(memory, tokens, request)}."
    if room is None:
        yield "`medhelm-spark doctor --executors` prints what the executors' machines have."
        return
    left = room.size - memory.weights
    has = f"{room.name} ({_size_text(room.size)})"
    if left >= request:
        at_once = f", with room for {left // request:,} such requests at once" if request else ""
        yield f"It fits into {has}{at_once}."
        return
    cure = "use a smaller or quantized model"
    if room.gpus:
        each, needed = room.size / room.gpus, room.gpus
        while needed < MOST_GPUS and needed * each < memory.weights + request:
            needed *= 2
        cure = f"set args.tensor_parallel_size to {needed}, or {cure}"
    yield f"It does not fit into {has}: {cure}."


def _cache_text(memory: ModelMemory, tokens: int | None, request: int) -> str:
    if memory.cache_per_token is None:
        return "; its configuration does not say how large its cache is"
    each = f" and {memory.cache_per_token / 1e3:,.0f} kB of cache for each token"
    if not tokens:
        return each
    return f"{each}, {_size_text(request)} for the longest request ({tokens:,} tokens)"


def _size_text(size: int) -> str:
    return f"{size / GB:,.1f} GB" if size >= GB / 10 else f"{size / 1e6:,.0f} MB"
