"""Spellings of one word or name: British and American, hyphens and blanks, accents, "'s"."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

_STEPS = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"[ao]e", "e"),
        (r"(?<=[a-z]{2})our(?=s?\b|(?:al|ed|ing)\b)", "or"),
        (r"(?<=[a-z]{3})is(?=(?:e[sd]?|ing|ations?)\b)", "iz"),
        (r"(?<=[a-z])ys(?=e[sd]?\b)", "yz"),
        (r"sulph", "sulf"),
        (r"(?<=[a-z][tb])re(?=s?\b)", "er"),
    )
)
_NAMES = {
    "adrenaline": "epinephrine", "noradrenaline": "norepinephrine", "paracetamol": "acetaminophen",
    "salbutamol": "albuterol", "pethidine": "meperidine", "lignocaine": "lidocaine",
    "frusemide": "furosemide", "rifampicin": "rifampin", "ciclosporin": "cyclosporine",
    "cyclosporin": "cyclosporine", "aciclovir": "acyclovir", "cefalexin": "cephalexin",
    "amoxycillin": "amoxicillin", "suxamethonium": "succinylcholine", "thiopentone": "thiopental",
    "isoprenaline": "isoproterenol", "colestyramine": "cholestyramine",
    "glibenclamide": "glyburide", "colecalciferol": "cholecalciferol",
}  # fmt: skip
"""British and international names of drugs, and the American ones."""
_HINT = re.compile(r"[ao]e|our|is[eai]|yse|sulph|[tb]re")
_HINT_OR_NAME = re.compile(rf"{_HINT.pattern}|\b(?:{'|'.join(_NAMES)})\b")
_WORD = re.compile(r"[^\W\d_]{4,40}")
_LONG_WORD = re.compile(r"(?<![\w'-])[^\W\d_]{6,40}(?![\w'-])")
_OWNER = re.compile(r"(?<=\w)'s?(?!\w)|(?<=\w)'(?=\w)")
_NUMERALS = (("1", "i", "one"), ("2", "ii", "two"), ("3", "iii", "three"), ("4", "iv", "four"))
_NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
_NUMBER_FIRST = re.compile(r"[1-9]\d?(?= [a-z]{3})")
_PER = re.compile(r"(?<=\w)/(min|h|hour|day|week|month|year)\b")
_UNITS = {"min": "minute", "h": "hour"}
_SPECIES = re.compile(r"([a-z])[a-z]{4,} ([a-z]{4,})")
_COUNTED = re.compile(r"([^\W\d_]{3,} )(i{1,3}|iv|[1-4]|one|two|three|four)")
_STATED = re.compile(
    r"([^\W\d_][\w -]{3,40}) (present|absent|positive|negative|normal|abnormal|likely|unlikely"
    r"|indicated|needed|required|recommended|confirmed|excluded|elevated|raised|met)"
)
_RANGE = re.compile(r"(?<=\d) ?(?:-|to) ?(?=\d)")
_HYPHEN = re.compile(r"(?<!\d)-|-(?!\d)")
_GAP = re.compile(r"(?<=[^\W\d_])[ -](?=\w)|(?<=\w)[ -](?=[^\W\d_])")
_LONGEST_WORD, _SHORTEST_MISSPELT = 40, 7
_LONGEST, _SHORTEST, _MOST_BLANKS = 120, 4, 5


def american(text: str) -> str:
    """A lower-case text with British spellings as American ones ("anaemia" as "anemia")."""
    if not _HINT_OR_NAME.search(text):
        return text
    return _WORD.sub(lambda match: _american_word(match[0]), text)


@lru_cache(maxsize=8192)
def _american_word(word: str) -> str:
    if word in _NAMES:
        return _NAMES[word]
    for pattern, new in _STEPS:
        word = pattern.sub(new, word)
    return word


def american_where(text: str, low: str, words: frozenset[str]) -> str:
    """The text with those British words as American ones that are among `words` as such.

    `low` is the text in lower case, of equal length.
    """
    parts: list[str] = []
    at = copied = 0
    while hint := _HINT.search(low, at):
        start, end = _word_at(low, hint.start())
        old, new = low[start:end], _american_word(low[start:end])
        at = max(end, hint.end())
        if new != old and new in words and start >= copied:
            parts += [text[copied:start], in_case_of(text[start:end], new)]
            copied = end
    return "".join([*parts, text[copied:]]) if parts else text


def names_of(words: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """The names of drugs that have other, American ones among `words`, with these."""
    return tuple((old, new) for old, new in _NAMES.items() if new in words)


def _word_at(low: str, at: int) -> tuple[int, int]:
    """Where the word around a position begins and ends, as far as it is as long as words are."""
    start, end = at, at
    while start and at - start < _LONGEST_WORD and low[start - 1].isalpha():
        start -= 1
    while end < len(low) and end - at < _LONGEST_WORD and low[end].isalpha():
        end += 1
    return start, end


def misspelt(word: str) -> Iterator[str]:
    """A long word with a slip that makes no other word: a letter twice or once, two exchanged."""
    if len(word) < _SHORTEST_MISSPELT:
        return
    for at in range(1, len(word) - 1):
        yield f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"
        if word[at] == word[at - 1]:
            yield word[:at] + word[at + 1 :]
    for at in range(1, len(word) + 1):
        for letter in {*word[max(0, at - 2) : at + 2]}:
            yield f"{word[:at]}{letter}{word[at:]}"
    if word.endswith("e"):
        yield word[:-1]


def in_case_of(old: str, new: str) -> str:
    """A text that begins with a capital where another one does."""
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


@lru_cache(maxsize=1024)
def misspelt_of(words: frozenset[str]) -> dict[str, str]:
    """The words by how they are misspelt; without what two of them are."""
    found = [(other, word) for word in words for other in {*misspelt(word)}]
    times = Counter(other for other, _ in found)
    return {other: word for other, word in found if other not in words and times[other] == 1}


def mended(text: str, words: frozenset[str]) -> str:
    """The text with those of its words that are misspelt among `words` as they are spelled."""
    if not (others := misspelt_of(words)):
        return text

    def own(match: re.Match[str]) -> str:
        word = others.get(match[0].lower())
        return in_case_of(match[0], word) if word else match[0]

    return _LONG_WORD.sub(own, text)


@lru_cache(maxsize=1024)
def words_of(texts: tuple[str, ...]) -> frozenset[str]:
    """The words of texts that are long enough to be spelled in two ways."""
    return frozenset(word for text in texts for word in _WORD.findall(text))


def key(text: str) -> str:
    """A lower-case text without accents, hyphens, blanks between words, and "'s".

    Blanks and hyphens between digits stay, so that "1-2" is not "12".
    """
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return _GAP.sub("", _OWNER.sub("", _RANGE.sub("-", american(text))))


def plainer(text: str) -> Iterator[str]:
    """How else a lower-case text may be written: without hyphens, "'s", accents; "1 to 2"."""
    if not _SHORTEST <= len(text) <= _LONGEST:
        return
    if "-" in text:
        yield from (_HYPHEN.sub(other, text) for other in (" ", ""))
        if (range_ := _RANGE.sub("-", text)) and range_[0].isdigit():
            yield from (_RANGE.sub(other, text) for other in (" to ", " up to ", " through "))
            yield f"between {_RANGE.sub(' and ', text)}"
    if "'s " in text:
        yield text.replace("'s ", " ")
        yield text.replace("'s ", "s ")
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        yield "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def other_forms(text: str) -> Iterator[str]:
    """A lower-case text as "n. gonorrhoeae", "type 2" for "type ii", "fever is present"."""
    if name := _SPECIES.fullmatch(text):
        yield f"{name[1]}. {name[2]}"
    if counted := _COUNTED.fullmatch(text):
        others = next(forms for forms in _NUMERALS if counted[2] in forms)
        yield from (f"{counted[1]}{other}" for other in others if other != counted[2])
    if (number := _NUMBER_FIRST.match(text)) and int(number[0]) < len(_NUMBER_WORDS):
        yield f"{_NUMBER_WORDS[int(number[0])]}{text[number.end() :]}"
    if per := _PER.search(text):
        yield f"{text[: per.start()]} per {_UNITS.get(per[1], per[1])}{text[per.end() :]}"
    if stated := _STATED.fullmatch(text):
        yield from (f"{stated[1]} {be} {stated[2]}" for be in ("is", "was", "are", "were"))


def marked(text: str) -> Iterator[str]:
    """The same with a hyphen more, or with "'s"."""
    blanks = [at for at, sign in enumerate(text) if sign == " "]
    for at in blanks if len(text) <= _LONGEST and len(blanks) <= _MOST_BLANKS else ():
        yield f"{text[:at]}-{text[at + 1 :]}"
        if text[at - 1].isalpha() and text[at - 1] != "s":
            yield f"{text[:at]}'s{text[at:]}"
