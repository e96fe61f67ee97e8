"""The answer in a model's text: declared in the card, applied before any metric or judge.

The text is without thinking under every method (`domain.thinking`). `strict` leaves it as it is,
which is MedHELM's rule; the other methods give the option, word or value that the text contains, or
None where it cannot be read, and where a pattern had to be stopped. No method guesses. The rules
are in `docs/answer-extraction.md`.
"""

from collections.abc import Mapping, Sequence

from medhelm_spark.adaptation.json_fields import field
from medhelm_spark.adaptation.options import Options, options_among, options_of, texts_in
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod
from medhelm_spark.patterns import SlowPatternError, last_match

EXTRACTION_VERSION = "15"
"""Part of every fingerprint of scores and judgements, so that stored answers are read again.

Raised whenever an answer is read in another way: by a method here, or by `domain.thinking`.
"""

WORDS = {"yes": "yes", "no": "no", "maybe": "maybe"}
_TRUTH = {"true": "yes", "false": "no"}


def read_answer(
    text: str,
    how: AnswerExtraction,
    *,
    output_mapping: Mapping[str, str],
    references: Sequence[str] = (),
    question: str = "",
    is_cut: bool = False,
) -> str | None:
    """The answer in a text without thinking, in the form that metrics compare; None if unreadable.

    Args:
        text: What the model wrote.
        how: The declared method.
        output_mapping: The options the prompt showed, letter to text; the answer is then a letter.
        references: The possible answers where the prompt shows no options.
        question: The instance's input, which lists the options' texts where references are letters,
            and may ask for the wrong option ("EXCEPT").
        is_cut: Whether the text ended at its token limit.
    """
    if how.method is ExtractionMethod.STRICT:
        return text
    if how.method is ExtractionMethod.REGEX:
        return _as_option(_matched(text, how.pattern), output_mapping, question)
    if how.method is ExtractionMethod.JSON_FIELD:
        return _as_option(field(text, how.field), output_mapping, question)
    if (bare := text.strip()) in output_mapping:
        return bare
    is_yes_no = how.method is ExtractionMethod.YES_NO
    options = _options(output_mapping, references, how.options or (), question, is_yes_no=is_yes_no)
    # Not at the top: its patterns take a sixth of a second to compile, and drivers read no answer.
    from medhelm_spark.adaptation.choice import read_choice

    return read_choice(text, options, question=question, is_cut=is_cut)


def _options(
    output_mapping: Mapping[str, str],
    references: Sequence[str],
    declared: Sequence[str],
    question: str,
    *,
    is_yes_no: bool,
) -> Options:
    if output_mapping:
        options = options_of(output_mapping)
    else:
        options = options_among(references, declared)
        labels = options.labels
        texts = texts_in(question, tuple(labels)) if labels and question else {}
        if texts:
            options = options_of(texts, {label: labels[label] for label in texts})
    return _with_words(options, is_yes_no=is_yes_no)


def _with_words(options: Options, *, is_yes_no: bool) -> Options:
    """The options with yes, no and maybe as answers, and with true and false as synonyms."""
    texts = dict(options.texts)
    if is_yes_no and not options.labels:
        texts = {**WORDS, **texts}
    if {"yes", "no"} <= texts.keys():
        texts = {**{word: texts[same] for word, same in _TRUTH.items()}, **texts}
    if texts == options.texts:
        return options
    added = frozenset(texts.keys() - options.texts.keys())
    return Options(options.labels, texts, options.text_by_label, added)


def _as_option(value: str | None, output_mapping: Mapping[str, str], question: str) -> str | None:
    """A value taken out of the text; where options were shown, the label of the option it names."""
    if value is None or not value.strip():
        return None
    if not output_mapping or value in output_mapping:
        return value.strip()
    from medhelm_spark.adaptation.choice import read_value

    return read_value(value, options_of(output_mapping), question)


def _matched(text: str, pattern: str) -> str | None:
    """The last match: its last group that matched, else all of it; None where it was stopped."""
    try:
        return last_match(pattern, text)
    except SlowPatternError:
        return None
