"""How a text takes each option that it names: it chooses, states, supposes, passes or denies it.

A sentence is taken apart into clauses ("so", "but", a bracket or an arrow begins one). The clause
of an option decides: a negation before it, or in what it says of it, denies the option; a
condition, a comparison, or the view of somebody else or of earlier pass it by; words that approve
it, or that speak of the author, the patient or the conclusion ("I'd commit to B", "reported as
benign", "so C"), choose it.
"""

from dataclasses import dataclass
from enum import IntEnum

from medhelm_spark.adaptation import conclusion_patterns as own, stance_words as words
from medhelm_spark.adaptation.named_groups import Group, Sentence, groups, sentences
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.statements import OTHER_CASE


class Stance(IntEnum):
    """How a clause takes an option, from the weakest to the strongest."""

    DENIED = 0
    PASSED = 1
    SUPPOSED = 2  # "it could be B"
    DISCUSSED = 3  # "B acts on the liver"
    STATED = 4  # "give B"
    CHOSEN = 5


@dataclass(frozen=True, slots=True)
class TakenOptions:
    """Options that are together ("A and B"), the number of their sentence, and their stance."""

    results: frozenset[str]
    start: int
    end: int
    sentence: int
    stance: Stance


@dataclass(frozen=True, slots=True)
class _Clause:
    """The words of a clause before and after the options in it, and what the clause begins with."""

    sentence: Sentence
    start: int
    first: NamedOption
    last: NamedOption
    lead: str
    before: str
    after: str
    is_contrasted: bool  # with what follows: "C, not D"


def taken(reply: Reply) -> list[TakenOptions]:
    """All options that a text names, in their order, and how it takes them."""
    found: list[TakenOptions] = []
    for number, sentence in enumerate(sentences(reply)):
        named = groups(reply, sentence)
        stance = Stance.CHOSEN
        for at, group in enumerate(named):
            begin = named[at - 1][-1].end if at else sentence.start
            stop = named[at + 1][0].start if named[at + 1 :] else sentence.end
            most = _most(reply, sentence, group, begin, stance) if at else Stance.CHOSEN
            stance = min(_stance(reply, _clause(reply, sentence, group, begin, stop)), most)
            stance = min(stance, _limit_next(reply, sentence, group))
            results = frozenset(option.result for option in group if option.result)
            found.append(TakenOptions(results, group[0].start, group[-1].end, number, stance))
    return found


def _most(reply: Reply, sentence: Sentence, group: Group, begin: int, before: Stance) -> Stance:
    """The most that a group can be after another one: "X, which belongs to B", "A or B"."""
    if words.OR_LAST.search(reply.low[begin : group[0].start]):
        return Stance.PASSED
    is_shared = words.SHARED.fullmatch(reply.low, begin, group[0].start)
    return before if is_shared else Stance.CHOSEN


def _limit_next(reply: Reply, sentence: Sentence, group: Group) -> Stance:
    """The most that a group can be before what follows it: "B or C", "B, unless he bleeds"."""
    if words.OR_NEXT.match(reply.low, group[-1].end, sentence.end):
        return Stance.PASSED
    is_limited = words.LIMITED_NEXT.match(reply.low, group[-1].end)
    return Stance.SUPPOSED if is_limited else Stance.CHOSEN


def _clause(reply: Reply, sentence: Sentence, group: Group, begin: int, stop: int) -> _Clause:
    """The clause around a group; it lies between the groups beside it."""
    first, last = group[0], group[-1]
    starts = [*words.CLAUSE.finditer(reply.low, begin, first.start)]
    at = starts[-1].end() if starts else begin
    lead = starts[-1][0].strip() if starts else ""
    end = words.CLAUSE.search(reply.low, last.end, stop)
    after = reply.low[last.end : end.start() if end else stop].rstrip()
    before = words.AFFIRMED.sub("", reply.low[at : first.start])
    is_contrasted = words.CONTRAST.fullmatch(reply.low, last.end, stop) is not None
    conjunct = words.AND.split(before)[-1]
    return _Clause(sentence, at, first, last, lead, conjunct, after, is_contrasted)


def _stance(reply: Reply, clause: _Clause) -> Stance:
    """How a clause takes its options."""
    if words.KEPT.search(clause.before) or words.KEPT_AFTER.match(clause.after):
        return Stance.SUPPOSED
    if _is_denied(reply, clause):
        return Stance.DENIED
    if _is_passed(reply, clause):
        return Stance.PASSED
    approved = words.CALLED_ANSWER if reply.asks.for_worst else words.APPROVES
    if approved.match(clause.after):
        return Stance.CHOSEN
    if words.PASSES_AFTER.search(clause.after):
        return Stance.PASSED
    if words.MAY.search(clause.before) or words.MAY.match(clause.after):
        return Stance.SUPPOSED
    if _is_topic(reply, clause):
        return Stance.DISCUSSED
    return Stance.CHOSEN if _is_chosen(clause) else Stance.STATED


def _is_denied(reply: Reply, clause: _Clause) -> bool:
    """Whether a clause denies its options, before them or in what it says of them."""
    first, last = clause.first, clause.last
    line = reply.low[: first.start].rpartition("\n")[2]
    is_affirmed = words.AFFIRMED.search(line) is not None
    if not is_affirmed and (reply.is_denied(first.start) or reply.is_absent(first.start)):
        return True
    if words.CROSSED.match(reply.low, last.end) and words.ITEM.fullmatch(line):
        return True
    if words.VERDICT_NO.match(reply.low, last.end) or words.NEGATES.search(clause.before):
        return True
    if not reply.asks.for_worst and words.ALL_BUT.search(clause.before):
        return True
    after = words.AFFIRMED.sub("", words.AND.split(clause.after)[0])
    is_joined = clause.is_contrasted or clause.after.startswith(" and ")
    return (not is_joined and reply.is_refuted(last)) or words.NEGATED.match(after) is not None


def _is_passed(reply: Reply, clause: _Clause) -> bool:
    """Whether a sentence speaks of another case, of somebody else, of earlier, or in brackets."""
    sentence, first, last = clause.sentence, clause.first, clause.last
    whole = reply.low[sentence.start : first.start].rpartition(";")[2]
    is_guess = (
        words.GUESS.search(whole)
        and "you " not in whole
        and reply.low[last.end :].strip(" )\"'") == "?"
    )
    if (sentence.is_asked and not is_guess) or "|" in reply.low[sentence.start : sentence.end]:
        return True
    if not reply.asks.for_worst and own.WORST.search(reply.low, sentence.start, sentence.end):
        return True
    return bool(
        words.PASSES.search(clause.before)
        or words.TOPIC.search(clause.before)
        or words.COMPARED.search(whole)
        or words.CONDITION.match(whole)
        or words.CONDITION_NEXT.match(reply.low, last.end)
        or own.SCOPE.match(whole)
        or OTHER_CASE.match(whole)
        or own.OPEN.search(reply.low, clause.start, sentence.end)
        or (clause.lead == "(" and not words.DRAWS.search(clause.before))
    )


def _is_topic(reply: Reply, clause: _Clause) -> bool:
    """Whether a clause only begins to speak of its options, or is an item of a list."""
    first, last = clause.first, clause.last
    whole = reply.low[clause.sentence.start : first.start]
    is_open = reply.low[-1:].isalnum() and last.end == len(reply.low)
    is_mapped = reply.has_mapping and own.ARROW_LAST.search(reply.low, 0, first.start)
    if is_mapped and not own.OF_CASE.search(whole):
        return True
    if not whole.strip() and clause.sentence.start and is_open:
        return True  # the last sentence, which nothing ends
    is_heading = words.HEADING.match(reply.low, last.end) and not _is_drawn(clause)
    return bool(is_heading or words.VERB_NEXT.match(clause.after) or _is_item(reply, first))


def _is_item(reply: Reply, named: NamedOption) -> bool:
    """Whether an option begins a line of a list, of which several begin with one."""
    begin = reply.low.rfind("\n", 0, named.start) + 1
    if words.ITEM.fullmatch(reply.low, begin, named.start) is None:
        return False
    return len({option.result for option in reply.line_starts}) > 1


def _is_drawn(clause: _Clause) -> bool:
    """Whether a clause speaks of the author, the patient or the conclusion."""
    return bool(
        words.FIRST_PERSON.search(clause.before)
        or words.CHOOSES.search(clause.before)
        or words.DRAWS.search(f"{clause.lead} {clause.before}")
    )


def _is_chosen(clause: _Clause) -> bool:
    """Whether the options end their clause, and its other words choose them, or it has none."""
    rest = words.BARE.sub("", clause.before)
    if not (rest or clause.lead) and words.BARE.sub("", clause.after):
        return False
    is_said = words.COPULA.search(clause.before) is not None
    is_end = own.CLAUSE_ENDS.match(clause.after) or (
        is_said and words.PARTICIPLE.match(clause.after)
    )
    if not is_end:
        return False
    return is_said or not rest or not clause.first.is_text or _is_drawn(clause)
