"""The two files of a new benchmark on one's own table or file, which they refer to by name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml

from medhelm_spark.config.benchmark_file import ID_COLUMN
from medhelm_spark.config.dataset import ANSWER_COLUMN, INCORRECT_COLUMN
from medhelm_spark.config.extraction import KEY, method_for_all
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import ExtractionMethod

READING = ("sheet", "separator", "encoding")
TEXT_FIELD = "text"
NOT_IN_A_FIELD = re.compile(r"[{}!:]")
"""What a template cannot name a column by."""

OF_CLASSES = frozenset(
    {
        "diagnostic_accuracy",
        "accuracy",
        "balanced_accuracy",
        "sensitivity",
        "specificity",
        "ppv",
        "npv",
    }
)
"""The metrics that take the positive label as an argument."""

FEW_TOKENS, SPARE_TOKENS, MANY_TOKENS = 16, 8, 256


class BenchmarkWords(StrEnum):
    """How many of the right answers are single words or numbers; `few` are less than half."""

    ALL = "all"
    MOST = "most"
    FEW = "few"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBenchmark:
    """What a benchmark is made of: its data's location and the columns that count in it.

    `labels` are the right answers that there are, where they are few and each a word or two.
    `words` is whether the other answers are single words or numbers.
    `question` is what a prompt asks (None: a draft), `positive` the label that counts as positive,
    `cluster` the column that says which rows belong together, `metric` the main metric.
    """

    name: str
    location: str
    text: str
    label: str
    id: str | None = None
    labels: tuple[str, ...] = ()
    words: BenchmarkWords = BenchmarkWords.ALL
    sheet: str | None = None
    separator: str | None = None
    encoding: str | None = None
    question: str | None = None
    positive: str | None = None
    cluster: str | None = None
    metric: str | None = None

    @property
    def prompt(self) -> str:
        """The prompt's template, which asks the question, or for the label."""
        question = self.question or f'Read the text. What is the right "{self.label}" for it?'
        answers = _plain(", ".join(self.labels))
        ask = f"Reply with one of these alone: {answers}." if answers else "Reply with it alone."
        return f"{_plain(question)}\n\n{{{self._field}}}\n\n{ask}\n"

    @property
    def configuration(self) -> str:
        """The YAML; its data is private."""
        names = {ID_COLUMN: self.id, ANSWER_COLUMN: self.label, self._field: self.text}
        columns = {ours: own for ours, own in names.items() if own and ours != own}
        document: dict[str, Any] = {
            "name": self.name,
            "description": f"The column {self.label} of {self.location}.",
            "access_level": AccessLevel.PRIVATE.value,
            "prompt_file": "prompt.txt",
            "dataset_file": self.location,
            **{key: value for key in READING if (value := getattr(self, key))},
            **({"columns": columns} if columns else {}),
            **({"cluster_column": self.cluster} if self.cluster else {}),
            **self._reading,
            "max_tokens": self._max_tokens,
            "metrics": list(self._metrics),
        }
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
        return str(text)

    @property
    def _field(self) -> str:
        is_ours = self.text in (ID_COLUMN, ANSWER_COLUMN, INCORRECT_COLUMN)
        return TEXT_FIELD if is_ours or NOT_IN_A_FIELD.search(self.text) else self.text

    @property
    def _reading(self) -> dict[str, Any]:
        """How answers are read; the options are all labels, and an instance has its own."""
        method = method_for_all(self.labels)
        if method is ExtractionMethod.STRICT:
            return {}
        if method is ExtractionMethod.YES_NO:
            return {KEY: method.value}
        return {KEY: {"method": method.value, "options": list(self.labels)}}

    @property
    def _max_tokens(self) -> int:
        """Room for the longest label: a token has a byte at least."""
        longest = max((len(label.encode()) for label in self.labels), default=0)
        return max(FEW_TOKENS, longest + SPARE_TOKENS) if self.labels else MANY_TOKENS

    @property
    def _metrics(self) -> Iterator[dict[str, Any]]:
        """The main metric first; what a positive label adds, last."""
        names = dict.fromkeys([*([self.metric] if self.metric else []), *self._names])
        classes = {"labels": "|".join(self.labels), "positive": self.positive}
        for name in names:
            of_classes = bool(self.positive and self.labels) and name in OF_CLASSES
            yield {"name": name, "args": classes} if of_classes else {"name": name}
        if self.positive and self.labels and OF_CLASSES.isdisjoint(names):
            yield {"name": "diagnostic_accuracy", "args": classes}

    @property
    def _names(self) -> tuple[str, ...]:
        if self.labels or self.words is BenchmarkWords.ALL:
            return ("exact_match",)
        is_text = self.words is BenchmarkWords.FEW
        return ("rouge_l", "exact_match") if is_text else ("exact_match", "rouge_l")


def _plain(text: str) -> str:
    """The text as a template writes it: braces are no fields."""
    return text.replace("{", "{{").replace("}", "}}")
