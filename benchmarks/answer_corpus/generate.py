"""Fills the templates of a part: every option of every question that a template fits.

The texts move one label on from template to template, so that each text occurs at each label.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from benchmarks.answer_corpus import check, tune
from benchmarks.answer_corpus.template import (
    CATEGORIES,
    CUT,
    GRADES,
    VALUES,
    YES_NO,
    Question,
    Template,
)
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod
from medhelm_spark.domain.thinking import split_thinking

PARTS: dict[str, ModuleType] = {"tune": tune, "check": check}
WITHOUT_LABELS = YES_NO | VALUES | CATEGORIES | GRADES
LABELS = "ABCDE"
FIELD = "answer"
_MOST_NAMED = 3
_PLACEHOLDER = re.compile(r"‹(\w+)›")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply, how it is read, and what a human reads in it (`expected`; None: no one option).

    `chosen` is the option that filled the template: the class, also where nothing is expected.
    `classes` are all that the question has.
    """

    part: str
    template: Template
    text: str
    output_mapping: dict[str, str]
    references: tuple[str, ...]
    question: str
    is_cut: bool
    expected: str | None
    chosen: str
    classes: tuple[str, ...]

    @property
    def is_cut_style(self) -> bool:
        return self.template.style == CUT

    def read(self) -> str | None:
        """What the reader of the project reads."""
        method = ExtractionMethod(self.template.method)
        return read_answer(
            split_thinking(self.text)[0],
            AnswerExtraction(
                method=method, field=FIELD if method is ExtractionMethod.JSON_FIELD else ""
            ),
            output_mapping=self.output_mapping,
            references=self.references,
            question=self.question,
            is_cut=self.is_cut,
        )


def replies(part: str) -> Iterator[Reply]:
    """All replies of a part, in the order of its templates."""
    module = PARTS[part]
    for number, template in enumerate(module.TEMPLATES):
        for question in module.QUESTIONS:
            if _fits(template, question):
                yield from _filled(part, template, question, number)


def _fits(template: Template, question: Question) -> bool:
    """Without shown options `json_field` gives the value as it is, so a value is asked for."""
    is_field_of_input = template.method == "json_field" and question.is_in_input
    same_language = template.language == question.language
    return question.kind in template.kinds and same_language and not is_field_of_input


def _filled(part: str, template: Template, question: Question, shift: int) -> Iterator[Reply]:
    count = len(question.texts)
    texts = [question.texts[(index + shift) % count] for index in range(count)]
    has_labels = question.kind not in WITHOUT_LABELS
    options = dict(zip(LABELS[:count], texts, strict=True))
    by_text = not has_labels or question.kind == "words"
    seen: set[str] = set()
    for index, (label, text) in enumerate(options.items()):
        filled = fill(template, question, list(options.items()), index)
        if filled in seen:  # a reply that names no option
            continue
        seen.add(filled)
        result = label if has_labels else text
        for is_cut in template.is_cut:
            yield Reply(
                part=part,
                template=template,
                text=filled,
                output_mapping=options if has_labels and not question.is_in_input else {},
                references=_references(question, options),
                question=f"{question.facts} {question.stem}\n{_lines(list(options.items()))}"
                if has_labels
                else f"{question.facts} {question.stem}",
                is_cut=is_cut,
                expected=result if template.has_answer else None,
                chosen=text if by_text else label,
                classes=tuple(sorted(texts)) if by_text else tuple(options),
            )


def _references(question: Question, options: dict[str, str]) -> tuple[str, ...]:
    return tuple(options) if question.is_in_input else question.texts


def fill(
    template: Template, question: Question, options: Sequence[tuple[str, str]], chosen: int
) -> str:
    """The template's text with its placeholders filled, for the option at the index `chosen`."""
    rotated = [*options[chosen:], *options[:chosen]]
    others = [label for index, (label, _) in enumerate(options) if index != chosen]
    values = {
        "facts": question.facts,
        "stem": question.stem,
        "options": _lines(options),
        "others": ", ".join(others[:-1]) + f" and {others[-1]}" if others[1:] else others[0],
    }
    if template.right:
        lines = [
            _fill_placeholders(
                template.right if index == chosen else template.wrong, _option_values(option)
            )
            for index, option in enumerate(options)
        ]
        values |= {"each": "\n".join(lines), "members": ", ".join(lines)}
    for number, option in enumerate(rotated[:_MOST_NAMED]):
        values |= {f"{name}{number or ''}": value for name, value in _option_values(option).items()}
    return _fill_placeholders(template.text, values)


def _option_values(option: tuple[str, str]) -> dict[str, str]:
    label, text = option
    return {
        "L": label, "l": label.lower(), "T": text, "t": in_sentence(text),
        "W": text.capitalize(), "w": text, "X": text.upper(),
    }  # fmt: skip


def _fill_placeholders(text: str, values: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _lines(options: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{label}. {text}" for label, text in options)


@cache
def in_sentence(text: str) -> str:
    """A text as inside a sentence: an ordinary word at its beginning loses the capital.

    >>> in_sentence("Aspirin"), in_sentence("E. coli"), in_sentence("MRI of the brain")
    ('aspirin', 'E. coli', 'MRI of the brain')
    """
    is_word = re.match(r"[^\W\d_][^\W\d_A-Z]+(?![\w.])", text) is not None
    return text[0].lower() + text[1:] if is_word else text
