"""Which option is named at a position of a text, by its label or by its text.

A label is a letter or digit by itself: `(B)`, `B.`, `B because`. A single letter also is an
article (`A patient`), a pronoun (`I think`), a genus (`E. coli`), a type (`B cells`): it counts
only where what follows makes it a label. An option's text after its label belongs to the label,
whatever it says (`B. no`, `C. None of the above`).
"""

import re
from dataclasses import dataclass

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.options import Options

_FILLER = re.compile(
    rf"(?:[\s\"'(\[{{:=-]|\.\.+|(?:{patterns.FILLER})(?!\w)){{0,60}}", re.IGNORECASE
)
_LABEL = re.compile(
    r"(?P<open>[(\[{\"'<]{0,4})(?P<label>[^\W_])(?![a-zA-Z0-9_\u00c0-\u052f])"
    r"(?P<close>[)\]}\"'>]{0,4})"
)
_COPULA = r"です|だ(?!っ)|である|と(?:な|考|思)|にな|입니다|이다"
_TERMINAL = re.compile(
    r"[ \t]?(?:\Z|[\n,;:!?/&+|()\]}<…]|\.(?![\d-]|\s?[a-z])|[-–—]\s|\s[-–—]"
    r"|\s[iI] (?:think|believe|guess|suppose)\b"
    rf"|\s(?:है|होगा|सही|ş[ıi]kk[ıi]|seçeneği)|[。、】」]|{_COPULA}|が|번|选项|项|是|正|而|,|。)"
)
_ENDED_BY = re.compile(_COPULA)
_MARKER = re.compile(
    rf"\b(?:{patterns.OPTION}|except(?: for)?)\s[\"'(\[]{{0,4}}\Z|选项\Z", re.IGNORECASE
)
_WORDLIKE = frozenset("AI")
_WORD = re.compile(r"[^\W\d_]{3,}")
_DELIMITER = re.compile(r"[)\]\"'}>]{0,4}[ \t]{0,4}[.):,=–—-]{0,3}[ \t]{0,4}[\"'(\[]{0,3}")
_OPENING = re.compile(r"[ \"'(\[:]{0,8}(?:(?:the|an?) )?[\"'(\[]{0,3}")
_ENDS = re.compile(r"[ \t\"')\]]{0,8}(?:\Z|[.\n,;])")
_AND = re.compile(
    rf"[ \t]?(?:(?:\.\.+|[–—])[ \t]?)?(?:,?[ \t]?(?:\b(?:{patterns.AND})\b| (?:[yoeui]|of|en) )"
    r"|[,/&+|]"
    rf"|,? \((?=or\b)"
    r"|[和或与と、]|या|और)[ \t]?(?:(?:or else|or|alternatively|else|so is|then)[ \t])?"
    r"(?:(?:also|both|option|choice|possibly|maybe|perhaps)[ \t](?=\S{1,3}(?:\W|\Z)))?"
)
_OR = re.compile(r"\b(?:or|oder|ou|o|u|of|eller|lub|albo)\b|/|या")
_NOR = re.compile(r"[ \t]?,?[ \t]?\bnor\b(?: is| it'?s?)?[ \t]")
_BARE_OF_LIST = re.compile(r"[A-Z](?= (?:n?or|and) [A-Z]\b)")
_MOST, _MOST_LISTED = 4, 10
_BRACKETED = re.compile(r"[ \t]?\(([^\W_])\)")
_VERB = re.compile(
    r"[)\]\"']{0,4}[ \t](?:is|(?P<plural>are|were|have|do|\w+ both)|was|would|has|can|could|may"
    r"|does|should|might|not|es|est|ist|[a-z]{3,}(?:s|ed))\b"
)


@dataclass(frozen=True, slots=True)
class NamedOption:
    """The `result` of the option named from `start` to `end`; None where several are named.

    `is_text`: it is named by its text, alone or after its label.
    """

    result: str | None
    start: int
    end: int
    is_text: bool = False


def named_at(text: str, low: str, at: int, options: Options) -> NamedOption | None:
    """The option that `text` names at a position; `low` is the text in lower case.

    None where nothing is named; a result of None where several options are (`A or B`), or where a
    label is followed by another option's text.
    """
    start = _skip_filler(text, at)
    named = _text_at(low, start, options) or _label_at(text, low, start, options)
    if named is None and (article := low.rfind(" ", at, max(at, start - 1))) >= 0:
        named = _text_at(low, article + 1, options)  # "le béribéri", where the option's text has it
    if named is None or named.result is None:
        return named
    return _unless_joined(text, low, named, options)


def listed_at(text: str, low: str, at: int, options: Options) -> list[NamedOption]:
    """The options that are named at a position one after another: "A, B and C"."""
    end = _skip_filler(text, at)
    listed: list[NamedOption] = []
    while len(listed) < _MOST_LISTED:
        named = _text_at(low, end, options, is_listed=bool(listed))
        named = named or _label_at(text, low, end, options)
        bare = _BARE_OF_LIST.match(text, end) if named is None else None
        if bare and (result := options.labels.get(bare[0])):
            named = NamedOption(result, *bare.span())
        if named is None or named.result is None:
            break
        listed.append(named)
        joined = _NOR.match(low, named.end) or _AND.match(low, named.end)
        if joined is None:
            break
        end = _skip_filler(text, joined.end())
    return listed


def _skip_filler(text: str, at: int) -> int:
    match = _FILLER.match(text, at)
    end = match.end() if match else at
    while end > at and text[end - 1] in "(['\"{":  # brackets belong to what they enclose
        end -= 1
    return end


def _begin(low: str, at: int) -> int:
    opening = _OPENING.match(low, at)
    return opening.end() if opening else at


def _ends_word(low: str, end: int) -> bool:
    """Whether no word goes on at `end`; a hyphenated word is one word."""
    if _ENDED_BY.match(low, end):
        return True
    is_inside = low[end : end + 1].isalnum() and low[end - 1 : end].isalnum()
    return not is_inside and not patterns.HYPHENATED.match(low, end)


def _text_at(low: str, at: int, options: Options, *, is_listed: bool = False) -> NamedOption | None:
    """The option whose text is at a position; in a list ("yes or no") "no" is no determiner."""
    at = _begin(low, at)
    for text, result in options.longest_first:
        end = at + len(text)
        if low.startswith(text, at) and _ends_word(low, end):
            if text == "no" and not is_listed and not patterns.NO_ALONE.match(low, end):
                continue  # a determiner: "no evidence"
            return NamedOption(result, at, end, is_text=True)
    return None


def _label_at(text: str, low: str, at: int, options: Options) -> NamedOption | None:
    match = _LABEL.match(text, at)
    if match is None or match["label"].upper() not in options.labels:
        return None
    label, start, end = match["label"].upper(), match.start(), match.end()
    result = options.labels[label]
    delimiter = _DELIMITER.match(low, match.end("label"))
    after_label = delimiter.end() if delimiter else end
    option, begin = options.text_by_label.get(label, ""), _begin(low, after_label)
    if option.upper() in options.labels and "," in low[match.end("label") : begin]:
        option = ""  # "A, B": a list of labels
    if option and low.startswith(option, begin) and _ends_word(low, begin + len(option)):
        return NamedOption(result, start, begin + len(option), is_text=True)
    other = _text_at(low, after_label, options)
    if other and other.result != result and _ENDS.match(low, other.end):
        return NamedOption(None, start, other.end)
    if delimiter and delimiter[0].strip() and option:
        word = _WORD.match(low, begin)
        if word and word[0] in option.split():  # the option's text in other words
            return NamedOption(result, start, end)
    return NamedOption(result, start, end) if _is_label(text, match) else None


def _is_label(text: str, match: re.Match[str]) -> bool:
    label, end = match["label"], match.end()
    if match["close"][:1] in (")", "]", "}") or (match["open"] and match["close"]):
        return True
    if _TERMINAL.match(text, end):
        before = text[max(0, match.start() - 8) : match.start()].strip()
        return not (label == "a" and end == len(text) and before[-1:] != ":")  # an article
    if label.islower():
        is_begun = not text[: match.start()].strip() and patterns.LABEL_IS_RIGHT.match(text, end)
        is_called = _is_called(text, match) and patterns.VERDICT_NEXT.match(text, end)
        return bool(is_begun or is_called)
    if _is_called(text, match):
        return True
    connective = patterns.SURE_CONNECTIVE if label in _WORDLIKE else patterns.CONNECTIVE
    return connective.match(text, end) is not None


def _is_called(text: str, match: re.Match[str]) -> bool:
    """Whether a word for options is before the label: "option b"."""
    return _MARKER.search(text, max(0, match.start() - 16), match.start("label")) is not None


def _unless_joined(text: str, low: str, named: NamedOption, options: Options) -> NamedOption:
    """`named`, with a result of None where another option is joined to it ("A and B", "A (B)").

    Other options that begin a clause of their own ("B, and A is wrong") do not count.
    """
    end, number, is_other, is_or = named.end, 0, False, False
    if bracketed := _BRACKETED.match(text, end):
        is_other = options.labels.get(bracketed[1].upper(), named.result) != named.result
    while number < _MOST and (joined := _AND.match(low, end)):
        at = joined.end()
        either = _OR.search(joined[0]) is not None
        other = _text_at(low, at, options, is_listed=either) or _label_at(text, low, at, options)
        if other is None:
            break
        is_other = is_other or other.result != named.result
        end, number, is_or = other.end, number + 1, is_or or either
    verb = _VERB.match(low, end) if number == 1 else None
    is_clause = verb and not verb["plural"] and not is_or
    return NamedOption(None, named.start, end) if is_other and not is_clause else named
