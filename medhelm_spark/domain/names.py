"""What a name may be: it is in tables, charts, file names and a terminal, which obeys some."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

RULE = "printable text in one line, with no space at either end"
FIELDS = frozenset(
    {
        "category",
        "display_name",
        "engine",
        "groups",
        "judge",
        "main_metric",
        "model",
        "model_deployment",
        "model_name",
        "name",
        "subcategory",
        "task",
        "tokenizer_name",
    }
)
"""The fields of configuration that are names."""


def is_name(text: str) -> bool:
    r"""Whether a text can be a name: no control characters, marks without width, line ends.

    >>> is_name("étude 1"), is_name("a\x1b[2J"), is_name("a\u202eb"), is_name(" a")
    (True, False, False, False)
    """
    return text.isprintable() and text == text.strip()


def unprintable(value: Any, key_path: str = "") -> Iterable[tuple[str, str]]:
    """The names in a configuration that are not allowed, each with the path of its key.

    The keys inside an argument of an engine or metric may be any: it may map texts to replies.
    """
    if is_dataclass(value):
        for field in fields(value):
            inner = getattr(value, field.name)
            where = f"{key_path}.{field.name}".removeprefix(".")
            texts = (inner,) if isinstance(inner, str) else inner
            if field.name in FIELDS and isinstance(texts, tuple):
                yield from ((where, n) for n in texts if isinstance(n, str) and not is_name(n))
            yield from unprintable(inner, where)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str) and not is_name(key):
                yield key_path, key
            if not isinstance(inner, Mapping) or not key_path.endswith("args"):
                yield from unprintable(inner, f"{key_path}.{key}")
    elif isinstance(value, tuple):
        for number, inner in enumerate(value):
            yield from unprintable(inner, f"{key_path}[{number}]")


_KEPT = "\n\t"
_CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: str) -> str:
    r"""A text that a terminal shows and does not obey: control characters are written out.

    >>> printable("a\x1b[2Jb\u202ec")
    'a\\x1b[2Jb\\u202ec'
    """
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    is_control = unicodedata.category(character) in _CONTROL and character not in _KEPT
    return character.encode("unicode_escape").decode() if is_control else character


def without_login(text: str) -> str:
    """A text without the user names and passwords of its URIs, and without the values after a `?`.

    >>> without_login("cannot reach https://me:secret@mlflow.example.org/x?token=t")
    'cannot reach https://***@mlflow.example.org/x?token=***'
    """
    return re.sub(r"([?&][\w.-]+=)[^\s&]+", r"\1***", re.sub(r"//\S*@", "//***@", text))
