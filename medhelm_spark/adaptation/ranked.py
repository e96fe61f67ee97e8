"""The first option of an order that a reply gives: by percentages, or by "greater than"."""

import re

from medhelm_spark.adaptation.lines import of_cell
from medhelm_spark.adaptation.reply import Reply

_WEIGHT = re.compile(
    r"(?<![\w'-])\(?(?P<label>[A-J])\)?[ :=(–-]{1,4}(?:about "
    r"|~ ?)?(?P<weight>\d{1,3}(?:\.\d{1,3})?) ?%"
)
_FEWEST_WEIGHTS = 3
_CHAIN = re.compile(
    r"(?:\A|(?<=[.!?] )|(?<=\n))[^.;:!?\n>≫≻]{1,80}(?: [>≫≻] [^.;:!?\n>≫≻]{1,80}){2,8}(?=[.!]?\Z)"
)


def weighed(reply: Reply) -> str | None:
    """The option with the highest of the percentages beside three labels or more."""
    found = {match["label"]: float(match["weight"]) for match in _WEIGHT.finditer(reply.text)}
    are_shares = any("%" in text for text in reply.options.text_by_label.values())
    if (
        are_shares
        or len(found) < _FEWEST_WEIGHTS
        or not found.keys() <= reply.options.labels.keys()
    ):
        return None
    highest = max(found.values())
    best = [label for label, weight in found.items() if weight == highest]
    return reply.options.labels[best[0]] if len(best) == 1 and not reply.asks.for_worst else None


def ranked(reply: Reply) -> str | None:
    """The first of three options or more that the last sentence puts in order: "A > B > C"."""
    if reply.asks.for_worst or not any(sign in reply.low for sign in (" > ", " ≫ ", " ≻ ")):
        return None
    chain = _CHAIN.search(reply.low)
    items = re.split("[>≫≻]", chain[0]) if chain else []
    results = [of_cell(item.strip(), reply.options) for item in items]
    is_order = None not in results and len({*results}) == len(results)
    return results[0] if results and is_order else None
