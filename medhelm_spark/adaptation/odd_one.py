"""The exception, as the only option of which a reply says something else than of all others.

"A: raises it. B: raises it. C: lowers it. D: raises it": where the question asks for the exception,
what the sentences say that begin with an option is compared. They must say the same of all others,
and nothing of that of the exception.
"""

import re

from medhelm_spark.adaptation.named_groups import groups, sentences
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.telling import stem

_LONGEST, _FEWEST = 1_500, 4
"""Characters of a text that is looked at, and options of which one can be told as the exception."""
_LEAD = re.compile(r"\W*(?:(?:options?|choices?|statements?|answers?) )?\W*")
_TOKEN = re.compile(r"[^\W_]+|[↑↓✓✔✗✘❌]")
_SMALL = frozenset({"is", "are", "was", "were", "the", "a", "an", "also", "too", "it"})
_STOP = re.compile(r"[,;(]|\b(?:because|since|as|although|though|but|and)\b")


def odd_one(reply: Reply) -> NamedOption | None:
    """The only option of which something else is said; None where that is open."""
    everything = {*reply.options.labels.values()}
    is_short = len(reply.low) <= _LONGEST and len(everything) >= _FEWEST
    if not (reply.asks.for_exception and is_short) or reply.is_cut or "?" in reply.low:
        return None
    said = _said(reply)
    if {named.result for named in said} != everything or len(said) != len(everything):
        return None
    words = [*said.values()]
    rule = max(words, key=words.count)
    others = [named for named, own in said.items() if own != rule]
    if len(others) != 1 or not rule:
        return None
    return None if {*map(stem, rule[:1])} & {*map(stem, said[others[0]])} else others[0]


def _said(reply: Reply) -> dict[NamedOption, tuple[str, ...]]:
    """What the sentences that begin with an option say of it, in words that say something."""
    said = {}
    for sentence in sentences(reply):
        first = next(iter(groups(reply, sentence)), [])
        if not first or not _LEAD.fullmatch(reply.low, sentence.start, first[0].start):
            continue
        rest = _STOP.split(reply.low[first[-1].end : sentence.end].lstrip(" ,)"))[0]
        words = (word for word in _TOKEN.findall(rest) if word not in _SMALL)
        result = first[0].result if len(first) == 1 else None
        said[NamedOption(result, sentence.start, first[-1].end)] = tuple(words)
    return said
