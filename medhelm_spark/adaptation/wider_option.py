"""The option of which a named one is a part: "septic shock" where "shock" is an option too.

A sentence that has all words of the wider option, and denies nothing, names that one ("oxytocin,
also vasopressin", "the shock is of the septic type").
"""

import re

from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply

_WORD = re.compile(r"[^\W_]+")
_GENUS = re.compile(r"\b[a-z]\.")
_SMALL = frozenset(
    {
        "and",
        "or",
        "the",
        "an",
        "of",
        "in",
        "with",
        "plus",
        "both",
        "then",
        "due",
        "to",
        "caused",
        "by",
    }
)
_NARROW = re.compile(
    r"\b(?:not?|never|without|none|neither|nor|only|alone|just|rather|than|but|except|or|if|false|wrong|incorrect|untrue)\b|n't\b"
)


def widest(reply: Reply, named: NamedOption) -> str | None:
    """The result of what is named, or of the wider option that its sentence names.

    None where the text names a wider one elsewhere.
    """
    result, texts = named.result, reply.options.texts
    own = next((_words(text) for text, other in texts.items() if other == result), set())
    if not named.is_text or not own:
        return result
    wider = [
        (len(words), text, other)
        for text, other in texts.items()
        if other != result and own < (words := _words(text))
    ]
    if not wider:
        return result
    start, end = reply.sentence_start(named.start), reply.sentence_end(named.end)
    if _GENUS.search(reply.low, max(0, end - 2), end + 1):
        end = reply.sentence_end(end + 1)  # "due to E. coli"
    sentence = reply.low[start:end]
    contained = [item for item in wider if _words(item[1]) <= _words(sentence)]
    if contained and not _NARROW.search(sentence):
        return max(contained)[2]
    positions = [at for _, text, _ in wider if (at := reply.low.find(text)) >= 0]
    is_elsewhere = any(not start <= at < end and not reply.is_denied(at) for at in positions)
    return None if is_elsewhere else result


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text)) - _SMALL
