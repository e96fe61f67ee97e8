"""What a text settles on, by the stances it takes: the last choice, or the option that is left.

In this order: where the question asks for the exception, the option beside all others that are
together ("A, B and D are all causes"); the last option that is chosen; the one that is left where
all others are denied; in a short text the only option that is stated or supposed. Nothing is read
where a later sentence states another option, asks, or says that no choice can be made.
"""

from medhelm_spark.adaptation import answer_patterns as patterns, stance_words as words
from medhelm_spark.adaptation.conclusion_patterns import JOINT
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.stances import Stance, TakenOptions, taken

_LONGEST, _SHORT = 6_000, 200
"""The most characters of a text that is searched, and of one that may only state an option."""
_FEWEST = 3
"""Options of which all but one can be denied."""


def settled(reply: Reply) -> str | None:
    """The option that a text settles on; None where it settles on none, or on several."""
    if len(reply.low) > _LONGEST or reply.options.are_numbers:
        return None
    begun = reply.named_at(0)
    if begun and begun.result is None and not JOINT.search(reply.low, begun.start, begun.end):
        return None  # a label beside another option's text
    found = taken(reply)
    if not found or _may_go_on(reply, found[-1]):
        return None
    result = _of(reply, found)
    return result if result or reply.asks.for_worst else _only(reply, found)


def _may_go_on(reply: Reply, last: TakenOptions) -> bool:
    """Whether a text of several clauses ends in a word that is no option.

    A loose one, in small letters, may end so.
    """
    is_ended = not reply.text[-1:].isalnum() or last.end == len(reply.low)
    is_ended = is_ended or words.AFTERTHOUGHT.search(reply.low[-20:]) is not None
    is_loose = reply.text[:1].islower() or not words.CLAUSE_MARK.search(reply.text)
    return not (is_ended or is_loose)


def _of(reply: Reply, found: list[TakenOptions]) -> str | None:
    if reply.asks.for_exception and (result := _exception(reply, found)):
        return result
    if result := _last_choice(reply, found) or _other_class(reply, found):
        return result
    return None if reply.asks.for_worst else _left(reply, found)


def _exception(reply: Reply, found: list[TakenOptions]) -> str | None:
    """The option beside all others, where these are together."""
    everything = _everything(reply)
    joint = {
        it.results
        for it in found
        if len(it.results) == len(everything) - 1
        and it.stance not in (Stance.SUPPOSED, Stance.DENIED)
    }
    if len(everything) < _FEWEST or len(joint) != 1:
        return None
    return next(iter(everything - joint.pop()))


def _last_choice(reply: Reply, found: list[TakenOptions]) -> str | None:
    """The last option that is chosen; of several only where words draw it from the others."""
    chosen = [it for it in found if it.stance is Stance.CHOSEN]
    if not chosen or len(chosen[-1].results) != 1:
        return None
    last = chosen[-1]
    others = {one for it in chosen if len(it.results) == 1 for one in it.results} - last.results
    is_one = not others or (reply.options.labels and _is_drawn(reply, last))
    if not is_one or _is_open(reply, last) or _is_contested(found, last):
        return None
    return next(iter(last.results))


def _is_drawn(reply: Reply, last: TakenOptions) -> bool:
    """Whether words before a choice draw it from the text above, or turn to it."""
    before = reply.low[reply.sentence_start(last.start) : last.start]
    is_drawn = words.DRAWS.search(before) or words.FIRST_PERSON.search(before)
    return bool(is_drawn or patterns.TURN.search(before) or patterns.AFTER_ALL.search(before))


def _is_open(reply: Reply, last: TakenOptions) -> bool:
    """Whether what follows a choice asks, or says that there is none."""
    rest = reply.low[last.end :]
    is_asked = "?" in rest and not (rest.strip(" )\"'") == "?" and words.GUESS.search(reply.low))
    is_other = _are_words(reply) and words.YES_OR_NO.search(reply.low, last.end)
    return bool(is_asked or is_other or words.OPEN_AFTER.search(reply.low, last.end))


def _is_contested(found: list[TakenOptions], last: TakenOptions) -> bool:
    """Whether another option is beside or behind a choice, or the choice is denied there."""
    for it in found:
        is_later = it.start > last.start
        if it.sentence < last.sentence and not is_later:
            continue
        least = Stance.SUPPOSED if is_later else Stance.DISCUSSED
        if it.results != last.results and it.stance >= least:
            return True
        if it.results & last.results and it.stance is Stance.DENIED:
            return True
    return False


def _left(reply: Reply, found: list[TakenOptions]) -> str | None:
    """The option that is left where all others are denied, and the text states it or says so."""
    everything = _everything(reply)
    denied = {one for it in found if it.stance is Stance.DENIED for one in it.results}
    left = everything - denied
    if len(everything) < _FEWEST or len(left) != 1 or _are_words(reply):
        return None
    stated = {one for it in found if it.stance >= Stance.DISCUSSED for one in it.results}
    is_said = left <= stated or words.LEFT.search(reply.low, found[-1].start) is not None
    is_said = is_said or _are_denied_at_once(reply, found, denied)
    return left.pop() if is_said else None


def _other_class(reply: Reply, found: list[TakenOptions]) -> str | None:
    """The class that is left where a text denies all others, and nothing else.

    Classes have no labels, and one of them is right; of options with labels none may be.
    """
    if reply.options.labels or _are_words(reply):
        return None
    left = _everything(reply) - {one for it in found for one in it.results}
    are_denied = all(_is_denied_outright(reply, it) for it in found)
    is_open = words.UNKNOWN.search(reply.low) or words.OPEN_AFTER.search(reply.low, found[-1].end)
    return left.pop() if len(left) == 1 and are_denied and not is_open else None


def _is_denied_outright(reply: Reply, it: TakenOptions) -> bool:
    """Whether a class is denied by words before it, or by "is not" right behind it."""
    begin = reply.sentence_start(it.start)
    is_denied = words.DENIES_CLASS.search(reply.low[begin : it.start]) or words.IS_NOT.match(
        reply.low, it.end
    )
    return bool(is_denied) and it.stance is Stance.DENIED and len(it.results) == 1


def _are_denied_at_once(reply: Reply, found: list[TakenOptions], denied: set[str]) -> bool:
    """Whether the answer is said to be none of these: "it is not A, nor B", "It's not A. It's"."""
    outright: set[str] = set()
    for sentence in {it.sentence for it in found}:
        own = [it for it in found if it.sentence == sentence]
        results = {one for it in own if it.stance is Stance.DENIED for one in it.results}
        begin = reply.sentence_start(own[0].start)
        if results == denied and words.ANSWER_NOT.search(reply.low, begin, own[0].start):
            return True
        if words.IT_IS_NOT.search(reply.low[begin : own[0].start]):
            outright |= results
    return outright == denied


def _only(reply: Reply, found: list[TakenOptions]) -> str | None:
    """The option that a short text states, or else supposes, and no other."""
    is_asked = "?" in reply.low and not words.GUESS.search(reply.low)
    is_open = is_asked or words.OPEN_AFTER.search(reply.low) or words.LIKEWISE.search(reply.low)
    if is_open or len(reply.low) > _SHORT or _are_words(reply):
        return None
    not_denied = [it for it in found if it.stance is not Stance.DENIED]
    results = {one for it in not_denied for one in it.results}
    is_stated = any(it.stance in (Stance.STATED, Stance.SUPPOSED) for it in not_denied)
    return results.pop() if len(results) == 1 and is_stated else None


def _everything(reply: Reply) -> set[str]:
    return set(reply.options.labels.values() or reply.options.texts.values())


def _are_words(reply: Reply) -> bool:
    """Whether the options are yes and no, which any text may use."""
    return not reply.options.labels and bool({"yes", "no"} & reply.options.texts.keys())
