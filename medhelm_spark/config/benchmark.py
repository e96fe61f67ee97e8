"""MedHELM's configurable benchmark: a YAML file, a prompt template and a csv make a scenario.

Keys are MedHELM's (facts section 13), with `access_level` (private unless stated: a file of a
user's own may hold patients), `id_column`, `answer_extraction`, `sampling`, `prompt_variants`,
`perturbations`, `category` and `subcategory`. Paths are looked for beside the YAML, then in the
working directory. All mistakes that the files show are refused here, before a model is loaded.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from medhelm_spark.config.cards import check_category, expand_short_forms, load_taxonomy
from medhelm_spark.config.dataset import (
    ANSWER_COLUMN,
    csv_columns,
    csv_references,
    require_columns,
    template_columns,
)
from medhelm_spark.config.extraction import check_extraction, method_for
from medhelm_spark.config.juries import DEFAULT_JURY, JURY_SCORE, build_jury
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import MAX_TOKENS, Scale, load_judge_prompt
from medhelm_spark.config.sampling import check_sampling
from medhelm_spark.config.yaml_text import read_text
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Judge, Jury
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    AnnotatorSpec,
    AnswerExtraction,
    MetricSpec,
    PromptVariant,
)
from medhelm_spark.domain.sampling import EVERY_INSTANCE, Sampling
from medhelm_spark.domain.scenario import (
    OPTIONAL,
    REFERENCE,
    DataSource,
    ScenarioCard,
    SourceFile,
    Split,
    Verified,
)
from medhelm_spark.errors import ConfigError

NAME = re.compile(r"[\w.-][\w. -]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeEntry:
    name: str
    model_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _MetricEntry:
    name: str
    prompt_file: str | None = None
    judges: tuple[_JudgeEntry, ...] = ()
    minimum: float = Scale().minimum
    maximum: float = Scale().maximum
    whole: bool = Scale().whole
    max_tokens: int = MAX_TOKENS
    args: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _VariantEntry:
    name: str
    prompt_file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _BenchmarkFile:
    name: str
    description: str
    prompt_file: str
    dataset_file: str
    metrics: tuple[_MetricEntry, ...]
    max_tokens: int = 1024
    access_level: AccessLevel = AccessLevel.PRIVATE
    id_column: str | None = None
    answer_extraction: AnswerExtraction | None = None
    prompt_variants: tuple[_VariantEntry, ...] = ()
    perturbations: tuple[str, ...] = ()
    category: str = ""
    subcategory: str = ""
    sampling: Sampling = EVERY_INSTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A benchmark's card, with the rubric and jury it brings along where it has a jury score.

    `is_reading_default`: nobody said how answers are read; it follows from the references.
    """

    card: ScenarioCard
    rubric: Rubric | None = None
    jury: Jury | None = None
    is_reading_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricUse:
    """What a benchmark's metrics take: told by whoever knows metrics.

    `main_metric` is the stat that the first one is read by. `comparing` names the first that needs
    a right answer, None where none does. `takes_options`: an option that is read out of an answer
    is as good to them as the answer, for none is about its wording.
    """

    main_metric: str
    comparing: str | None
    takes_options: bool


UseOf = Callable[[Sequence[MetricSpec], str], MetricUse]
"""From metrics, and where they stand, to what they take; ConfigError for one that cannot be."""


def read_benchmark(path: Path, use_of: UseOf) -> Benchmark:
    """Reads a benchmark and checks its template, its csv header, its metrics and its rubric.

    Names of perturbations are left to whoever knows them.

    Raises:
        ConfigError: Naming the file and the key, column or criterion that is wrong.
    """
    file = load_yaml(path, _BenchmarkFile, expand_short_forms)
    _check(file, path)
    _check_own_files(file, path)
    use = use_of(_metrics(file), f"{path}: metrics")
    prompt = find_file(file.prompt_file, path, "prompt_file")
    template = read_text(prompt)
    variants = _variants(file, path)
    columns = dict.fromkeys(template_columns(template, str(prompt)))
    for variant in variants.values():
        columns |= dict.fromkeys(template_columns(variant, str(path)))
    dataset = _dataset(file, path, tuple(columns), use.comparing)
    jury_entry = _jury_entry(file)
    reading = file.answer_extraction or _default_reading(dataset, use)
    return Benchmark(
        card=_with_variants(_card(file, template, dataset, use, reading), variants),
        rubric=_rubric(file.name, jury_entry, path) if jury_entry else None,
        jury=_jury(file.name, jury_entry, path) if jury_entry and jury_entry.judges else None,
        is_reading_default=file.answer_extraction is None and reading != STRICT,
    )


def _default_reading(dataset: str, use: MetricUse) -> AnswerExtraction:
    """How answers are read where the file does not say: by its references, strictly if in doubt.

    An object store is not looked into before Spark starts.
    """
    if use.comparing is None or not use.takes_options or "://" in dataset:
        return STRICT
    return AnswerExtraction(method=method_for(csv_references(Path(dataset))))


def _variants(file: _BenchmarkFile, path: Path) -> dict[str, str]:
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


def find_file(name: str, owner: Path, key: str) -> Path:
    """The file that `key` of the file `owner` names: beside it, else in the working directory."""
    for folder in (owner.parent, Path()):
        path = folder / Path(name).expanduser()
        if path.is_file():
            return path.resolve()
    places = f"looked in {owner.parent} and the working directory"
    raise ConfigError(f"{owner}: {key} is {name!r}, and there is no such file ({places}).")


def _check(file: _BenchmarkFile, path: Path) -> None:
    if not NAME.fullmatch(file.name):
        raise ConfigError(f"{path}: name is {file.name!r}; allowed: letters, digits, _ - . space.")
    if file.max_tokens < 1:
        raise ConfigError(f"{path}: max_tokens is {file.max_tokens}; allowed: 1 or more.")
    check_sampling(file.sampling, str(path))
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
        if entry.name != JURY_SCORE and (entry.prompt_file or entry.judges):
            raise ConfigError(
                f"{path}: metric {entry.name!r} asks no judge; prompt_file and judges belong "
                f"to {JURY_SCORE}."
            )


def _check_own_files(file: _BenchmarkFile, path: Path) -> None:
    """Refuse a stated level for files that lie elsewhere, where a link leads too.

    Somebody else's benchmark could call any file of this machine public, and send it out.
    """
    if file.access_level is AccessLevel.PRIVATE:
        return
    named = {
        "prompt_file": [file.prompt_file, *(each.prompt_file for each in file.prompt_variants)]
    }
    named["dataset_file"] = [] if "://" in file.dataset_file else [file.dataset_file]
    named[f"prompt_file of {JURY_SCORE}"] = [e.prompt_file for e in file.metrics if e.prompt_file]
    own = (path.parent.resolve(), Path().resolve())
    for key, names in named.items():
        for name in names:
            if not any(find_file(name, path, key).is_relative_to(folder) for folder in own):
                raise ConfigError(
                    f"{path}: {key} is {name!r}, which leads out of its folder and the working "
                    f"directory, and access_level is {file.access_level.value!r}; put the file "
                    "beside it, or leave the level private."
                )


def _dataset(
    file: _BenchmarkFile, path: Path, columns: tuple[str, ...], comparing: str | None
) -> str:
    """The path of the csv. A file in an object store is checked when it is ingested."""
    if "://" in file.dataset_file:
        if file.dataset_file.lower().startswith("file:"):
            raise ConfigError(
                f"{path}: dataset_file is {file.dataset_file!r}; write a local file as a path."
            )
        return file.dataset_file
    dataset = find_file(file.dataset_file, path, "dataset_file")
    present = csv_columns(dataset)
    require_columns(present, columns, dataset, f"the template {file.prompt_file}")
    if file.id_column:
        require_columns(present, [file.id_column], dataset, "id_column")
    if comparing:
        require_columns(present, [ANSWER_COLUMN], dataset, f"metric {comparing}")
    return str(dataset)


def _card(
    file: _BenchmarkFile, template: str, dataset: str, use: MetricUse, reading: AnswerExtraction
) -> ScenarioCard:
    jury = _jury_entry(file)
    jury_name = file.name if jury and jury.judges else DEFAULT_JURY
    annotator = AnnotatorSpec(name=file.name, rubric=file.name, jury=jury_name)
    options = {"id_column": file.id_column} if file.id_column else {}
    if use.comparing is None and any(entry.name != JURY_SCORE for entry in file.metrics):
        options[REFERENCE] = OPTIONAL
    return ScenarioCard(
        name=file.name,
        display_name=file.name,
        description=file.description,
        access_level=file.access_level,
        source=DataSource(format="csv", files=(SourceFile(path=dataset, split=Split.TEST),)),
        shape="tabular",
        options={"template": template, **options},
        adapter_spec=_adapter_spec(file.max_tokens),
        metrics=_metrics(file),
        main_metric=use.main_metric,
        annotators=(annotator,) if jury else (),
        answer_extraction=reading,
        sampling=file.sampling,
        perturbations=file.perturbations,
        category=file.category,
        subcategory=file.subcategory,
        groups=(file.name,),
        verified=Verified.NEVER,
    )


def _adapter_spec(max_tokens: int) -> AdapterSpec:
    """MedHELM's: the filled template as it is, with one newline after it and no labels."""
    return AdapterSpec(input_prefix="", output_prefix="", max_tokens=max_tokens)


def _metrics(file: _BenchmarkFile) -> tuple[MetricSpec, ...]:
    return tuple(_metric(entry, file.name) for entry in file.metrics)


def _jury_entry(file: _BenchmarkFile) -> _MetricEntry | None:
    return next((entry for entry in file.metrics if entry.name == JURY_SCORE), None)


def _metric(entry: _MetricEntry, annotator: str) -> MetricSpec:
    if entry.name != JURY_SCORE:
        return MetricSpec(name=entry.name, args=entry.args)
    defaults = {"annotator": annotator, "default_score": f"{entry.minimum:g}"}
    return MetricSpec(name=entry.name, args={**defaults, **entry.args})


def _rubric(name: str, entry: _MetricEntry, path: Path) -> Rubric:
    if not entry.prompt_file:
        raise ConfigError(f"{path}: metric {JURY_SCORE} needs prompt_file, the judge's prompt.")
    prompt = find_file(entry.prompt_file, path, f"prompt_file of {JURY_SCORE}")
    scale = Scale(minimum=entry.minimum, maximum=entry.maximum, whole=entry.whole)
    return load_judge_prompt(prompt, name, scale, entry.max_tokens)


def _jury(name: str, entry: _MetricEntry, path: Path) -> Jury:
    judges = tuple(
        Judge(name=judge.name, model=judge.model_name, model_deployment=judge.name)
        for judge in entry.judges
    )
    return build_jury(name, judges, where=f"{path}: metric {JURY_SCORE}")
