"""Names of vLLM's that a deployment may give: engine arguments and variables, and since when.

`make test-vllm-names` looks them all up in the sources of the oldest and the newest version.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

OLDEST, NEWEST = (0, 26), (0, 33)
"""The versions of vLLM whose sources have every name that the engine uses."""

# Of where and how fast: they decide nothing of an answer.
SERVING = frozenset(
    {
        "block_size",
        "cpu_offload_gb",
        "cudagraph_capture_sizes",
        "disable_custom_all_reduce",
        "disable_log_stats",
        "distributed_executor_backend",
        "download_dir",
        "enable_chunked_prefill",
        "enable_prefix_caching",
        "enable_sleep_mode",
        "enforce_eager",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "kv_offloading_size",
        "max_num_batched_tokens",
        "max_num_seqs",
        "max_parallel_loading_workers",
        "num_gpu_blocks_override",
        "numa_bind",
        "numa_bind_cpus",
        "numa_bind_nodes",
        "performance_mode",
        "pipeline_parallel_size",
        "shutdown_timeout",
        "tensor_parallel_size",
    }
)
EARLIER = frozenset(
    {"calculate_kv_scales", "max_long_partial_prefills", "max_num_partial_prefills"}
)
"""Arguments of the oldest version that the newest has no longer; passed on where they are known."""

# Arguments of vLLM's that say what is loaded from where, how it computes, and how much of a machine
# it takes. None runs code that is not vLLM's own, opens a connection beyond the engine's own
# workers, or writes what it reads. All others are refused, new ones of a later vLLM too.
PASSED_ON = (
    SERVING
    | EARLIER
    | {
        "async_scheduling",
        "attention_backend",
        "config_format",
        "convert",
        "disable_cascade_attn",
        "disable_sliding_window",
        "dtype",
        "enable_expert_parallel",
        "fully_sharded_loras",
        "generation_config",
        "kv_cache_dtype",
        "language_model_only",
        "limit_mm_per_prompt",
        "load_format",
        "logprobs_mode",
        "long_prefill_token_threshold",
        "lora_dtype",
        "max_logprobs",
        "max_lora_rank",
        "max_model_len",
        "model",
        "model_impl",
        "moe_backend",
        "optimization_level",
        "override_generation_config",
        "prefix_caching_hash_algo",
        "quantization",
        "reasoning_parser",
        "revision",
        "runner",
        "safetensors_load_strategy",
        "scheduling_policy",
        "seed",
        "speculative_config",
        "tokenizer",
        "tokenizer_mode",
        "tokenizer_revision",
    }
)
NO_LONGER: Mapping[str, str] = {
    "max_seq_len_to_capture": "args.cudagraph_capture_sizes",
    "rope_scaling": "the config.json of the model's folder",
    "rope_theta": "the config.json of the model's folder",
    "swap_space": "args.kv_offloading_size",
    "task": "args.runner and args.convert",
}
"""Arguments that no supported version has, and what says the same."""

# Values that vLLM would otherwise take as the name of a class to import, or of a loader that
# fetches weights from elsewhere.
VALUES: Mapping[str, tuple[str, ...]] = {
    "distributed_executor_backend": ("mp", "ray", "uni"),
    "load_format": (
        *("auto", "bitsandbytes", "dummy", "fastsafetensors", "hf", "mistral", "npcache"),
        *("pt", "safetensors", "sharded_state"),
    ),
    "tokenizer_mode": ("auto", "hf", "mistral", "slow"),
}

SPECULATIVE = frozenset(
    {
        "attention_backend",
        "draft_tensor_parallel_size",
        "enforce_eager",
        "kv_cache_dtype",
        "max_model_len",
        "method",
        "model",
        "moe_backend",
        "num_speculative_tokens",
        "parallel_drafting",
        "prompt_lookup_max",
        "prompt_lookup_min",
        "quantization",
        "revision",
    }
)
"""Keys of `speculative_config`; the others accept tokens that the model would not have written."""
SPECULATIVE_METHODS = ("draft_model", "eagle", "eagle3", "mtp", "ngram", "ngram_gpu")
"""Its methods that run vLLM's own code."""

WHY_REFUSED: Mapping[str, str] = {
    "collect_detailed_traces": "sends traces to another server",
    "enable_lora": "follows from args.lora",
    "kv_transfer_config": "sends what was read to another server",
    "log_config_file": "decides what is logged",
    "log_level": "decides what is logged",
    "logging_config": "decides what is logged",
    "logits_processors": "runs code of others beside the text",
    "max_loras": "follows from args.lora",
    "otlp_traces_endpoint": "sends traces to another server",
    "reasoning_parser_plugin": "runs code of others beside the text",
    "trust_remote_code": "runs code that comes with the weights",
    "worker_cls": "runs code of others beside the text",
    "worker_extension_cls": "runs code of others beside the text",
}
UNCHECKED = "may run code of others or open connections"

# Variables that say how threads, memory and devices are used. vLLM's others load plug-ins and
# logging configurations, fetch weights from elsewhere, or trace what is computed.
EARLIER_VARIABLES = frozenset({"VLLM_CPU_SGL_KERNEL", "VLLM_ENGINE_ITERATION_TIMEOUT_S"})
VARIABLES = EARLIER_VARIABLES | {
    "VLLM_ALLOW_LONG_MAX_MODEL_LEN",
    "VLLM_BATCH_INVARIANT",
    "VLLM_CPU_KVCACHE_SPACE",
    "VLLM_CPU_NUM_OF_RESERVED_CPU",
    "VLLM_CPU_OMP_THREADS_BIND",
    "VLLM_KV_CACHE_LAYOUT",
    "VLLM_MARLIN_USE_ATOMIC_ADD",
    "VLLM_PP_LAYER_PARTITION",
    "VLLM_SKIP_P2P_CHECK",
    "VLLM_USE_DEEP_GEMM",
    "VLLM_USE_FLASHINFER_SAMPLER",
    "VLLM_USE_TRITON_AWQ",
    "VLLM_WORKER_MULTIPROC_METHOD",
}
OTHER_VARIABLES = re.compile(
    r"NCCL_(ALGO|BUFFSIZE|CUMEM_ENABLE|IB_DISABLE|IB_HCA|MAX_NCHANNELS|MIN_NCHANNELS|NVLS_ENABLE"
    r"|P2P_DISABLE|P2P_LEVEL|PROTO|SHM_DISABLE|SOCKET_IFNAME)"
    r"|(OMP|GOMP|KMP)_\w+"
    r"|TORCH_CUDA_ARCH_LIST|TORCHINDUCTOR_COMPILE_THREADS|TORCHDYNAMO_DISABLE"
)
NO_LONGER_VARIABLES: Mapping[str, str] = {
    "VLLM_ATTENTION_BACKEND": "args.attention_backend",
    "VLLM_CPU_MOE_PREPACK": "nothing",
    "VLLM_FLASH_ATTN_VERSION": "args.attention_backend",
    "VLLM_FUSED_MOE_CHUNK_SIZE": "nothing",
    "VLLM_USE_AITER_UNIFIED_ATTENTION": "args.attention_backend",
    "VLLM_USE_TRITON_FLASH_ATTN": "args.attention_backend",
}
"""Variables that no supported version reads, and what says the same."""


def is_variable(name: str) -> bool:
    """Whether a deployment may set this variable, on some supported version."""
    return name in VARIABLES or bool(OTHER_VARIABLES.fullmatch(name))


def arguments_of(package: Path) -> frozenset[str]:
    """The fields of EngineArgs in vLLM's folder, read from its source: importing takes seconds."""
    return frozenset(_fields(package / "engine" / "arg_utils.py", "EngineArgs"))


def variables_of(package: Path) -> frozenset[str]:
    """The variables that vLLM reads, by its source: the keys of `environment_variables`."""
    tree = ast.parse((package / "envs.py").read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id == "environment_variables":
                keys = (key for key in node.value.keys if isinstance(key, ast.Constant))
                found |= {str(key.value) for key in keys}
    return frozenset(found)


def _fields(source: Path, name: str) -> Iterator[str]:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    yield part.target.id
