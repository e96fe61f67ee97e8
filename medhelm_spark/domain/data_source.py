"""Where a scenario's raw records come from: files, a hub data set or a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from medhelm_spark.domain.history import History
from medhelm_spark.domain.split import Split

NEWEST = "main"
"""The `revision` of a hub data set without a commit: the first fetch pins the commit it finds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a scenario's data."""

    path: str
    """The file, or with `*` all files that it matches; a relative path begins with the scenario's
    own folder, and the rest is the path inside the folder that the publisher distributes."""

    split: Split | None = Split.TEST
    """The split of the file's records; None: a field of each record states it."""

    sha256: str | None = None
    """The hash of the file that `url` returns."""

    url: str | None = None
    """The address from which an absent file is fetched."""

    member: str | None = None
    """The name of the file inside a zip or tar archive at `path`."""

    archive: str | None = None
    """The name of the archive that `url` returns; it contains the files at `inside`."""

    label: str = ""
    """The name in messages of a file that a pattern matched (its own name may be an id); no card
    has this key."""

    @property
    def inside(self) -> str:
        """The path inside the publisher's folder.

        >>> SourceFile(path="aci_bench/data/a.json").inside, SourceFile(path="a.csv").inside
        ('data/a.json', 'a.csv')
        """
        return inside(self.path)

    @property
    def shown_path(self) -> str:
        """The file in messages: its label, else its path.

        >>> SourceFile(path="a.csv").shown_path, SourceFile(path="MRN-7.csv", label="b").shown_path
        ('a.csv', 'b')
        """
        return self.label or self.path


def numbered(files: Sequence[SourceFile], whole: str) -> tuple[SourceFile, ...]:
    """Files labelled by their numbers in a whole: their own names may be those of patients.

    >>> [file.label for file in numbered([SourceFile(path="c/MRN-7.csv")], "in c")]
    ['file 1 of 1 in c']
    """
    return tuple(
        replace(file, label=f"file {number} of {len(files)} {whole}")
        for number, file in enumerate(files, 1)
    )


def inside(path: str) -> str:
    """A card's path without the scenario's own folder."""
    return path.split("/", 1)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A second file that is joined to the records: a record gets the first row with its `key`.

    The `columns` of this row become columns `name.column` of the record.
    """

    name: str
    path: str
    key: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """Where a scenario's raw records come from: exactly one of files, a hub data set or a table.

    An imported scenario has none of them; it has its `data_version` in the lake.
    """

    format: str = "csv"
    """The name of a reader (csv, json, jsonl, parquet, xlsx ...)."""

    files: tuple[SourceFile, ...] = ()

    dataset: str | None = None
    """The name of a hub data set."""

    revision: str | None = None
    """The version of a hub data set or Delta table; for `main` the lake pins the first fetch."""

    table: str | None = None

    record_path: str | None = None
    """The path to the records in a JSON document, or the name of the record elements in XML."""

    key_field: str | None = None
    """The field that receives the key of a JSON object."""

    explode: str | None = None
    """The list inside a record whose members are the records."""

    sheet: str | None = None
    """The sheet of a workbook; None: the first."""

    separator: str | None = None
    """The sign between columns of a csv; None: the reader finds it in the file."""

    encoding: str | None = None
    """The encoding of a text; None: the reader finds it in the file."""

    paths: Mapping[str, str] = field(default_factory=dict)
    """The columns of an XML record, each with its path below the record."""

    splits: Mapping[str, Split] = field(default_factory=dict)
    """The splits of a hub data set, each with our name for it."""

    lookups: tuple[Lookup, ...] = ()

    texts: Mapping[str, str] = field(default_factory=dict)
    """Whole files, each of which becomes a column of every record."""

    text_urls: Mapping[str, str] = field(default_factory=dict)
    """The addresses from which absent files of `texts` are fetched."""

    history: History | None = None
    """How to make a column of a patient's events, if the records do not have the column."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """The source's own name for each column that has another name in the card."""

    origin: str = ""
    """Where a person can get the data; no program fetches from it."""

    data_version: str | None = None

    is_own: bool = False
    """Whether a person gave other data than the card's."""

    @property
    def is_unpinned(self) -> bool:
        """Whether the source has an address whose content neither a hash nor a commit pins."""
        urls = any(file.url and not file.sha256 for file in self.files) or bool(self.text_urls)
        return urls or (self.dataset is not None and self.revision == NEWEST)

    @property
    def is_published(self) -> bool:
        """Whether the card fetches or pins its data, so that no person wrote it for this lake."""
        is_known = self.dataset is not None or any(file.url or file.sha256 for file in self.files)
        return is_known and not self.is_own
