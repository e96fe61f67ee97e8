"""The options of a question: their labels, their texts, and the result of each."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from medhelm_spark.adaptation.plain_text import plain
from medhelm_spark.adaptation.spelling import (
    american,
    american_where,
    in_case_of,
    key,
    marked,
    mended,
    names_of,
    other_forms,
    plainer,
    words_of,
)
from medhelm_spark.domain.run import LETTERS

FLAGS = {"0": "0", "1": "1"}
"""The labels where an instance's reference is one of these two."""

_LINE = re.compile(r"^[ \t]*\(?([A-Za-z0-9])[.):][ \t]+(\S.*)$", re.MULTILINE)
_INLINE = re.compile(r"\(([A-Za-z0-9])\)\s+((?!\s)[^(\n]*(?:\((?![A-Za-z0-9]\)\s)[^(\n]*)*)")
_ARTICLE = re.compile(r"(?:the|an?) ")
_BEGUN = re.compile(r"(?<![\w'-])\(?([A-J])[).:]{1,2} ?([^\W\d_][^.:;!?\n]{2,80})\Z")
_LONGEST_BEGUN = 100
_OPPOSITE = re.compile(r"(?:not?|non|without|(?:absence|no evidence) of)[ -]")
_BETWEEN_ITEMS = re.compile(r",(?: and\b)?|;|&|\+|\band\b|\bplus\b")
_NUMBER = re.compile(r"(?<![\w.,/-])(?:\d{1,9}\.\d{1,9}|\.?\d{1,9})(?![\w/]|[.,]\d|-\d)")
_DIGIT = re.compile(r"\d")
_SHARE = re.compile(r"(?:about |roughly |approximately |~ ?)?(\d{0,9}\.?\d{1,9}) ?(%)?")
_LAST_DENIED = re.compile(
    r"[- ]?(?: ?(?:is|are|was|were|being))?(?: ?\w+)? ?(?:\bnot\b|n't\b|\bno longer\b|negative\b"
    r"|absent\b|spared\b|normal\b|excluded\b|patent\b)",
    re.IGNORECASE,
)
"""After a list: what denies its last item, "aspirin and heparin, warfarin is not needed"."""
_BOTH = re.compile(r"both (?=\S.{0,200} and )")
_NEGATION = re.compile(
    r"\b(?:not?|never|neither|nor|none|cannot|except|avoid|against|unlike|exclude\w*|eliminat\w+"
    r"|without|absence|free|stop|hold|withhold|discontinu\w+|cease|switch"
    r"|than|instead|wrong|false|incorrect|unlikely|less|rul\w+ out)\b|n't",
)


@dataclass(frozen=True)
class Options:
    """The options; the result of one is what a metric compares: its label, or its text.

    Attributes:
        labels: Results by label in capitals.
        texts: Results by plain lower-case text; without the texts that two options share.
        text_by_label: Plain lower-case texts, where the prompt shows label and text.
        added: The texts that are read as answers though the benchmark does not list them.
    """

    labels: Mapping[str, str]
    texts: Mapping[str, str]
    text_by_label: Mapping[str, str] = field(default_factory=dict)
    added: frozenset[str] = frozenset()

    @cached_property
    def longest_first(self) -> tuple[tuple[str, str], ...]:
        """Texts and results, the longest text first; without texts that are also labels."""
        texts = [item for item in self.texts.items() if item[0].upper() not in self.labels]
        return tuple(sorted(texts, key=lambda item: -len(item[0])))

    @cached_property
    def negated_texts(self) -> tuple[str, ...]:
        """The texts that contain a negation, as "Do not treat" does."""
        if not _NEGATION.search("\n".join(self.texts)):
            return ()
        return tuple(
            text for text, _ in self.longest_first if len(text) > 3 and _NEGATION.search(text)
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
    def lists(self) -> dict[frozenset[str], str]:
        """The result of each text that lists things, by what it lists, in whatever order."""
        listed = [(_items(text), result) for text, result in self.texts.items()]
        times = Counter(items for items, _ in listed)
        return {items: result for items, result in listed if len(items) > 1 == times[items]}

    @cached_property
    def _listing(self) -> re.Pattern[str]:
        """Several of the things in the lists, one after another."""
        items = sorted({item for listed in self.lists for item in listed}, key=len, reverse=True)
        one = rf"(?:the )?(?:{'|'.join(map(re.escape, items))})(?!\w)"
        return re.compile(rf"\b{one}(?:(?:,? and|[,;&]| [&+]| plus) {one}){{1,20}}", re.IGNORECASE)

    @cached_property
    def _numbers(self) -> dict[float, str]:
        """How the texts write the numbers in them, by value; a share also by its percentage."""
        written: dict[float, str] = {}
        for text in self.texts:
            for number in _NUMBER.findall(text):
                written.setdefault(float(number), number)
        return written

    def with_numbers(self, text: str) -> str:
        """The text with numbers as the options write them: "7.0" as "7", ".5" as "0.5"."""
        if not _DIGIT.search(text) or not self._numbers:
            return text

        def own(match: re.Match[str]) -> str:
            return self._numbers.get(float(match[0]), match[0])

        return _NUMBER.sub(own, text)

    @cached_property
    def shares(self) -> dict[float, str]:
        """The result of each option that is a number and nothing else, or a share, by value."""
        found = [
            (value, result)
            for text, result in self.texts.items()
            if (value := share(text) or _amount(text))
        ]
        times = Counter(value for value, _ in found)
        return {value: result for value, result in found if times[value] == 1}

    def with_lists(self, text: str) -> str:
        """The text with the option's own words where it lists the same things in other ones."""
        if not self.lists:
            return text
        written = {_items(option): option for option in self.texts}

        def canonical(match: re.Match[str]) -> str:
            if _LAST_DENIED.match(text, match.end()):
                return match[0]
            items = _items(match[0].lower())
            return written[items] if items in self.lists else match[0]

        return self._listing.sub(canonical, text)

    @cached_property
    def _words(self) -> frozenset[str]:
        return words_of((*self.texts, *self.text_by_label.values()))

    @cached_property
    def _plainer(self) -> tuple[tuple[str, str], ...]:
        joined = "".join(self.texts)
        is_plain = joined.isascii() and "-" not in joined and "'s " not in joined
        return () if is_plain else self._spelled(plainer)

    @cached_property
    def _other_forms(self) -> tuple[tuple[str, str], ...]:
        """Shorter forms, other numerals and names; none that a label and another word may be."""
        forms = (
            (other, text)
            for other, text in self._spelled(other_forms)
            if other[1:2] != "." or other[:1].upper() not in self.labels
        )
        return (*forms, *names_of(self._words))

    @cached_property
    def _marked(self) -> tuple[tuple[str, str], ...]:
        return self._spelled(marked)

    def _spelled(self, spellings: Callable[[str], Iterable[str]]) -> tuple[tuple[str, str], ...]:
        """Other spellings of the texts, with the text that each means."""
        texts = {*self.texts, *self.text_by_label.values()}
        found = [(other, text) for text in texts for other in spellings(text)]
        times = Counter(other for other, _ in found)
        return tuple(
            (other, text) for other, text in found if other not in texts and times[other] == 1
        )

    @cached_property
    def by_key(self) -> dict[str, str]:
        """The result of each text by its key, which has no hyphens and blanks."""
        keys = [(key(text), result) for text, result in self.texts.items()]
        times = Counter(name for name, _ in keys)
        return {name: result for name, result in keys if name and times[name] == 1}

    @cached_property
    def _contracted(self) -> re.Pattern[str] | None:
        """The contracted "not" before the rest of an option's text: "isn't enough data"."""
        denied = [re.escape(text[4:]) for text in self.texts if text.startswith("not ")]
        return re.compile(rf"(?<=[a-z])n't(?= (?:{'|'.join(denied)})\b)", re.I) if denied else None

    def with_spelling(self, text: str) -> str:
        """The text with the options' own spelling where it spells their words in another way."""
        if "n't" in text and self._contracted:
            text = self._contracted.sub(" not", text)
        low = text.lower()
        if not (self._words or self._plainer or self._other_forms) or len(low) != len(text):
            return text
        if (changed := american_where(text, low, self._words)) != text:
            text, low = changed, changed.lower()
        spelled = self._plainer + self._other_forms
        if "-" in low or "'s" in low:
            spelled += self._marked
        for other, own in spelled:
            if other in low:
                text = _replaced(text, low, other, own)
                low = text.lower()
        return mended(text, self._words)

    def completed(self, text: str) -> str:
        """A text that was cut in an option's text behind its label, with the rest of that text."""
        begun = _BEGUN.search(text, max(0, len(text) - _LONGEST_BEGUN))
        option = self.text_by_label.get(begun[1], "") if begun else ""
        is_begun = begun is not None and option.startswith(begun[2].lower())
        return text + option[len(begun[2]) :] if begun and is_begun else text

    @cached_property
    def longest(self) -> int:
        """Characters of the longest text."""
        return max(map(len, (*self.texts, *self.text_by_label.values())), default=0)

    @cached_property
    def are_labels(self) -> bool:
        """Whether texts of options are labels themselves, as in `A: B`."""
        return any(text.upper() in self.labels for text in self.texts)

    @property
    def are_numbers(self) -> bool:
        """Whether the options are numbers without texts: grades, or 0 and 1."""
        return bool(self.labels) and not self.text_by_label and all(map(str.isdigit, self.labels))

    def whole(self, text: str) -> str | None:
        """The result of the option that makes up the whole text, punctuation aside.

        A question is no option, unless an option's text is one.
        """
        if text.rstrip(" \n\"')]}").endswith("?"):
            return self.texts.get(option_text(text))
        bare = text.strip(" \n.,;:!?\"'()[]{}<>")
        if bare.upper() in self.labels:
            return self.labels[bare.upper()]
        result = self.texts.get(bare.lower()) or self.texts.get(option_text(text))
        return result or (self.lists.get(_items(bare.lower())) if self.lists else None)


def _replaced(text: str, low: str, old: str, new: str) -> str:
    """The text with a word or several as others, where they are no part of a longer word."""
    parts, at, start = [], 0, low.find(old)
    while start >= 0:
        stop = start + len(old)
        before, after = low[start - 1 : start], low[stop : stop + 1]
        if not (before.isalnum() or after.isalnum() or before == "-" or after == "-"):
            parts += [text[at:start], in_case_of(text[start:stop], new)]
            at = stop
        start = low.find(old, stop)
    return "".join([*parts, text[at:]])


def options_of(texts: Mapping[str, str], results: Mapping[str, str] | None = None) -> Options:
    """Options by their texts and results, both by label; a label is its own result by default."""
    return _options_of(tuple(texts.items()), tuple((results or {}).items()))


@lru_cache(maxsize=1024)
def _options_of(
    texts_by_label: tuple[tuple[str, str], ...], results: tuple[tuple[str, str], ...]
) -> Options:
    text_of = {label.upper(): option_text(text) for label, text in texts_by_label}
    result_of = dict(results)
    labels = {label.upper(): result_of.get(label, label) for label, _ in texts_by_label}
    times = Counter(text_of.values())
    texts = {text: labels[label] for label, text in text_of.items() if text and times[text] == 1}
    return Options(labels, texts, text_of)


def options_among(references: Iterable[str], declared: Iterable[str] = ()) -> Options:
    """The options of an instance whose prompt shows none: those of the benchmark, its references.

    The result is spelled as the instance's reference spells it. Options that are single letters or
    digits are labels. Where none are declared the data may leave out the wrong ones: letters then
    go up to J at least, and 0 or 1 alone means both.
    """
    of_all = [text.strip() for text in declared if text.strip()]
    texts = [*of_all, *(text.strip() for text in references if text.strip())]
    if not texts or any(len(text) != 1 or not text.isalnum() for text in texts):
        # A text of signs alone, or of an invisible one, has no plain text and names nothing.
        by_text = {option_text(text): text for text in texts}
        return Options({}, {plain_text: text for plain_text, text in by_text.items() if plain_text})
    labels = {text.upper(): text for text in texts}
    if of_all:
        labels = dict(sorted(labels.items()))
    elif all(text.isalpha() for text in texts):
        in_case = str.lower if texts[0].islower() else str.upper
        labels = {letter: in_case(letter) for letter in LETTERS} | labels
    elif labels.keys() <= FLAGS.keys():
        labels = dict(FLAGS)
    return Options(labels, {})


@lru_cache(maxsize=8192)
def option_text(text: str) -> str:
    """An option's text as it is compared: plain, lower-case, American, without article and stop."""
    bare = american(" ".join(plain(text).lower().split()).strip(" \"'").rstrip(".,;:"))
    return _ARTICLE.sub("", bare, count=1) if _ARTICLE.match(bare) else bare


def share(text: str) -> float | None:
    """A number without a unit, or a percentage as a share; None for any other text."""
    match = _SHARE.fullmatch(text.strip(" .'\"()"))
    return round(float(match[1]) / (100 if match[2] else 1), 9) if match else None


def _amount(text: str) -> float | None:
    """The number that a text begins with, and has no other beside it: "5 mg"."""
    numbers = _NUMBER.findall(text)
    return float(numbers[0]) if len(numbers) == 1 and text.startswith(numbers[0]) else None


def _items(text: str) -> frozenset[str]:
    text = _BOTH.sub("", text, count=1)
    return frozenset(option_text(item) for item in _BETWEEN_ITEMS.split(text) if item.strip())


def texts_in(question: str, labels: Sequence[str]) -> Mapping[str, str]:
    r"""The texts of `labels` as the question's last list shows them; empty where it shows none.

    A list begins with the first label, is in the order of the labels and has two options or more.

    >>> texts_in("Which drug?\nA. aspirin\nB. heparin", ("A", "B", "C"))
    {'A': 'aspirin', 'B': 'heparin'}
    """
    for form in (_LINE, _INLINE):
        texts: dict[str, str] = {}
        for match in form.finditer(question):
            label = match[1].upper()
            if label == labels[0]:
                texts = {}
            if len(texts) < len(labels) and label == labels[len(texts)]:
                texts[label] = match[2].rstrip()
        if len(texts) > 1:
            return texts
    return {}
