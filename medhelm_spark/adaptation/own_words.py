"""An option in a reply's own words: "lower UTI" for "urinary infection of the lower tract".

A sentence or its conclusion names the only option all of whose words it has, in whatever form and
order, or the longest of those; else the one of which it has two words and half of them at least,
and of all others fewer of these and none else. Nothing is read where it denies something that the
option does not deny.
"""

import re
from collections.abc import Iterator

from medhelm_spark.adaptation.conclusion_patterns import LABEL, WORD_NEXT, is_part_of_name
from medhelm_spark.adaptation.distinctive_words import OPPOSITES
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.spelling import american

_LONGEST, _SHORT, _MOST_WORDS, _FEW = 400, 160, 26, 7
"""Characters of a text, and of one that may only have most words of an option; words of a clause,
and words of a clause that may state one word."""
_FEWEST = 2
"""Words of an option of which not all are there."""
_ENOUGH = 3
"""Words of an option after which words of other options beside them do not matter."""
_WORD = re.compile(r"[^\W_]+(?:'s)?")
_DRAWN = re.compile(r"(?:→|->|=>|⇒|∴|\b(?:so|therefore|thus|hence)\b,?|\bi\.e\.,?)\s*")
_SENTENCE = re.compile(r"(?:(?<=\w\w)|(?<= \d))[.!?](?:\s|\Z)|\n|, (?=which|because|since|as )")
_DENIES = re.compile(
    r"\b(?:not?|never|neither|nor|none|cannot|rather|instead|than|except|or|versus|vs|if|unless"
    r"|but|any\w*|every\w*|avoid\w*|against|doubt\w*|stop\w*|might|could|may|un(?:likely|clear"
    r"|sure)|what|whether|option|excluded?|kein\w*|nicht"
    r"|pas|sin|non|niet|geen|inte|nie|n[aã]o)\b|n't\b|\?"
)
_SMALL = frozenset(
    {
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "by", "and", "is", "are",
        "be", "as", "its", "it", "this", "that", "due", "caused", "from", "into", "they", "her",
        "his", "their", "will", "was", "were", "has", "have", "der", "die", "das", "la", "le", "el",
        "de", "du", "des", "del", "di", "il", "en", "het", "een", "ett",
    }
)  # fmt: skip
_ENDING = re.compile(
    r"|e|es|s|ed|d|ing|ion|ions|ation|ations|ic|ics|al|ial|ar|y|ies|ous|a|um|us|is|or|ly|ment|ative"
    r"|ive|ory|ia|ary|ance|ence|e's|'s|n|en|er|t"
)
_ARROWS = {"↑": " increased ", "↓": " decreased ", "⬆": " increased ", "⬇": " decreased "}
_SHORTEST = 4
"""Letters that two forms of a word share at least."""


def in_own_words(reply: Reply) -> str | None:
    """The option that a clause states in its own words; None for several options or none."""
    drawn = _DRAWN.search(reply.low)
    if len(reply.low) > _LONGEST and not drawn:
        return None
    if reply.asks.for_worst or reply.options.are_labels or not reply.options.text_by_label:
        return None
    if _is_named(reply):
        return None
    for clause in _clauses(reply.low):
        words = _words(clause)
        if words and len(words) <= _MOST_WORDS:
            denied = {*_DENIES.findall(clause)}
            if result := _only_option(words, denied, reply, is_drawn=drawn is not None):
                return result
    return None


def _is_named(reply: Reply) -> bool:
    """Whether the text names an option as it is written, or by its label."""
    if any(text in reply.low for text, _ in reply.options.longest_first):
        return True
    return any(
        label["label"] in reply.options.labels
        and not (label["label"] == "A" and WORD_NEXT.match(reply.text, label.end()))
        and not is_part_of_name(reply.low, label.start("label"))
        for label in LABEL.finditer(reply.text)
    )


def _clauses(low: str) -> Iterator[str]:
    """What the last sentence draws, and the first sentence of a short text."""
    sentences = [part for part in _SENTENCE.split(low) if part.strip()]
    if not sentences:
        return
    drawn = [*_DRAWN.finditer(sentences[-1])]
    if drawn:
        yield sentences[-1][drawn[-1].end() :]
    elif len(low) <= _LONGEST:
        yield sentences[0]


def _words(text: str) -> list[str]:
    for arrow, word in _ARROWS.items():
        text = text.replace(arrow, word)
    return [word for word in _WORD.findall(american(text)) if word not in _SMALL]


def _only_option(words: list[str], denied: set[str], reply: Reply, *, is_drawn: bool) -> str | None:
    """The only option all of whose words are there, or the longest one, or the one of most words.

    What the words deny, the option must deny too.
    """
    options = reply.options.longest_first
    result = _of_all_words(words, reply, is_drawn=is_drawn)
    result = result or (_of_most_words(words, reply) if len(reply.low) <= _SHORT else None)
    own = next((text for text, option in options if option == result), "")
    return result if denied == {*_DENIES.findall(own)} else None


def _of_most_words(words: list[str], reply: Reply) -> str | None:
    """The option of which most words are there, where of each other one fewer of these are."""
    if not reply.options.longest_first:
        return None  # the options have no texts that differ
    found = []
    for text, result in reply.options.longest_first:
        indices = (_index(word, words) for word in _words(text))
        found.append((frozenset(at for at in indices if at is not None), result, {*_words(text)}))
    most, result, own = max(found, key=lambda option: len(option[0]))
    is_enough = len(most) >= _FEWEST and 2 * len(most) >= len(own)
    if not is_enough or not all(indices < most for indices, other, _ in found if other != result):
        return None
    is_other = any(
        OPPOSITES.get(word) in words or (word.isdigit() and word not in words) for word in own
    )
    return None if is_other else result


def _of_all_words(words: list[str], reply: Reply, *, is_drawn: bool) -> str | None:
    texts = [(_words(text), result) for text, result in reply.options.longest_first]
    common = set.intersection(*(set(own) for own, _ in texts)) if texts else set()
    complete: dict[str, frozenset[int]] = {}
    others: list[list[str]] = []
    for whole, result in texts:
        own = [word for word in whole if word not in common]
        found = [index for word in own if (index := _index(word, words)) is not None]
        if own and len(found) == len(own):
            complete[result] = frozenset(found)
        else:
            others.append(own)
    if not complete:
        return None
    result, indices = max(complete.items(), key=lambda item: len(item[1]))
    if any(
        not other <= indices or other == indices
        for option, other in complete.items()
        if option != result
    ):
        return None
    if len(indices) >= _ENOUGH:
        return result
    taken = {words[index] for index in indices}
    rest = [word for word in words if word not in taken]
    is_other = any(_index(word, rest) is not None for own in others for word in own)
    is_short = len(words) <= _FEW and (len(indices) > 1 or is_drawn)
    return result if is_short and not is_other else None


def _index(word: str, words: list[str]) -> int | None:
    """Where words have a word, or a form of it."""
    return next((at for at, other in enumerate(words) if _are_forms(word, other)), None)


def _are_forms(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < _SHORTEST or one[:_SHORTEST] != other[:_SHORTEST]:
        return False
    at = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return bool(_ENDING.fullmatch(one[at:]) and _ENDING.fullmatch(other[at:]))
