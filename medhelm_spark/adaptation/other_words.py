"""A short text that is one option in other words: "Radial" for "Radial nerve", "drain abscess"."""

import re

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.options import Options, option_text
from medhelm_spark.adaptation.spelling import key
from medhelm_spark.adaptation.words import any_of

_WORD = re.compile(r"[^\W_](?:[\w'/%.,+-]*[\w%+])?")
_SMALL = frozenset(
    {
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "with", "by", "and", "or", "is",
        "are", "be", "as", "its", "this", "that", "one", "it",
    }
)  # fmt: skip
"""Words that tell no option from another."""
_STATED = re.compile(
    r"\A(?:(?:(?:the )?(?:(?:correct|best|right|most likely|likely|final) )?"
    r"(?:answer|diagnosis|choice|option|drug|treatment|cause|finding)|it|this|that)"
    r"(?: is|'s| would be)|(?:i(?:'d| would)? (?:think|guess|say|choose|pick)))(?: (?:it is|it's))?"
    r"(?: (?:most likely|likely|probably|an?|the))* |\A(?:most likely|likely|probably|possibly) "
)
_BARRED = re.compile(
    rf"\b(?:{any_of('absent')}|{any_of('deny')}|{any_of('wrong')}|{any_of('worst')}"
    rf"|{any_of('harmful')})\b|"
    r"\b(?:not?|non|never|neither|nor|none|without|except|but|or|vs|versus|and|than|rather|instead"
    r"|unlikely|less|least|exclu\w+|rule\w*|avoid\w*|stop\w*|contraindicated|wrong|false|incorrect"
    r"|is|are|was|were|be|would|could|should|may|might|must|can|will|has|have|had|do|does|did|if"
    r"|unless|until|when|after|before|for|with|in|on|from|to|of|as|by|at|his|her|their|no|you|i|we"
    r"|please|help|arguments?|discussion|overview|analysis|option|answer|\w{3,}ly|borderline|almost|somewhat|quite)\b|n't\b|[?:|]"
)
_JOINS = re.compile(r"[,;+/&]|\b(?:and|or|with|plus|not?|non|never|without|except|either|both)\b")
_MOST_WORDS, _MOST_ADDED, _MOST_STATED, _SHORTEST = 8, 2, 6, 2


def in_other_words(text: str, options: Options) -> str | None:
    """The option that a short text is, where it says no more than the option and a word or two."""
    is_long = len(text) > options.longest + 60 or text.count(" ") > _MOST_WORDS + _MOST_STATED
    if is_long or "\n" in text.strip():
        return None
    bare = option_text(patterns.LEAD.sub("", text.strip(" \n.!\"'()[]"))).strip(" .!\"'()[]")
    if result := options.by_key.get(key(bare)) or _alike(bare, options):
        return result
    stated = _STATED.match(bare)
    said = bare[stated.end() :] if stated else ""
    return (options.by_key.get(key(said)) or _alike(said, options)) if said else None


def _alike(said: str, options: Options) -> str | None:
    words = _WORD.findall(said)
    if not words or len(words) > _MOST_WORDS or patterns.SENTENCE.search(said):
        return None
    if any(word.upper() in options.labels for word in words):
        return None  # "A. heparin" names two options, or a word of its own
    return _with_more(said, options) or _with_fewer(words, options)


def _with_more(said: str, options: Options) -> str | None:
    """The only option whose text stands in what is said, with a word or two beside it."""
    said = f" {' '.join(said.split())} "
    held = [text for text, _ in options.longest_first if f" {text} " in said]
    if not held:
        return _with_words_between(said.split(), options)
    held = [text for text in held if not any(text in other for other in held if other != text)]
    if len(held) != 1 or len(held[0]) <= _SHORTEST or held[0] in _WORDS:
        return None
    rest = said.replace(f" {held[0]} ", " ", 1)
    added = _WORD.findall(rest)
    is_more = 0 < len(added) <= _MOST_ADDED and not _BARRED.search(rest)
    return options.texts[held[0]] if is_more else None


def _with_words_between(words: list[str], options: Options) -> str | None:
    """The only option of two words or more whose words all stand there, in order, with one more."""
    found = [
        result
        for text, result in options.longest_first
        if len(own := text.split()) == len(words) - 1 > 1 and _is_within(own, words)
    ]
    is_barred = _BARRED.search(" ".join(words)) is not None
    return found[0] if len(found) == 1 and not is_barred else None


def _is_within(own: list[str], words: list[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in own)


def _with_fewer(words: list[str], options: Options) -> str | None:
    """The only option that has all words of what is said, and does not join several things."""
    telling = _parts(words) - _SMALL
    is_word = not telling or max(map(len, telling)) < _SHORTEST or _WORDS & telling
    if is_word or (_BARRED.search(" ".join(words)) and words != ["none"]):
        return None
    holding = [text for text, _ in options.longest_first if telling <= _parts(_WORD.findall(text))]
    if len(holding) != 1:
        return None
    left_out = " ".join(_parts(_WORD.findall(holding[0])) - telling)
    is_part = "," in holding[0] or _JOINS.search(left_out)
    return None if is_part else options.texts[holding[0]]


def _parts(words: list[str]) -> set[str]:
    """Words without "'s", and the parts of those with hyphens."""
    return {part for word in words for part in word.removesuffix("'s").split("-")}


_WORDS = frozenset({"yes", "no", "maybe", "true", "false"})
