"""The scenario that an entry names, and what the entry's own arguments make of its card."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path, PurePosixPath

from medhelm_spark.config.benchmark import Benchmark
from medhelm_spark.config.cards import UNSUPPORTED_SCENARIOS
from medhelm_spark.config.extraction import (
    KEY as ANSWER_EXTRACTION,
    check_extraction,
    extraction_named,
)
from medhelm_spark.config.sampling import KEY as SAMPLING
from medhelm_spark.domain.binding import FIELD, bind
from medhelm_spark.domain.data_source import inside
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.medhelm.expanders import ADAPTER_ARGS, EXPANDERS, UNSUPPORTED, with_adapter_arg
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.medhelm.run_entries import DEPLOYMENT, MODEL

CONFIGURABLE = "medhelm_configurable_benchmark"
CONFIG_PATH, DATA_PATH, JURY_CONFIG = "config_path", "data_path", "jury_config_path"
BENCHMARK_FILE = "benchmark.yaml"
"""What `init` calls the file that config_path names."""
UNNAMED = (CONFIG_PATH, DATA_PATH, JURY_CONFIG)
"""Arguments that name files: HELM leaves them out of the run name."""
UNNAMED_DEFAULTS = ("max_length",)
"""Arguments that HELM never names: named here where they are no default, for the data differs."""

OWN_KEYS = (ANSWER_EXTRACTION, SAMPLING)
"""Keys of run entries that are no argument of HELM's."""

ALIASES = {"medhelm_med_qa": "med_qa", "medhelm_med_mcqa": "med_mcqa"}
"""Run entries that MedHELM calls otherwise than the scenarios that they run."""

REFUSED = {
    **{scenario.name: scenario.reason for scenario in UNSUPPORTED_SCENARIOS},
    "dspy": "DSPy's optimised prompts are fetched as programs, which this project does not run",
}


def find_scenario(
    entry: RunEntry, cards: Mapping[str, ScenarioCard], folders: Sequence[Path], where: str
) -> Benchmark:
    """The card that an entry names, or the user's own benchmark that its config_path names.

    Raises:
        ConfigError: If there is no such scenario, or this project refuses it.
    """
    models = (str(entry.args[key]) for key in (MODEL, DEPLOYMENT) if key in entry.args)
    refuse_unsupported((entry.name, *models), where)
    if entry.name != CONFIGURABLE:
        name = ALIASES.get(entry.name, entry.name)
        if name not in cards:
            _refuse_other_form(entry, cards, folders, where)
            raise UnknownNameError("scenario", name, (*cards, CONFIGURABLE), where=where)
        return Benchmark(card=cards[name])
    if CONFIG_PATH not in entry.args:
        raise ConfigError(f"{where} needs config_path=FILE.yaml, the benchmark's configuration.")
    path = find_in(str(entry.args[CONFIG_PATH]), folders, f"{where}: {CONFIG_PATH}")
    benchmark = load_benchmark(path)
    if benchmark.card.name in cards:
        raise ConfigError(
            f"{path}: name is {benchmark.card.name!r}, which is a shipped scenario's."
        )
    return benchmark


def refuse_unsupported(names: Iterable[str], where: str) -> None:
    """Refuse a scenario or model that this project does not run, and say why."""
    for name in names:
        for mark, reason in REFUSED.items():
            if mark in name:
                raise ConfigError(f"{where}: {name!r} is not supported: {reason}.")


def _refuse_other_form(
    entry: RunEntry, cards: Mapping[str, ScenarioCard], folders: Sequence[Path], where: str
) -> None:
    """Show how an entry is written whose name is a benchmark's path, or goes on without a colon.

    Raises:
        ConfigError: its name is one of these.
    """
    args = [f"{key}={value}" for key, value in entry.args.items()]
    for folder in folders:
        for path in (entry.name, f"{entry.name}/{BENCHMARK_FILE}"):
            if (folder / Path(path).expanduser()).is_file():
                written = f"{CONFIGURABLE}:{','.join([f'{CONFIG_PATH}={path}', *args])}"
                raise ConfigError(
                    f"{where}: no scenario has this name; a benchmark of your own is written "
                    f"{written!r}."
                )
    name, *rest = re.split(r"[\s,;]+", entry.name)
    if rest and (ALIASES.get(name, name) in cards or name == CONFIGURABLE):
        written = f"{name}:{','.join([*filter(None, rest), *args])}"
        raise ConfigError(f"{where}: a colon follows the name; write {written!r}.")


def find_in(name: str, folders: Iterable[Path], where: str) -> Path:
    """The first of the folders' files of that name, else an absolute path's file."""
    tried = [folder / Path(name).expanduser() for folder in folders]
    for path in tried:
        if path.is_file():
            return path
    searched = ", ".join(dict.fromkeys(str(path.parent) for path in tried))
    raise ConfigError(f"{where} is {name!r}, and there is no such file (looked in {searched}).")


def with_args(card: ScenarioCard, entry: RunEntry, where: str) -> ScenarioCard:
    """The card with the entry's arguments as options; another choice of data is another scenario.

    Raises:
        ConfigError: If an argument is neither the card's, nor a file's, nor an expander's, or has
            no such value, or is missing.
    """
    known = _file_args(card, entry)
    for key in entry.args:
        if key in UNSUPPORTED and key not in card.args:
            raise ConfigError(f"{where}: {key} is a run expander of HELM's not supported yet.")
        allowed = {*card.args, *known, *EXPANDERS, *OWN_KEYS, MODEL, DEPLOYMENT}
        if key not in allowed:
            raise UnknownNameError("argument", key, allowed, where=where)
    choices = _choices(card, entry)
    card = _with_adapter_args(card, entry, where)
    if DATA_PATH in entry.args:
        card = _with_data(card, str(entry.args[DATA_PATH]), where)
    if ANSWER_EXTRACTION in entry.args:
        reading = extraction_named(entry.args[ANSWER_EXTRACTION], card.answer_extraction, where)
        check_extraction(reading, card.metrics, where)
        card = replace(card, answer_extraction=reading)
    if choices:
        name = _named(card, choices)
        card = replace(card, name=name, options={**card.options, **choices})
    try:
        return bind(card)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def spread_data(card: ScenarioCard, entry: RunEntry, where: str) -> Iterator[ScenarioCard]:
    """The card once for each choice of data that the entry leaves open, with its arguments.

    `mmlu` alone means the data of all its subjects.
    """
    named = {match[1] for match in FIELD.finditer(canonical_json(card.source))}
    left = [
        arg
        for arg in card.choices
        if arg in named and arg not in entry.args and arg not in card.options
    ]
    for values in product(*(card.choices[arg] for arg in left)):
        args = {**entry.args, **dict(zip(left, values, strict=True))}
        yield with_args(card, replace(entry, args=args), where)


def whole_of(card: ScenarioCard, entry: RunEntry) -> str | None:
    """The name of the scenario that an entry requests a part of, by the card's `parts`.

    None where it requests no part. `card` is the one without the entry's arguments.
    """
    choices = _choices(card, entry)
    of_whole = {key: value for key, value in choices.items() if key not in card.parts.args}
    return _named(card, of_whole) if len(of_whole) < len(choices) else None


def _choices(card: ScenarioCard, entry: RunEntry) -> dict[str, str]:
    """The entry's arguments that make another scenario of the card, as the card spells them."""
    return {
        key: spelled(card, key, str(value))
        for key, value in entry.args.items()
        if is_named(card, key, value) and key not in ADAPTER_ARGS
    }


def _named(card: ScenarioCard, choices: Mapping[str, str]) -> str:
    ordered = ",".join(f"{key}={choices[key]}" for key in card.args if key in choices)
    return f"{card.name}:{ordered}" if ordered else card.name


def is_named(card: ScenarioCard, key: str, value: object) -> bool:
    """Whether an argument of an entry is one of the card's that names include."""
    is_default = key in UNNAMED_DEFAULTS and card.options.get(key) == str(value)
    return key in card.args and key not in UNNAMED and not is_default


def _with_adapter_args(card: ScenarioCard, entry: RunEntry, where: str) -> ScenarioCard:
    """The card with the arguments that change its adapter, of the entry or by default."""
    values = {**card.options, **entry.args}
    spec = card.adapter_spec
    for key in card.args:
        if key in ADAPTER_ARGS and key in values:
            spec = with_adapter_arg(spec, key, spelled(card, key, str(values[key])), where)
    return replace(card, adapter_spec=spec)


def spelled(card: ScenarioCard, key: str, value: str) -> str:
    """A value as the card spells it: HELM's `True` is `true`."""
    known = ADAPTER_ARGS.get(key) or card.choices.get(key, {})
    return next((spelling for spelling in known if spelling.lower() == value.lower()), value)


def _file_args(card: ScenarioCard, entry: RunEntry) -> tuple[str, ...]:
    jury = (JURY_CONFIG,) if card.annotators else ()
    return (CONFIG_PATH, *jury) if entry.name == CONFIGURABLE else jury


def _with_data(card: ScenarioCard, data_path: str, where: str) -> ScenarioCard:
    """The card reading its files from a user's folder, or its only file from another path."""
    source, folder = card.source, PurePosixPath(data_path)
    if Path(data_path).expanduser().is_dir():
        paths = [str(folder / file.inside) for file in source.files]
    elif len(source.files) == 1:
        paths, folder = [data_path], folder.parent
    else:
        names = ", ".join(file.inside for file in source.files) or "none"
        raise ConfigError(
            f"{where}: data_path is {data_path!r}, which is no folder; allowed: a folder that "
            f"contains the scenario's files ({names})."
        )
    files = tuple(
        replace(file, path=path, sha256=None, url=None, archive=None)
        for file, path in zip(source.files, paths, strict=True)
    )
    lookups = tuple(
        replace(lookup, path=str(folder / inside(lookup.path))) for lookup in source.lookups
    )
    texts = {column: str(folder / inside(path)) for column, path in source.texts.items()}
    history = source.history
    if history is not None:
        history = replace(history, files=tuple(str(folder / inside(p)) for p in history.files))
    source = replace(
        source, files=files, lookups=lookups, texts=texts, text_urls={}, history=history
    )
    return replace(card, source=replace(source, is_own=True))
