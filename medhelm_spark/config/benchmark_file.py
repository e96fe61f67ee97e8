"""The keys of `benchmark.yaml`, MedHELM's configurable benchmark, as they are written.

MedHELM's own (facts section 13), with `access_level` (private unless stated: a file of a user's own
may contain patients), `columns`, `id_column`, `cluster_column`, `answer_extraction`, `sampling`,
`groups`, `bands`, `critical`, `prompt_variants`, `perturbations`, `category` and `subcategory`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from medhelm_spark.config.rubrics import MAX_TOKENS, Scale
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.domain.groups import Band, group_columns
from medhelm_spark.domain.run import AnswerExtraction
from medhelm_spark.domain.sampling import EVERY_INSTANCE, Sampling

ID_COLUMN = "id"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEntry:
    """A judge of a metric: its deployment, and the model's name."""

    name: str
    model_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricEntry:
    """A metric of the file; all but `name` and `args` is of a jury score."""

    name: str
    prompt_file: str | None = None
    rubric: str | None = None
    judges: tuple[JudgeEntry, ...] = ()
    minimum: float = Scale().minimum
    maximum: float = Scale().maximum
    whole: bool = Scale().whole
    max_tokens: int = MAX_TOKENS
    args: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantEntry:
    """Another prompt template, by the name of its perturbation."""

    name: str
    prompt_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFile:
    """`benchmark.yaml`, as it is written."""

    name: str
    description: str
    prompt_file: str
    dataset_file: str
    metrics: tuple[MetricEntry, ...]
    max_tokens: int = 1024
    access_level: AccessLevel = AccessLevel.PRIVATE
    train_file: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    id_column: str | None = None
    cluster_column: str | None = None
    split_column: str | None = None
    extra_columns: tuple[str, ...] = ()
    sheet: str | None = None
    separator: str | None = None
    encoding: str | None = None
    record_path: str | None = None
    max_train_instances: int = 0
    answer_extraction: AnswerExtraction | None = None
    prompt_variants: tuple[VariantEntry, ...] = ()
    perturbations: tuple[str, ...] = ()
    category: str = ""
    subcategory: str = ""
    licence: str = ""
    data_holder: str = ""
    contamination: str = ""
    sampling: Sampling = EVERY_INSTANCE
    groups: tuple[str, ...] = ()
    bands: Mapping[str, Band] = field(default_factory=dict)
    critical: CriticalFailure | None = None

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns of the data that `groups` and `bands` name, each once."""
        groups = group_columns(self.groups, self.bands)
        return tuple(dict.fromkeys(column for group in groups for column in group.columns))
