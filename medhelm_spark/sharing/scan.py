"""The scan of a share: a tripwire that compares what leaves with all that may not.

Every string of every file, and every file name, is compared with the texts of gated and private
rows: 8 words in a row in common, in normal form, or 40 characters where words are not divided. A
text of fewer words is compared as a whole with strings that are no text of public rows. Then
patterns of identifiers are looked for. A file, column or key that no list here declares fails, and
so does a column of the lake with text that no list declares. What the scan finds it names by file,
column and row, never by the text. A share that passes is not shown to be free of patient data: a
paraphrase passes.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.scenarios import normal_form
from medhelm_spark.sharing.helm_folder import HELM_KEYS
from medhelm_spark.sharing.projection import DECLARED, TEXTS

WORDS, CHARACTERS, WHOLE = 8, 40, 12
"""The length of a shingle in words and in characters, and of a short text that is compared."""

TEXT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "instances": ("input", "references", "extra_data", "source_id", "messages", "cluster_id"),
    "prompts": ("messages", "text", "output_mapping"),
    "request_results": ("completions", "reason"),
    "annotations": ("scores",),
    "quarantine": ("reason", "source_file"),
    "ratings": ("comment",),
    "answer_notes": ("text",),
    "instance_groups": (),
    "run_specs": (),
    "imported_scenarios": (),
}
"""The columns of every table with text whose strings are compared."""

PROSE_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "request_results": ("engine_fingerprint",),
    "run_specs": ("run_spec", "as_imported", "name", "declared", "critical"),
    "instance_groups": ("group_value",),
    "imported_scenarios": ("card", "header", "args", "name"),
}
"""Columns that hold names beside text: names that are in a share too, so that 8 words in a row
alone are compared."""

NAME_COLUMNS = frozenset(
    {
        *("access_level", "annotator", "criterion", "data_version"),
        *("destination", "engine", "executor", "failure", "flags", "group_column", "instance_id"),
        *("judge", "locality", "model_deployment", "package", "package_version"),
        *("part_of", "perturbation", "prompt_attested", "prompt_id", "rater", "render_id"),
        *("request_id", "run_spec_id", "scenario_name", "source", "split", "status", "sub_split"),
        *("subject_id", "suite", "write_id"),
    }
)
"""Columns of ids, names and levels, which are not compared. A column with strings that is in none
of the three lists stops the scan."""

UNDECLARED = "no list of columns declares it"

HELM_TEXT = "text"
"""The last key of texts in HELM's `scenario_state.json`."""

_NAMES = frozenset({"criterion", "finish_reason", "role", "tags", "tokens"})
"""Fields of structs that are no text: names that stand beside numbers, and single tokens."""

PATTERNS: Mapping[str, re.Pattern[str]] = {
    "email address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "social security number": re.compile(r"\b\d{3}-\d{2}-\d{4}\b"),
    "telephone number": re.compile(r"(?<![\w.-])(?:\+?1[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b"),
    "date": re.compile(
        r"\b(?:\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|(?:19|20)\d\d-\d\d-\d\d"
        r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2},? (?:19|20)\d\d)\b",
        re.IGNORECASE,
    ),
    "IP address": re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b"),
    "web address": re.compile(r"https?://\S+", re.IGNORECASE),
    "ZIP code": re.compile(r"\b[A-Z]{2} \d{5}(?:-\d{4})?\b"),
    "record number": re.compile(r"\b(?:MRN|medical record)[ #:.no-]*\d{4,}", re.IGNORECASE),
    "age above 89": re.compile(r"\b(?:9\d|1[01]\d)[ -]?(?:years?|yrs?|y/?o)\b", re.IGNORECASE),
}
"""Identifiers of HIPAA's Safe Harbor (45 CFR 164.514(b)(2)) that have a form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Where something stands that may not leave; it holds no text."""

    file: str
    column: str
    row: int
    """From 1 on; 0 for the file's name."""
    kind: str
    """`text of TABLE`, or the name of a pattern."""

    @property
    def is_text(self) -> bool:
        """Whether it is text of gated or private rows, which nobody can waive."""
        return self.kind.startswith("text of ")

    @property
    def is_waivable(self) -> bool:
        """Whether somebody may answer for it: for a match of a pattern alone."""
        return not self.is_text and self.kind != UNDECLARED

    def __str__(self) -> str:
        where = f", column {self.column}, row {self.row}" if self.row else ""
        return f"{self.file}{where}: {self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What a scan found, and how much it compared."""

    leaks: tuple[Leak, ...]
    num_strings: int
    num_texts: int


def scan(folder: Path, reader: Reader, record_numbers: Sequence[str] = ()) -> Scanned:
    """Scan every file of a folder.

    Of text that stands in several places the first is named. Memory grows with the strings of the
    folder, time with the texts of the lake too, which are read part by part.

    Args:
        folder: a share before it is handed on.
        reader: the lake that it was made of.
        record_numbers: regular expressions of the site.

    Raises:
        PolicyError: a table of the lake has a column with text that no list declares.
    """
    _refuse_undeclared(reader)
    own = [(f"record number {n}", re.compile(p)) for n, p in enumerate(record_numbers, 1)]
    windows: dict[str, Leak] = {}
    wholes: dict[str, Leak] = {}
    leaks = [
        Leak(file=file, column=column, row=row, kind=UNDECLARED)
        for file, column, row in _undeclared(folder)
    ]
    count = 0
    for file, column, row, text in _strings(folder):
        count += 1
        place = Leak(file=file, column=column, row=row, kind="")
        for window in shingles(text):
            windows.setdefault(window, place)
        if not _has_text(column):
            wholes.setdefault(normal_form(text), place)
        leaks += [_as(place, name) for name, p in _patterns(column, own) if p.search(text)]
    compared = _Compared(windows, wholes)
    for table, columns in TEXT_COLUMNS.items():
        if table in TABLES:
            compared.with_table(reader, table, columns, is_prose=False)
            compared.with_table(reader, table, PROSE_COLUMNS.get(table, ()), is_prose=True)
    leaks += compared.leaks
    return Scanned(
        leaks=tuple(dict.fromkeys(leaks)), num_strings=count, num_texts=compared.num_texts
    )


class _Compared:
    """The texts of gated and private rows, compared part by part as they are read."""

    def __init__(self, windows: Mapping[str, Leak], wholes: Mapping[str, Leak]) -> None:
        self._windows, self._wholes = windows, wholes
        self.leaks: list[Leak] = []
        self.num_texts = 0

    def with_table(
        self, reader: Reader, table: str, columns: Sequence[str], *, is_prose: bool
    ) -> None:
        """Compare the texts of these columns; of prose 8 words in a row alone."""
        if not columns:
            return
        level = TABLES[table].level
        names = ", ".join(columns)
        sql = f"SELECT {names} FROM {{{table}}} WHERE {level} <> 'public'"

        def compare(part: pa.Table) -> pa.Table:
            for record in part.to_pylist():
                for text in _leaves(record):
                    self._compare(table, text, is_prose=is_prose)
            return part.slice(0, 0)  # nothing is kept of it

        reader.query(sql, each=compare)

    def _compare(self, table: str, text: str, *, is_prose: bool) -> None:
        self.num_texts += not is_prose
        kind = f"text of {table}"
        if self._windows:
            shared = shingles(text) & self._windows.keys()
            if is_prose:
                shared = frozenset(window for window in shared if " " in window)
            self.leaks += [_as(self._windows[window], kind) for window in sorted(shared)]
        is_short = not is_prose and len(text.split(maxsplit=WORDS)) < WORDS
        if is_short and len(plain := normal_form(text)) >= WHOLE and plain in self._wholes:
            self.leaks.append(_as(self._wholes[plain], kind))


def _refuse_undeclared(reader: Reader) -> None:
    """Refuse a lake with a column of strings that no list declares, as one of a later version."""
    for table, columns in TEXT_COLUMNS.items():
        if table not in TABLES:
            continue
        declared = {*columns, *PROSE_COLUMNS.get(table, ()), *NAME_COLUMNS}
        held = reader.query(f"SELECT * FROM {{{table}}} LIMIT 0").schema
        for field in held:
            if field.name not in declared and has_strings(field.type):
                raise PolicyError(
                    f"table {table} of {reader.location} has the column {field.name}, of which no "
                    "list says whether it is text; nothing is shared. Allowed: the columns of this "
                    "version (docs/tables.md)."
                )


def has_strings(kind: pa.DataType) -> bool:
    """Whether values of a type hold strings, at any depth."""
    if pa.types.is_dictionary(kind):
        return has_strings(kind.value_type)
    if pa.types.is_map(kind):
        return has_strings(kind.key_type) or has_strings(kind.item_type)
    if pa.types.is_nested(kind):
        return any(has_strings(kind.field(place).type) for place in range(kind.num_fields))
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _undeclared(folder: Path) -> Iterator[tuple[str, str, int]]:
    """File, column and first row of what no list declares, in each file of a folder."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        table = DECLARED.get(path.stem.rpartition("-")[2], {})
        if path.suffix == ".parquet":
            columns = pq.ParquetFile(path).schema_arrow.names
            yield from ((name, column, 1) for column in columns if column not in table)
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                columns = next(csv.reader(file), [])
            # A column is named by its place: its name may be the text.
            for place, column in enumerate(columns, 1):
                if column not in table:
                    yield name, f"number {place}", 1
        elif path.suffix == ".json":
            known = HELM_KEYS.get(path.name, frozenset())
            document = json.loads(path.read_text(encoding="utf-8"))
            yield from ((name, key, 1) for key in sorted({*_keys(document)} - known))
        elif path.suffix != ".html":
            yield name, "", 1


def _as(place: Leak, kind: str) -> Leak:
    return Leak(file=place.file, column=place.column, row=place.row, kind=kind)


def _patterns(
    column: str, own: Sequence[tuple[str, re.Pattern[str]]]
) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The site's record numbers everywhere; others where text is, for models are named by dates."""
    yield from own
    if _has_text(column):
        yield from PATTERNS.items()


def _has_text(column: str) -> bool:
    """Whether it is a column of texts of public rows, or a key of such text in HELM's files."""
    return column in TEXTS or column.rpartition(".")[2] == HELM_TEXT


def shingles(text: str) -> frozenset[str]:
    """The runs of 8 words of a text in normal form, or of 40 characters of an undivided word.

    >>> sorted(shingles("One two three four five six seven EIGHT, nine"))
    ['one two three four five six seven eight', 'two three four five six seven eight nine']
    """
    words = [plain for word in text.split() if (plain := normal_form(word))]
    found = {" ".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}
    for word in words:
        found.update(word[at : at + CHARACTERS] for at in range(len(word) - CHARACTERS + 1))
    return frozenset(found)


def _strings(folder: Path) -> Iterator[tuple[str, str, int, str]]:
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
                for row, record in enumerate(csv.DictReader(file), 1):
                    yield from ((name, column, row, text) for column, text in record.items())
        elif path.suffix == ".json":
            yield from _of_json(name, json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".html":
            page = _Page()
            page.feed(path.read_text(encoding="utf-8"))
            yield from ((name, "", row, text) for row, text in page.texts)
            # Tags may stand between the words of one text.
            yield name, "", 1, " ".join(text for _, text in page.texts)
        else:  # declared nowhere, and searched all the same
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from ((name, "", row, line) for row, line in enumerate(lines, 1))


class _Page(HTMLParser):
    """The texts and attributes of a page, each with its line; entities are the signs they mean."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []

    def handle_data(self, data: str) -> None:
        self.texts.append((self.getpos()[0], data))

    def handle_comment(self, data: str) -> None:
        self.handle_data(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for _, value in attrs:
            self.handle_data(value or "")


def _of_parquet(name: str, path: Path) -> Iterator[tuple[str, str, int, str]]:
    rows = 0
    for batch in pq.ParquetFile(path).iter_batches():
        for column in batch.schema.names:
            values = enumerate(batch.column(column).to_pylist(), rows + 1)
            yield from (
                (name, column, row, text) for row, held in values for text in _leaves(held) if text
            )
        rows += len(batch)


def _of_json(
    name: str, value: Any, column: str = "", row: int = 1
) -> Iterator[tuple[str, str, int, str]]:
    """Every string with the keys above it and its place in the innermost list; long keys too."""
    if isinstance(value, str):
        yield name, column, row, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if len(key) >= WHOLE:
                yield name, column, row, key
            yield from _of_json(name, item, f"{column}.{key}" if column else key, row)
    elif isinstance(value, list):
        for place, item in enumerate(value, 1):
            yield from _of_json(name, item, column, place)


def _keys(value: Any, above: str = "") -> Iterator[str]:
    """Where strings stand in a document: their keys, with the keys above them."""
    if isinstance(value, str):
        yield above
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _keys(item, f"{above}.{key}" if above else key)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item, above)


def _leaves(value: Any) -> Iterator[str]:
    """Every string in a value, and in a text that is JSON; keys too."""
    waiting: list[Any] = [value]
    while waiting:
        held = waiting.pop()
        if isinstance(held, str):
            yield held
        elif isinstance(held, Mapping):
            waiting.extend(item for key, item in held.items() if key not in _NAMES)
            waiting.extend(key for key in held if isinstance(key, str) and len(key) >= WHOLE)
        elif isinstance(held, Iterable) and not isinstance(held, bytes):
            waiting.extend(held)
