"""Models by name alone: `KIND/NAME[@URL]` of a server, `hf/FOLDER` of weights on this machine.

A name says how a model is reached, not where: no name states a locality, so that gated
and private text needs a deployment in a file. Weights in this process are local by their nature.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medhelm_spark.engines import vllm_args, wire
from medhelm_spark.engines.openai_client import VENDOR_URL
from medhelm_spark.errors import ConfigError

FORMS = "ollama/NAME, vllm/NAME@URL, openai/NAME@URL or hf/FOLDER"
WEIGHTS = "hf"
NAME = re.compile(r"[\w.:/+-]{1,200}")
URL = re.compile(r"[^\s,?#]{1,400}")
LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}$")
"""The end of the name of a GGUF file that a first part leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where a kind of server listens unless a name says so, and how much it takes at once."""

    url: str
    max_concurrency: int
    args: Mapping[str, Any] = field(default_factory=dict)


SERVERS: Mapping[str, Server] = {
    "ollama": Server(url="http://localhost:11434/v1", max_concurrency=4),
    "vllm": Server(url="http://localhost:8000/v1", max_concurrency=64),
    "openai": Server(url=VENDOR_URL, max_concurrency=16, args={"api_key": "env:OPENAI_API_KEY"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """What a name means: an engine of `ENGINES` and its arguments."""

    engine: str
    args: Mapping[str, Any]
    max_concurrency: int = 16
    tokenizer_name: str | None = None


def named_model(name: str) -> NamedModel | None:
    """What a model's name alone means; None where it begins with no kind that is known.

    >>> named_model("ollama/llama3.1:8b").args["base_url"]
    'http://localhost:11434/v1'
    >>> named_model("acme/m") is None
    True

    A key of the environment is sent to its vendor's own address alone, never to one that a name
    gives.

    Raises:
        ConfigError: the rest of the name is no name, address or folder of weights.
    """
    kind, _, rest = name.partition("/")
    if kind == WEIGHTS:
        return _weights(rest)
    if kind not in SERVERS:
        return None
    model, at, url = rest.partition("@")
    if not NAME.fullmatch(model):
        raise ConfigError(
            f"model {kind}/...: the name is {len(model)} characters long; allowed: 1 to 200 of "
            "letters, digits and . _ : / + -"
        )
    if at and not URL.fullmatch(url):
        # Not shown: a query may contain a key.
        raise ConfigError(
            f"model {kind}/{model}@...: what follows @ is no address; allowed: "
            "http(s)://HOST[:PORT]/PATH without a query."
        )
    server = SERVERS[kind]
    server_args: Mapping[str, Any] = (
        {"base_url": url} if at else {"base_url": server.url, **server.args}
    )
    return NamedModel(
        engine="openai",
        args={**server_args, "model": model, "api": wire.CHAT},
        max_concurrency=server.max_concurrency,
    )


def _weights(location: str) -> NamedModel:
    """For safetensors vLLM where it is installed, for a GGUF file llama.cpp, else vLLM.

    On a cluster the executors have a vLLM that the driver need not have.
    """
    where = f"model {WEIGHTS}/{location}"
    path = Path(location).expanduser().absolute()
    if path.suffix == ".gguf" and path.is_file():
        return _gguf(path)
    if not path.is_dir():
        raise ConfigError(
            f"{where}: there is no folder {path}; give one that has .safetensors or .gguf files "
            f"({WEIGHTS}//ABSOLUTE/PATH, or a path from the working directory). Names of the "
            "Hugging Face hub are not fetched: download the model into a folder first."
        )
    files = sorted(path.glob("*.gguf"))
    heads = [file for file in files if not LATER_PART.search(file.stem)]
    has_safetensors = any(path.glob("*.safetensors"))
    if has_safetensors and (vllm_args.is_installed() or not heads):
        args = {"model": str(path)}
        return NamedModel(engine="vllm", args=args, tokenizer_name=str(path))
    if len(heads) == 1:
        return _gguf(heads[0])
    if heads:
        names = ", ".join(file.name for file in heads)
        raise ConfigError(f"{where}: the folder has {names}; name one: {where[6:]}/FILE.gguf.")
    raise ConfigError(f"{where}: the folder {path} has no .safetensors and no .gguf file.")


def _gguf(file: Path) -> NamedModel:
    return NamedModel(engine="llama_cpp", args={"path": str(file)}, tokenizer_name=str(file.parent))
