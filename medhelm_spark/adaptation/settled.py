"""What a text settles on, by the stances it takes: the last choice, or the option that is left.

Nothing is read where the last sentence that chooses one chooses several, where a later one states
another, or where the last sentences say that no choice can be made.
"""

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation import stance_words as words
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.stances import Stance, Taken, taken

_LONGEST = 6_000
_SHORT = 200
_FEWEST = 3
"""Options of which all but one can be denied."""


def settled(reply: Reply) -> str | None:
    """The option that a text settles on; None where it settles on none, or on several."""
    if len(reply.low) > _LONGEST or reply.options.are_numbers:
        return None
    begun = reply.named_at(0)
    if begun and begun.result is None:
        return None  # several options, or a label beside another option's text
    with_words = taken(reply, by_words=True)
    if not with_words or _may_go_on(reply, with_words[-1]):
        return None
    for found in (taken(reply), with_words):
        if found and (result := _of(reply, found)):
            return result
    return None if reply.asks.for_worst else _only(reply, with_words)


def _may_go_on(reply: Reply, last: Taken) -> bool:
    """Whether a text of several clauses ends in a word that is no option.

    A loose one, in small letters, may end so.
    """
    is_ended = not reply.text[-1:].isalnum() or last.end == len(reply.low)
    is_loose = reply.text[:1].islower() or not words.CLAUSE_MARK.search(reply.text)
    return not (is_ended or is_loose)


def _of(reply: Reply, found: list[Taken]) -> str | None:
    if reply.asks.for_exception and (result := _exception(reply, found)):
        return result
    if result := _last_of(reply, found, Stance.CHOSEN):
        return result
    return None if reply.asks.for_worst else _left(reply, found)


def _only(reply: Reply, found: list[Taken]) -> str | None:
    """The option that a short text states, or else supposes, and no other."""
    is_word = not reply.options.labels and {"yes", "no"} & reply.options.texts.keys()
    is_asked = "?" in reply.low and not words.GUESS.search(reply.low)
    is_open = is_asked or words.OPEN_AFTER.search(reply.low) or words.LIKEWISE.search(reply.low)
    if is_word or is_open or len(reply.low) > _SHORT:
        return None
    kept = [it for it in found if it.stance is not Stance.DENIED]
    results = {it.results for it in kept}
    if len(results) != 1 or len(kept[0].results) != 1:
        return None
    is_stated = any(it.stance in (Stance.STATED, Stance.SUPPOSED) for it in kept)
    return next(iter(kept[0].results)) if is_stated else None


def _last_of(reply: Reply, found: list[Taken], stance: Stance) -> str | None:
    """The option of the last sentence that chooses one."""
    chosen = [it for it in found if it.stance is stance]
    if not chosen:
        return None
    last = chosen[-1]
    others = {one for it in chosen if len(it.results) == 1 for one in it.results} - last.results
    is_one = not others or (reply.options.labels and _is_drawn(reply, last))
    if not is_one:
        return None
    is_open = "?" in reply.low[last.end :] or words.OPEN_AFTER.search(reply.low, last.end)
    if is_open or len(last.results) != 1:
        return None
    rivals = [
        it
        for it in found
        if it.results != last.results
        and (
            it.stance >= Stance.DISCUSSED
            or (it.stance is Stance.SUPPOSED and it.start > last.start)
        )
        and (it.sentence == last.sentence or it.start > last.start)
    ]
    denied = [it for it in found if it.stance is Stance.DENIED and it.sentence >= last.sentence]
    if rivals or any(it.results & last.results for it in denied):
        return None
    return next(iter(last.results))


def _is_drawn(reply: Reply, last: Taken) -> bool:
    """Whether words before a choice draw it from what stands above, or turn to it."""
    before = reply.low[reply.sentence_start(last.start) : last.start]
    is_drawn = words.DRAWS.search(before) or words.FIRST_PERSON.search(before)
    return bool(is_drawn or patterns.TURN.search(before) or patterns.AFTER_ALL.search(before))


def _left(reply: Reply, found: list[Taken]) -> str | None:
    """The option that is left where all others are denied, and the text states it or says so."""
    if not reply.options.labels and {"yes", "no"} & reply.options.texts.keys():
        return None
    everything = set(reply.options.labels.values() or reply.options.texts.values())
    denied = {one for it in found if it.stance is Stance.DENIED for one in it.results}
    left = everything - denied
    if len(everything) < _FEWEST or len(left) != 1:
        return None
    stated = {one for it in found if it.stance >= Stance.DISCUSSED for one in it.results}
    is_said = left <= stated or words.LEFT.search(reply.low, found[-1].start)
    return left.pop() if is_said else None


def _exception(reply: Reply, found: list[Taken]) -> str | None:
    """The option that is left where all others stand together."""
    everything = set(reply.options.labels.values() or reply.options.texts.values())
    joint = {
        it.results
        for it in found
        if len(it.results) == len(everything) - 1
        and it.stance not in (Stance.SUPPOSED, Stance.DENIED)
    }
    if len(everything) >= _FEWEST and len(joint) == 1:
        return next(iter(everything - joint.pop()))
    return None
