"""`answer_extraction` of a card, benchmark file or run entry: its short form and its mistakes."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from medhelm_spark import patterns
from medhelm_spark.domain.run import LETTERS, AnswerExtraction, ExtractionMethod, MetricSpec
from medhelm_spark.domain.stats import UNREADABLE_STAT
from medhelm_spark.errors import ConfigError

KEY = "answer_extraction"
YES_NO_WORDS = ("yes", "no", "maybe")
_ARGUMENT = {ExtractionMethod.JSON_FIELD: "field", ExtractionMethod.REGEX: "pattern"}
_PLAIN = tuple(method.value for method in ExtractionMethod if method not in _ARGUMENT)


def expand_short_forms(data: Any) -> Any:
    """A parsed document with `answer_extraction: choice` written as `{method: choice}`."""
    if isinstance(data, dict) and isinstance(data.get(KEY), str):
        return {**data, KEY: {"method": data[KEY]}}
    return data


def check_extraction(how: AnswerExtraction, metrics: Iterable[MetricSpec], where: str) -> None:
    """Refuse an extraction that cannot work.

    Raises:
        ConfigError: Its field or pattern is missing, of no use or broken, or a metric would read
            the answer a second time.
    """
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


def method_for(references: Iterable[str]) -> ExtractionMethod:
    """How answers are read where only their references are known: strictly unless all are alike.

    Letters after J may be anything: where the data leaves the wrong options out, nobody knows them.

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
    return own if method is own.method else replace(own, method=method, field="", pattern="")


def with_unreadable(
    metrics: tuple[MetricSpec, ...], how: AnswerExtraction
) -> tuple[MetricSpec, ...]:
    """A run's metrics, with the share of unreadable answers wherever answers are read."""
    is_there = any(metric.name == UNREADABLE_STAT for metric in metrics)
    if how.method is ExtractionMethod.STRICT or is_there:
        return metrics
    return (*metrics, MetricSpec(name=UNREADABLE_STAT))
