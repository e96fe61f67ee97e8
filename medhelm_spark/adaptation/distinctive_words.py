"""The words that distinguish an option from the others: "septic" of "septic shock".

A word is distinctive where no other option has it or a form of it ("ophthalmology" for
"ophthalmologist"), and where it is no word that any text may use ("disease", "start").
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from medhelm_spark.adaptation.mentions import is_alone

_WORD = re.compile(r"[^\W\d_]{2,}(?:[^\W_]*)")
_ENDING = re.compile(
    r"(?:ologists?|ology|at(?:ions?|ing|ed|ory|e)|ions?|ings?|ed|ies|y|ical|ic|al|ar|ous|ive|ism|ist|es|s|e|a|um|us|is)\Z"
)
_SHORT_ENDING = re.compile(r"(?:ies|y|ical|ic|al|es|s|e|a|ists?)\Z")
_COMMON = frozenset(
    {
        "disease", "syndrome", "disorder", "test", "therapy", "treatment", "drug", "patient",
        "acute", "chronic", "scan", "pain", "injury", "infection", "deficiency", "cell", "cells",
        "type", "stage", "grade", "class", "level", "group", "the", "and", "with", "without",
        "for", "of", "from", "into", "than", "then", "all", "both", "none", "above", "below",
        "only", "not", "start", "give", "order", "stop", "add", "increase", "decrease", "reduce",
        "use", "obtain", "perform", "continue", "immediate", "high", "low", "more", "less", "most",
        "least", "other", "others", "same", "first", "second", "third", "last", "after", "before",
        "daily", "week", "weeks", "month", "months", "year", "years", "day", "days", "hour",
        "hours", "minutes", "age", "risk", "care", "control", "management", "diagnosis", "present",
        "absent", "normal", "abnormal", "positive", "negative", "possible", "likely", "unlikely",
        "yes", "no", "maybe", "any", "each", "one", "two", "three", "four", "five", "six", "alone",
        "plus", "severe", "mild", "moderate", "cause", "effect", "study", "trial", "data", "dose",
        "mass", "tumour", "tumor", "syndromes", "primary", "secondary", "history", "review",
        "check", "call", "factor", "factors", "system", "tract", "acid", "body", "bodies",
        "patients", "symptoms", "signs", "sign", "symptom", "see", "must", "should", "have", "has",
        "been", "are", "was", "were",
    }
)  # fmt: skip
_JOINS = re.compile(
    r"[,;+/&]|\b(?:and|with|plus|not?|non|never|without|except|either|both|followed|then)\b"
)
_OPTION_LINE = re.compile(r"[ \t]*\(?\w[.):]\)? ")
_OF_A = re.compile(r" of an? ")
_SIGN_BEFORE = re.compile(r"(?<!\w)(\d{1,2}|[b-h]|i{1,3}|iv) \Z")
_SIGN_AFTER = re.compile(r" (\d{1,2}|[a-h]|i{1,3}|iv)(?![\w.'-])")
_PAIRS = (
    ("left", "right"), ("increased", "decreased"), ("increase", "decrease"), ("high", "low"),
    ("higher", "lower"), ("upper", "lower"), ("superior", "inferior"), ("anterior", "posterior"),
    ("medial", "lateral"), ("proximal", "distal"), ("acute", "chronic"), ("oral", "intravenous"),
    ("before", "after"), ("early", "late"), ("start", "stop"), ("elevated", "reduced"),
    ("sensory", "motor"), ("primary", "secondary"), ("positive", "negative"),
)  # fmt: skip
OPPOSITES = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}
"""Words by the word with which one thing becomes another: "left" and "right"."""
_SHORTEST_STEM, _SHORTEST_SHORT, _LEAST_CUT = 4, 4, 3
_MOST_WORDS = 8


def stem(word: str) -> str:
    """A lower-case word without its ending, where enough of it is left."""
    for ending in (_ENDING, _SHORT_ENDING):
        if len(cut := ending.sub("", word)) >= _SHORTEST_STEM:
            return cut
    return word


def parts(text: str) -> list[str]:
    """The words of a lower-case text."""
    return [match[0] for match in _WORD.finditer(text)]


@lru_cache(maxsize=1024)
def stems_of_question(question: str) -> frozenset[str]:
    """The stems of a question's words, which are not distinctive; without the options it lists."""
    lines = (line for line in question.splitlines() if not _OPTION_LINE.match(line))
    return frozenset(stem(word) for line in lines for word in parts(line.lower()))


@lru_cache(maxsize=1024)
def options_by_stem(options: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, str]]:
    """The text and result of each option by its distinctive stems.

    An option that joins things or denies one ("aspirin and heparin") has no distinctive word.
    """
    stems = [({stem(word) for word in parts(text)}, text, result) for text, result in options]
    times = Counter(one for own, _, _ in stems for one in own)
    common = {stem(word) for word in _COMMON}
    return {
        one: (text, result)
        for own, text, result in stems
        if len(own) <= _MOST_WORDS and not _JOINS.search(text)
        for one in own
        if times[one] == 1 and one not in common and len(one) > 2
    }


@lru_cache(maxsize=1024)
def initials_of(options: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, str]]:
    """The text and result of each option by its initials, where they are no other's: "AF"."""
    found = []
    for text, result in options:
        words = parts(text.replace("-", " "))
        if 2 <= len(words) <= 5 and not _JOINS.search(text):
            found.append(("".join(word[0] for word in words).upper(), text, result))
    times = Counter(short for short, _, _ in found)
    taken = {text.upper() for text, _ in options}
    return {
        short: (text, result)
        for short, text, result in found
        if times[short] == 1 and short not in taken
    }


def distinctive_matches(
    text: str, low: str, span: tuple[int, int], options: tuple[tuple[str, str], ...]
) -> Iterator[tuple[int, int, str]]:
    """Where distinctive words, forms or beginnings of them, or initials are, with the results."""
    by_stem, initials = options_by_stem(options), initials_of(options)
    for match in _WORD.finditer(low, *span):
        word = match[0]
        option = by_stem.get(stem(word)) or _begun(word, by_stem)
        if option is None and (written := text[match.start() : match.end()]).isupper():
            option = initials.get(written)
        if option and _is_own(low, match.start(), match.end(), option[0]):
            yield (*match.span(), option[1])


def _begun(word: str, by_stem: dict[str, tuple[str, str]]) -> tuple[str, str] | None:
    """The only option with a much longer word that begins with this one: "vanco"."""
    if len(word) < _SHORTEST_SHORT:
        return None
    longer = {
        option
        for one, option in by_stem.items()
        if one.startswith(word) and len(one) >= len(word) + _LEAST_CUT
    }
    return longer.pop() if len(longer) == 1 else None


def _is_own(low: str, start: int, end: int, option: str) -> bool:
    """Whether nothing beside a word makes it another thing: "non-urgent", "type 2 diabetes"."""
    if (
        not is_alone(low, low[start:end], start)
        or _OF_A.match(low, end)
        or "non-" in low[max(0, start - 24) : start]
    ):
        return False
    if {*parts(low[max(0, start - 24) : start])} & {OPPOSITES.get(word) for word in parts(option)}:
        return False
    beside = (_SIGN_BEFORE.search(low, max(0, start - 8), start), _SIGN_AFTER.match(low, end))
    return all(match is None or match[1] in option.split() for match in beside)
