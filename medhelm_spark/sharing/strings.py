"""Every string of the files of a share and of its manifest, and what no list declares."""

import csv
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from medhelm_spark.sharing.declared import DECLARED, TEXTS
from medhelm_spark.sharing.helm_folder import HELM_KEYS
from medhelm_spark.sharing.tables import MANIFEST
from medhelm_spark.sharing.windows import CHUNK, forms

LONGEST_JSON = 1 << 20
"""A longer text is compared as a whole alone: parsed as JSON it may fill the memory."""
LONG_KEY = 12
"""A key of a value in the lake that has so many characters is compared as a text."""
HELM_TEXT = "text"
"""The last key of texts in HELM's `scenario_state.json`."""

_NAMES = frozenset({"criterion", "finish_reason", "role", "tags", "tokens"})
"""Fields of structs that are no text: names beside numbers, and single tokens."""

SharedString = tuple[str, str, int, str]
"""File, column, row and text."""


class SharedStrings:
    """Every string that leaves, in the files of a folder and in its manifest."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self._folder, self._manifest = folder, manifest

    def chunks(self) -> Iterator[list[tuple[SharedString, tuple[str, ...]]]]:
        """Strings together, up to about CHUNK characters, each with the forms of its text."""
        chunk: list[tuple[SharedString, tuple[str, ...]]] = []
        size = 0
        for string in self._each():
            texts = forms(string[3])
            chunk.append((string, texts))
            size += sum(map(len, texts)) + 1
            if size >= CHUNK:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk

    def _each(self) -> Iterator[SharedString]:
        yield from _strings(self._folder)
        yield from _of_document(MANIFEST, self._manifest)


def undeclared(folder: Path) -> Iterator[tuple[str, str, int]]:
    """File, column and first row of what no list declares, in each file of a folder."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        table = DECLARED.get(path.stem.rpartition("-")[2], {})
        if path.suffix == ".parquet":
            fields = pq.ParquetFile(path).schema_arrow
            # Of another type its values, or what describes it, may be no strings that are compared.
            known = {field for field in fields if _is_declared(field, table.get(field.name))}
            yield from ((name, field.name, 1) for field in fields if field not in known)
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                columns = next(csv.reader(file), [])
            # A column is named by its number: its name may be the text.
            for number, column in enumerate(columns, 1):
                if column not in table:
                    yield name, f"number {number}", 1
        elif path.suffix == ".json":
            declared = HELM_KEYS.get(path.name, frozenset())
            document = json.loads(path.read_text(encoding="utf-8"))
            yield from ((name, key, 1) for key in sorted({*_keys(document)} - declared))
        elif path.suffix != ".html":
            yield name, "", 1


def _is_declared(field: pa.Field, kind: pa.DataType | None) -> bool:
    is_described = pa.types.is_list(field.type) and field.type.value_field.metadata
    return bool(field.type == kind) and not is_described


def has_text(column: str) -> bool:
    """Whether it is a column of texts of public rows, or a key of such text in HELM's files."""
    return column in TEXTS or column.rpartition(".")[2] == HELM_TEXT


def has_numbers(file: str, column: str) -> bool:
    """Whether the share's own numbers are there as text, which may be equal to an id."""
    path = Path(file)
    kind = DECLARED.get(path.stem.rpartition("-")[2], {}).get(column)
    is_number = kind in {pa.float64(), pa.int64()}
    return path.suffix == ".html" or (path.suffix == ".csv" and is_number)


def _strings(folder: Path) -> Iterator[SharedString]:
    """File, column, row and text of every string that leaves."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        yield name, "", 0, name
        if path.suffix == ".parquet":
            yield from _of_parquet(name, path)
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                records = csv.reader(file)
                header = next(records, [])
                yield from ((name, "", 0, column) for column in header)
                for row, record in enumerate(records, 1):
                    columns = chain(header, repeat(""))
                    pairs = zip(columns, record, strict=False)
                    yield from ((name, column, row, text) for column, text in pairs)
        elif path.suffix == ".json":
            yield from _of_document(name, json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".html":
            page, source = _Page(), path.read_text(encoding="utf-8")
            page.feed(source)
            yield from ((name, "", row, text) for row, text in (*page.texts, *page.others))
            # Tags and comments may be between the words of one text. The source has what a
            # parser drops: declarations, names of attributes, what is not closed at the end.
            yield from ((name, "", 1, each) for each in (page.text(), source))
        elif zipfile.is_zipfile(path):  # as of xlsx, with its properties
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    text = archive.read(member).decode("utf-8", "replace")
                    yield from ((name, "", 0, each) for each in (member.filename, text))
        else:  # declared nowhere, and searched all the same
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from ((name, "", row, line) for row, line in enumerate(lines, 1))


class _Page(HTMLParser):
    """The texts of a page, its comments and attributes, each with its line.

    Entities are the signs they mean.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        self.others: list[tuple[int, str]] = []

    def text(self) -> str:
        return " ".join(text for _, text in self.texts)

    def handle_data(self, data: str) -> None:
        self.texts.append((self.getpos()[0], data))

    def handle_comment(self, data: str) -> None:
        self.others.append((self.getpos()[0], data))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.others += ((self.getpos()[0], value) for _, value in attrs if value)


def _of_parquet(name: str, path: Path) -> Iterator[SharedString]:
    """Of a column of names each once a batch, in its first row; and what describes the file."""
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    about = [schema.metadata, *(field.metadata for field in schema), file.metadata.metadata]
    for key, value in (item for each in about if each for item in each.items()):
        yield from ((name, "", 0, each.decode("utf-8", "replace")) for each in (key, value))
    yield from ((name, "", 0, column) for column in schema.names)
    rows = 0
    for batch in file.iter_batches():
        for column in batch.schema.names:
            seen = set[str]()
            for row, value in enumerate(batch.column(column).to_pylist(), rows + 1):
                for text in leaves(value):
                    if text and (text not in seen or has_text(column)):
                        seen.add(text)
                        yield name, column, row, text
        rows += len(batch)


def _of_document(name: str, document: Any) -> Iterator[SharedString]:
    """Every string of a document, and every key once."""
    yield from ((name, "", 0, key) for key in sorted({*_every_key(document)}))
    yield from _of_json(name, document)


def _every_key(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _every_key(item)


def _of_json(name: str, value: Any, column: str = "", row: int = 1) -> Iterator[SharedString]:
    """Every string with the keys above it and its number in the innermost list."""
    if isinstance(value, str):
        yield name, column, row, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _of_json(name, item, f"{column}.{key}" if column else key, row)
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _of_json(name, item, column, number)


def _keys(value: Any, above: str = "") -> Iterator[str]:
    """The keys of the strings in a document, with the keys above them."""
    if isinstance(value, str):
        yield above
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _keys(item, f"{above}.{key}" if above else key)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item, above)


def leaves(value: Any) -> Iterator[str]:
    """Every string in a value, and in a text that is JSON; keys too."""
    waiting: list[Any] = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
            waiting.extend(_in_json(current))
        elif isinstance(current, Mapping):
            waiting.extend(item for key, item in current.items() if key not in _NAMES)
            waiting.extend(key for key in current if isinstance(key, str) and len(key) >= LONG_KEY)
        elif isinstance(current, Iterable) and not isinstance(current, bytes):
            waiting.extend(current)


def _in_json(text: str) -> list[Any]:
    """The value of a text that is JSON, as a cell with several notes; nothing of another text."""
    if len(text) > LONGEST_JSON or not text.startswith(("[", "{")):
        return []
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        return []
