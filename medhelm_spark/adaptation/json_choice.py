"""The option that the JSON objects of a text choose.

A member is the choice if its name asks for it: `answer`, `final_answer`, `selected_option`, and
not `initial_answer` or `rejected_option`. An object whose names are the options (`{"A": false,
"B": true}`) chooses the only option that is marked as right, or the most probable one. Where
neither is there, the only member counts whose name is what the question asks for.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from medhelm_spark.adaptation.answer_patterns import CORRECTED
from medhelm_spark.adaptation.json_fields import as_text, loose_values, without_examples
from medhelm_spark.adaptation.json_marks import (
    CALLED,
    is_judged,
    marks_all,
    marks_of,
    marks_of_list,
    only_right,
)
from medhelm_spark.adaptation.json_names import EXPLAINING, FORM, rank_of, words_of
from medhelm_spark.adaptation.options import Options, option_text
from medhelm_spark.json_text import objects

_TEXT = frozenset({"text", "value"})

_OF_ALL = re.compile(
    r"(?:option|choice|answer|probabilit|score|confid|likelihood|distribution|evaluat|analys"
    r"|assess|verdict|differential|judg|result|candidate)\w*"
)
_WRAPPING = re.compile(r"choices|answers|results?|predictions?|outputs?|responses?|data")
_OTHER = re.compile(
    r"wrong|incorrect|reject|exclu|elimin|ruled|alternativ|other|second|previous|runner|initial"
    r"|distract|worst|least|avoid|contraind|example"
)
_PREDICATE = re.compile(
    r"(?:is|are|does|do|has|have|can|should|needs?|requires?)_.+"
    r"|.+_(?:needed|required|indicated|present|met)"
)


_ASKED_ABOUT = re.compile(r"question|stem|prompt|topic|compar|versus")
_DENYING = re.compile(r"\W*(?:incorrect|wrong|false|rejected|excluded|not? \w+)\b", re.I)
_LIST_BEGUN = re.compile(r"\[\s{0,80}\{\s{0,80}[\"']")

_WORDS = frozenset({"yes", "no", "maybe", "true", "false"})

_LONGEST_VALUE = 4_000
_MOST_DEEP = 20


@dataclass(frozen=True, slots=True)
class JsonChoice:
    """What the JSON of a text chooses (`result`), and the text that is left to be read as prose."""

    result: str | None
    prose: str


@dataclass(frozen=True, slots=True)
class _Claim:
    """A value that may be the choice: how surely its name asks for it, and its position."""

    rank: int
    at: int
    value: Any


def choice_in(
    text: str, options: Options, question: str, read: Callable[[str], str | None]
) -> JsonChoice:
    """The option that the JSON objects of a text choose; `read` reads a value in words."""
    parsed = objects(text)
    listed = [value for _, _, value in parsed]
    if len(parsed) > 1 and (marks := marks_of_list(listed, options)):
        return JsonChoice(only_right(marks), _outside(text, []))
    claims = [claim for at, _, value in parsed for claim in _claims(value, at, options)]
    if not parsed and not _LIST_BEGUN.search(text):
        loose = ((rank_of(name), at, value) for at, name, value in loose_values(text))
        claims = [_Claim(rank, at, value) for rank, at, value in loose if rank]
    if len(parsed) == 1 and _repeats(text, listed[0]) and _says_twice(text, options, read):
        return JsonChoice(None, "")
    if any(_names_two(value, options, read) for value in listed) and not CORRECTED.search(
        _outside(text, []).lower()
    ):
        return JsonChoice(None, "")
    if (best := _best(text, claims, options, read)) is not None:
        return JsonChoice(best or None, "")
    if not claims and (result := _unasked(text, listed, options)):
        return JsonChoice(result, "")
    if not parsed:
        return JsonChoice(None, text)
    if claims:
        return JsonChoice(None, _outside(text, []))
    if len(parsed) == 1 and (result := _only_member(listed[0], options, question)):
        return JsonChoice(result, "")
    return JsonChoice(
        None, _outside(text, [part for value in listed for part in _sentences(value)])
    )


def _repeats(text: str, value: Any) -> bool:
    """Whether a name occurs twice in the text of an object that contains no other object."""
    is_flat = isinstance(value, dict) and text.count("{") == 1
    return is_flat and any(text.count(f'"{name}"') > 1 for name in value)


def _says_twice(text: str, options: Options, read: Callable[[str], str | None]) -> bool:
    """Whether one object has two members of the same name that asks for the choice, and differ."""
    values: dict[str, set[str | None]] = {}
    for _, name, value in loose_values(text):
        if rank_of(name):
            values.setdefault(name, set()).add(value)
    return any(
        len({result for value in several if value and (result := read(value))}) > 1
        for several in values.values()
        if len(several) > 1
    )


def _names_two(value: Any, options: Options, read: Callable[[str], str | None]) -> bool:
    """Whether an object's letter and its text of the answer name different options."""
    if isinstance(value, list):
        return any(_names_two(inner, options, read) for inner in value)
    if not isinstance(value, dict) or not options.labels:
        return False
    of_text = [name for name in value if _TEXT & set(words_of(name)) and rank_of(name)]
    for name in of_text:
        kind = set(words_of(name)) - FORM
        beside = [
            as_text(other)
            for key, other in value.items()
            if key not in of_text and rank_of(key) and set(words_of(key)) - FORM == kind
        ]
        own = options.whole(as_text(value[name]) or "")
        if own and any(other_text and (read(other_text) or own) != own for other_text in beside):
            return True
    return _contradicts(value, options) or any(
        _names_two(inner, options, read) for inner in value.values()
    )


def _contradicts(value: dict[str, Any], options: Options) -> bool:
    """Whether an object's letter is one option's, and another member is another option's text."""
    by_label = {
        options.labels[letter]
        for name, inner in value.items()
        if rank_of(name)
        and isinstance(inner, str)
        and (letter := inner.strip(" .()").upper()) in options.labels
    }
    by_text = {
        result
        for name, inner in value.items()
        if isinstance(inner, str)
        and not _OTHER.search(name.lower())
        and not _ASKED_ABOUT.search(name.lower())
        and CALLED.sub("", name).strip(" .()").upper() not in options.labels
        and inner.strip(" .()").upper() not in options.labels
        and (result := options.texts.get(option_text(inner)))
    }
    is_list = by_text == {*options.labels.values()}
    return len(by_label) == 1 and bool(by_text - by_label) and not is_list


def _only_class(text: str, options: Options) -> str | None:
    """The class that is the value of the only member with a class; not a yes or a no."""
    found = {
        (name, result)
        for _, name, value in loose_values(text)
        if value.lower() not in _WORDS
        and (result := options.whole(value))
        and not _OTHER.search(name.lower())
        and not EXPLAINING.search(name.lower())
    }
    return found.pop()[1] if len(found) == 1 else None


def _unasked(text: str, listed: list[Any], options: Options) -> str | None:
    """The option of members whose names do not ask for one."""
    if not options.labels:
        return _only_class(text, options)
    return _label_and_text(listed[0], options) if len(listed) == 1 else None


def _label_and_text(value: Any, options: Options) -> str | None:
    """The option whose label and text two members are: `{"category": 2, "category_name": "Late"}`.

    The longer name begins with the other one, and no other member is an option's text.
    """
    members = value.items() if isinstance(value, dict) else ()
    texts = {name: as_text(inner) or "" for name, inner in members}
    named = [
        (name, it) for name, text in texts.items() if (it := options.texts.get(option_text(text)))
    ]
    if len(named) != 1 or _OTHER.search(named[0][0].lower()):
        return None
    of_text, result = named[0]
    beside = [
        text
        for name, text in texts.items()
        if name != of_text and name and of_text.startswith(name)
    ]
    return result if [options.labels.get(text.upper()) for text in beside] == [result] else None


def _best(
    text: str, claims: list[_Claim], options: Options, read: Callable[[str], str | None]
) -> str | None:
    """What the values name whose name asks most surely, and that can be read; "" where they differ.

    The last one counts only where the words between them take the others back.
    """
    for rank in sorted({claim.rank for claim in claims}, reverse=True):
        ranked = [
            (claim.at, result)
            for claim in claims
            if claim.rank == rank and (result := read_json(claim.value, options, read))
        ]
        if results := without_examples(text, ranked):
            last = max(at for at, result in ranked if result == results[-1])
            is_one = len(set(results)) == 1 or CORRECTED.search(_outside(text[:last], []).lower())
            return results[-1] if is_one else ""
    return None


def read_json(value: Any, options: Options, read: Callable[[str], str | None]) -> str | None:
    """The option that a JSON value under a name that asks for the choice names."""
    if isinstance(value, dict):
        if marks := marks_of(value, options):
            return only_right(marks)
        ranked = sorted(
            ((rank, inner) for name, inner in value.items() if (rank := rank_of(name))),
            key=lambda pair: -pair[0],
        )
        for _, inner in ranked:
            if result := read_json(inner, options, read):
                return result
        return _agreed([read_json(inner, options, read) for inner in value.values()])
    if isinstance(value, list):
        if marks := marks_of_list(value, options):
            return only_right(marks)
        return _agreed([read_json(inner, options, read) for inner in value])
    in_words = as_text(value)
    return read(in_words) if in_words and len(in_words) < _LONGEST_VALUE else None


def _agreed(results: list[str | None]) -> str | None:
    named = {result for result in results if result}
    return named.pop() if len(named) == 1 else None


def _claims(value: Any, at: int, options: Options, name: str = "", deep: int = 0) -> list[_Claim]:
    """The members of an object, and of the objects in it, that may be the choice."""
    if isinstance(value, list) and len(value) == 1 and _WRAPPING.fullmatch(name):
        inner = _claims(value[0], at, options, name, deep + 1)
        if inner and not _is_denying(value[0]):
            return inner
    if isinstance(value, list) and marks_of_list(value, options) and _OF_ALL.fullmatch(name):
        return [_Claim(1, at, value)]
    if not isinstance(value, dict) or deep > _MOST_DEEP:
        return []
    if is_judged(value):
        return [_Claim(1, at, [value])]
    is_of_all = not name or _OF_ALL.fullmatch(name) or marks_all(value, options)
    if marks_of(value, options) and is_of_all:
        return [_Claim(1, at, value)]
    claims = []
    for key, inner in value.items():
        if inner is not None and (rank := rank_of(key)):
            claims.append(_Claim(rank, at, inner))
        if not _OTHER.search(key.lower()):
            claims += _claims(inner, at, options, "_".join(words_of(key)), deep + 1)
    return claims


def _is_denying(value: Any) -> bool:
    """Whether a member of an object says that its value is wrong."""
    return isinstance(value, dict) and any(
        inner is False or (isinstance(inner, str) and _DENYING.match(inner))
        for inner in value.values()
    )


def _only_member(value: Any, options: Options, question: str) -> str | None:
    """The option that an object's only member is, apart from what explains it.

    Its name must state the question: a predicate (`is_urgent`), or words of the question.
    """
    if not isinstance(value, dict):
        return None
    members = [
        (name, as_text(inner))
        for name, inner in value.items()
        if not EXPLAINING.search(name.lower())
    ]
    if len(members) != 1 or (in_words := members[0][1]) is None:
        return None
    words = words_of(members[0][0])
    is_asked = bool(words) and all(word in words_of(question) for word in words)
    is_predicate = _PREDICATE.fullmatch("_".join(words)) and not options.labels
    return options.whole(in_words) if is_asked or is_predicate else None


def _sentences(value: Any, name: str = "", deep: int = 0) -> Iterator[str]:
    """The sentences of an object that has no member for the choice."""
    if isinstance(value, dict) and deep < _MOST_DEEP:
        for key, inner in value.items():
            yield from _sentences(inner, key, deep + 1)
    elif isinstance(value, str) and " " in value.strip() and EXPLAINING.search(name.lower()):
        yield value


def _outside(text: str, sentences: list[str]) -> str:
    """The text without its objects, followed by the sentences in them."""
    parts, at = [], 0
    for start, end, _ in objects(text):
        parts += [text[at:start], "\n\n"]
        at = end
    return "".join([*parts, text[at:], *(f"\n\n{part}" for part in sentences)])
