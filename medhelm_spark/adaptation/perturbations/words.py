"""Replaces whole words and phrases in text; the new word gets the case of the old one.

No function builds a regular expression from the text: clinical text may contain any character.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from medhelm_spark.domain.plan import WordList

WORD = re.compile(r"\w+(?:['’]\w+)*")
SUFFIXES = ("'s", "'ll", "'d", "'ve")
# A phrase must not be followed by a letter, a digit or a contraction other than these endings.
END = re.compile(r"(?:'(?:s|ll|d|ve))?(?!\w|'\w)")
SENTENCE_END = ".!?\n"

Index = Mapping[str, tuple[str, ...]]
Choose = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Words:
    """A word list as an index: its phrases by first word, the longest first, and the replacements.

    Phrases match in any case unless `exact`.
    """

    index: Index
    others: WordList
    exact: bool = False


def indexed(words: WordList, *, exact: bool = False) -> Words:
    """The index of a word list, for `replace_words`.

    >>> indexed({"chest pain": ("CP",), "Chest": ("thorax",)}).index
    {'chest': ('chest pain', 'chest')}
    """
    others = {(phrase if exact else phrase.lower()): new for phrase, new in words.items()}
    by_first_word: dict[str, list[str]] = {}
    for phrase in others:
        if first := WORD.match(phrase):
            by_first_word.setdefault(first[0], []).append(phrase)
    index = {
        word: tuple(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))
        for word, phrases in by_first_word.items()
    }
    return Words(index, others, exact)


def inverted(words: WordList) -> dict[str, tuple[str, ...]]:
    """Map each replacement to its phrase; leave out a replacement that several phrases share.

    >>> inverted({"do not": ("don't",), "he is": ("he's",), "he has": ("he's",)})
    {"don't": ('do not',)}
    """
    phrases: dict[str, list[str]] = {}
    for phrase, others in words.items():
        for other in others:
            phrases.setdefault(other, []).append(phrase)
    return {other: tuple(owners) for other, owners in phrases.items() if len(owners) == 1}


def replace_words(text: str, words: Words, choose: Choose) -> str:
    """Replace each phrase of the list by the text that `choose` returns; None keeps the phrase.

    A phrase matches whole words. If several phrases match at one word, the longest counts. A
    possessive or contracted word is its stem and an ending: `Anna's` contains `Anna`.

    >>> replace_words("He's here, then.", indexed({"he": ("she",)}), {"he": "she"}.get)
    "She's here, then."
    """
    parts: list[str] = []
    done = 0
    for at, phrase in find(text, words):
        target = choose(phrase) if at >= done else None
        if target is not None:
            end = at + len(phrase)
            parts += (text[done:at], target if words.exact else like(text[at:end], target))
            done = end
    return "".join((*parts, text[done:])) if parts else text


def find(text: str, words: Words) -> Iterator[tuple[int, str]]:
    """Position and phrase of every match of the list, in order; matches may overlap."""
    plain = text.replace("’", "'")
    if not words.exact:
        lower = plain.lower()
        plain = (
            lower if len(lower) == len(plain) else plain
        )  # a few letters become two in lower case
    for match in WORD.finditer(plain):
        at = match.start()
        for phrase in words.index.get(match[0]) or words.index.get(_stem(match[0])) or ():
            if plain.startswith(phrase, at) and END.match(plain, at + len(phrase)):
                yield at, phrase
                break


def _stem(word: str) -> str:
    if "'" not in word:
        return word
    return next((word.removesuffix(end) for end in SUFFIXES if word.endswith(end)), word)


def like(source: str, target: str) -> str:
    """The target in the case of the source; a target with capitals of its own keeps them.

    >>> like("Father", "mother"), like("FATHER", "mother"), like("hypertension", "HTN")
    ('Mother', 'MOTHER', 'HTN')
    """
    if sum(map(str.isalpha, source)) > 1 and source.isupper():
        return target.upper()
    if source[:1].isupper():
        return target[:1].upper() + target[1:]
    return target


def begins_sentence(text: str, at: int) -> bool:
    """Whether a sentence begins at this position.

    >>> begins_sentence("No pain. HTN since 2010.", 9), begins_sentence("has HTN", 4)
    (True, False)
    """
    before = text[:at].rstrip(" \t")
    return not before or before[-1] in SENTENCE_END


def holds_any(texts: Iterable[str], words: Words) -> bool:
    """Whether one of the texts contains a phrase of the list."""
    return any(next(find(text, words), None) for text in texts)
