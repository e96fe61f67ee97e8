"""What a reasoning comes to: the option that its last sentence about options points to.

"The age argues against A. B would be painless. This leaves C." The options that a sentence names
are taken in groups ("A, B and D"). A group is denied ("A is out", "rather than A"), stands aside
(in a clause with "while", "since" or "if", or under "could"), or is named for itself. The last
sentence names the answer where it names one option for itself and a word draws or states the
conclusion: before it ("hence", "leaves", "typical of", "means") or after it ("fits best",
"explains"); or where the text denies all others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from medhelm_spark.adaptation import answer_patterns as patterns, conclusion_patterns as own
from medhelm_spark.adaptation.named_groups import texts_between
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.statements import Certainty, certainty_of

_LONGEST = 6_000
"""The most characters of a text that is searched."""
_LONGEST_OF_EXCEPTION = 1_500
_MOST_AFTER = 2
"""Sentences without an option behind the one that concludes."""
_BEFORE, _AFTER = 120, 160
_BESIDE = 3
"""Characters between an option's text and its label."""


class _Stand(Enum):
    """How a sentence takes the options of a group."""

    NAMED = auto()
    ASIDE = auto()
    DENIED = auto()


@dataclass(frozen=True, slots=True)
class _Group:
    """Options that are named one after another, and how their sentence takes them."""

    options: tuple[NamedOption, ...]
    stand: _Stand
    is_called: bool = False  # what follows the group denies it: "A is wrong"

    @property
    def results(self) -> set[str | None]:
        return {option.result for option in self.options}


def conclusion(reply: Reply) -> NamedOption | None:
    """The option that the last sentences about options come to; None where they come to none."""
    if not reply.options.labels or reply.options.are_numbers or len(reply.low) > _LONGEST:
        return None
    sentences = [*_sentences(reply)]
    left_out: list[_Group] = []
    without = 0
    for number in range(len(sentences) - 1, -1, -1):
        start, end = sentences[number]
        if not (groups := _groups(reply, start, end)):
            without += 1
            is_open = own.OPEN_AFTER.search(reply.low, start, end) or _is_asked(reply, end)
            if without > _MOST_AFTER or is_open:
                return None
            continue
        if any(group.stand is _Stand.NAMED for group in groups):
            return _of_sentence(reply, start, end, [*groups, *left_out], sentences[:number])
        left_out += groups
        if _is_asked(reply, end) or len(sentences) - number > _MOST_AFTER + 1:
            return None
    return None


def names_another(reply: Reply, named: NamedOption, after: int = 0) -> bool:
    """Whether a text also names another option for itself, behind the position `after`."""
    if not reply.options.labels or reply.options.are_numbers or len(reply.low) > _LONGEST:
        return False
    return any(
        group.stand is _Stand.NAMED
        and group.results != {named.result}
        and group.options[0].start >= after
        for start, end in _sentences(reply)
        if end > after and not _is_asked(reply, end)
        for group in _groups(reply, start, end)
    )


def dropped(reply: Reply) -> set[str | None]:
    """The options that the text says to drop: "C and D can be ruled out"."""
    options = reply.options
    if not options.labels or options.are_numbers or reply.asks.for_worst:
        return set()
    if len(reply.low) > _LONGEST:
        return set()
    return {
        result
        for start, end in _sentences(reply)
        for group in _groups(reply, start, end)
        if own.DROPPED.match(reply.low, group.options[-1].end)
        for result in group.results
    }


def exception(reply: Reply) -> NamedOption | None:
    """The only option that a text denies, where the question asks for that: "C is not typical".

    Where it asks for what should be avoided, the option that is to be avoided or not to be given.
    """
    if not reply.asks.for_worst or not reply.options.labels or reply.options.are_numbers:
        return None
    if len(reply.low) > _LONGEST_OF_EXCEPTION:
        return None
    pairs = [
        (group, end)
        for start, end in _sentences(reply)
        for group in _groups(reply, start, end)
        if not _is_asked(reply, end)
    ]
    barred = [group for group, _ in pairs if _is_barred(reply, group)]
    if not barred and reply.asks.for_exception:
        barred = [group for group, _ in pairs if group.is_called]
        others = [group for group, _ in pairs if not group.is_called]
        if len({result for group in [*barred, *others] for result in group.results}) == 2:
            return None  # of two, either may be the exception
    if not barred:
        return None
    results = {result for group in barred for result in group.results}
    last = barred[-1].options[-1]
    return last if len(results) == 1 else NamedOption(None, last.start, last.end)


def _is_barred(reply: Reply, group: _Group) -> bool:
    """Whether words say not to give what a group names, or to avoid it."""
    first, last = group.options[0], group.options[-1]
    return bool(
        own.AVOID.search(reply.low, max(0, first.start - _BEFORE), first.start)
        or own.AVOIDED.match(reply.low, last.end)
    )


def _is_asked(reply: Reply, end: int) -> bool:
    return reply.low[end : end + 1] == "?"


def _sentences(reply: Reply) -> Iterator[tuple[int, int]]:
    at = 0
    for stop in own.SENTENCE_END.finditer(reply.text):
        if reply.low[at : stop.start()].strip():
            yield at, stop.start()
        at = stop.start() + 1
    if reply.low[at:].strip():
        yield at, len(reply.low)


def _of_sentence(
    reply: Reply, start: int, end: int, groups: list[_Group], before: list[tuple[int, int]]
) -> NamedOption | None:
    """The option of a sentence; `groups` are its own, and those of the sentences after it."""
    if _is_asked(reply, end) or own.OPEN.search(reply.low, start, end):
        return None
    if not reply.asks.for_worst and own.WORST.search(reply.low, start, end):
        return None
    named = [group for group in groups if group.stand is _Stand.NAMED]
    results = {result for group in named for result in group.results}
    if len(results) != 1 or any(
        group.results & results for group in groups if group.stand is _Stand.DENIED
    ):
        return None
    for option in (group.options[0] for group in reversed(named)):
        last = named[-1].options[-1]
        whole = NamedOption(option.result, option.start, max(option.end, last.end), option.is_text)
        if certainty_of(reply, option.start, option.start, option) < Certainty.SUPPOSED:
            return None
        if _is_scoped(reply, start, option):
            return None
        if _is_concluded(reply, start, end, option):
            return whole
    is_left = not reply.asks.for_worst and _denies_others(reply, before, groups, named[-1])
    return named[-1].options[-1] if is_left else None


def _is_scoped(reply: Reply, start: int, named: NamedOption) -> bool:
    """Whether the sentence is about other cases: "in pregnancy", "for stable patients"."""
    return own.SCOPE.match(reply.low, start, named.start) is not None


def _is_concluded(reply: Reply, start: int, end: int, named: NamedOption) -> bool:
    """Whether the words around an option draw or state the conclusion."""
    begin = max(start, named.start - _BEFORE)
    before = reply.low[begin : named.start]
    after = reply.low[named.end : min(end, named.end + _AFTER)]
    if reply.has_mapping and own.ARROW_LAST.search(before) and not own.OF_CASE.search(before):
        return False
    if reply.asks.for_worst:
        is_so = own.SO.search(before) is not None
        return is_so and own.CLAUSE_ENDS.match(after) is not None
    if own.POINTED.search(before) and own.CLAUSE_ENDS.match(after):
        return True
    if own.SO.search(before) and (own.CLAUSE_ENDS.match(after) or own.PREDICATE.match(after)):
        return True
    return bool(own.FITS.match(after) or own.ONLY.search(before))


def _denies_others(
    reply: Reply, before: list[tuple[int, int]], groups: list[_Group], last: _Group
) -> bool:
    """Whether the text denies all options but the one that it names last, and never that one."""
    everywhere = [group for start, end in before for group in _groups(reply, start, end)]
    denied = {
        result
        for group in [*everywhere, *groups]
        if group.stand is _Stand.DENIED
        for result in group.results
    }
    return denied == set(reply.options.labels.values()) - last.results


def _groups(reply: Reply, start: int, end: int) -> list[_Group]:
    """The options that a sentence names, in groups; nothing goes on after "A and B"."""
    groups: list[list[NamedOption]] = []
    is_ended = False
    for named in _named(reply, start, end):
        last = groups[-1][-1] if groups else None
        joint = own.JOINT.fullmatch(reply.low, last.end, named.start) if last else None
        is_comma = joint is not None and joint["and"] is None
        if joint and not (is_comma and is_ended):
            groups[-1].append(named)
            is_ended = not is_comma
        else:
            groups.append([named])
            is_ended = False
    found = []
    turn = max((match.start() for match in own.BUT.finditer(reply.low, start, end)), default=-1)
    last_named = groups[-1][0].start if groups else 0
    turn = turn if turn < last_named else -1
    for number, options in enumerate(groups):
        stop = groups[number + 1][0].start if groups[number + 1 :] else end
        last = options[-1]
        after = reply.low[last.end : min(stop, last.end + _AFTER)]
        is_called = own.DENIED_AFTER.match(after) or own.UNUSUAL.match(after)
        is_called = None if own.NOT_ANSWER.match(after) else is_called
        stand = _stand(reply, start, stop, options)
        if stand is _Stand.NAMED and options[-1].end <= turn:
            stand = _Stand.ASIDE
        found.append(_Group(tuple(options), stand, is_called is not None))
    return found


def _named(reply: Reply, start: int, end: int) -> list[NamedOption]:
    """Labels and texts of options in their order; a text and its label beside it are one."""
    found = [*texts_between(reply, start, end)]
    taken = [(named.start, named.end) for named in found]
    for match in own.LABEL.finditer(reply.text, start, min(len(reply.text), end + _BESIDE)):
        result = reply.options.labels.get(match["label"])
        at = match.start("label")
        if at >= end:
            break
        if result is None or any(begin <= at < stop for begin, stop in taken):
            continue
        is_open = match[0].endswith(match["label"])
        if match["label"] in "AI" and is_open and own.WORD_NEXT.match(reply.text, match.end()):
            continue
        if not own.is_part_of_name(reply.low, at):
            found.append(NamedOption(result, *match.span()))
    found.sort(key=lambda named: named.start)
    merged: list[NamedOption] = []
    for named in found:
        last = merged[-1] if merged else None
        if last and last.result == named.result and named.start - last.end <= _BESIDE:
            merged[-1] = NamedOption(last.result, last.start, named.end, is_text=True)
        else:
            merged.append(named)
    return merged


def _stand(reply: Reply, start: int, stop: int, options: list[NamedOption]) -> _Stand:
    """How the sentence takes a group; the text after it goes up to the next group at `stop`."""
    first, last = options[0], options[-1]
    before = reply.low[max(start, first.start - _BEFORE) : first.start]
    after = reply.low[last.end : min(stop, last.end + _AFTER)]
    if own.DENIED_BEFORE.search(before) or own.DENIED_AFTER.match(after):
        return _Stand.DENIED
    if reply.is_denied(first.start) or reply.is_absent(first.start) or reply.is_refuted(last):
        return _Stand.DENIED
    clause = own.RELATIVE.sub("", own.CLAUSE.split(before)[-1]) if before else ""
    if patterns.DENIED_BEFORE.search(clause):
        return _Stand.DENIED
    if own.ONLY.search(before):
        return _Stand.NAMED
    is_other = own.OTHER.search(reply.low, start, first.start)
    if is_other or own.ASIDE_CLAUSE.match(clause) or own.ASIDE_BEFORE.search(before):
        return _Stand.ASIDE
    if own.ASIDE_AFTER.match(after) or own.LOWER.search(before):
        return _Stand.ASIDE
    is_subject = own.FITS.match(after) or (own.SO.search(before) and own.PREDICATE.match(after))
    return _Stand.NAMED if own.CLAUSE_ENDS.match(after) or is_subject else _Stand.ASIDE
