"""`answer_extraction` of a card, benchmark file or run entry: its short form and its mistakes."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import regex

from medhelm_spark import patterns
from medhelm_spark.domain.run import (
    LETTERS,
    READ_OPTIONS,
    AnswerExtraction,
    ExtractionMethod,
    MetricSpec,
)
from medhelm_spark.domain.stats import UNREADABLE_STAT
from medhelm_spark.errors import ConfigError

KEY = "answer_extraction"
YES_NO_WORDS = ("yes", "no", "maybe")
_ARGUMENT = {ExtractionMethod.JSON_FIELD: "field", ExtractionMethod.REGEX: "pattern"}
_PLAIN = tuple(method.value for method in ExtractionMethod if method not in _ARGUMENT)
MAX_OPTIONS = 100
_LETTERS = r"[\w\p{M}\u200c\u200d]+"
_WORDS = regex.compile(rf"{_LETTERS}(?:[ ‐‑-]{_LETTERS})*")
"""Options that a text can name in a sentence: punctuation with a meaning, as in `<65`, is lost.

Vowels of many scripts are marks, which are no letters."""


def expand_short_forms(data: Any) -> Any:
    """A parsed document with `answer_extraction: choice` written as `{method: choice}`."""
    if isinstance(data, dict) and isinstance(data.get(KEY), str):
        return {**data, KEY: {"method": data[KEY]}}
    return data


def check_extraction(how: AnswerExtraction, metrics: Iterable[MetricSpec], where: str) -> None:
    """Refuse an extraction that cannot work.

    Raises:
        ConfigError: Its field or pattern is missing, of no use or broken, its options are none to
            choose from, or a metric would read the answer a second time.
    """
    _check_options(how, where)
    needed = _ARGUMENT.get(how.method)
    for name, value in (("field", how.field), ("pattern", how.pattern)):
        if name == needed and not value:
            raise ConfigError(f"{where}: {KEY}.{name} is missing; {how.method} needs it.")
        if name != needed and value:
            owner = next(method for method, key in _ARGUMENT.items() if key == name)
            raise ConfigError(f"{where}: {KEY}.{name} belongs to {owner}, not to {how.method}.")
    try:
        patterns.check(how.pattern)
    except ValueError as error:
        raise ConfigError(f"{where}: {KEY}.pattern is {how.pattern!r}, which is {error}.") from None
    if how.method is not ExtractionMethod.STRICT:
        for metric in metrics:
            if "output_mapping_pattern" in metric.args:
                raise ConfigError(
                    f"{where}: metric {metric.name!r} has an output_mapping_pattern, which reads "
                    f"the answer a second time after {KEY}; give one of them."
                )


def _check_options(how: AnswerExtraction, where: str) -> None:
    if how.options is None:
        return
    if how.method not in READ_OPTIONS:
        raise ConfigError(
            f"{where}: {KEY}.options belongs to {' and '.join(READ_OPTIONS)}, not to {how.method}."
        )
    spelled = {text.strip().casefold() for text in how.options}
    if not 2 <= len(how.options) <= MAX_OPTIONS or "" in spelled or len(spelled) < 2:
        raise ConfigError(
            f"{where}: {KEY}.options is {list(how.options)!r}; allowed: all answers that the "
            f"benchmark has, 2 to {MAX_OPTIONS}, none of them empty."
        )


def with_options(how: AnswerExtraction, labels: Sequence[str]) -> AnswerExtraction:
    """The extraction with the labels that a run's metrics declare, where its own options are none.

    Yes, no and maybe are options of `yes_no` anyway.
    """
    is_known = how.method is ExtractionMethod.YES_NO and _are_words(labels)
    if how.options or not labels or how.method not in READ_OPTIONS or is_known:
        return how
    return replace(how, options=tuple(labels))


def _are_words(texts: Iterable[str]) -> bool:
    return all(text.lower() in YES_NO_WORDS for text in texts)


def method_for_all(labels: Sequence[str]) -> ExtractionMethod:
    """How answers are read where all that there are are known: their labels.

    Single letters among words (`A`, `AB`) would be read in every sentence; where letters have no
    case, one of them is a word.

    >>> labels = (["yes", "No"], ["M", "F"], ["urgent", "non-urgent"], ["<65", "65"], ["A", "AB"])
    >>> [str(method_for_all(each)) for each in labels]
    ['yes_no', 'choice', 'choice', 'strict', 'strict']
    >>> [str(method_for_all(each)) for each in (["हाँ", "नहीं"], ["예", "아니요"], ["ใช่", "ไม่"])]
    ['choice', 'choice', 'choice']
    """
    if labels and _are_words(labels):
        return ExtractionMethod.YES_NO
    are_single = {len(label) == 1 for label in labels}
    has_letter = any(len(label) == 1 and label.upper() != label.lower() for label in labels)
    are_named = all(map(_WORDS.fullmatch, labels)) and not (has_letter and False in are_single)
    are_several = len({label.casefold() for label in labels}) > 1
    return ExtractionMethod.CHOICE if are_several and are_named else ExtractionMethod.STRICT


def method_for(references: Iterable[str]) -> ExtractionMethod:
    """How answers are read where only their references are known: strictly unless all are alike.

    Letters after J may be anything: where the data leaves the wrong options out, they are unknown.

    >>> [str(method_for(each)) for each in (["yes", "No"], ["A", "b"], ["M", "F"], [])]
    ['yes_no', 'choice', 'strict', 'strict']
    """
    is_word, is_letter = True, True
    method = ExtractionMethod.STRICT
    for text in references:
        is_word = is_word and text.lower() in YES_NO_WORDS
        is_letter = is_letter and len(text) == 1 and text.upper() in LETTERS
        if not is_word and not is_letter:
            return ExtractionMethod.STRICT
        method = ExtractionMethod.YES_NO if is_word else ExtractionMethod.CHOICE
    return method


def extraction_named(value: object, own: AnswerExtraction, where: str) -> AnswerExtraction:
    """What a run entry's `answer_extraction=choice` makes of the card's own extraction."""
    if value not in _PLAIN:
        raise ConfigError(f"{where}: {KEY} is {value!r}; allowed: {', '.join(_PLAIN)}.")
    method = ExtractionMethod(str(value))
    if method is own.method:
        return own
    options = own.options if method in READ_OPTIONS else None
    return replace(own, method=method, field="", pattern="", options=options)


def with_unreadable(
    metrics: tuple[MetricSpec, ...], how: AnswerExtraction
) -> tuple[MetricSpec, ...]:
    """A run's metrics, with the share of unreadable answers wherever answers are read."""
    is_there = any(metric.name == UNREADABLE_STAT for metric in metrics)
    if how.method is ExtractionMethod.STRICT or is_there:
        return metrics
    return (*metrics, MetricSpec(name=UNREADABLE_STAT))
