"""A deployment's own tokenizer, where its file is at hand: for counting before anything is asked.

The file is `tokenizer.json` in the folder of the weights, in a folder that `args.tokenizer` or
`tokenizer_name` names, or in the Hugging Face cache of this machine. Nothing is downloaded.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.errors import SetupError

FILE = "tokenizer.json"
MODEL_ARGS = ("tokenizer", "model", "path")


def tokenizer_file(deployment: Deployment) -> Path | None:
    """The file, None where there is none or no package to read it."""
    return next(_files(deployment), None) if find_spec("tokenizers") else None


def token_counter(deployment: Deployment) -> Callable[[str], int] | None:
    """How many tokens a text is to this deployment, special tokens aside; None where unknown."""
    file = tokenizer_file(deployment)
    return (lambda text: len(token_spans(str(file), None, text))) if file else None


def token_spans(file: str, content: bytes | None, text: str) -> list[tuple[int, int]]:
    """Where each token of a text begins and ends in it, by the tokenizer in this file.

    `content` is the file's content, for a machine that has no such file.

    Raises:
        SetupError: the file is no tokenizer.
    """
    spans: list[tuple[int, int]] = (
        _tokenizer(file, content).encode(text, add_special_tokens=False).offsets
    )
    return spans


@lru_cache(maxsize=4)
def _tokenizer(file: str, content: bytes | None) -> Any:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(file) if content is None else Tokenizer.from_buffer(content)
    except Exception:  # the library raises nothing more special
        raise SetupError(
            f"{file} cannot be read by the package tokenizers; fetch the file itself where it only "
            "points to one (`git lfs pull`), or install a newer tokenizers."
        ) from None


def _files(deployment: Deployment) -> Iterator[Path]:
    names = [deployment.args.get(arg) for arg in MODEL_ARGS]
    named = [name for name in (*names, deployment.tokenizer_name) if isinstance(name, str)]
    found = (model_folder_file(name, FILE) for name in named)
    yield from filter(None, found)


def model_folder_file(model: str, file: str) -> Path | None:
    """A file of a model: of its folder, else of this machine's Hugging Face cache."""
    path = Path(model).expanduser()
    path = path if path.name == file else path / file
    return path if path.is_file() else _cached(model, file)


def _cached(repository: str, file: str) -> Path | None:
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(repository, file)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None
