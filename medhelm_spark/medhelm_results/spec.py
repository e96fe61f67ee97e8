"""What a RunSpec of HELM's is here: its scenario, its level, and the runs that it becomes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from medhelm_spark.config.loader import validate
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.helm_results import RESCORED, SUFFIX, Surveyed, stored_metric
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    AnnotatorSpec,
    MetricSpec,
    RunEntry,
    RunSpec,
)
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.errors import ConfigError, MedhelmSparkError
from medhelm_spark.medhelm.expanders import EXPANDERS
from medhelm_spark.medhelm.export_file import METHODS, NOT_OURS, TheirRunSpec
from medhelm_spark.medhelm.metric_names import JURY, translated
from medhelm_spark.medhelm.run_entries import DEPLOYMENT, MODEL
from medhelm_spark.medhelm.scenario_args import ALIASES, CONFIG_PATH, whole_of, with_args
from medhelm_spark.medhelm_results.folder import HelmFolder, RunFolder
from medhelm_spark.medhelm_results.stream import BrokenFileError
from medhelm_spark.metrics import known_stats, metrics_for, run_metrics_for, stats_of

GROUPS = "groups"
EXACT = "exact_match"
OF_HELM = ("helm.", "medhelm.")
"""How the classes begin that are part of MedHELM's and HELM's own packages."""

_ADAPTER_KEYS = frozenset(AdapterSpec.__dataclass_fields__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmRun:
    """A run of a folder as it is known before its large files are read.

    `card` is ours of the same scenario, with the run's arguments, None where there is none.
    `part_of` is the scenario that its own is a part of.
    """

    folder: RunFolder
    scenario_name: str
    card: ScenarioCard | None
    access_level: AccessLevel
    part_of: str | None
    adapter_spec: AdapterSpec
    main_metric: str
    main_split: str
    is_guarded: bool = False

    @property
    def model(self) -> str:
        return str(self.folder.run_spec.adapter_spec.get(MODEL) or self.deployment)

    @property
    def deployment(self) -> str:
        adapter = self.folder.run_spec.adapter_spec
        return str(adapter.get(DEPLOYMENT) or adapter.get(MODEL) or "unknown")


def helm_run(
    run_folder: RunFolder,
    folder: HelmFolder,
    cards: Mapping[str, ScenarioCard],
    stated: AccessLevel | None,
) -> HelmRun:
    """What a run of a folder is here.

    Raises:
        BrokenFileError: it asks in a way that is not known here, or names no metric.
    """
    run_spec = run_folder.run_spec
    plain, card, part_of = _scenario(run_spec, cards)
    level, is_guarded = _level(run_spec, card, stated)
    main, split = _main(run_spec, folder, card)
    return HelmRun(
        folder=run_folder,
        scenario_name=card.name if card else plain,
        card=card,
        access_level=level,
        part_of=part_of,
        adapter_spec=_adapter(run_spec),
        main_metric=main,
        main_split=split,
        is_guarded=is_guarded,
    )


def _arguments(name: str) -> tuple[str, dict[str, str]]:
    """The parts of a run name: the scenario's and the arguments.

    >>> _arguments("med_dialog,subset=x:model=a_b")
    ('med_dialog', {'subset': 'x', 'model': 'a_b'})
    """
    stem, *rest = re.split("[:,]", name)
    pairs = (part.partition("=") for part in rest if "=" in part)
    return stem, {key: value for key, _, value in pairs}


def _scenario(
    run_spec: TheirRunSpec, cards: Mapping[str, ScenarioCard]
) -> tuple[str, ScenarioCard | None, str | None]:
    """The scenario's name, our card of it with the run's arguments, and what it is a part of.

    A user's own benchmark has no card, whatever it is called.
    """
    stem, args = _arguments(run_spec.name)
    own = {key: value for key, value in args.items() if not _is_of_run(key)}
    listed = ",".join(f"{key}={value}" for key, value in sorted(own.items()))
    plain = f"{stem}:{listed}" if listed else stem
    known = cards.get(ALIASES.get(stem, stem))
    if known is None or CONFIG_PATH in run_spec.scenario_spec.args:
        return plain, None, None
    entry = RunEntry(
        name=known.name,
        args={key: own[key] for key in known.args if own.get(key, "None") != "None"},
    )
    try:
        card = with_args(known, entry, run_spec.name)
    except ConfigError:  # it has an argument that our card does not
        return plain, replace(known, name=plain), None
    return plain, card, whole_of(known, entry)


def _is_of_run(key: str) -> bool:
    return key in (MODEL, DEPLOYMENT, GROUPS) or key in EXPANDERS


def _level(
    run_spec: TheirRunSpec, card: ScenarioCard | None, stated: AccessLevel | None
) -> tuple[AccessLevel, bool]:
    """Who may have the text of a run; and whether a public card's text is stored as private.

    The card's level counts, or a stricter one that a person states. Of a scenario without a card
    nothing is known: it is private unless stated. So is one that HELM read from a path, or by a
    class of somebody else's: its data may be anybody's, whatever the scenario is called.
    """
    if card is None:
        return stated or AccessLevel.PRIVATE, False
    if stated:
        return strictest([card.access_level, stated]), False
    scenario = run_spec.scenario_spec
    has_path = any(key.endswith("path") for key in scenario.args)
    if card.access_level is AccessLevel.PUBLIC and (
        has_path or not scenario.class_name.startswith(OF_HELM)
    ):
        return AccessLevel.PRIVATE, True
    return card.access_level, False


def _adapter(run_spec: TheirRunSpec) -> AdapterSpec:
    """HELM's adapter, every text as it is; keys of other releases are left unread."""
    theirs = {
        key: value
        for key, value in run_spec.adapter_spec.items()
        if key in _ADAPTER_KEYS and key not in NOT_OURS and value is not None
    }
    if theirs.get("method") not in METHODS:
        raise BrokenFileError(
            f"it asks by the adapter method {str(theirs.get('method'))!r}, which is none of "
            f"{', '.join(METHODS)}"
        )
    if letters := theirs.get("reference_prefix_characters"):
        theirs["reference_prefix_characters"] = "".join(letters)
    theirs["temperature"] = float(theirs.get("temperature", 1))
    if "random" in theirs:
        theirs["random"] = str(theirs["random"])
    try:
        return validate(theirs, AdapterSpec, "adapter_spec")
    except ConfigError:
        raise BrokenFileError("its adapter_spec has a value of another type than HELM's") from None


def _main(run_spec: TheirRunSpec, folder: HelmFolder, card: ScenarioCard | None) -> tuple[str, str]:
    """Main metric and split: as the folder's own schema says, else our card, else its metrics."""
    for group in run_spec.groups:
        if group in folder.mains:
            name, split = folder.mains[group]
            return name, split if split in set(Split) else Split.TEST.value
    if card:
        return card.main_metric, card.main_split.value
    juries = [spec for spec in run_spec.metric_specs if spec.short_name == JURY]
    if juries:
        return str(juries[0].args.get("metric_name", "jury_score")), Split.TEST.value
    names = [str(name) for spec in run_spec.metric_specs for name in spec.args.get("names") or ()]
    return EXACT if EXACT in names or not names else names[0], Split.TEST.value


def run_specs(
    run: HelmRun,
    folder: HelmFolder,
    surveyed: Surveyed,
    *,
    revision: str,
    data_version: str,
    stats: Sequence[str],
    is_rescored: bool,
) -> tuple[RunSpec, ...]:
    """The RunSpecs that a run becomes: as imported and, where it can be, scored here.

    Args:
        run: the run.
        folder: the folder, whose schema says which direction is better.
        surveyed: what its large files contain.
        revision: the id of its files' bytes.
        data_version: of its instances.
        stats: the names of its stats per instance; where it has none, of all.
        is_rescored: whether its stored text is to be scored here too.
    """
    stored = _spec(
        run,
        revision,
        data_version,
        name=run.folder.name + SUFFIX,
        metrics=tuple(stored_metric(name, _stored_args(run, folder, name)) for name in stats),
        main_metric=run.main_metric + SUFFIX,
    )
    if not is_rescored or why_not_rescored(run, surveyed):
        return (stored,)
    metrics = _own_metrics(run)
    stats_here = [stat.name for stat in stats_of(metrics)]
    main = run.card.main_metric if run.card else run.main_metric
    how = run.card.answer_extraction if run.card else STRICT
    rescored = _spec(
        run,
        revision,
        data_version,
        name=run.folder.name + RESCORED,
        metrics=metrics,
        main_metric=main if main in stats_here else stats_here[0],
        annotators=_annotators(run),
        answer_extraction=how if how != STRICT else None,
    )
    return stored, rescored


def why_not_rescored(run: HelmRun, surveyed: Surveyed) -> str:
    """Why the answers of a run cannot be scored here; empty where they can."""
    if surveyed.silent or not surveyed.answers:
        return "its answers are redacted or not there"
    if not surveyed.has_inputs:
        return "its instances are redacted or not there"
    if not _own_metrics(run):
        return "none of its metrics is computed here"
    return ""


def _spec(
    run: HelmRun,
    revision: str,
    data_version: str,
    *,
    name: str,
    metrics: tuple[MetricSpec, ...],
    main_metric: str,
    **more: Any,
) -> RunSpec:
    facts: dict[str, Any] = {
        "name": name,
        "scenario_name": run.scenario_name,
        "data_version": data_version,
        "model": run.model,
        "model_deployment": run.deployment,
        "deployment_fingerprint": content_id("helm results", revision),
        "adapter_spec": run.adapter_spec,
        "metrics": metrics,
        "annotators": (),
        "groups": tuple(run.folder.run_spec.groups),
        "access_level": run.access_level,
        "main_metric": main_metric,
        "main_split": run.main_split,
        **{key: value for key, value in more.items() if value},
    }
    return RunSpec(run_spec_id=content_id(facts), **facts)


def _stored_args(run: HelmRun, folder: HelmFolder, stat: str) -> dict[str, str]:
    """How a stored stat is read: direction and scale as far as they are known."""
    known = next((info for info in _infos(run) if info.name == stat), None)
    lower = known.lower_is_better if known else folder.directions.get(stat)
    if lower is None and stat == run.main_metric:
        lower = folder.directions.get(stat)
    args = {} if lower is None else {"lower_is_better": str(lower).lower()}
    if known:
        ends = {"minimum": known.minimum, "maximum": known.maximum}
        args |= {key: f"{end:g}" for key, end in ends.items() if end is not None}
    if stat in _of_jury(run):
        args["jury"] = content_id(_jury(run))[:8]
    return args


def _infos(run: HelmRun) -> list[MetricInfo]:
    try:
        own = list(stats_of(run.card.metrics)) if run.card else []
    except MedhelmSparkError:
        own = []
    return [*own, *known_stats()]


def _of_jury(run: HelmRun) -> set[str]:
    juries = [spec for spec in run.folder.run_spec.metric_specs if "annotator" in str(spec.args)]
    return {run.main_metric} if juries or run.folder.run_spec.annotators else set()


def _jury(run: HelmRun) -> object:
    return [(spec.class_name, spec.args) for spec in run.folder.run_spec.annotators or ()]


def _own_metrics(run: HelmRun) -> tuple[MetricSpec, ...]:
    """The metrics that are computed here of its answers and of the verdicts that came with them."""
    run_spec = run.folder.run_spec
    if run.card:
        metrics = run.card.metrics
    else:
        pattern = run_spec.adapter_spec.get("output_mapping_pattern")
        annotator = _annotator_name(run)
        metrics = translated(run_spec.metric_specs, annotator=annotator, pattern=pattern).metrics
    return tuple(metric for metric in metrics if _works(metric))


def _works(metric: MetricSpec) -> bool:
    """Whether what a metric scores by is here."""
    try:
        for each, params in metrics_for([metric]):
            each.preflight(params)
        for run_metric, params in run_metrics_for([metric]):
            run_metric.preflight(params)
    except MedhelmSparkError:
        return False
    return True


def _annotators(run: HelmRun) -> tuple[AnnotatorSpec, ...]:
    if not run.folder.run_spec.annotators:
        return ()
    return (AnnotatorSpec(name=_annotator_name(run), rubric="as imported", jury="as imported"),)


def _annotator_name(run: HelmRun) -> str:
    """The name under which HELM keeps a run's verdicts: what its jury metric reads."""
    for spec in run.folder.run_spec.metric_specs:
        if "scenario_name" in spec.args:
            return str(spec.args["scenario_name"])
    return _arguments(run.folder.name)[0]
