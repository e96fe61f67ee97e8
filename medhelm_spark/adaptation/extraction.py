"""The answer in what a model wrote: declared in the card, applied before any metric or judge.

Thinking between tags is cut off under every method. `strict` then leaves the text as it is, which
is MedHELM's rule; the other methods give the option, word or value that the text holds, or None
where it cannot be read. No method guesses. The rules are told in `docs/answer-extraction.md`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from medhelm_spark.adaptation.choice import read_choice, read_value
from medhelm_spark.adaptation.json_fields import field
from medhelm_spark.adaptation.options import Options, options_among, options_of
from medhelm_spark.adaptation.shown_options import shown_in
from medhelm_spark.domain.request import Completion
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod
from medhelm_spark.domain.thinking import split_thinking

EXTRACTION_VERSION = "2"
"""Part of every fingerprint of scores and judgements; raised whenever an answer is read anew."""

WORDS = {"yes": "yes", "no": "no", "maybe": "maybe"}
_TRUTH = {"true": "yes", "false": "no"}


def spoken(completion: Completion) -> Completion:
    """The completion without the thinking that stands in its text; what it thought is kept."""
    text, thinking = split_thinking(completion.text)
    if thinking is None:
        return completion
    return replace(completion, text=text, thinking=completion.thinking or thinking)


def read_answer(
    text: str,
    how: AnswerExtraction,
    *,
    output_mapping: Mapping[str, str],
    references: Sequence[str] = (),
    question: str = "",
    is_cut: bool = False,
) -> str | None:
    """The answer in a text without thinking, as a metric compares it; None where it is unreadable.

    Args:
        text: What the model wrote.
        how: The declared method.
        output_mapping: The options the prompt showed, letter to text; the answer is then a letter.
        references: Without shown options, what the instance gives as possible answers; the answer
            is then one of them.
        question: The instance's input; where the references are letters, it holds their texts. It
            tells as well whether the wrong option is asked for ("EXCEPT").
        is_cut: Whether the text ended at its token limit.
    """
    if how.method is ExtractionMethod.STRICT:
        return text
    if how.method is ExtractionMethod.REGEX:
        return _settled(_matched(text, how.pattern), output_mapping, question)
    if how.method is ExtractionMethod.JSON_FIELD:
        return _settled(field(text, how.field), output_mapping, question)
    if (bare := text.strip()) in output_mapping:
        return bare
    is_yes_no = how.method is ExtractionMethod.YES_NO
    options = _options(output_mapping, references, question, is_yes_no=is_yes_no)
    return read_choice(text, options, question=question, is_cut=is_cut)


def _options(
    output_mapping: Mapping[str, str], references: Sequence[str], question: str, *, is_yes_no: bool
) -> Options:
    if output_mapping:
        found = options_of(output_mapping)
    else:
        found = options_among(references)
        shown = shown_in(question, tuple(found.labels)) if found.labels and question else {}
        if shown:
            found = options_of(shown, {label: found.labels[label] for label in shown})
    return _with_words(found, is_yes_no=is_yes_no)


def _with_words(options: Options, *, is_yes_no: bool) -> Options:
    """With yes, no and maybe as possible answers, and true and false as words for them."""
    texts = dict(options.texts)
    if is_yes_no and not options.labels:
        texts = {**WORDS, **texts}
    if {"yes", "no"} <= texts.keys():
        texts = {**{word: texts[same] for word, same in _TRUTH.items()}, **texts}
    return Options(options.labels, texts, options.shown) if texts != options.texts else options


def _settled(value: str | None, output_mapping: Mapping[str, str], question: str) -> str | None:
    """A value cut out of the text; where options were shown, the option that it is."""
    if value is None or not value.strip():
        return None
    if not output_mapping or value in output_mapping:
        return value.strip()
    return read_value(value, options_of(output_mapping), question)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matched(text: str, pattern: str) -> str | None:
    """The last match: its last group that took part, else all of it."""
    last = None
    for match in _compiled(pattern).finditer(text):
        last = match
    return None if last is None else last.group(last.lastindex or 0)
