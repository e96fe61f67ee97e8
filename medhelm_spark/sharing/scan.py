"""The scan of a share: a tripwire that compares what leaves with all that may not.

Every string of every file, every file name and every string of the manifest is compared with the
texts of gated and private rows: 8 words in a row, or 40 letters and digits, in common
(`sharing.windows`). Short texts and ids are looked for as whole words. Then canaries and patterns
of identifiers are looked for. A file, column or key that no list here declares fails, and so does a
column of the lake with text that no list declares. What the scan finds it names by file, column and
row, never by the text. A share that passes is not shown to be free of patient data: a paraphrase
passes.

The files are read twice and the lake once: the hashes of the files' windows, then which of these
the lake's texts have, then where they stand.
"""

import csv
import hmac
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.scenarios import normal_form
from medhelm_spark.sharing.helm_folder import HELM_KEYS
from medhelm_spark.sharing.known_text import ShortTexts, known_windows
from medhelm_spark.sharing.projection import DECLARED, TEXTS
from medhelm_spark.sharing.tables import MANIFEST
from medhelm_spark.sharing.windows import (
    CHUNK,
    HashedTexts,
    Hashes,
    Known,
    chunks,
    forms,
    whole_hash,
)

LONG_KEY = 12
"""A key of a document that has so many characters is compared as a text."""
AT_ONCE = 1 << 26
"""So many hashes of windows of a share are held together, 8 bytes each: a share that has more is
compared in parts, for each of which the lake is read again."""

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
"""Columns of ids, names and levels, which are not compared as texts are. A column
with strings that is in none of the three lists stops the scan."""

ID_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "instances": ("source_id", "cluster_id"),
    "ratings": ("rater",),
    "instance_groups": ("group_value",),
}
"""Columns whose values are looked for as whole words, where they are long enough."""

WITH_TEMPLATES = frozenset(
    f"text of {table}"
    for table in ("instances", "prompts", "request_results", "annotations", "run_specs")
)
"""What may repeat the words of a prompt, which are no private text; people's comments may not."""

UNDECLARED = "no list of columns declares it"

HELM_TEXT = "text"
"""The last key of texts in HELM's `scenario_state.json`."""

CANARY = "canary"
PURGED = re.compile(r"\[purged under agreement .* on \d{4}-\d\d-\d\d\]")
"""What stands in the place of a text that was purged (`domain.purge.Purge.note`)."""

SIGNED = frozenset({"scan.waived.approver", "scan.waived.reason"})
"""What people write into the manifest: it is searched for identifiers as texts are."""

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
    """From 1 on; 0 for the file's name and for what describes the file."""
    kind: str
    """`text of TABLE`, `canary NUMBER`, or the name of a pattern."""
    match: str = ""
    """Of a pattern: a keyed hash of what matched and of the text around it."""

    @property
    def is_text(self) -> bool:
        """Whether it is text of gated or private rows, which nobody can waive."""
        return self.kind.startswith("text of ")

    @property
    def is_waivable(self) -> bool:
        """Whether somebody may answer for it: for a match of a pattern alone."""
        return bool(self.match)

    def __str__(self) -> str:
        where = f", column {self.column}, row {self.row}" if self.row else ""
        return f"{self.file}{where}: {self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What a scan found, and how much it compared; `num_purged` texts are gone from the lake."""

    leaks: tuple[Leak, ...]
    num_strings: int
    num_texts: int
    num_purged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedFor:
    """What is looked for beside text of the lake.

    `record_numbers` are regular expressions of the site, `canaries` texts that it planted. `key`
    hashes what a pattern matched.
    """

    record_numbers: Sequence[str] = ()
    canaries: Sequence[str] = ()
    key: str = ""


_String = tuple[str, str, int, str]
"""File, column, row and text."""


def scan(
    folder: Path,
    reader: Reader,
    wanted: LookedFor = LookedFor(),
    manifest: Mapping[str, Any] | None = None,
) -> Scanned:
    """Scan every file of a folder.

    Driver memory has the hashes of at most AT_ONCE windows of the folder: about as many as its
    texts have characters, and two for each word. Time grows with the texts of the lake too, which
    are read part by part.

    Args:
        folder: a share before it is handed on.
        reader: the lake that it was made of.
        wanted: what is looked for beside the lake's text.
        manifest: what the share's manifest will say.

    Raises:
        PolicyError: a table of the lake has a column with text that no list declares.
    """
    _refuse_undeclared(reader)
    leaks = [
        Leak(file=file, column=column, row=row, kind=UNDECLARED)
        for file, column, row in _undeclared(folder)
    ]
    strings = _Strings(folder, manifest or {})
    lake = _Lake(reader)
    count, hashes, held = 0, [np.zeros(0, np.uint64)], 0
    own = [(f"record number {n}", re.compile(p)) for n, p in enumerate(wanted.record_numbers, 1)]
    canaries = [normal_form(text) for text in wanted.canaries]
    for part in strings.chunks():
        for place, texts in part:
            count += 1
            leaks += _identifiers(place, texts, own, wanted.key)
            leaks += _planted(place, texts, canaries)
        hashes.append(
            np.unique(HashedTexts([text for _, texts in part for text in texts]).indexed())
        )
        held += len(hashes[-1])
        if held >= AT_ONCE:
            lake.compare(Known(np.concatenate(hashes)))
            hashes, held = [np.zeros(0, np.uint64)], 0
    if held or not lake.is_read:
        lake.compare(Known(np.concatenate(hashes)))
    leaks += _found(strings, lake)
    return Scanned(
        leaks=tuple(dict.fromkeys(leaks)),
        num_strings=count,
        num_texts=lake.num_texts,
        num_purged=lake.num_purged,
    )


def _identifiers(
    place: _String, texts: Sequence[str], own: Sequence[tuple[str, re.Pattern[str]]], key: str
) -> Iterator[Leak]:
    """The site's record numbers everywhere; others where text is, for models are named by dates."""
    file, column, row, whole = place
    is_text = _has_text(column) or (file == MANIFEST and column in SIGNED)
    for name, pattern in (*own, *(PATTERNS.items() if is_text else ())):
        for found in {each[0] for text in texts for each in pattern.finditer(text)}:
            said = "\x1f".join((whole, found)).encode("utf-8", "surrogatepass")
            match = hmac.new(key.encode(), said, "sha256").hexdigest()[:24]
            yield Leak(file=file, column=column, row=row, kind=name, match=match)


def _planted(place: _String, texts: Sequence[str], canaries: Sequence[str]) -> Iterator[Leak]:
    if canaries:
        file, column, row, _ = place
        for number, canary in enumerate(canaries, 1):
            if any(canary in normal_form(text) for text in texts):
                yield Leak(file=file, column=column, row=row, kind=f"{CANARY} {number}")


class _Lake:
    """The texts of gated and private rows: which windows of a share they have, and short texts."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.is_read = False
        self.num_texts = self.num_purged = 0
        self.common: dict[str, Hashes] = defaultdict(lambda: np.zeros(0, np.uint64))
        """By table the hashes of windows that a share has too."""
        self.short = ShortTexts()

    def compare(self, known: Known) -> None:
        """Read the lake and keep which of the known windows its texts have."""
        for table, columns in TEXT_COLUMNS.items():
            if table in TABLES:
                self._read(table, columns, known, is_prose=False)
                self._read(table, PROSE_COLUMNS.get(table, ()), known, is_prose=True)
                if not self.is_read:
                    self._read_ids(table)
        self.is_read = True

    def _read(self, table: str, columns: Sequence[str], known: Known, *, is_prose: bool) -> None:
        def compare(part: pa.Table) -> pa.Table:
            for column in part.column_names:
                texts = [each for each in _leaves(part[column].to_pylist()) if each]
                if not is_prose and not self.is_read:
                    purged = sum(map(bool, map(PURGED.fullmatch, texts)))
                    self.num_purged += purged
                    self.num_texts += len(texts) - purged
                    self.short.add(table, texts, is_id=False)
                if len(known):
                    self._common(table, texts, known, is_prose=is_prose)
            return part.slice(0, 0)  # nothing is kept of it

        self._query(table, columns, compare)

    def _read_ids(self, table: str) -> None:
        def keep(part: pa.Table) -> pa.Table:
            for column in part.column_names:
                ids = {each for each in part[column].to_pylist() if each}
                self.short.add(table, sorted(ids), is_id=True)
            return part.slice(0, 0)

        self._query(table, ID_COLUMNS.get(table, ()), keep)

    def _query(self, table: str, columns: Sequence[str], each: Any) -> None:
        if columns:
            level, names = TABLES[table].level, ", ".join(columns)
            self.reader.query(
                f"SELECT {names} FROM {{{table}}} WHERE {level} <> 'public'", each=each
            )

    def _common(self, table: str, texts: Sequence[str], known: Known, *, is_prose: bool) -> None:
        every = (form for text in texts if not PURGED.fullmatch(text) for form in forms(text))
        for held in chunks(every):
            found = HashedTexts(held).common(known, is_prose=is_prose)
            if len(found):
                self.common[table] = np.union1d(self.common[table], found)


def _found(strings: "_Strings", lake: _Lake) -> Iterator[Leak]:
    """Where text of the lake stands, string by string."""
    by_table = {f"text of {table}": Known(found) for table, found in lake.common.items()}
    template = known_windows(lake.reader, lake.common)
    short = lake.short.known()
    for part in strings.chunks():
        owners = [place for place, texts in part for _ in texts]
        runs = HashedTexts([text for _, texts in part for text in texts])
        hits: list[tuple[int, str]] = []
        if by_table:
            starts, ends = runs.windows()
            hashes = runs.hashes(starts, ends)
            outside = ~_touched(starts, ends, template.holds(hashes), runs.size)
            for kind, known in by_table.items():
                is_hit = known.holds(hashes)
                if kind in WITH_TEMPLATES:
                    is_hit &= outside
                hits += [(text, kind) for text in np.unique(runs.text[starts[is_hit]]).tolist()]
        for text, table in short.inside(runs):
            hits.append((text, f"text of {table}"))
        names = [at for at, owner in enumerate(owners) if not _has_text(owner[1])]
        wholes = whole_hash([owners[at][3] for at in names])
        for at, table in short.wholes(wholes):
            hits.append((names[at], f"text of {table}"))
        for text, kind in sorted(hits):
            file, column, row, _ = owners[text]
            yield Leak(file=file, column=column, row=row, kind=kind)


def _touched(starts: Any, ends: Any, is_template: Any, size: int) -> Any:
    """Which windows have a character of a window of a template."""
    edges = np.zeros(size + 1, np.int64)
    np.add.at(edges, starts[is_template], 1)
    np.add.at(edges, ends[is_template], -1)
    covered = np.concatenate([[0], np.cumsum(np.cumsum(edges)[:size] > 0)])
    return covered[ends] > covered[starts]


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


def _has_text(column: str) -> bool:
    """Whether it is a column of texts of public rows, or a key of such text in HELM's files."""
    return column in TEXTS or column.rpartition(".")[2] == HELM_TEXT


class _Strings:
    """Every string that leaves, in the files of a folder and in its manifest."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self._folder, self._manifest = folder, manifest

    def chunks(self) -> Iterator[list[tuple[_String, tuple[str, ...]]]]:
        """Strings together, up to about CHUNK characters, each with the forms of its text."""
        held: list[tuple[_String, tuple[str, ...]]] = []
        size = 0
        for place in self._each():
            texts = forms(place[3])
            held.append((place, texts))
            size += sum(map(len, texts)) + 1
            if size >= CHUNK:
                yield held
                held, size = [], 0
        if held:
            yield held

    def _each(self) -> Iterator[_String]:
        yield from _strings(self._folder)
        yield from _of_json(MANIFEST, self._manifest)


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
                records = csv.reader(file)
                header = next(records, [])
                yield from ((name, "", 0, column) for column in header)
                for row, record in enumerate(records, 1):
                    columns = chain(header, repeat(""))
                    pairs = zip(columns, record, strict=False)
                    yield from ((name, column, row, text) for column, text in pairs)
        elif path.suffix == ".json":
            yield from _of_json(name, json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".html":
            page = _Page()
            page.feed(path.read_text(encoding="utf-8"))
            yield from ((name, "", row, text) for row, text in page.texts)
            # Tags may stand between the words of one text.
            yield name, "", 1, " ".join(text for _, text in page.texts)
        elif zipfile.is_zipfile(path):  # as of xlsx, with its properties
            with zipfile.ZipFile(path) as held:
                for member in held.infolist():
                    text = held.read(member).decode("utf-8", "replace")
                    yield from ((name, "", 0, each) for each in (member.filename, text))
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
                for text in _leaves(value):
                    if text and (text not in seen or _has_text(column)):
                        seen.add(text)
                        yield name, column, row, text
        rows += len(batch)


def _of_json(
    name: str, value: Any, column: str = "", row: int = 1
) -> Iterator[tuple[str, str, int, str]]:
    """Every string with the keys above it and its place in the innermost list; long keys too."""
    if isinstance(value, str):
        yield name, column, row, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if len(key) >= LONG_KEY:
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
            waiting.extend(key for key in held if isinstance(key, str) and len(key) >= LONG_KEY)
        elif isinstance(held, Iterable) and not isinstance(held, bytes):
            waiting.extend(held)
