"""Imported scenarios: the card of one that MedHELM exported, and how run entries find it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from medhelm_spark.config.benchmark import Benchmark
from medhelm_spark.config.loader import validate
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.imported import (
    EXPORT_FIELDS,
    EXPORT_FORMAT,
    EXPORT_SHAPE,
    ImportedScenario,
)
from medhelm_spark.domain.names import is_name
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.run import STRICT, AdapterSpec, AnnotatorSpec, MetricSpec, RunEntry
from medhelm_spark.domain.sampling import EVERY_INSTANCE
from medhelm_spark.domain.scenario import Parts, ScenarioCard, Verified
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import AbsentDataError, ConfigError, UnknownNameError
from medhelm_spark.medhelm.export_file import (
    PACKAGE,
    VERSION,
    Export,
    adapter_of,
    rubric_of,
)
from medhelm_spark.medhelm.metric_names import translated
from medhelm_spark.medhelm.scenario_args import CONFIG_PATH, DATA_PATH, UNNAMED
from medhelm_spark.policy.levels import stated_level

SUFFIX = "@medhelm-0.8"
NO_NAME = frozenset(":,= ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """An export as a scenario of ours: what run entries call it, its card, what is not computed.

    `is_known`: we have a card of the same scenario.

    `card` reads the export's file; its name is `name` with the arguments.
    """

    name: str
    args: Mapping[str, str]
    card: ScenarioCard
    is_known: bool = False
    left_out: tuple[str, ...] = ()


def import_of(
    export: Export,
    path: str,
    cards: Mapping[str, ScenarioCard],
    *,
    name: str | None = None,
) -> Import:
    """What an export is here.

    Metrics, jury, main metric and place in the taxonomy are those of our card of the same
    scenario; where there is none, MedHELM's metric classes are translated and the scenario counts
    as private.

    Raises:
        ConfigError: It is asked in a way that is not supported, has no metric, or the name is bad.
    """
    base, known = _base_name(export, name), _known(export, cards)
    args = {key: value for key, value in sorted(export.args.items()) if key not in UNNAMED}
    ordered = ",".join(f"{key}={value}" for key, value in args.items())
    card, left_out = _scored(known or _unknown(export), export, base, is_known=bool(known))
    card = replace(
        card,
        name=f"{base}:{ordered}" if ordered else base,
        display_name=f"{card.display_name} (MedHELM {VERSION})",
        source=_source(export, path),
        shape=EXPORT_SHAPE,
        fields=EXPORT_FIELDS,
        options=_options(known),
        adapter_spec=adapter_of(export),
        groups=(base,),
        answer_extraction=STRICT,
        sampling=EVERY_INSTANCE,
        verified=Verified.NEVER,
        **_NOTHING,
    )
    return Import(name=base, args=args, card=card, is_known=bool(known), left_out=left_out)


def imported_level(
    made: Import, stated: AccessLevel | None, policy: Policy, *, is_own: bool
) -> AccessLevel:
    """The level of an import: as stated, else its card's.

    A scenario without a card here has no known level, and a person may state one.

    Raises:
        PolicyError: it has to be stated, or what is stated is below our card's.
    """
    if stated and not made.is_known:
        return stated
    level = made.card.access_level
    return stated_level(level, stated, name=made.card.name, is_own=is_own, policy=policy)


def names_a_path(key: str) -> bool:
    """Whether an argument of MedHELM's names a file or folder of a person's own."""
    return key == DATA_PATH or key.endswith("path")


def _stem(export: Export) -> str:
    return export.run_spec.name.partition(":")[0].partition(",")[0]


def _known(export: Export, cards: Mapping[str, ScenarioCard]) -> ScenarioCard | None:
    """Our card of the same scenario; a user's own benchmark has none, whatever it is called."""
    names = () if CONFIG_PATH in export.args else (export.name, _stem(export))
    return next((cards[name] for name in names if name in cards), None)


def _source(export: Export, path: str) -> DataSource:
    return DataSource(
        format=EXPORT_FORMAT,
        files=(SourceFile(path=path, split=None),),
        origin=f"{PACKAGE} {VERSION}: {export.run_spec.scenario_spec.class_name}",
    )


_NOTHING: Mapping[str, Any] = {
    "args": (),
    "choices": {},
    "parts": Parts(),
    "keep": {},
    "drop": {},
    "variants": (),
    "prompt_variants": (),
    "size": None,
}
"""Fields of a card that shape data or prompts in a way that is not the export's."""


def _base_name(export: Export, name: str | None) -> str:
    """What run entries call it: MedHELM's name of the entry, or of the user's own benchmark."""
    base = name or (export.run_spec.name if CONFIG_PATH in export.args else export.name)
    if not base or not is_name(base) or NO_NAME & set(base):
        raise ConfigError(
            f"an imported scenario cannot be called {base!r}: a run entry must be able to name it; "
            "give --name without colon, comma, equals sign and space."
        )
    return base if base.endswith(SUFFIX) else base + SUFFIX


def _unknown(export: Export) -> ScenarioCard:
    """The card of a scenario without a card here, from MedHELM's metadata."""
    metadata, stem = export.metadata or {}, _stem(export)
    return ScenarioCard(
        name=stem,
        display_name=str(metadata.get("display_name") or stem),
        description=str(metadata.get("description") or ""),
        access_level=AccessLevel.PRIVATE,
        source=DataSource(),
        shape=EXPORT_SHAPE,
        adapter_spec=AdapterSpec(),
        metrics=(),
        main_metric=str(metadata.get("main_metric") or ""),
        main_split=Split.VALID if metadata.get("main_split") == Split.VALID else Split.TEST,
    )


def _scored(
    card: ScenarioCard, export: Export, base: str, *, is_known: bool
) -> tuple[ScenarioCard, tuple[str, ...]]:
    """The card with metrics and jury, and the names of the metrics that are not computed here."""
    run_spec = export.run_spec
    pattern = run_spec.adapter_spec.get("output_mapping_pattern")
    has_rubric = rubric_of(export, base) is not None
    if is_known:
        metrics = tuple(_with_pattern(metric, pattern) for metric in card.metrics)
        annotators = tuple(
            replace(spec, rubric=base) if has_rubric else spec for spec in card.annotators
        )
        return replace(card, metrics=metrics, annotators=annotators), ()
    translation = translated(run_spec.metric_specs, annotator=base, pattern=pattern)
    left_out, metrics = translation.left_out, translation.metrics
    if not has_rubric:
        left_out += tuple(metric.name for metric in metrics if "annotator" in metric.args)
        metrics = tuple(metric for metric in metrics if "annotator" not in metric.args)
    if not metrics:
        raise ConfigError(
            f"MedHELM's scenario {export.name!r} has no metric that is computed here (it has "
            f"{', '.join(left_out) or 'none'})."
        )
    main = card.main_metric or metrics[0].args.get("stat_name", metrics[0].name)
    annotators = (AnnotatorSpec(name=base, rubric=base),) if has_rubric else ()
    return replace(card, metrics=metrics, main_metric=main, annotators=annotators), left_out


def _with_pattern(metric: MetricSpec, pattern: str | None) -> MetricSpec:
    if metric.name != "exact_match" or not pattern:
        return metric
    return replace(metric, args={**metric.args, "output_mapping_pattern": pattern})


def _options(known: ScenarioCard | None) -> dict[str, str]:
    """Of a scenario whose instances bring a rubric: which field of its items has the text."""
    if known is None or "rubric" not in known.fields:
        return {}
    return {"criterion": known.options.get("criterion", "criterion")}


def stored_card(made: Import, data_version: str) -> str:
    """The card as the lake keeps it: by the name that entries use, its data the lake's own."""
    source = replace(made.card.source, files=(), data_version=data_version)
    card = replace(made.card, name=made.name, args=tuple(made.args), source=source)
    return canonical_json(card)


def is_imported(name: str) -> bool:
    """Whether a run entry's scenario is an imported one."""
    return name.endswith(SUFFIX)


def card_of(imported: ImportedScenario) -> ScenarioCard:
    """The card that the lake keeps of an imported scenario."""
    return validate(json.loads(imported.card), ScenarioCard, _where(imported))


def export_of(imported: ImportedScenario) -> Export:
    """The header of the file that it was imported from."""
    return validate(json.loads(imported.header), Export, _where(imported))


def _where(imported: ImportedScenario) -> str:
    return f"imported scenario {imported.scenario_name!r}"


def find_imported(entry: RunEntry, imported: Iterable[ImportedScenario], where: str) -> Benchmark:
    """The imported scenario that an entry names by its name and arguments.

    Raises:
        AbsentDataError: Nothing of that name, or nothing with these values, was imported.
        ConfigError: The entry lacks an argument that all imports of that name have.
    """
    scenarios = list(imported)
    same_name = [scenario for scenario in scenarios if scenario.name == entry.name]
    if not same_name:
        names = {scenario.name for scenario in scenarios}
        kind = "scenario imported by import-scenario"
        raise AbsentDataError(str(UnknownNameError(kind, entry.name, names, where=where)))
    keys = {key for scenario in same_name for key in scenario.args}
    args = {key: str(value) for key, value in entry.args.items() if key in keys}
    for scenario in same_name:
        if dict(scenario.args) == args:
            rubric = rubric_of(export_of(scenario), scenario.name)
            return Benchmark(card=card_of(scenario), rubric=rubric)
    present = sorted(scenario.scenario_name for scenario in same_name)
    refused = AbsentDataError if args.keys() == keys else ConfigError
    raise refused(
        f"{where}: the lake has {', '.join(present)}; give one of them with its arguments, or "
        "import it with these."
    )
