"""From run entries to resolved runs, with card, adapter, deployment and annotators looked up."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from medhelm_spark.config.benchmark import Benchmark
from medhelm_spark.config.extraction import KEY, with_unreadable
from medhelm_spark.config.juries import load_jury, with_jury
from medhelm_spark.config.registry import Registry
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.sampling import sampled, with_max_eval_instances
from medhelm_spark.config.word_lists import load_word_lists
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.declared import declared_of
from medhelm_spark.domain.deployment import Deployment, Jury
from medhelm_spark.domain.plan import PrimaryEndpoint, ResolvedAnnotator, ResolvedRun
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.run import AdapterSpec, AnnotatorSpec, RunEntry
from medhelm_spark.domain.sampling import Sampling
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.skipped import SkippedRun
from medhelm_spark.engines.model_uri import FORMS
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.medhelm.augmentation import augmented, perturbations_named
from medhelm_spark.medhelm.expanders import (
    EXPANDERS,
    FOLLOW_FORMAT_KEY,
    IF_INSTRUCTED,
    INSTRUCTED_TAG,
    apply_expander,
    spread,
    suited_to,
)
from medhelm_spark.medhelm.imported import find_imported, is_imported
from medhelm_spark.medhelm.reading import reading_of
from medhelm_spark.medhelm.run_entries import DEPLOYMENT, MODEL, MODEL_KEYS, conf_folder
from medhelm_spark.medhelm.run_names import entry_name, run_name
from medhelm_spark.medhelm.scenario_args import (
    JURY_CONFIG,
    find_in,
    find_scenario,
    whole_of,
    with_args,
)
from medhelm_spark.scenarios import check_card


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What flags and a suite file add to the entries: `--models-to-run`, `-m`, a jury and so on.

    `listed` are the `where` of the suite file's own entries, None without one; `absent` names
    requested scenarios that are left out.
    `compat` asks and reads as MedHELM does.
    """

    models_to_run: Sequence[str] = ()
    groups_to_run: Sequence[str] = ()
    max_eval_instances: int | None = None
    num_train_trials: int | None = None
    num_trials: int | None = None
    jury: Jury | None = None
    primary_endpoints: Sequence[PrimaryEndpoint] = ()
    sampling: Sampling | None = None
    compat: bool = False
    listed: frozenset[str] | None = None
    absent: frozenset[str] = frozenset()

    def is_listed(self, where: str) -> bool | None:
        """Whether the suite file names the entry at `where`; None without a suite file."""
        return None if self.listed is None else where in self.listed


EVERYTHING = Selection()


def expand(
    entries: Iterable[RunEntry],
    registry: Registry,
    *,
    base_dir: Path,
    selection: Selection = EVERYTHING,
) -> tuple[ResolvedRun, ...]:
    """Resolves every entry, in order; an entry without a model becomes one run per model to run.

    `base_dir` is where relative paths in entries start; an entry of a `.conf` file also finds
    what lies beside that file. The same entry twice is one run.

    Raises:
        ConfigError: If an entry cannot be resolved, its card does not fit its shape, two different
            runs have one name, or nothing is left to run.
    """
    entries = [each for entry in entries for each in spread(entry)]
    for name in selection.models_to_run:
        _resolve(registry, name, None, "--models-to-run")
    augmented_entries = [pair for entry in entries for pair in augmented(entry, _where(entry))]
    word_lists = cache(lambda: load_word_lists(registry.word_list_files))
    runs: dict[str, ResolvedRun] = {}
    for entry, perturbations in augmented_entries:
        for run in _expand_entry(entry, registry, base_dir, selection):
            own = perturbations or perturbations_named(run.card.perturbations, _where(entry))
            lists = word_lists() if own else {}
            _add(runs, replace(run, perturbations=own, word_lists=lists))
    if entries and not runs:
        raise ConfigError(
            f"of {counted(len(entries), 'run entry')} none is left to run: "
            "--models-to-run and --groups-to-run exclude them all."
        )
    _check_primary(selection, runs.values())
    return tuple(runs.values())


def _check_primary(selection: Selection, runs: Iterable[ResolvedRun]) -> None:
    """Refuse a primary endpoint that no run answers; groups may leave it out on purpose."""
    names = {run.card.name for run in runs} | selection.absent
    for primary in selection.primary_endpoints:
        if primary.scenario not in names and not selection.groups_to_run:
            raise UnknownNameError(
                "scenario", primary.scenario, names, where="the suite file's primary_endpoint"
            )


def check_imported(entry: RunEntry, registry: Registry) -> None:
    """Refuse an entry of an imported scenario that is not in the lake.

    Raises:
        AbsentDataError: it was never imported, or not with these arguments.
    """
    if is_imported(entry.name):
        find_imported(entry, registry.imported, _where(entry))


def absent_runs(
    entry: RunEntry, reason: str, registry: Registry, selection: Selection
) -> Iterator[SkippedRun]:
    """The runs that an entry of a scenario that was never imported would make, with the reason."""
    groups = set(selection.groups_to_run)
    if groups and not groups & {entry.name, *entry.groups}:
        return
    for _, models in _models(entry, registry, selection, _where(entry)):
        yield SkippedRun(
            name=entry_name(entry, models),
            scenario_name=entry.name,
            reason=reason,
            is_listed=selection.is_listed(entry.where),
        )


def _where(entry: RunEntry) -> str:
    return f"{entry.where}: run entry {entry.name!r}"


def _add(runs: dict[str, ResolvedRun], run: ResolvedRun) -> None:
    """Add a run once; it is listed where one of its entries is the suite file's."""
    first = runs.setdefault(run.name, run)
    if run.is_listed:
        first = runs[run.name] = replace(first, is_listed=True)
    if replace(run, where=first.where, is_listed=first.is_listed) != first:
        raise ConfigError(
            f"{run.where}: the run name {run.name!r} is taken by a different run at {first.where}."
        )


def _expand_entry(
    entry: RunEntry, registry: Registry, base_dir: Path, selection: Selection
) -> Iterator[ResolvedRun]:
    where = _where(entry)
    folders = [base_dir, *([folder] if (folder := conf_folder(entry)) else [])]
    if is_imported(entry.name):
        scenario = find_imported(entry, registry.imported, where)
    else:
        scenario = find_scenario(entry, registry.cards, folders, where)
    card = sampled(with_args(scenario.card, entry, where), entry.args, selection.sampling, where)
    check_card(card)
    groups = (*(card.groups or (scenario.card.name,)), *entry.groups)
    if selection.groups_to_run and not set(groups) & set(selection.groups_to_run):
        return
    primary = _endpoint_of(card, selection.primary_endpoints)
    if primary and primary.metric:
        card = replace(card, main_metric=primary.metric)
    judged = replace(scenario, card=card, jury=selection.jury or scenario.jury)
    annotators = _annotators(judged, entry, registry, folders)
    metrics = with_jury(card.metrics, annotators, registry.policy.comparison)
    judges = [registry.model(judge.model) for each in annotators for judge in each.deployments]
    for deployment, model_args in _models(entry, registry, selection, where):
        own = _for_model(entry, deployment, registry)
        model = registry.model(deployment.model)
        adapter_spec = suited_to(_adapter_spec(card, own, selection, where), model.tags)
        how = reading_of(card, adapter_spec, entry.args, compat=selection.compat)
        yield ResolvedRun(
            name=run_name(scenario.card, entry, model_args),
            card=replace(card, answer_extraction=how.answer_extraction),
            adapter_spec=how.adapter_spec,
            deployment=deployment,
            metrics=with_unreadable(metrics, how.answer_extraction),
            annotators=annotators,
            groups=tuple(dict.fromkeys(groups)),
            where=entry.where,
            is_primary=primary is not None if selection.primary_endpoints else None,
            margin=primary.margin if primary else None,
            is_listed=selection.is_listed(entry.where),
            part_of=(whole := whole_of(scenario.card, entry)),
            critical=card.critical,
            is_disjoint=card.parts.disjoint if whole else None,
            is_reading_default=scenario.is_reading_default
            and how.answer_extraction.method is scenario.card.answer_extraction.method
            and KEY not in entry.args,
            medhelm=how.medhelm,
            declared=declared_of(card, model, judges) or None,
        )


def _endpoint_of(
    card: ScenarioCard, endpoints: Sequence[PrimaryEndpoint]
) -> PrimaryEndpoint | None:
    """The endpoint that the suite declares for the card's scenario."""
    return next((each for each in endpoints if each.scenario == card.name), None)


def _for_model(entry: RunEntry, deployment: Deployment, registry: Registry) -> RunEntry:
    """The entry with what it asks of instruction-following models only decided for this one."""
    if entry.args.get(FOLLOW_FORMAT_KEY) != IF_INSTRUCTED:
        return entry
    model = registry.models.get(deployment.model)
    args = {**entry.args, FOLLOW_FORMAT_KEY: "all"}
    if model is None or INSTRUCTED_TAG not in model.tags:
        del args[FOLLOW_FORMAT_KEY]
    return replace(entry, args=args)


def _adapter_spec(
    card: ScenarioCard, entry: RunEntry, selection: Selection, where: str
) -> AdapterSpec:
    """The card's adapter, then the command line's values, then the entry's own."""
    spec = with_max_eval_instances(card.adapter_spec, card.sampling)
    flags = {
        "max_eval_instances": selection.max_eval_instances,
        "num_train_trials": selection.num_train_trials,
        "num_trials": selection.num_trials,
    }
    for key, flag in flags.items():
        if flag is not None:
            spec = apply_expander(spec, key, flag, f"--{key.replace('_', '-')}")
    for key, value in entry.args.items():
        if key in EXPANDERS:
            spec = apply_expander(spec, key, value, where)
    return spec if spec.max_train_instances else replace(spec, num_train_trials=1)


def _models(
    entry: RunEntry, registry: Registry, selection: Selection, where: str
) -> Iterator[tuple[Deployment, dict[str, str]]]:
    """The deployments an entry runs on, each with the model keys of the run name."""
    requested = selection.models_to_run
    named = {key: str(entry.args[key]) for key in MODEL_KEYS if key in entry.args}
    if named:
        deployment = _resolve(registry, named.get(MODEL), named.get(DEPLOYMENT), where)
        if not requested or {deployment.name, deployment.model} & set(requested):
            yield deployment, {MODEL: deployment.model, **named}
        return
    if not requested:
        raise ConfigError(f"{where} names no model; add model=NAME to it, or give --models-to-run.")
    for name in requested:
        deployment = _resolve(registry, name, None, "--models-to-run")
        is_default = registry.resolve_model(deployment.model) == deployment
        keys = {} if is_default else {DEPLOYMENT: deployment.name}
        yield deployment, {MODEL: deployment.model, **keys}


def _resolve(
    registry: Registry, model: str | None, model_deployment: str | None, where: str
) -> Deployment:
    try:
        return registry.resolve_model(model, model_deployment)
    except UnknownNameError as error:
        raise ConfigError(f"{where}: {error} Without a file: {FORMS}.") from None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def _annotators(
    scenario: Benchmark, entry: RunEntry, registry: Registry, folders: Sequence[Path]
) -> tuple[ResolvedAnnotator, ...]:
    specs = scenario.card.annotators
    own_jury = scenario.jury
    if JURY_CONFIG in entry.args:
        # Last what ships: juries/three.yaml.
        search_path, where = [*folders, conf_path()], f"{entry.where}: {JURY_CONFIG}"
        own_jury = load_jury(find_in(str(entry.args[JURY_CONFIG]), search_path, where))
    return tuple(_annotator(spec, scenario.rubric, own_jury, registry) for spec in specs)


def _annotator(
    spec: AnnotatorSpec, own_rubric: Rubric | None, own_jury: Jury | None, registry: Registry
) -> ResolvedAnnotator:
    where = f"annotator {spec.name!r}"
    rubric = own_rubric or registry.rubrics.get(spec.rubric)
    jury = own_jury or registry.juries.get(spec.jury)
    if rubric is None:
        raise UnknownNameError("rubric", spec.rubric, registry.rubrics, where=where)
    if jury is None:
        raise UnknownNameError("jury", spec.jury, registry.juries, where=where)
    judges = tuple(
        _resolve(registry, judge.model, judge.model_deployment, f"jury {jury.name!r}")
        for judge in jury.judges
    )
    spec = replace(spec, jury=jury.name)
    return ResolvedAnnotator(spec=spec, rubric=rubric, jury=jury, deployments=judges)
