"""Options that are made of the same parts: "aspirin", "aspirin plus clopidogrel".

A short reply names the option that has just the parts which it affirms ("Aspirin with clopidogrel
added, no heparin"). Where parts are separate, each with a verb of its own, nothing is read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.conclusion_patterns import LABEL, is_part_of_name
from medhelm_spark.adaptation.mentions import is_alone
from medhelm_spark.adaptation.options import option_text
from medhelm_spark.adaptation.reply import Reply

_LONGEST = 300
"""The most characters of a reply that is read."""
_SIGN = re.compile(r"\w|[ivx\d]+")
_JOINS = re.compile(
    r"\s*(?:[,;+&/]|\b(?:and|plus|with|via|followed by|then|due to|caused by|as well as|und|mit|et"
    r"|avec|y|con|e|met|en|i|oraz|och|med|com|और)\b)\s*"
)
_GAP = re.compile(
    r"[\s,+&/()\"'-]*(?:(?:and|plus|with|as well as|also|additionally|together|on top of|combined"
    r"|along|added to|followed by|then|via|an?|the|component|of|in|relay|at|both|by|due to|caused"
    r"|complicated|concomitant|concurrent|superimposed|that|this|in addition|besides|furthermore"
    r"|moreover|even|finally|associated|given|und|sowie|mit|et|avec|y|con"
    r"|e|met|en|i|oraz|z|och|med|com|its|their"
    r"|das|der|die|den|dem|la|le|les|el|los|las|il|lo|het|de|os|ett|det)[\s,+&/()\"'-]*){0,6}"
)
_DENIED_BEFORE = re.compile(
    r"\b(?:not?(?! only| just)|without|never|neither|nor|none|(?:free|absence|lack|instead) of"
    r"|rather than|except|excluding|minus|kein\w*|nicht|ohne|pas|sans|sin|senza|zonder|geen|utan"
    r"|inte|bez|nie|sem|n[aã]o)\b[^.;:!?]{0,40}\Z|n't\b[^.;:!?]{0,40}\Z"
)
_DENIED_AFTER = re.compile(
    r"[^.;:!?]{0,60}?(?:\b(?:not|never|absent|excluded|spared|normal|unaffected|negative|patent"
    r"|intact|clear|free|uninvolved|unremarkable"
    r"|unnecessary|no longer|contraindicated|wrong)\b|n't\b)"
)
_VERB = re.compile(r" (?:is|are|was|were|has|have|can|does|[a-z]{3,}s)\b")
_ASIDE = re.compile(r"\b(?:would|could|might|may|if|unless|later|reserve|only when)\b")
_OPEN = re.compile(r"\?|\b(?:or|versus|vs|but|than|while|whereas|option|choice)\b")
_STOP = re.compile(r"[.;:!?\n–—](?=\s|\Z)|\s[–—-]\s")
_ELLIPSIS = re.compile(r"[\s,+&/]{1,3}(?:and |& )?([a-z0-9]{1,3})(?![\w'])")


@dataclass(frozen=True, slots=True)
class _Mention:
    part: str
    start: int
    end: int
    is_affirmed: bool
    sentence: int


def of_parts(reply: Reply) -> str | None:
    """The option that has just the parts which a short reply affirms; None where that is open."""
    if len(reply.low) > _LONGEST or reply.is_cut or reply.asks.for_worst:
        return None
    made = _made_of(tuple(reply.options.texts.items()))
    if not made or patterns.ANSWER.search(reply.low) or patterns.FINAL.search(reply.low):
        return None
    low = _whole_lists(reply.low, made)
    found = _mentioned(low, {part for parts in made.values() for part in parts})
    affirmed = [it for it in found if it.is_affirmed]
    out = {it.part for it in found if not it.is_affirmed}
    named = frozenset(it.part for it in affirmed)
    if not affirmed or named & out or (len(named) == 1 and not out):
        return None
    if not _are_joined(low, affirmed) or _has_label(reply, low, found):
        return None
    return next((result for result, parts in made.items() if parts == named), None)


@lru_cache(maxsize=1024)
def _made_of(texts: tuple[tuple[str, str], ...]) -> Mapping[str, frozenset[str]]:
    """The parts of each option; empty where none has all parts of another one and more."""
    made = {result: frozenset(_parts(text)) for text, result in texts}
    sets = [*made.values()]
    is_nested = any(one < other for one in sets for other in sets)
    is_nested = is_nested and not any(_SIGN.fullmatch(part) for parts in sets for part in parts)
    return made if is_nested and len({*sets}) == len(sets) else {}


def _parts(text: str) -> list[str]:
    """What an option lists; "hepatitis B and C" lists "hepatitis b" and "hepatitis c"."""
    found: list[str] = []
    head = ""
    for item in _JOINS.split(text):
        part = option_text(item)
        if len(part) <= len("iii") and head:
            part = f"{head} {part}"
        elif part:
            head = part.rpartition(" ")[0]
        if part:
            found.append(part)
    return found


def _whole_lists(low: str, made: Mapping[str, frozenset[str]]) -> str:
    """The text with "hepatitis b, hepatitis c" for "hepatitis b, c"."""
    parts = {part for several in made.values() for part in several}
    for part in parts:
        head, _, last = part.rpartition(" ")
        if not head or len(last) > len("iii"):
            continue
        at = low.find(part)
        while at >= 0 and (other := _ELLIPSIS.match(low, at + len(part))):
            if f"{head} {other[1]}" not in parts:
                break
            low = f"{low[: other.start(1)]}{head} {low[other.start(1) :]}"
            at, part = other.start(1), f"{head} {other[1]}"
    return low


def _mentioned(low: str, parts: set[str]) -> list[_Mention]:
    """The parts in a text, in their order; the longest counts."""
    taken = bytearray(len(low))
    spans = []
    for part in sorted(parts, key=len, reverse=True):
        at = low.find(part)
        while at >= 0:
            end = at + len(part)
            if not any(taken[at:end]) and is_alone(low, part, at):
                taken[at:end] = b"\1" * len(part)
                spans.append((at, end, part))
            at = low.find(part, end)
    spans.sort()
    found = []
    for number, (start, end, part) in enumerate(spans):
        stops = [stop.start() for stop in _STOP.finditer(low, 0, start)]
        begin = stops[-1] + 1 if stops else 0
        stop = _STOP.search(low, end)
        last = stop.start() if stop else len(low)
        until = min(last, spans[number + 1][0]) if spans[number + 1 :] else last
        sentence = low[begin:last]
        is_out = _DENIED_BEFORE.search(low[begin:start]) or _DENIED_AFTER.match(low[end:until])
        is_affirmed = not is_out and not _ASIDE.search(sentence)
        found.append(_Mention(part, start, end, is_affirmed, len(stops)))
    return found


def _are_joined(low: str, affirmed: list[_Mention]) -> bool:
    """Whether the affirmed parts are together in one clause that leaves nothing open."""
    pairs = pairwise(affirmed)
    are_beside = all(
        it.sentence == other.sentence
        and _GAP.fullmatch(low, it.end, other.start)
        and not ("(" in low[it.end : other.start] and _VERB.match(low, other.end))
        for it, other in pairs
    )
    return are_beside and not _OPEN.search(low)


def _has_label(reply: Reply, low: str, found: list[_Mention]) -> bool:
    """Whether a label is outside the parts; texts that lists made longer are not compared."""
    if low != reply.low:
        return False
    return any(
        label["label"] in reply.options.labels
        and not any(it.start <= label.start("label") < it.end for it in found)
        and not is_part_of_name(low, label.start("label"))
        for label in LABEL.finditer(reply.text)
    )
