"""What a name may be: it stands in tables, charts, file names and a terminal, which obeys some."""

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
"""The fields of configuration that hold names."""


def is_name(text: str) -> bool:
    r"""Whether a text can be a name: no control characters, marks without width, line ends.

    >>> is_name("étude 1"), is_name("a\x1b[2J"), is_name("a\u202eb"), is_name(" a")
    (True, False, False, False)
    """
    return text.isprintable() and text == text.strip()


def unprintable(value: Any, place: str = "") -> Iterable[tuple[str, str]]:
    """The names in a configuration that are none, each with its place.

    What an argument of an engine or metric holds is its own: it may map texts to replies.
    """
    if is_dataclass(value):
        for field in fields(value):
            held = getattr(value, field.name)
            where = f"{place}.{field.name}".removeprefix(".")
            names = (held,) if isinstance(held, str) else held
            if field.name in FIELDS and isinstance(names, tuple):
                yield from ((where, n) for n in names if isinstance(n, str) and not is_name(n))
            yield from unprintable(held, where)
    elif isinstance(value, Mapping):
        for key, held in value.items():
            if isinstance(key, str) and not is_name(key):
                yield place, key
            if not isinstance(held, Mapping) or not place.endswith("args"):
                yield from unprintable(held, f"{place}.{key}")
    elif isinstance(value, tuple):
        for number, held in enumerate(value):
            yield from unprintable(held, f"{place}[{number}]")
