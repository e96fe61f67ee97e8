"""`docs/tables.md`, written from the tables, their row types and what the stages do with them.

`python -m medhelm_spark.lake.describe > docs/tables.md`, which is `make docs`.
"""

import ast
import dataclasses
import inspect
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any, Union, get_args, get_origin, get_type_hints

from medhelm_spark.domain.stages import STAGES, Stage
from medhelm_spark.lake.example_queries import QUERIES, VIEWS, plain_sql
from medhelm_spark.lake.tables import SCHEMA_VERSION, TABLES, WRITE_ID, Table, columns

SCALARS: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    datetime: "time (UTC)",
}


def tables_markdown() -> str:
    """The page as Markdown, the same for the same code."""
    nested = _nested(table.row for table in TABLES.values())
    tables, types_ = map(_table, TABLES.values()), map(_row_type, nested)
    parts = [_HEAD, _matrix(), *_queries(), *tables, _NESTED_HEAD, *types_]
    return "\n\n".join(parts) + "\n"


_HEAD = f"""\
# Tables

Written by `make docs` from `medhelm_spark/lake/tables.py` and the dataclasses; do not edit.
Schema version {SCHEMA_VERSION}. [Architecture](architecture.md) explains how they work together.

Rows are only ever added. Every row has a `{WRITE_ID}`, the name of the write that brought it;
`medhelm_spark/lake/views.py` says which rows count. *Text* marks tables that contain clinical or
model text, or ids that count as such: each of their rows has an `access_level` (`run_specs` in its
`run_spec`). *Indexed* columns are the only ones whose smallest and largest values are in the
Delta log.

## Who reads and writes what

R: reads, W: appends to."""

_QUERIES_HEAD = """\
## Queries to copy

In a catalog, run `USE CATALOG.SCHEMA` first. The tables of a lake in a folder become views:

```python
from pathlib import Path

for log in Path(lake).glob("*/_delta_log"):
    rows = spark.read.format("delta").load(str(log.parent))
    rows.createOrReplaceTempView(log.parent.name)
```

`letters` is your suite, and `clinic.letters` a table of your own, whose ids are in
`source_id`. First, once, the rows that count:"""

_NESTED_HEAD = """\
## Types inside rows

Columns that contain more than one value are made of these."""


def _matrix() -> str:
    rows = [
        [
            f"[{name}](#{name})",
            "text" if table.has_text else "",
            *(_mark(name, stage) for stage in STAGES),
        ]
        for name, table in TABLES.items()
    ]
    return _grid(["Table", "", *(stage.name for stage in STAGES)], rows)


def _mark(table: str, stage: Stage) -> str:
    letters = {"R": stage.reads, "W": stage.writes}
    return " ".join(letter for letter, tables in letters.items() if table in tables)


def _queries() -> Iterator[str]:
    """The views of the rows that count, and queries over them."""
    yield _QUERIES_HEAD
    views = (
        f"CREATE OR REPLACE TEMPORARY VIEW {name} AS\n{plain_sql(sql)};"
        for name, sql in VIEWS.items()
    )
    yield _code("\n\n".join(views))
    for title, sql in QUERIES.items():
        yield f"### {title}"
        yield _code(f"{plain_sql(sql)};")


def _code(sql: str) -> str:
    return f"```sql\n{sql}\n```"


def _table(table: Table) -> str:
    hints = {**get_type_hints(table.row), WRITE_ID: str}
    about_field = field_docs(table.row)
    first = {*inspect.get_annotations(table.row), *table.key, WRITE_ID}
    rows = [
        [
            f"`{name}`",
            _type(hints[name]),
            "key" if name in table.key else "",
            "indexed" if name in table.indexed else "",
            *([about_field.get(name, "")] if about_field else []),
        ]
        for name in sorted(columns(table), key=lambda name: name not in first)
    ]
    # The description replaces the docstring's first paragraph.
    about = [table.description, *_paragraphs(table.row)[1:]]
    grid = _grid(["Column", "Type", "", "", *(["Meaning"] if about_field else [])], rows)
    return "\n\n".join([f"## {table.name}", *about, grid])


def _row_type(kind: type) -> str:
    hints = get_type_hints(kind)
    rows = [[f"`{field.name}`", _type(hints[field.name])] for field in dataclasses.fields(kind)]
    return "\n\n".join([f"### {kind.__name__}", *_paragraphs(kind), _grid(["Field", "Type"], rows)])


def _nested(kinds: Iterable[type]) -> list[type]:
    """The dataclasses that fields of these are made of, at any depth, by name."""
    kinds_by_name: dict[str, type] = {}
    left = list(kinds)
    while left:
        for hint in get_type_hints(left.pop()).values():
            for inner in _inside(hint):
                if dataclasses.is_dataclass(inner) and inner.__name__ not in kinds_by_name:
                    kinds_by_name[inner.__name__] = inner
                    left.append(inner)
    return [kinds_by_name[name] for name in sorted(kinds_by_name)]


def _inside(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for part in get_args(hint):
        yield from _inside(part)


def _type(hint: Any) -> str:
    """A type in words; nested rows are links."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return f"{_type(next(arg for arg in args if arg is not types.NoneType))}, or None"
    if origin is tuple:
        return f"list of {_type(args[0])}"
    if origin is not None and issubclass(origin, Mapping):
        return f"map of text to {_type(args[1])}"
    if dataclasses.is_dataclass(hint):
        name = getattr(hint, "__name__", "")
        return f"[{name}](#{name.lower()})"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return "one of " + ", ".join(f"`{member.value}`" for member in hint)
    return SCALARS[hint]


def _paragraphs(kind: type) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    text = inspect.getdoc(kind) or ""
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def field_docs(kind: type) -> dict[str, str]:
    """The line under each field that has one, of a dataclass and those that it extends."""
    docs: dict[str, str] = {}
    for each in kind.__mro__[:-1]:
        (class_,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        body = class_.body if isinstance(class_, ast.ClassDef) else []
        for field, below in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                docs[ast.unparse(field.target)] = " ".join(ast.literal_eval(below.value).split())
    return docs


def _grid(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(header), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(tables_markdown())
