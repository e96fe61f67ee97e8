"""bind: a card with its arguments put in, so that what reads it sees plain paths and texts.

A run's card is bound once, where its entry is expanded.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.history import History
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError

TEMPLATE = "template"
FIELD = re.compile(r"\{(\w+)(\.words)?\}")
Put = Callable[[str], str]


def bind(card: ScenarioCard) -> ScenarioCard:
    """The card with `{arg}` replaced by its value, or in template and instructions by its words.

    A path may name the words too, as `{arg.words}`. Values are the card's options. A rule of
    `keep` or `drop` over an argument without a value is left out. Binding a bound card changes
    nothing.

    Raises:
        ConfigError: An argument that the data needs is absent, or has a value of its own.
    """
    if not card.args:
        return card
    values = {arg: card.options[arg] for arg in card.args if arg in card.options}
    for arg, value in values.items():
        _check(card, arg, value)
    words = {arg: card.choices.get(arg, {}).get(value, value) for arg, value in values.items()}
    put, put_words = _putter(card, values, words), _putter(card, words, words)
    put_braced = _putter(card, _braced(words), _braced(words))
    spec = card.adapter_spec
    return replace(
        card,
        source=_source(card.source, put),
        fields={role: put(column) for role, column in card.fields.items()},
        options=_options(card.options, put_braced),
        variants=tuple(
            replace(variant, options=_options(variant.options, put_braced))
            for variant in card.variants
        ),
        keep=_rules(card.keep, values, put),
        drop=_rules(card.drop, values, put),
        adapter_spec=replace(spec, instructions=put_words(spec.instructions)),
    )


def _check(card: ScenarioCard, arg: str, value: str) -> None:
    allowed = card.choices.get(arg, {})
    if allowed and value not in allowed:
        raise ConfigError(
            f"scenario {card.name!r}: {arg} is {value!r}; allowed: {', '.join(allowed)}."
        )


def _putter(card: ScenarioCard, values: Mapping[str, str], words: Mapping[str, str]) -> Put:
    def value_of(match: re.Match[str]) -> str:
        arg = match[1]
        if arg not in card.args:
            return match[0]
        if arg not in values:
            known = ", ".join(card.choices.get(arg, {})) or "any text"
            raise ConfigError(f"scenario {card.name!r} needs {arg}=VALUE; allowed: {known}.")
        return words[arg] if match[2] else values[arg]

    return lambda text: FIELD.sub(value_of, text)


def _braced(words: Mapping[str, str]) -> dict[str, str]:
    """Words for a template, where a brace that is text is doubled."""
    return {arg: text.replace("{", "{{").replace("}", "}}") for arg, text in words.items()}


def _options(options: Mapping[str, str], put: Put) -> dict[str, str]:
    return {name: put(text) if name == TEMPLATE else text for name, text in options.items()}


def _rules(
    rules: Mapping[str, tuple[str, ...]], values: Mapping[str, str], put: Put
) -> dict[str, tuple[str, ...]]:
    """The rules whose arguments all have a value."""
    return {
        column: tuple(map(put, allowed))
        for column, allowed in rules.items()
        if all(arg in values for text in allowed for arg, _ in FIELD.findall(text))
    }


def _source(source: DataSource, put: Put) -> DataSource:
    return replace(
        source,
        files=tuple(
            replace(
                file,
                path=put(file.path),
                member=put(file.member) if file.member else None,
                url=put(file.url) if file.url else None,
            )
            for file in source.files
        ),
        dataset=put(source.dataset) if source.dataset else None,
        paths={column: put(path) for column, path in source.paths.items()},
        lookups=tuple(replace(lookup, path=put(lookup.path)) for lookup in source.lookups),
        history=_history(source.history, put) if source.history else None,
        texts={column: put(path) for column, path in source.texts.items()},
        text_urls={column: put(url) for column, url in source.text_urls.items()},
    )


def _history(history: History, put: Put) -> History:
    return replace(history, files=tuple(map(put, history.files)), most=put(history.most))
