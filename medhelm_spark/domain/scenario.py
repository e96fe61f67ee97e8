"""Scenario, Instance, Reference and the card that declares a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
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
"""A tabular card's option by which a record without a right answer is kept."""


class Split(StrEnum):
    """HELM's splits: `train` feeds few-shot examples, `valid` and `test` are evaluated."""

    TRAIN = "train"
    VALID = "valid"
    TEST = "test"


class Verified(StrEnum):
    """What this project's tests read of a scenario: real data, made data of its form, nothing."""

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
    """A possible output; the right ones carry the tag `correct`."""

    text: str
    tags: tuple[str, ...] = ()

    @property
    def is_correct(self) -> bool:
        return CORRECT_TAG in self.tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """Row of `instances`: one data point of a scenario, as HELM defines it.

    `source_id` is the data set's own id and counts as clinical text. `messages` is empty unless
    the input is a conversation, in which case `input` holds its last user turn. `text_hashes` are
    hashes of its texts, whole and by column of its record: by them the lake knows text that it
    holds already. `cluster_id` is a hash of what it shares with other instances (a patient, a
    note), None where the card names no such column.
    """

    instance_id: str
    scenario_name: str
    data_version: str
    source_id: str
    source_index: int
    split: Split
    input: str
    references: tuple[Reference, ...]
    access_level: AccessLevel
    sub_split: str | None = None
    messages: tuple[Message, ...] = ()
    extra_data: Mapping[str, str] = field(default_factory=dict)
    perturbation: str = ""
    text_hashes: tuple[int, ...] | None = None
    cluster_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """Row of `quarantine`: a raw record that could not become an Instance. Holds no data."""

    scenario_name: str
    data_version: str
    source_file: str
    source_row: int
    reason: str
    access_level: AccessLevel


LOWERED_SOURCE = "lowered "
"""How the `source` of a data version begins whose level was lowered on record; its base follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioVersion:
    """Row of `scenarios`: one ingested data version of a scenario.

    `access_level` is the strictest of its instances. `level_stated_by` is the operating system's
    user who said what it is, None where the card says so. `source_hash` is of the files' bytes and
    of how they are read, None where they are not files at hand. `cluster_column` is the column by
    which instances belong together.
    """

    scenario_name: str
    data_version: str
    card_hash: str
    access_level: AccessLevel
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
    source_hash: str | None = None
    cluster_column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Row of `pins`: what an address that no card pins gave when this lake first fetched it.

    `pin` is the SHA-256 of a file, or the commit of a hub data set, whose `address` is
    `ORG/NAME@main`. Of an address the oldest row counts: other content is refused.
    """

    address: str
    pin: str
    scenario_name: str
    pinned_at: datetime


NEWEST = "main"
"""The `revision` of a hub data set whose commit is what the first fetch finds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a scenario's data and the split its records belong to (None: a field says).

    A `path` with `*` stands for all files it matches. `member` is the file inside a zip or tar
    archive at `path`. The first part of a relative path is the scenario's own folder, so that what
    follows is the path inside the folder that its publisher hands out. `label` is how messages name
    a file that a pattern matched, whose own name may be an id; it is no key of a card.

    `url` is where a file that is absent is fetched, and `sha256` the hash of what it gives. Where
    that is an archive in which the file, or all that the pattern matches, lies at `inside`,
    `archive` is what the archive is called.
    """

    path: str
    split: Split | None = Split.TEST
    sha256: str | None = None
    url: str | None = None
    member: str | None = None
    archive: str | None = None
    label: str = ""

    @property
    def inside(self) -> str:
        """The path inside the publisher's folder.

        >>> SourceFile(path="aci_bench/data/a.json").inside, SourceFile(path="a.csv").inside
        ('data/a.json', 'a.csv')
        """
        return inside(self.path)


def inside(path: str) -> str:
    """A card's path without the scenario's own folder."""
    return path.split("/", 1)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A second file that is joined to the records: its first row of the same `key`.

    Its `columns` become columns `name.column` of the record.
    """

    name: str
    path: str
    key: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """Where a scenario's raw records come from: exactly one of files, a hub data set or a table.

    An imported scenario has none of them but its `data_version` in the lake.

    `format` names a reader (csv, json, jsonl, parquet, xlsx ...). `record_path` leads to the
    records inside a JSON document, and names the elements that are records in XML; `paths` gives
    the columns of an XML record as paths below it. `key_field` names the field that receives an
    object's key; `explode` the list inside a record whose members are the records. `splits` says
    what a hub data set's own splits are here. `texts` are whole files, each a column of every
    record, and `text_urls` where those that are absent are fetched. `history` makes a column of a
    patient's events, unless the records have that column already. `columns` gives the source's own
    name for a column that the card calls otherwise. `sheet` is the one of a workbook that is read
    (None: the first), `separator` the sign between the columns of a csv and `encoding` that of a
    text (None: what the file shows). `revision` pins a hub data set or a Delta table; `main` of a
    hub data set, and an address without a hash, are pinned in the lake by what the first fetch
    gives. `origin` tells a person where the data is had; nothing is fetched from it. `is_own`: a
    person gave other data than the card's.
    """

    format: str = "csv"
    files: tuple[SourceFile, ...] = ()
    dataset: str | None = None
    revision: str | None = None
    table: str | None = None
    record_path: str | None = None
    key_field: str | None = None
    explode: str | None = None
    sheet: str | None = None
    separator: str | None = None
    encoding: str | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, Split] = field(default_factory=dict)
    lookups: tuple[Lookup, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    text_urls: Mapping[str, str] = field(default_factory=dict)
    history: History | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    data_version: str | None = None
    is_own: bool = False

    @property
    def is_unpinned(self) -> bool:
        """Whether it names an address whose content no hash and no commit pins."""
        urls = any(file.url and not file.sha256 for file in self.files) or bool(self.text_urls)
        return urls or (self.dataset is not None and self.revision == NEWEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One of several instances that a card makes of every record: its own fields and options."""

    name: str
    fields: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Which arguments of a run entry make the parts of one scenario, whose means are one mean.

    `disjoint` says that no case (patient, note, question) stands in two parts. Only then are the
    parts' means independent, and the interval of their mean is narrower.
    """

    args: tuple[str, ...] = ()
    disjoint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioCard:
    """All facts of a scenario; one YAML file each in `conf/scenarios`.

    `shape` names the parser (`scenarios.PARSERS`), `fields` maps its roles to source columns and
    `options` holds its remaining settings. A record is left out unless each column of `keep` has
    one of the values given, and if a column of `drop` has; `variants` make several instances of a
    record. With `merge_identical` records without an id that make the same instance are one of it.
    `args` are the run-entry arguments it accepts, `choices` their values, each with the
    words that stand for `{arg}` in template and instructions; `options` may hold a default.
    `parts` says which of them make parts of one scenario: a board shows the mean of their means,
    and runs that differ in anything else are rows of their own. `size`
    is the published number of instances of the main split. `prompt_variants` are asked beside the
    adapter's own prompt; `perturbations` names the changed copies that are asked beside the
    instances, as `data_augmentation` of a run entry does, which replaces them; `sampling` says
    which instances are evaluated. `data_holder` is who hands the data out and under which
    agreement, `contamination` what is known of models having seen it.
    """

    name: str
    display_name: str
    description: str
    access_level: AccessLevel
    source: DataSource
    shape: str
    adapter_spec: AdapterSpec
    metrics: tuple[MetricSpec, ...]
    main_metric: str
    fields: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    parts: Parts = Parts()
    keep: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drop: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    merge_identical: bool = False
    size: int | None = None
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
    contamination: str = ""
    verified: Verified = Verified.NEVER
    prompt_variants: tuple[PromptVariant, ...] = ()
    perturbations: tuple[str, ...] = ()
    sampling: Sampling = EVERY_INSTANCE
