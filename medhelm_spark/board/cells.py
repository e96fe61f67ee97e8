"""A run's cell of the board: its number, what it is of, and how the run was made."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import Enum

from medhelm_spark.domain.comparability import EXTRACTION, JURY, NATIVE, ORIGIN
from medhelm_spark.domain.helm_results import STORED_STAT, SUFFIX, is_stored
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.jury_evidence import JuryEvidence
from medhelm_spark.domain.run import STRICT, RunSpec, SuiteRun
from medhelm_spark.domain.sampling import Sampling
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stats import UNREADABLE_STAT, Mean, MetricInfo, Stat, values_of
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import info, metrics_behind, run_metric_behind
from medhelm_spark.metrics.jury import COVERAGE
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.comparison import ADAPTER, OTHER

PROMPT_UNKNOWN = "the prompt and how the model decoded are not on record"
PROMPT_ON_RECORD = "the prompt is the one in MedHELM's files"
"""What a board says of imported answers."""

MAX_CHARACTERS = 24
"""Longest value of a setting that is shown; a longer one is shown as its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsWrite:
    """When a run's stats were made, and whether they still are those of its scores."""

    made_at: datetime
    is_current: bool


def cell_of(
    row: SuiteRun,
    stats: Iterable[Stat],
    scenario: ScenarioVersion | None,
    written: StatsWrite,
) -> BoardCell | None:
    """The cell of a run; None where its main metric gave nothing on the main split.

    `stats` are all of the run's; those over perturbed copies and other prompts do not count.
    """
    spec = row.run_spec
    originals = originals_of(spec, stats)
    main = originals.get(spec.main_metric)
    if main is None:
        return None
    coverage, unreadable = originals.get(COVERAGE.name), originals.get(UNREADABLE_STAT)
    is_judged = _is_judged(spec)
    measured = _measured(row, main, scenario)
    traded = originals.get(measured.traded_metric)
    return replace(
        measured,
        traded_mean=traded.mean if traded else None,
        jury_evidence=jury_evidence(row),
        jury_coverage=coverage.mean if is_judged and coverage else None,
        unreadable=unreadable.mean if unreadable else None,
        is_primary=bool(row.is_primary),
        is_listed=bool(row.is_listed),
        margin=row.margin,
        imported=_imported(row, main),
        part=part_name(spec.scenario_name, row.part_of) if row.part_of else "",
        is_disjoint=bool(row.is_disjoint),
        comparability=main.comparability,
        configuration=configuration_of(spec),
        made_at=written.made_at,
        is_current=written.is_current,
        run_spec_ids=(row.run_spec_id,),
    )


def originals_of(spec: RunSpec, stats: Iterable[Stat]) -> dict[str, Stat]:
    """The stats of a run's main split by name, of the instances as they are."""
    return {
        stat.name: stat for stat in stats if stat.split == spec.main_split and not stat.perturbation
    }


def decoding_is_known(cell: BoardCell | None) -> bool:
    """Whether the settings of the run are those by which its answers were asked for."""
    return not cell or cell.imported in ("", PROMPT_ON_RECORD)


def _imported(row: SuiteRun, main: Stat) -> str:
    """What is known of how imported answers were asked for; empty where there are none."""
    origin = (main.comparability or {}).get(ORIGIN, NATIVE)
    if origin == NATIVE or is_stored(row.run_spec):
        return ""
    if stated := row.prompt_attested:
        return (
            f"prompt attested by {stated.stated_by} (unverified) on {stated.stated_at:%Y-%m-%d}: "
            f"{stated.note}; how the model decoded is not on record"
        )
    return PROMPT_ON_RECORD if row.as_imported else PROMPT_UNKNOWN


def _measured(row: SuiteRun, main: Stat, scenario: ScenarioVersion | None) -> BoardCell:
    """The cell with the number, its model, its scenario and its scale."""
    spec, scale = row.run_spec, scale_of(row.run_spec)
    return BoardCell(
        model=spec.model,
        model_deployment=spec.model_deployment,
        locality=row.locality,
        scenario_name=row.part_of or spec.scenario_name,
        display_name=scenario.display_name if scenario else spec.scenario_name,
        category=scenario.category if scenario else "",
        subcategory=scenario.subcategory if scenario else "",
        access_level=spec.access_level,
        main_metric=spec.main_metric,
        lower_is_better=scale.lower_is_better if scale else None,
        minimum=scale.minimum if scale else None,
        maximum=scale.maximum if scale else None,
        split=spec.main_split,
        **{**values_of(main, Mean), "ci_method": main.ci_method.value},
        cluster_column=scenario.cluster_column if scenario and main.num_clusters else None,
        draws=main.draws,
        traded_metric=scale.traded_against if scale else "",
        is_of_run=bool(scale and run_metric_behind(spec.main_metric, spec.metrics)),
        num_model_failures=main.num_model_failures or 0,
        num_unscorable=main.num_unscorable or 0,
    )


def scale_of(spec: RunSpec) -> MetricInfo | None:
    """Direction and scale of the main metric; None for one that is not installed here."""
    try:
        return info(spec.main_metric, spec.metrics)
    except ConfigError:
        return None


def jury_evidence(row: SuiteRun) -> JuryEvidence:
    """What is stated of the jury that scored the main metric; nothing of an imported one."""
    spec = row.run_spec
    if _is_by_their_jury(spec):
        return JuryEvidence.IMPORTED
    if not _is_judged(spec):
        return JuryEvidence.NO_JURY
    if row.is_jury_validated is None:
        return JuryEvidence.IMPORTED if row.as_imported is not None else JuryEvidence.NO_JURY
    if row.is_jury_demo:
        return JuryEvidence.DEMO
    return JuryEvidence.STATED if row.is_jury_validated else JuryEvidence.NOT_VALIDATED


def has_jury(spec: RunSpec) -> bool:
    """Whether judges, asked here or elsewhere, scored anything of a run."""
    return bool(spec.annotators) or _is_by_their_jury(spec)


def _is_by_their_jury(spec: RunSpec) -> bool:
    """Whether the main metric is a value that MedHELM's jury gave."""
    return any(
        JURY in metric.args and metric.args.get(STORED_STAT, "") + SUFFIX == spec.main_metric
        for metric in spec.metrics
    )


def _is_judged(spec: RunSpec) -> bool:
    """Whether the main metric reads a jury's verdicts; one that is not installed counts as such."""
    try:
        metrics = metrics_behind(spec.main_metric, spec.metrics)
    except ConfigError:
        metrics = []
    return not metrics or any("verdicts" in metric.needs for metric in metrics)


def configuration_of(spec: RunSpec) -> dict[str, str]:
    """A RunSpec's settings by name, which distinguish it from another run of the same model.

    The names of scenario and model are no settings. A value that is long, or has no short text, is
    its hash after OTHER.
    """
    return {
        EXTRACTION: _extraction(spec),
        "sampling": _sampling(spec.sampling) if spec.sampling else "",
        "prompt_variants": ", ".join(variant.name for variant in spec.prompt_variants or ()),
        "perturbations": ", ".join(copy.name for copy in spec.perturbations or ()),
        "data": OTHER + spec.data_version,
        "metrics": OTHER + content_id(spec.metrics),
        JURY: ", ".join(sorted({annotator.jury for annotator in spec.annotators})),
        "deployment settings": OTHER + spec.deployment_fingerprint,
        **dict(_adapter(spec)),
    }


def _adapter(spec: RunSpec) -> Iterator[tuple[str, str]]:
    for field in fields(spec.adapter_spec):
        yield ADAPTER + field.name, _setting_text(getattr(spec.adapter_spec, field.name))


def _setting_text(value: object) -> str:
    """A value as it is where it is a short word or number, else OTHER and its hash."""
    if isinstance(value, Enum):
        return str(value.value)
    if value is None:
        return ""
    text = str(value)
    is_plain = isinstance(value, int | float) or (text.isprintable() and text == text.strip())
    is_short = isinstance(value, str | int | float) and len(text) <= MAX_CHARACTERS and is_plain
    return text if is_short else OTHER + content_id(value)


def _extraction(spec: RunSpec) -> str:
    """`choice`, `json_field answer`; how unreadable answers count where that is not the default."""
    extraction = spec.answer_extraction or STRICT
    details = [extraction.field] if extraction.field else []
    if extraction.pattern:
        details.append(content_id(extraction.pattern)[:6])
    if extraction.options:
        details.append(f"of {content_id(extraction.options)[:6]}")
    if extraction.unreadable is not STRICT.unreadable:
        details.append(f"unreadable {extraction.unreadable.value}")
    return " ".join([spec.reading, *details])


def _sampling(sampling: Sampling) -> str:
    """`order source`, `seed 3`, `filter f00ba1`: what is not the default."""
    default = Sampling()
    settings = [f"order {sampling.order.value}"] if sampling.order is not default.order else []
    settings += [f"seed {sampling.seed}"] if sampling.seed != default.seed else []
    settings += [f"filter {content_id(sampling.filter)[:6]}"] if sampling.filter else []
    return " ".join(settings)


def part_name(scenario_name: str, whole: str) -> str:
    """A part's name within its scenario: the arguments that the whole does not have.

    >>> part_name("ehrshot:subject=icu,max_length=50", "ehrshot:max_length=50")
    'subject=icu'
    """
    shared = set(_arguments(whole))
    return ",".join(name for name in _arguments(scenario_name) if name not in shared)


def _arguments(scenario_name: str) -> list[str]:
    return [name for name in scenario_name.partition(":")[2].split(",") if name]
