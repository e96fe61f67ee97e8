"""A deployment's own tokenizer, where its file is at hand: for counting before anything is asked.

The file is `tokenizer.json` in the folder of the weights, in a folder that `args.tokenizer` names,
or in the Hugging Face cache of this machine. Nothing is downloaded.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from medhelm_spark.domain.deployment import Deployment

FILE = "tokenizer.json"
PLACES = ("tokenizer", "model", "path")


def token_counter(deployment: Deployment) -> Callable[[str], int] | None:
    """How many tokens a text is to this deployment, special tokens aside; None where unknown."""
    found = next(_files(deployment), None)
    if found is None or find_spec("tokenizers") is None:
        return None
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(found))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _files(deployment: Deployment) -> Iterator[Path]:
    names = [deployment.args.get(place) for place in PLACES]
    named = [name for name in names if isinstance(name, str)]
    for name in named:
        path = Path(name).expanduser()
        path = path if path.name == FILE else path / FILE
        if path.is_file():
            yield path
    for repository in (*named, deployment.tokenizer_name):
        cached = _cached(repository) if repository else None
        if cached:
            yield cached


def _cached(repository: str) -> Path | None:
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(repository, FILE)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None
