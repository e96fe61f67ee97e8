"""The options of a question: their labels, their texts, and what each is read as."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from medhelm_spark.adaptation.plain_text import plain

LETTERS = "ABCDEFGHIJ"
"""The labels where an instance shows letters without saying which there are."""

FLAGS = {"0": "0", "1": "1"}
"""The labels where an instance's reference is one of these two."""

_ARTICLE = re.compile(r"(?:the|an?) ")
_OPPOSITE = re.compile(r"(?:not?|non|without|(?:absence|no evidence) of)[ -]")
_DENYING = re.compile(
    r"\b(?:not?|never|without|absence|free|stop|hold|withhold|discontinu\w+|cease|switch|neither|nor|none|cannot|except|avoid|against|unlike|exclude\w*|eliminat\w+"
    r"|than|instead|wrong|false|incorrect|unlikely|less|rul\w+ out)\b|n't",
)


@dataclass(frozen=True)
class Options:
    """What may be answered.

    Attributes:
        labels: Results by label in capitals.
        texts: Results by plain lower-case text; a text that two options share is none of them.
        shown: Plain lower-case texts by label, where options are shown as label and text.
    """

    labels: Mapping[str, str]
    texts: Mapping[str, str]
    shown: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def longest_first(self) -> tuple[tuple[str, str], ...]:
        """Texts and results; a text that is itself a label is read as the label, never here."""
        texts = [item for item in self.texts.items() if item[0].upper() not in self.labels]
        return tuple(sorted(texts, key=lambda item: -len(item[0])))

    @cached_property
    def denying(self) -> tuple[str, ...]:
        """The texts that hold a denial of their own, as "Do not treat" does."""
        if not _DENYING.search("\n".join(self.texts)):
            return ()
        return tuple(
            text for text, _ in self.longest_first if len(text) > 3 and _DENYING.search(text)
        )

    @cached_property
    def opposites(self) -> dict[str, str]:
        """The result of "no pneumonia" by the text "pneumonia", where both are options."""
        return {
            other: result
            for text, result in self.texts.items()
            if (match := _OPPOSITE.match(text)) and (other := text[match.end() :]) in self.texts
        }

    @cached_property
    def are_labels(self) -> bool:
        """Whether texts of options are labels themselves, as in `A: B`."""
        return any(text.upper() in self.labels for text in self.texts)

    @property
    def are_numbers(self) -> bool:
        """Whether the options are numbers without texts: grades, or 0 and 1."""
        return bool(self.labels) and not self.shown and all(map(str.isdigit, self.labels))

    def whole(self, text: str) -> str | None:
        """The option that the text is, with nothing else but punctuation; a question is none."""
        if text.rstrip(" \n\"')]}").endswith("?"):
            return self.texts.get(option_text(text))
        bare = text.strip(" \n.,;:!?\"'()[]{}<>")
        if bare.upper() in self.labels:
            return self.labels[bare.upper()]
        return self.texts.get(bare.lower()) or self.texts.get(option_text(text))


def options_of(shown: Mapping[str, str], results: Mapping[str, str] | None = None) -> Options:
    """Options shown as label and text; what an option is read as is its label, or its result."""
    return _options_of(tuple(shown.items()), tuple((results or {}).items()))


@lru_cache(maxsize=1024)
def _options_of(
    shown: tuple[tuple[str, str], ...], results: tuple[tuple[str, str], ...]
) -> Options:
    by_label = {label.upper(): option_text(text) for label, text in shown}
    read_as = dict(results)
    labels = {label.upper(): read_as.get(label, label) for label, _ in shown}
    texts: dict[str, str] = {}
    twice: set[str] = set()
    for label, text in by_label.items():
        if text in texts:
            twice.add(text)
        texts[text] = labels[label]
    return Options(labels, {k: v for k, v in texts.items() if k and k not in twice}, by_label)


def options_among(references: Iterable[str]) -> Options:
    """Options that the instance gives without labels: its references.

    References that are single letters or digits are labels. Since the data need not name the wrong
    ones, letters then go up to J at least, and where 0 or 1 is right the other one is wrong.
    """
    given = [text.strip() for text in references if text.strip()]
    if not given or any(len(text) != 1 or not text.isalnum() for text in given):
        return Options({}, {option_text(text): text for text in given})
    labels = {text.upper(): text for text in given}
    if all(text.isalpha() for text in given):
        same = str.lower if given[0].islower() else str.upper
        labels = {letter: same(letter) for letter in LETTERS} | labels
    elif labels.keys() <= FLAGS.keys():
        labels = dict(FLAGS)
    return Options(labels, {})


@lru_cache(maxsize=8192)
def option_text(text: str) -> str:
    """An option's text as it is compared: plain, lower-case, without article and full stop."""
    bare = " ".join(plain(text).lower().split()).strip(" \"'").rstrip(".,;:")
    return _ARTICLE.sub("", bare, count=1) if _ARTICLE.match(bare) else bare
