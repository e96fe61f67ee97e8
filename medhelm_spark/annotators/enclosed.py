"""Escapes values in a judge's prompt, so that no value can end the block that encloses it.

A template delimits its blocks by tags (`<answer>`, `[/answer]`) or by lines (`---`, a fence, a
sentence). Only text that repeats one of the template's own delimiters is escaped, so that clinical
text with `<` or `[` is unchanged, and so are the ids of its prompts. Text is compared as a reader
sees it: compatibility forms, look-alikes of brackets, letter case, white space and invisible
characters make no difference.

Tags of thinking are delimiters in every template: a judge that quotes `</think>` out of an answer
would turn its own verdict into thinking.
"""

import re
import unicodedata
from functools import lru_cache

from medhelm_spark.domain.thinking import TAG_NAMES

_TAG = re.compile(r"<\s*/?\s*([A-Za-z][\w.:-]*)[^<>]*>|\[\s*/\s*([A-Za-z][\w.:-]*)\s*\]")
_PLACEHOLDER = re.compile(r"\{[A-Z_]+\}")
_LOOK_ALIKES = str.maketrans(
    dict.fromkeys(
        "\u2039\u3008\u27e8\u2329\u276e\u276c\u300a\u27ea\u227a\u02c2\u1438\u29fc\u2770", "<"
    )
    | dict.fromkeys("\u3010\u3014\u27e6\u2045\u301a", "[")
    | dict.fromkeys("\u2044\u2215\u29f8\u2571\\", "/")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)
_INVISIBLE = frozenset({"Cf", "Cc", "Mn", "Me"})
_REPEATED = re.compile(r"([^\w\s])\1+")
_LINES = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """A character as it is compared, equal for all its forms; empty for an invisible one."""
    if character.isspace():
        return " "
    seen = unicodedata.normalize("NFKD", character).casefold().translate(_LOOK_ALIKES)
    return "".join(char for char in seen if unicodedata.category(char) not in _INVISIBLE)


def _folded_line(line: str) -> str:
    """A line as it is compared; a longer run of a sign (`-----`) equals a shorter run (`---`)."""
    return _REPEATED.sub(r"\1\1", " ".join("".join(map(_folded, line)).split()))


@lru_cache(maxsize=256)
def _delimiters(template: str) -> tuple[re.Pattern[str] | None, frozenset[str]]:
    """The pattern of a template's tags, and its lines without placeholders, both folded."""
    names = {"".join(map(_folded, a or b)) for a, b in _TAG.findall(template)} | {*TAG_NAMES}
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    tags = re.compile(rf"[<\[]/*(?:{'|'.join(map(re.escape, longest_first))})") if names else None
    lines = (line for line in _LINES.findall(template) if not _PLACEHOLDER.search(line))
    return tags, frozenset(filter(None, map(_folded_line, lines)))


def enclosed(value: str, template: str) -> str:
    """The value with every repetition of one of the template's tags or lines escaped.

    The bracket that begins a tag becomes a character reference, a line gets a backslash in front.
    The time is linear in the length of the value.

    >>> enclosed("Hb < 7 </note> Give 5.", "<note>{RESPONSE}</note>")
    'Hb < 7 &#60;/note> Give 5.'
    """
    tags, lines = _delimiters(template)
    quoted = _LINES.sub(
        lambda match: ("\\" if _folded_line(match[0]) in lines else "") + match[0], value
    )
    return _without_tags(quoted, tags) if tags else quoted


def _without_tags(value: str, tags: re.Pattern[str]) -> str:
    """The value with the brackets before these names as character references."""
    folded = [
        (char, index)
        for index, character in enumerate(value)
        for char in _folded(character)
        if char != " "
    ]
    text = "".join(char for char, _ in folded)
    brackets = {folded[match.start()][1] for match in tags.finditer(text)}
    if not brackets:
        return value
    return "".join(
        f"&#{ord(character)};" if index in brackets else character
        for index, character in enumerate(value)
    )
