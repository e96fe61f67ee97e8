"""MedHELM's configurable benchmark: a YAML file, a prompt template and its data make a scenario.

Mistakes that these files and
the header of a csv show are refused here, before a model is loaded; the columns of tables and of
other files where they are read (`user_data.own_columns`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from medhelm_spark.config.benchmark_data import (
    DELIMITERS,
    check_own_files,
    check_reading,
    data_source,
    find_file,
)
from medhelm_spark.config.benchmark_file import ID_COLUMN, BenchmarkFile, MetricEntry
from medhelm_spark.config.cards import check_category, expand_short_forms, load_taxonomy
from medhelm_spark.config.critical import check_critical
from medhelm_spark.config.dataset import KNOWN_COLUMNS, csv_references, template_columns
from medhelm_spark.config.extraction import check_extraction, method_for, method_for_all
from medhelm_spark.config.groups import check_groups
from medhelm_spark.config.juries import DEFAULT_JURY, JURY_SCORE, build_jury
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import Scale, load_judge_prompt
from medhelm_spark.config.sampling import check_sampling
from medhelm_spark.config.yaml_text import read_text
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.data_uri import is_uri, table_of
from medhelm_spark.domain.deployment import Judge, Jury
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    AnnotatorSpec,
    AnswerExtraction,
    MetricSpec,
    PromptVariant,
)
from medhelm_spark.domain.scenario import OPTIONAL, REFERENCE, ScenarioCard, Verified
from medhelm_spark.errors import ConfigError, UnknownNameError

NAME = re.compile(r"[\w.-][\w. -]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A benchmark's card, with the rubric and jury it brings along where it has a jury score.

    `is_reading_default`: the file does not set how answers are read; the references decide.
    """

    card: ScenarioCard
    rubric: Rubric | None = None
    jury: Jury | None = None
    is_reading_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricUse:
    """What a benchmark's metrics take, by the caller, who has the metrics.

    `main_metric` is the stat that the first one is read by. `comparing` names the first that needs
    a right answer, None where none does. `takes_options`: an option that is read out of an answer
    is as good to them as the answer, for none is about its wording. `labels` are all answers that
    the benchmark has, where one of them declares that.
    """

    main_metric: str
    comparing: str | None
    takes_options: bool
    labels: tuple[str, ...] = ()


UseOf = Callable[[Sequence[MetricSpec], str], MetricUse]
"""From metrics, and where they are, to what they take; ConfigError for one that cannot be."""


def read_benchmark(path: Path, use_of: UseOf) -> Benchmark:
    """Reads a benchmark and checks its template, its csv header, its metrics and its rubric.

    Names of perturbations are left to the caller.

    Raises:
        ConfigError: Naming the file and the key, column or criterion that is wrong.
    """
    file = load_yaml(path, BenchmarkFile, expand_short_forms)
    _check(file, path)
    check_own_files(file, path)
    use = use_of(_metrics(file), f"{path}: metrics")
    prompt = find_file(file.prompt_file, path, "prompt_file")
    template = read_text(prompt)
    variants = _variants(file, path)
    columns = dict.fromkeys(template_columns(template, str(prompt)))
    for variant in variants.values():
        columns |= dict.fromkeys(template_columns(variant, str(path)))
    _check_columns(file, tuple(columns), path)
    source = data_source(file, path, tuple(columns), use.comparing)
    jury_entry = _jury_entry(file)
    reading = file.answer_extraction or _default_reading(source, use)
    return Benchmark(
        card=_with_variants(_card(file, template, source, use, reading), variants),
        rubric=_rubric(file.name, jury_entry, path)
        if jury_entry and jury_entry.rubric is None
        else None,
        jury=_jury(file.name, jury_entry, path) if jury_entry and jury_entry.judges else None,
        is_reading_default=file.answer_extraction is None and reading != STRICT,
    )


def _default_reading(source: DataSource, use: MetricUse) -> AnswerExtraction:
    """How answers are read where the file does not set it: by its metrics' labels, or references.

    Strictly if in doubt. Only a csv or tsv of this machine is looked into before Spark starts.
    """
    if use.comparing is None or not use.takes_options:
        return STRICT
    if use.labels:
        return AnswerExtraction(method=method_for_all(use.labels))
    delimiter = DELIMITERS.get(source.format) if source.files else None
    paths = [file.path for file in source.files]
    if delimiter is None or any(is_uri(path) or path.lower().endswith(".gz") for path in paths):
        return STRICT
    read = (csv_references(Path(path), delimiter, source.columns, source=source) for path in paths)
    return AnswerExtraction(method=method_for(chain.from_iterable(read)))


def _variants(file: BenchmarkFile, path: Path) -> dict[str, str]:
    """The templates of prompt variants by name."""
    return {
        entry.name: read_text(find_file(entry.prompt_file, path, f"prompt_file of {entry.name!r}"))
        for entry in file.prompt_variants
    }


def _with_variants(card: ScenarioCard, templates: Mapping[str, str]) -> ScenarioCard:
    """The card with the templates where its parser finds them."""
    variants = tuple(PromptVariant(name=name) for name in templates)
    options = {variant.perturbation: templates[variant.name] for variant in variants}
    return replace(card, prompt_variants=variants, options={**card.options, **options})


def _check(file: BenchmarkFile, path: Path) -> None:
    if not NAME.fullmatch(file.name):
        raise ConfigError(f"{path}: name is {file.name!r}; allowed: letters, digits, _ - . space.")
    _check_data(file, path)
    names = [entry.name for entry in file.prompt_variants]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{path}: prompt_variants has {twice[0]!r} twice; give each its name.")
    check_sampling(file.sampling, str(path))
    check_groups(file.groups, file.bands, str(path))
    check_critical(file.critical, str(path))
    if file.category or file.subcategory:
        taxonomy = load_taxonomy(conf_path("taxonomy.yaml"))
        check_category(file.category, file.subcategory, taxonomy, str(path))
    check_extraction(
        file.answer_extraction or STRICT,
        [MetricSpec(name=entry.name, args=entry.args) for entry in file.metrics],
        str(path),
    )
    if not file.metrics:
        raise ConfigError(
            f"{path}: metrics is empty; allowed: a list of metrics (docs/metrics.md)."
        )
    names = [entry.name for entry in file.metrics]
    for entry in file.metrics:
        if names.count(entry.name) > 1:
            raise ConfigError(f"{path}: metric {entry.name!r} is listed twice.")
        if entry.name != JURY_SCORE and (entry.prompt_file or entry.rubric or entry.judges):
            raise ConfigError(
                f"{path}: metric {entry.name!r} asks no judge; prompt_file, rubric and judges "
                f"belong to {JURY_SCORE}."
            )
        _check_rubric(entry, path)


def _check_rubric(entry: MetricEntry, path: Path) -> None:
    """Refuse a rubric by its name together with the keys of such a rubric."""
    if entry.rubric is None:
        return
    usual = MetricEntry(name=entry.name)
    for key in ("prompt_file", "minimum", "maximum", "whole", "max_tokens"):
        if getattr(entry, key) != getattr(usual, key):
            raise ConfigError(
                f"{path}: metric {entry.name!r} has rubric {entry.rubric!r} and {key}; the rubric "
                f"has it: leave {key} out, or rubric."
            )


def _check_data(file: BenchmarkFile, path: Path) -> None:
    """Refuse numbers below the least, and keys about the data that contradict each other."""
    for key, least in (("max_tokens", 1), ("max_train_instances", 0)):
        if (number := getattr(file, key)) < least:
            raise ConfigError(f"{path}: {key} is {number}; allowed: {least} or more.")
    if file.train_file and (file.split_column or table_of(file.dataset_file) is not None):
        raise ConfigError(
            f"{path}: train_file is for a dataset_file without split_column; the rows of a table "
            "that are examples are named by split_column."
        )
    check_reading(file.separator, file.encoding, str(path))


def _check_columns(file: BenchmarkFile, columns: tuple[str, ...], path: Path) -> None:
    """Refuse names in `columns` that nothing asks for: they may be the data's own, put first."""
    named = [*filter(None, _named_columns(file)), *file.extra_columns, *file.group_columns]
    known = dict.fromkeys((*columns, *KNOWN_COLUMNS, *named))
    for name, own in file.columns.items():
        if name not in known:
            raise UnknownNameError("column", name, known, where=f"{path}: columns")
        if not own.strip():
            raise ConfigError(f"{path}: columns.{name} is empty; allowed: a column of the data.")


def _named_columns(file: BenchmarkFile) -> tuple[str | None, ...]:
    return (file.id_column, file.cluster_column, file.split_column)


def _card(
    file: BenchmarkFile,
    template: str,
    source: DataSource,
    use: MetricUse,
    reading: AnswerExtraction,
) -> ScenarioCard:
    jury = _jury_entry(file)
    jury_name = file.name if jury and jury.judges else DEFAULT_JURY
    rubric = jury.rubric if jury and jury.rubric else file.name
    annotator = AnnotatorSpec(name=file.name, rubric=rubric, jury=jury_name)
    # An id that has another name in the data is meant to be there.
    id_name = file.id_column or (ID_COLUMN if ID_COLUMN in file.columns else None)
    options = {"id_column": id_name} if id_name else {}
    if use.comparing is None and any(entry.name != JURY_SCORE for entry in file.metrics):
        options[REFERENCE] = OPTIONAL
    return ScenarioCard(
        name=file.name,
        display_name=file.name,
        description=file.description,
        access_level=file.access_level,
        source=source,
        shape="tabular",
        fields=_fields(file),
        options={"template": template, **options},
        adapter_spec=_adapter_spec(file),
        metrics=_metrics(file),
        main_metric=use.main_metric,
        annotators=(annotator,) if jury else (),
        answer_extraction=reading,
        sampling=file.sampling,
        subgroups=file.groups,
        bands=file.bands,
        critical=file.critical,
        perturbations=file.perturbations,
        category=file.category,
        subcategory=file.subcategory,
        licence=file.licence,
        data_holder=file.data_holder,
        contamination=file.contamination,
        groups=(file.name,),
        verified=Verified.NEVER,
    )


def _fields(file: BenchmarkFile) -> dict[str, str]:
    """The roles of columns that are no part of the prompt."""
    named = {"cluster": file.cluster_column, "split": file.split_column}
    roles = {role: column for role, column in named.items() if column}
    return roles | {f"extra.{column}": column for column in file.extra_columns}


def _adapter_spec(file: BenchmarkFile) -> AdapterSpec:
    """MedHELM's: the filled template as it is, with one newline after it and no labels."""
    return AdapterSpec(
        input_prefix="",
        output_prefix="",
        max_tokens=file.max_tokens,
        max_train_instances=file.max_train_instances,
    )


def _metrics(file: BenchmarkFile) -> tuple[MetricSpec, ...]:
    return tuple(_metric(entry, file.name) for entry in file.metrics)


def _jury_entry(file: BenchmarkFile) -> MetricEntry | None:
    return next((entry for entry in file.metrics if entry.name == JURY_SCORE), None)


def _metric(entry: MetricEntry, annotator: str) -> MetricSpec:
    if entry.name != JURY_SCORE:
        return MetricSpec(name=entry.name, args=entry.args)
    # A rubric by its name may be of another scale, or of classes: an empty answer is unscored.
    lowest = {} if entry.rubric else {"default_score": f"{entry.minimum:g}"}
    defaults = {"annotator": annotator, **lowest}
    return MetricSpec(name=entry.name, args={**defaults, **entry.args})


def _rubric(name: str, entry: MetricEntry, path: Path) -> Rubric:
    if not entry.prompt_file:
        raise ConfigError(
            f"{path}: metric {JURY_SCORE} needs prompt_file, the judge's prompt, or rubric, the "
            "name of a file in rubrics/."
        )
    prompt = find_file(entry.prompt_file, path, f"prompt_file of {JURY_SCORE}")
    scale = Scale(minimum=entry.minimum, maximum=entry.maximum, whole=entry.whole)
    return load_judge_prompt(prompt, name, scale, entry.max_tokens)


def _jury(name: str, entry: MetricEntry, path: Path) -> Jury:
    judges = tuple(
        Judge(name=judge.name, model=judge.model_name, model_deployment=judge.name)
        for judge in entry.judges
    )
    return build_jury(name, judges, where=f"{path}: metric {JURY_SCORE}")
