"""AdapterSpec, RunEntry, RunSpec and the records that stages leave behind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.domain.ids import LATER
from medhelm_spark.domain.sampling import Sampling


class AdapterMethod(StrEnum):
    """HELM's adaptation methods that a text scenario can name."""

    GENERATION = "generation"
    MULTIPLE_CHOICE_JOINT = "multiple_choice_joint"
    MULTIPLE_CHOICE_JOINT_CHAIN_OF_THOUGHT = "multiple_choice_joint_chain_of_thought"
    CHAT = "chat"

    @property
    def shows_options(self) -> bool:
        """Whether the prompt lists the references as lettered options."""
        return self in (
            AdapterMethod.MULTIPLE_CHOICE_JOINT,
            AdapterMethod.MULTIPLE_CHOICE_JOINT_CHAIN_OF_THOUGHT,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution:
    """A regular expression replaced in the finished prompt, as in HELM."""

    source: str
    target: str


class AnswerForm(StrEnum):
    """The form that an engine enforces on an answer; `free` is none."""

    FREE = "free"
    CHOICE = "choice"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterSpec:
    """How an Instance becomes a Request. Field names, meanings and defaults are HELM's.

    `answer_form` is this package's own; at its default it is no part of an id.
    """

    method: AdapterMethod = AdapterMethod.GENERATION
    global_prefix: str = ""
    global_suffix: str = ""
    instructions: str = ""
    input_prefix: str = "Input: "
    input_suffix: str = "\n"
    reference_prefix: str = "A. "
    reference_prefix_characters: str | None = None
    reference_suffix: str = "\n"
    chain_of_thought_prefix: str = ""
    chain_of_thought_suffix: str = "\n"
    output_prefix: str = "Output: "
    output_suffix: str = "\n"
    instance_prefix: str = "\n"
    substitutions: tuple[Substitution, ...] = ()
    max_train_instances: int = 0
    max_eval_instances: int | None = None
    num_outputs: int = 1
    num_train_trials: int = 1
    num_trials: int = 1
    sample_train: bool = True
    temperature: float = 0.0
    max_tokens: int = 100
    stop_sequences: tuple[str, ...] = ()
    random: str | None = None
    multi_label: bool = False
    eval_splits: tuple[str, ...] = ()
    output_mapping_pattern: str | None = None
    answer_form: AnswerForm = field(default=AnswerForm.FREE, metadata=LATER)

    @property
    def requests_per_instance(self) -> int:
        """How many requests each instance makes: one of every trial."""
        return self.num_trials * self.num_train_trials


LETTERS = "ABCDEFGHIJ"
"""The labels of options where the data leaves the wrong ones out."""


class ExtractionMethod(StrEnum):
    """How the answer is found in what a model wrote; the rules are in `adaptation.extraction`."""

    STRICT = "strict"
    CHOICE = "choice"
    YES_NO = "yes_no"
    JSON_FIELD = "json_field"
    REGEX = "regex"


class Unreadable(StrEnum):
    """What an answer that cannot be read counts as."""

    WRONG = "wrong"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerExtraction:
    """How a RunSpec's answers are read before any metric or judge sees them.

    `field` names the key that `json_field` reads (`a.b` goes into an object), `pattern` is the
    regular expression of `regex`. `strict` reads nothing out of the text: it is MedHELM's rule.
    `options` are all answers that the benchmark has, for `choice` and `yes_no` where an instance
    does not have them among its references; None where nobody declared them.
    """

    method: ExtractionMethod = ExtractionMethod.STRICT
    field: str = ""
    pattern: str = ""
    unreadable: Unreadable = Unreadable.WRONG
    options: tuple[str, ...] | None = None

    @property
    def identity(self) -> Mapping[str, object]:
        """The parts of its id: options that it does not have stay out, as in older lakes."""
        own = {"method": self.method, "field": self.field, "pattern": self.pattern}
        own |= {"unreadable": self.unreadable}
        return own | ({"options": self.options} if self.options else {})


READ_OPTIONS = (ExtractionMethod.CHOICE, ExtractionMethod.YES_NO)
"""The methods that read one of several options out of a text."""

STRICT = AnswerExtraction()

MEDHELM_08 = "medhelm-0.8"
"""The release of MedHELM whose methods are kept, as in `--compat` and the names of stats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MedhelmReading:
    """How MedHELM 0.8.0 asks and reads: so many tokens, up to a stop sequence, as they are."""

    max_tokens: int
    stop_sequences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """A metric by its name in `metrics.METRICS`, with its arguments as text."""

    name: str
    args: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorSpec:
    """An annotator: its kind, its rubric and the jury that applies it.

    `rubric` and `jury` are names in `conf`; the rubric's text and the judges travel beside the
    spec in `domain.plan.ResolvedAnnotator`, their hashes are part of the annotate stage's
    fingerprint.
    """

    name: str
    rubric: str = ""
    jury: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbationSpec:
    """A perturbation by its name in `adaptation.perturbations.PERTURBATIONS`, as HELM names it.

    `args` are its arguments as text; `word_lists` gives the content id of every list it reads.
    `version` is None where it has none; of a plug-in's perturbation it contains the plug-in's hash.
    """

    name: str
    args: Mapping[str, str] = field(default_factory=dict)
    word_lists: Mapping[str, str] = field(default_factory=dict)
    version: str | None = None

    @property
    def identity(self) -> Mapping[str, object]:
        """The parts of its id: a version that it does not have stays out, as in older lakes."""
        own = {"name": self.name, "args": self.args, "word_lists": self.word_lists}
        return own | ({"version": self.version} if self.version else {})


PROMPT = "prompt."
"""What the `perturbation` of a prompt variant's rows begins with."""

PROMPT_VARIANTS = "prompt_variants"
"""The `perturbation` of what is summarised over all prompts."""

REPEATS = "repeats"
"""The `perturbation` of what is summarised over all trials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptVariant:
    """Another wording of a scenario's prompt, asked of the same instances.

    `adapter_spec` replaces text fields of the adapter. Where the parser left a text under
    `prompt.NAME` in `extra_data` (another template of a benchmark), it replaces the input.
    """

    name: str
    adapter_spec: Mapping[str, str] = field(default_factory=dict)

    @property
    def perturbation(self) -> str:
        return PROMPT + self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """What a person asks for: `name:key=value,...` with HELM's priority and groups."""

    name: str
    args: Mapping[str, str | int | float] = field(default_factory=dict)
    priority: int | None = None
    groups: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """One fully resolved scenario, adapter, deployment, metrics and annotators.

    `run_spec_id` is the content id of all other fields; `name` is HELM's run name. `data_version`
    names exactly one version of the scenario: as ingested, or with its perturbed copies.
    `answer_extraction` is None where it is strict; None for `perturbations` and `prompt_variants`
    means none, and for `sampling` the first `max_eval_instances` by hash. `medhelm` is MedHELM's
    own way where the default is another one: of the same answers its value is computed too, or,
    where the extraction is strict, instead. `asked_again` is the day from which on answers count,
    as `2024-10-02`, where a person had stored ones asked for anew; None: of any day.
    """

    run_spec_id: str
    name: str
    scenario_name: str
    data_version: str
    model: str
    model_deployment: str
    deployment_fingerprint: str
    adapter_spec: AdapterSpec
    metrics: tuple[MetricSpec, ...]
    annotators: tuple[AnnotatorSpec, ...]
    groups: tuple[str, ...]
    access_level: AccessLevel
    main_metric: str
    main_split: str
    answer_extraction: AnswerExtraction | None = None
    perturbations: tuple[PerturbationSpec, ...] | None = None
    prompt_variants: tuple[PromptVariant, ...] | None = None
    sampling: Sampling | None = None
    medhelm: MedhelmReading | None = None
    asked_again: str | None = None

    @property
    def reading(self) -> str:
        """The way the answers are read: the extraction's method, or `medhelm-0.8` in compat."""
        if self.answer_extraction:
            return self.answer_extraction.method.value
        return MEDHELM_08 if self.medhelm else ExtractionMethod.STRICT.value

    @property
    def is_cut_for_medhelm(self) -> bool:
        """Whether MedHELM would have asked for fewer tokens than were asked for."""
        return self.medhelm is not None and self.medhelm.max_tokens < self.adapter_spec.max_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation:
    """What a person states and nobody has measured: who, when, and in which words.

    `stated_by` is the user of the operating system.
    """

    stated_by: str
    stated_at: datetime
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the files of a site state of a run beside its RunSpec: no answer depends on it."""

    is_primary: bool | None = None
    """Whether the suite's primary endpoint is read from the run; None: no endpoint is declared."""

    margin: float | None = None
    """The difference of the endpoint that the suite declares too small to matter."""

    is_listed: bool | None = None
    """Whether the suite file names the run, so that models are ranked on its scenario."""

    part_of: str | None = None
    """The scenario that the run's own is a part of, as its card declares; None: of none."""

    is_disjoint: bool | None = None
    """Whether no case is in two of the parts."""

    critical: CriticalFailure | None = None
    """Which answers are critical failures, by the benchmark's file."""

    is_reading_default: bool | None = None
    """True: nobody stated how answers are read, so that it followed from the references."""

    declared: Mapping[str, str] | None = None
    """What configuration files state of data and judges, by the names in `domain.declared`."""

    @property
    def facts(self) -> dict[str, Any]:
        """These facts by name, for another row of the same run."""
        return {name: getattr(self, name) for name in RunFacts.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun(RunFacts):
    """Row of `run_specs`: a RunSpec planned for a suite; per (suite, name) the newest is current.

    `locality` and `engine` are the deployment's. `is_jury_validated` is None where no jury judges,
    else whether the jury's file says that clinicians checked it (a demo judge's never does), and
    `is_jury_demo` whether a judge is a deployment for demos alone.
    The oldest row with `is_primary` dates the declaration of the endpoint. `as_imported` is, of
    imported results, the RunSpec and scenario as their files had them, as JSON. `prompt_attested`
    is, of answers made elsewhere, the statement that their prompt was the one
    that the run has here.
    """

    suite: str
    name: str
    run_spec_id: str
    planned_at: datetime
    locality: str
    engine: str
    is_jury_validated: bool | None
    run_spec: RunSpec
    as_imported: str | None = None
    prompt_attested: Attestation | None = None
    is_jury_demo: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Row of `runs`: a stage finished one unit of work (a RunSpec; for ingest a scenario).

    `write_id` names the rows it wrote: a stage output is current where the newest record of its
    unit has its `write_id`. `fingerprint` covers the unit, the versions that shaped it, and a
    digest of the input rows; an equal fingerprint means that there is nothing to do.

    `comparability` is what the rows of score rest on, by part (`domain.comparability`), with all
    its metrics as one; of annotate it is the jury's part. None elsewhere and in older records.

    `run_by` is the operating system's user of the process; None in older records.
    """

    stage: str
    unit_id: str
    write_id: str
    fingerprint: str
    suite: str
    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    code_version: str
    spark_version: str
    schema_version: int = 1
    comparability: Mapping[str, str] | None = None
    run_by: str | None = None

    installed: Mapping[str, str] | None = None
    """The hashes of code, wheel and packages of the process (`installation`)."""
