"""`docs/api.md`, written from the signatures and docstrings of `medhelm_spark.api`.

`python -m medhelm_spark.api.describe > docs/api.md`, which is `make docs`.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from medhelm_spark import api
from medhelm_spark.domain.stages import Stage

LINE = 88
MODULES = re.compile(r"\b(?:\w+\.)+(?=\w)")
SECTION = re.compile(r"^(Args|Raises):$", re.MULTILINE)
ITEM = re.compile(r"^    (\S+): ", re.MULTILINE)

_HEAD = """\
# The API

Written by `make docs` from the docstrings of `medhelm_spark.api`; do not edit. `Evaluation`,
`Entries` and `OwnData` are also names of `medhelm_spark`; the other classes are what methods take
and return. The [notebooks](../notebooks/README.md) show them at work. In a notebook, results are
shown as tables, and printed they are text; `to_pandas` needs pandas. What may change, and when,
stands in [contributing](../CONTRIBUTING.md#what-is-public).

An error that names a flag, such as `--access-level`, means the argument of that name with
underscores, `access_level`.

A session of your own, handed over as `spark`, needs `spark.sql.extensions` and
`spark.sql.catalog.spark_catalog` set to Delta's when it is started, Delta's jars, and
`PYSPARK_PYTHON` naming a Python with this package and pyarrow on every executor. Speculation stays
off, for it would ask a model twice. With small tables on one machine,
`spark.databricks.delta.snapshotPartitions` of 1 saves most of the time of each commit."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """Its paragraphs, what it says of each argument, and of each error."""

    text: str
    arguments: dict[str, str]
    errors: dict[str, str]


def api_markdown() -> str:
    """The page as Markdown, the same for the same code."""
    names = sorted(api.__all__, key=lambda name: name != api.Evaluation.__name__)
    parts = [part for name in names for part in _class(getattr(api, name))]
    return "\n\n".join([_HEAD, *parts]) + "\n"


def methods_of(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, in the order of its source."""
    for name, member in vars(kind).items():
        is_method = inspect.isfunction(member) or isinstance(member, property)
        if is_method and not name.startswith("_"):
            yield name, member


def docstring_of(documented: Any) -> Docstring:
    """A docstring in its parts; sections are `Args:` and `Raises:`."""
    text, *sections = SECTION.split(inspect.getdoc(documented) or "")
    items = {title: _items(body) for title, body in zip(sections[::2], sections[1::2], strict=True)}
    return Docstring(
        text="\n\n".join(_line(paragraph) for paragraph in text.strip().split("\n\n")),
        arguments=items.get("Args", {}),
        errors=items.get("Raises", {}),
    )


def _items(body: str) -> dict[str, str]:
    _, *parts = ITEM.split(body)
    return {name: _line(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _line(text: str) -> str:
    return " ".join(text.split())


def _class(kind: type) -> Iterator[str]:
    yield f"## {kind.__name__}"
    if issubclass(kind, Enum):
        yield _code("\n".join(f"{kind.__name__}.{member.name}" for member in kind))
    else:
        yield _code(signature_text(kind, kind.__name__))
    yield from _described(docstring_of(kind))
    for name, member in methods_of(kind):
        yield f"### {kind.__name__}.{name}"
        if isinstance(member, property):
            getter: Any = member.fget
            yield _code(f"{name}: {_type_text(inspect.signature(getter).return_annotation)}")
        else:
            yield _code(signature_text(member, name))
        yield from _described(docstring_of(member))


def _described(doc: Docstring) -> Iterator[str]:
    yield doc.text
    lines = [f"- `{name}`: {text}" for name, text in doc.arguments.items()]
    lines += [f"- raises `{name}`: {text}" for name, text in doc.errors.items()]
    if lines:
        yield "\n".join(lines)


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def signature_text(function: Callable[..., Any], name: str) -> str:
    """A signature without `self` and module names, in one line where that is short enough."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(
            annotation=_Shown(_type_text(parameter.annotation)),
            default=_default(parameter.default),
        )
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    returned = signature.return_annotation
    arrow = "" if returned in (None, signature.empty) else f" -> {_type_text(returned)}"
    shown = str(inspect.Signature(parameters))
    if len(f"{name}{shown}{arrow}") <= LINE:
        return f"{name}{shown}{arrow}"
    lines = [str(parameter) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        lines.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return "\n".join([f"{name}(", *(f"    {line}," for line in lines), f"){arrow}"])


@dataclass(frozen=True, slots=True, repr=False)
class _Shown:
    """What `inspect` prints as this text."""

    text: str

    def __repr__(self) -> str:
        return self.text


def _type_text(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return MODULES.sub("", text)


def _default(value: Any) -> Any:
    """A default as a caller would write it; `...` where that is no literal."""
    if value is inspect.Parameter.empty:
        return value
    if isinstance(value, Stage):
        return _Shown(repr(value.name))
    if isinstance(value, Enum):
        return _Shown(repr(value.value))
    return value if isinstance(value, str | int | tuple | None) else _Shown("...")


if __name__ == "__main__":
    sys.stdout.write(api_markdown())
