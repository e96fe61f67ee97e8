"""MedHELM's client classes, translated into engines with their arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from medhelm_spark.config.deployments import DeploymentEntry, Translate
from medhelm_spark.config.models import load_tokenizers
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.credentials import Credentials, load_credentials

Args = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    credentials: Credentials
    tokenizers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Client:
    """A client class: its engine, what its arguments are called there, and what fills the gaps.

    `renames` maps MedHELM's argument to ours; an argument named in `dropped` only chooses devices
    or caches and has no meaning here.
    """

    engine: str
    renames: Mapping[str, str]
    fill: Callable[[Args, DeploymentEntry, _Context], Args]
    dropped: tuple[str, ...] = ()


def translator(credentials: Credentials, tokenizers: Mapping[str, str]) -> Translate:
    """The translation of a site's entries; `tokenizers` maps tokenizer names to model folders."""
    return partial(_translate, context=_Context(credentials=credentials, tokenizers=tokenizers))


def site_translator(site: Path) -> Translate:
    """The translation of the entries of a site's folder, by its credentials and tokenizers."""
    credentials = load_credentials(site / "credentials.conf")
    return translator(credentials, load_tokenizers(site / "tokenizer_configs.yaml"))


def _translate(entry: DeploymentEntry, *, context: _Context) -> tuple[str, Args]:
    class_name = entry.client_spec.class_name or ""
    client = CLIENTS.get(class_name.rpartition(".")[2])
    if client is None:
        raise ConfigError(_instead(class_name))
    args: Args = {}
    for key, value in entry.client_spec.args.items():
        if key in client.renames:
            args[client.renames[key]] = value
        elif key not in client.dropped:
            raise ConfigError(f"argument {key!r} of {class_name} has no counterpart; {_HOW}.")
    return client.engine, client.fill(args, entry, context)


_HOW = (
    "write the entry with `engine: vllm` (weights, on this cluster's GPUs) or `engine: openai` "
    "(a server) and that engine's arguments under `client_spec: {args: {...}}`"
)


def _instead(class_name: str) -> str:
    return (
        f"client class {class_name!r} has no engine here; if an OpenAI-compatible server offers "
        "the model, write instead of its client_spec: `engine: openai`, `locality: external`, "
        "`client_spec: {args: {base_url: https://HOST/v1, model: NAME, api_key: env:NAME}}`."
    )


def _weights(args: Args, entry: DeploymentEntry, context: _Context) -> Args:
    args.setdefault("model", entry.model)
    if "dtype" in args:
        args["dtype"] = str(args["dtype"]).removeprefix("torch.")
    if isinstance(args.get("api"), bool):
        args["api"] = "chat" if args["api"] else "completions"
    folder = context.tokenizers.get(entry.tokenizer_name or "")
    return {**args, "tokenizer": folder} if folder and folder != args["model"] else args


def _server(args: Args, entry: DeploymentEntry, context: _Context, *, api: str) -> Args:
    args.setdefault("api", api)
    args.setdefault("model", entry.model)
    for key, suffix in (("base_url", "BaseUrl"), ("organization", "OrgId")):
        value = args.get(key) or context.credentials.setting(entry.name, suffix)
        args = {**args, key: value} if value else args
    if "reasoning_effort" in args:
        args |= {
            "reasoning": True,
            "extra_body": {"reasoning_effort": args.pop("reasoning_effort")},
        }
    reference = args.get("api_key") or context.credentials.reference(entry.name)
    return {**args, "api_key": reference} if reference else args


def _vendor(args: Args, entry: DeploymentEntry, context: _Context, *, api: str) -> Args:
    # The vendor's API takes the model's name without its organisation.
    args.setdefault("model", entry.model.rpartition("/")[2])
    args = _server(args, entry, context, api=api)
    return args if "base_url" in args else {"api_key": "env:OPENAI_API_KEY", **args}


def _compatible(args: Args, entry: DeploymentEntry, context: _Context) -> Args:
    args = _vendor(args, entry, context, api="chat")
    if "base_url" not in args:
        raise ConfigError("its client has a vendor's fixed address; add `base_url` to its args.")
    return args


_HUGGINGFACE = {
    "pretrained_model_name_or_path": "model",
    "revision": "revision",
    "torch_dtype": "dtype",
    "trust_remote_code": "trust_remote_code",
    "apply_chat_template": "api",
}
_OPENAI = {
    "base_url": "base_url",
    "api_key": "api_key",
    "org_id": "organization",
    "openai_model_name": "model",
    "vllm_model_name": "model",
    "reasoning_effort": "reasoning_effort",
}

CLIENTS: Mapping[str, _Client] = {
    "HuggingFaceClient": _Client(
        engine="vllm",
        renames=_HUGGINGFACE,
        fill=_weights,
        dropped=("device", "device_map", "end_of_text_token"),
    ),
    "VLLMClient": _Client(
        engine="openai", renames=_OPENAI, fill=partial(_server, api="completions")
    ),
    "VLLMChatClient": _Client(engine="openai", renames=_OPENAI, fill=partial(_server, api="chat")),
    "OpenAIClient": _Client(engine="openai", renames=_OPENAI, fill=partial(_vendor, api="chat")),
    "OpenAILegacyCompletionsClient": _Client(
        engine="openai", renames=_OPENAI, fill=partial(_vendor, api="completions")
    ),
    "GrokChatClient": _Client(engine="openai", renames=_OPENAI, fill=_compatible),
    "NvidiaNimClient": _Client(engine="openai", renames=_OPENAI, fill=_compatible),
    "OpenRouterClient": _Client(engine="openai", renames=_OPENAI, fill=_compatible),
}
"""By the last part of the class name, whatever its module."""
