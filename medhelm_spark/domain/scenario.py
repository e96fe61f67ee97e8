"""Scenario, Instance, Reference and the card that declares a scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.domain.groups import Band, GroupColumn, group_columns
from medhelm_spark.domain.history import History
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    AnnotatorSpec,
    AnswerExtraction,
    MetricSpec,
    PromptVariant,
)
from medhelm_spark.domain.sampling import EVERY_INSTANCE, Sampling

CORRECT_TAG = "correct"

REFERENCE, OPTIONAL = "reference", "optional"
"""The option `reference: optional` of a tabular card keeps records without a right answer."""


class Split(StrEnum):
    """HELM's splits: `train` feeds few-shot examples, `valid` and `test` are evaluated."""

    TRAIN = "train"
    VALID = "valid"
    TEST = "test"


class Verified(StrEnum):
    """What our tests read of a scenario: its real data, synthetic data of its form, or nothing."""

    REAL = "real"
    SAME_FORM = "same_form"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A possible output; a right one has the tag `correct`."""

    text: str
    tags: tuple[str, ...] = ()

    @property
    def is_correct(self) -> bool:
        return CORRECT_TAG in self.tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """Row of `instances`: one data point of a scenario, as HELM defines it."""

    instance_id: str

    scenario_name: str

    data_version: str

    source_id: str
    """The data set's own id, which counts as clinical text."""

    source_index: int

    split: Split

    input: str
    """The text of the question; of a conversation, the last user turn."""

    references: tuple[Reference, ...]

    access_level: AccessLevel

    sub_split: str | None = None

    messages: tuple[Message, ...] = ()
    """The turns of a conversation; empty if the input is no conversation."""

    extra_data: Mapping[str, str] = field(default_factory=dict)

    perturbation: str = ""

    text_hashes: tuple[int, ...] | None = None
    """Hashes of the texts, whole and by column of the record, to find text that the lake has."""

    cluster_id: str | None = None
    """A hash of what instances share (a patient, a note); None if the card names no such column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """Row of `quarantine`: a raw record that could not become an Instance, without its data."""

    scenario_name: str
    data_version: str
    source_file: str
    source_row: int
    reason: str
    access_level: AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedText:
    """The hashes of the texts of a record that is not yet in the lake.

    `file` and `row` identify the record in its scenario.
    """

    scenario_name: str

    file: int

    row: int

    access_level: AccessLevel
    """The level that the record would have in the lake."""

    text_hashes: tuple[int, ...]


LOWERED_SOURCE = "lowered "
"""The beginning of `source` after a recorded lowering of the level; the old version follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioVersion:
    """Row of `scenarios`: one ingested data version of a scenario."""

    scenario_name: str

    data_version: str

    card_hash: str

    access_level: AccessLevel
    """The strictest level of the instances."""

    display_name: str

    category: str

    subcategory: str

    main_metric: str

    main_split: str

    verified: Verified

    num_instances: int

    num_quarantined: int

    source: str

    level_stated_by: str | None = None
    """The operating system's user who stated the level; None if the card states it."""

    source_hash: str | None = None
    """A hash of the files' bytes and of how they are read; None if it has no files at hand."""

    cluster_column: str | None = None
    """The column whose value instances of one cluster share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Row of `pins`: the content that this lake first fetched from an address that no card pins.

    The oldest row of an address counts: a fetch refuses other content.
    """

    address: str
    """A URL, or `ORG/NAME@main` for a hub data set."""

    pin: str
    """The SHA-256 of the file, or the commit of the hub data set."""

    scenario_name: str

    pinned_at: datetime


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One of several instances that a card makes from every record, with its fields and options."""

    name: str
    fields: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """How runs are parts of one scenario; a board shows the mean of the parts' means."""

    args: tuple[str, ...] = ()
    """The arguments of a run entry whose values make the parts."""

    disjoint: bool = False
    """Whether no case (patient, note, question) is in two parts: the parts' means are then
    independent, and the interval of their mean is narrower."""


TABULAR = "tabular"
"""The shape of a user's own data, whose columns a `benchmark.yaml` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioCard:
    """All facts of a scenario; `conf/scenarios` has one YAML file for each scenario."""

    name: str

    display_name: str

    description: str

    access_level: AccessLevel

    source: DataSource

    shape: str
    """The name of the parser in `scenarios.PARSERS`."""

    adapter_spec: AdapterSpec

    metrics: tuple[MetricSpec, ...]

    main_metric: str

    fields: Mapping[str, str] = field(default_factory=dict)
    """The roles of the shape, each with its source column."""

    options: Mapping[str, str] = field(default_factory=dict)
    """The other settings of the shape, and defaults of `args`."""

    args: tuple[str, ...] = ()
    """The arguments of a run entry that the scenario accepts."""

    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The values of each argument, each with the words that replace `{arg}` in the template and
    the instructions."""

    parts: Parts = Parts()
    """Which `args` make the parts of one scenario; runs that differ otherwise are separate rows."""

    keep: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns with allowed values; a record with any other value is left out."""

    drop: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns with excluded values; a record with one of these values is left out."""

    variants: tuple[Variant, ...] = ()
    """The instances that the card makes from every record, if there are several."""

    merge_identical: bool = False
    """Whether records without an id that make the same instance become one instance."""

    size: int | None = None
    """The published number of instances of the main split."""

    annotators: tuple[AnnotatorSpec, ...] = ()

    answer_extraction: AnswerExtraction = STRICT

    groups: tuple[str, ...] = ()

    main_split: Split = Split.TEST

    category: str = ""

    subcategory: str = ""

    task: str | None = None

    what: str = ""

    who: str = ""

    when: str = ""

    language: str = "English"

    licence: str = ""

    data_holder: str = ""
    """Who distributes the data, and under which agreement."""

    contamination: str = ""
    """What is known about models that were trained on the data."""

    verified: Verified = Verified.NEVER

    prompt_variants: tuple[PromptVariant, ...] = ()
    """The prompts that a run asks in addition to the adapter's own prompt."""

    perturbations: tuple[str, ...] = ()
    """The changed copies that a run asks in addition to the instances; `data_augmentation` of a run
    entry replaces this list."""

    sampling: Sampling = EVERY_INSTANCE
    """Which instances a run evaluates."""

    subgroups: tuple[str, ...] = ()
    """The columns of the data, or bands of one, by which results are grouped; the prompt shows
    none of them."""

    bands: Mapping[str, Band] = field(default_factory=dict)
    """The groups of columns of numbers, by the name that `subgroups` has."""

    critical: CriticalFailure | None = None
    """Which answers are critical failures."""

    @property
    def group_columns(self) -> tuple[GroupColumn, ...]:
        """The columns of `subgroups`."""
        return group_columns(self.subgroups, self.bands)
