"""The exception, as the only option whose statement differs from that of all others.

"A: raises it. B: raises it. C: lowers it. D: raises it": where the question asks for the exception,
the predicates of the sentences that begin with an option are compared. All others must have the
same predicate, whose first word the exception's predicate must not have.
"""

import re

from medhelm_spark.adaptation.distinctive_words import stem
from medhelm_spark.adaptation.named_groups import groups, sentences
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply

_LONGEST, _FEWEST = 1_500, 4
"""Most characters of the text, and fewest options, for one to be the exception."""
_LEAD = re.compile(r"\W*(?:(?:options?|choices?|statements?|answers?) )?\W*")
_TOKEN = re.compile(r"[^\W_]+|[↑↓✓✔✗✘❌]")
_SMALL = frozenset({"is", "are", "was", "were", "the", "a", "an", "also", "too", "it"})
_STOP = re.compile(r"[,;(]|\b(?:because|since|as|although|though|but|and)\b")


def odd_one(reply: Reply) -> NamedOption | None:
    """The only option with another predicate; None where that is open."""
    everything = {*reply.options.labels.values()}
    is_short = len(reply.low) <= _LONGEST and len(everything) >= _FEWEST
    if not (reply.asks.for_exception and is_short) or reply.is_cut or "?" in reply.low:
        return None
    predicates = _predicates(reply)
    if {named.result for named in predicates} != everything or len(predicates) != len(everything):
        return None
    words = [*predicates.values()]
    rule = max(words, key=words.count)
    others = [named for named, own in predicates.items() if own != rule]
    if len(others) != 1 or not rule:
        return None
    return None if {*map(stem, rule[:1])} & {*map(stem, predicates[others[0]])} else others[0]


def _predicates(reply: Reply) -> dict[NamedOption, tuple[str, ...]]:
    """The predicates of the sentences that begin with an option, without small words."""
    predicates = {}
    for sentence in sentences(reply):
        first = next(iter(groups(reply, sentence)), [])
        if not first or not _LEAD.fullmatch(reply.low, sentence.start, first[0].start):
            continue
        rest = _STOP.split(reply.low[first[-1].end : sentence.end].lstrip(" ,)"))[0]
        words = (word for word in _TOKEN.findall(rest) if word not in _SMALL)
        result = first[0].result if len(first) == 1 else None
        predicates[NamedOption(result, sentence.start, first[-1].end)] = tuple(words)
    return predicates
