"""Scenario, Instance, Reference and the card that declares a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.groups import Band, GroupColumn, group_columns
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    AnnotatorSpec,
    AnswerExtraction,
    MetricSpec,
    PromptVariant,
)
from medhelm_spark.domain.sampling import EVERY_INSTANCE, Sampling
from medhelm_spark.domain.split import Split

CORRECT_TAG = "correct"

REFERENCE, OPTIONAL = "reference", "optional"
"""The option `reference: optional` of a tabular card keeps records without a right answer."""


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
