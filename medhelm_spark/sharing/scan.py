"""The scan of a share: a tripwire that compares what leaves with all that may not.

Every string of every file, every file name and every string of the manifest is compared with the
texts of gated and private rows: 8 words in a row, or 40 letters and digits, in common
(`sharing.windows`). Short texts and ids are looked for as whole words. Then canaries and patterns
of identifiers are looked for. A file, column or key that no list here declares fails, and so does a
column of the lake with text that no list declares. What the scan finds it names by file, column and
row, never by the text. A share that passes is not shown to be free of patient data: a paraphrase
passes.

The files are read twice and the lake once: the hashes of the files' windows, then which of these
the lake's texts have, then in which strings these are.
"""

import hmac
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.scenarios import normal_form
from medhelm_spark.sharing.known_text import ShortTexts, known_windows
from medhelm_spark.sharing.strings import (
    SharedString,
    SharedStrings,
    has_numbers,
    has_text,
    leaves,
    undeclared,
)
from medhelm_spark.sharing.tables import MANIFEST
from medhelm_spark.sharing.windows import (
    HashedTexts,
    Hashes,
    Known,
    chunks,
    forms,
    typed,
    whole_hash,
)

AT_ONCE = 1 << 26
"""So many hashes of windows of a share are in memory together, 8 bytes each: a share that has more
is compared in parts, for each of which the lake is read again."""

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
"""Columns with names beside text: names that are in a share too, so that 8 words in a row alone are
compared."""

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

CANARY = "canary"
PURGED = re.compile(r"\[purged under agreement .* on \d{4}-\d\d-\d\d\]")
"""What replaces a text that was purged (`domain.purge.Purge.note`)."""

CONDITIONS = "conditions"
"""The key of an approval's conditions in what is scanned: the manifest has them within lines."""
SIGNED = frozenset({"scan.waived.approver", "scan.waived.reason", CONDITIONS})
"""What people wrote that the manifest has: it is searched for identifiers as texts are."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"

PATTERNS: Mapping[str, re.Pattern[str]] = {
    "email address": re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "social security number": re.compile(r"\b\d{3}-\d{2}-\d{4}\b"),
    "telephone number": re.compile(
        r"(?<![\w.-])(?:(?:\+?1[ .-]?)?(?:\(\d{3}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}"
        r"|\+\d{2,3}(?:[ .-]?\d{2,4}){3,4})\b"
    ),
    "date": re.compile(
        r"\b(?:\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|\d{1,2}-\d{1,2}-(?:19|20)\d\d"
        r"|(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}"
        rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)\d\d"
        rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?{_MONTH},? (?:19|20)\d\d)\b",
        re.IGNORECASE,
    ),
    "IP address": re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b"),
    "web address": re.compile(r"https?://\S+", re.IGNORECASE),
    "ZIP code": re.compile(r"\b[A-Z]{2} \d{5}(?:-\d{4})?\b"),
    "record number": re.compile(r"\b(?:MRN|medical record)[ #:.no-]*\d{4,}", re.IGNORECASE),
    "age above 89": re.compile(
        r"\b(?:(?:9\d|1[01]\d)[ -]?(?:years?|yrs?|y/?o)|aged? (?:9\d|1[01]\d))\b", re.IGNORECASE
    ),
}
"""Identifiers of HIPAA's Safe Harbor (45 CFR 164.514(b)(2)) that have a form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Where something is that may not leave; it has no text."""

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


def scan(
    folder: Path,
    reader: Reader,
    looked_for: LookedFor = LookedFor(),
    manifest: Mapping[str, Any] | None = None,
) -> Scanned:
    """Scan every file of a folder.

    Driver memory has the hashes of at most AT_ONCE windows of the folder: about as many as its
    texts have characters, and two for each word. Time grows with the texts of the lake too, which
    are read part by part.

    Args:
        folder: a share before it is handed on.
        reader: the lake that it was made of.
        looked_for: what is looked for beside the lake's text.
        manifest: what the share's manifest will say.

    Raises:
        PolicyError: a table of the lake has a column with text that no list declares.
    """
    _refuse_undeclared(reader)
    leaks = [
        Leak(file=file, column=column, row=row, kind=UNDECLARED)
        for file, column, row in undeclared(folder)
    ]
    strings = SharedStrings(folder, manifest or {})
    lake = _Lake(reader)
    count, hashes, num_hashes = 0, [np.zeros(0, np.uint64)], 0
    own = [
        (f"record number {n}", re.compile(p)) for n, p in enumerate(looked_for.record_numbers, 1)
    ]
    canaries = [normal_form(text) for text in looked_for.canaries]
    for part in strings.chunks():
        for string, texts in part:
            count += 1
            leaks += _identifiers(string, texts, own, looked_for.key)
            leaks += _planted(string, texts, canaries)
        hashes.append(
            np.unique(HashedTexts([text for _, texts in part for text in texts]).indexed())
        )
        num_hashes += len(hashes[-1])
        if num_hashes >= AT_ONCE:
            lake.compare(Known(np.concatenate(hashes)))
            hashes, num_hashes = [np.zeros(0, np.uint64)], 0
    if num_hashes or not lake.is_read:
        lake.compare(Known(np.concatenate(hashes)))
    leaks += _found(strings, lake)
    return Scanned(
        leaks=tuple(dict.fromkeys(leaks)),
        num_strings=count,
        num_texts=lake.num_texts,
        num_purged=lake.num_purged,
    )


def _identifiers(
    string: SharedString, texts: Iterable[str], own: Sequence[tuple[str, re.Pattern[str]]], key: str
) -> Iterator[Leak]:
    """The site's record numbers everywhere; others where text is, for models are named by dates."""
    file, column, row, whole = string
    is_text = has_text(column) or (file == MANIFEST and column in SIGNED)
    texts = dict.fromkeys((*texts, *map(typed, texts)))
    for name, pattern in (*own, *(PATTERNS.items() if is_text else ())):
        for found in {each[0] for text in texts for each in pattern.finditer(text)}:
            content = "\x1f".join((whole, found)).encode("utf-8", "surrogatepass")
            match = hmac.new(key.encode(), content, "sha256").hexdigest()[:24]
            yield Leak(file=file, column=column, row=row, kind=name, match=match)


def _planted(string: SharedString, texts: Sequence[str], canaries: Sequence[str]) -> Iterator[Leak]:
    if canaries:
        file, column, row, _ = string
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
                texts = [each for each in leaves(part[column].to_pylist()) if each]
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
            is_not_public = f"{level} IS NULL OR {level} <> 'public'"
            self.reader.query(f"SELECT {names} FROM {{{table}}} WHERE {is_not_public}", each=each)

    def _common(self, table: str, texts: Sequence[str], known: Known, *, is_prose: bool) -> None:
        every = (form for text in texts if not PURGED.fullmatch(text) for form in forms(text))
        for chunk in chunks(every):
            found = HashedTexts(chunk).common(known, is_prose=is_prose)
            if len(found):
                self.common[table] = np.union1d(self.common[table], found)


def _found(strings: "SharedStrings", lake: _Lake) -> Iterator[Leak]:
    """The strings that have text of the lake, one by one."""
    by_table = {f"text of {table}": Known(found) for table, found in lake.common.items()}
    template = known_windows(lake.reader, lake.common)
    short = lake.short.known()
    for part in strings.chunks():
        owners = [string for string, texts in part for _ in texts]
        runs = HashedTexts([text for _, texts in part for text in texts])
        hits: list[tuple[int, str]] = []
        if by_table:
            starts, ends = runs.windows()
            hashes = runs.hashes(starts, ends)
            outside = ~_touched(starts, ends, template.contains(hashes), runs.size)
            for kind, known in by_table.items():
                is_hit = known.contains(hashes)
                if kind in WITH_TEMPLATES:
                    is_hit &= outside
                hits += [(text, kind) for text in np.unique(runs.text[starts[is_hit]]).tolist()]
        counts = {at for at, owner in enumerate(owners) if has_numbers(owner[0], owner[1])}
        for text, table, is_number in short.inside(runs):
            if not is_number or text not in counts:
                hits.append((text, f"text of {table}"))
        names = [at for at, owner in enumerate(owners) if not has_text(owner[1])]
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
        schema = reader.query(f"SELECT * FROM {{{table}}} LIMIT 0").schema
        for field in schema:
            if field.name not in declared and has_strings(field.type):
                raise PolicyError(
                    f"table {table} of {reader.location} has the column {field.name}, of which no "
                    "list says whether it is text; nothing is shared. Allowed: the columns of this "
                    "version (docs/tables.md)."
                )


def has_strings(kind: pa.DataType) -> bool:
    """Whether values of a type contain strings, at any depth."""
    if pa.types.is_dictionary(kind):
        return has_strings(kind.value_type)
    if pa.types.is_map(kind):
        return has_strings(kind.key_type) or has_strings(kind.item_type)
    if pa.types.is_nested(kind):
        return any(has_strings(kind.field(index).type) for index in range(kind.num_fields))
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )
