"""The statements of a text that name the answer: "the answer is B", "B is correct", "not A but B".

Of several the last one counts, since models think aloud. A statement that is denied, asked or
somebody else's ("many would choose C", "the wrong answer is C") does not count, and a conditional
one ("The answer is B. Had she been pregnant, the answer would be C") only where no other does.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply


class Certainty(IntEnum):
    """How certainly a statement names the answer, weakest first."""

    NONE = 0
    CONDITIONAL = 1  # "if it is acute, the answer is B"
    SUPPOSED = 2  # "the answer would be B"
    FIRM = 3


@dataclass(frozen=True, slots=True)
class Statement:
    """The option that a sentence states as the answer, and how certainly."""

    named: NamedOption
    certainty: Certainty


def certainty_of(reply: Reply, start: int, end: int, named: NamedOption) -> Certainty:
    """The certainty of a statement whose cue spans `start` to `end` and that names `named`."""
    begin = reply.sentence_start(start)
    before = patterns.OWN_CLAUSE.split(reply.low[begin:start])[-1]
    after = reply.low[named.end : reply.sentence_end(named.end)]
    if (
        reply.is_question(named)
        or reply.is_denied(start)
        or reply.is_called_worst(start - len(before), start)
        or reply.is_warned_of(named)
        or patterns.SOMEBODY.search(before + reply.low[start:end])
        or patterns.OTHER_ANSWER.search(before[-_LONGEST_ADJECTIVE:])
        or patterns.OF_ALL.search(reply.low[start:end])
        or patterns.DENIED_LINK.search(reply.low, start, end)
        or patterns.NOT_HERE.search(after)
        or not reply.holds_where_cut(named, end)
        or _is_shared(reply, named)
        or reply.is_left_out(named.start)
    ):
        return Certainty.NONE
    would = patterns.WOULD.search(reply.low, start, max(end, named.start))
    if patterns.CONDITION.search(before) or patterns.CONDITION.search(after):
        is_counterfactual = would or patterns.WOULD.search(before)
        is_none = is_counterfactual or patterns.ONLY_IF.search(after)
        return Certainty.NONE if is_none else Certainty.CONDITIONAL
    if would and not patterns.TURN.search(before):
        return Certainty.NONE if patterns.BUT_HERE.search(after) else Certainty.SUPPOSED
    return Certainty.FIRM


def _is_shared(reply: Reply, named: NamedOption) -> bool:
    """Whether another option holds for other cases, or is the exception.

    "A in adults, B in children", "none of the above except B"
    """
    end = reply.sentence_end(named.end)
    but = patterns.EXCEPT.search(reply.low, named.end, end)
    if but and reply.named_at(but.end()):
        return True
    scope = patterns.SCOPED_NEXT.match(reply.low, named.end)
    others = (
        reply.named_at(joined.end())
        for joined in (patterns.JOINED.finditer(reply.low, scope.end(), end) if scope else ())
    )
    return any(other and other.result != named.result for other in others)


def statements(reply: Reply, stating: Iterable[re.Pattern[str]]) -> Iterator[Statement]:
    """The statements that begin with one of these patterns."""
    for pattern in stating:
        for match in pattern.finditer(reply.low):
            start, end = match.span()
            if patterns.ONE_OPTION.search(reply.text, start, end):
                continue  # about one option: "answer choice B:"
            if "\n" in match[0] and patterns.ARROW_LAST.search(
                reply.low, max(0, start - 24), start
            ):
                continue  # a remark at the end of a line: "B <- my answer"
            if named := reply.named_at(end):
                yield Statement(named, certainty_of(reply, start, end, named))


def _last(reply: Reply, stated: Iterable[Statement], *certainties: Certainty) -> NamedOption | None:
    """The last statement of the first certainty that occurs.

    Where the reply begins with its answer, a later statement without a word of correction or
    conclusion is about something else ("The answer is B. In pregnancy A is best.").
    """
    stated = list(stated)
    for certainty in certainties:
        named = [statement.named for statement in stated if statement.certainty is certainty]
        if named:
            return _last_or_first(reply, sorted(named, key=lambda option: option.end))
    return None


def _last_or_first(reply: Reply, named: list[NamedOption]) -> NamedOption:
    first, last = named[0], named[-1]
    if first.result == last.result or reply.sentence_start(first.start) > _ANSWER_FIRST:
        return last
    between = reply.low[first.end : last.start]
    begin = reply.sentence_start(last.start)
    if (clause := reply.low.rfind("whereas ", begin, last.start)) >= 0:
        begin = clause + len("whereas ")
    after = reply.low[last.end : reply.sentence_end(last.end)]
    if patterns.ALSO.search(reply.low, begin, reply.sentence_end(last.end)):
        return NamedOption(None, last.start, last.end)
    if (
        patterns.TURN.search(between)
        or patterns.CONCLUDED.search(between)
        or patterns.AFTER_ALL.search(between)
    ):
        return last
    is_scoped = patterns.SCOPE.match(reply.low[begin : last.start]) or patterns.SCOPED.match(after)
    if is_scoped and patterns.SCOPED.match(reply.low[first.end : reply.sentence_end(first.end)]):
        return NamedOption(
            None, last.start, last.end
        )  # "A is best for adults, B is best for children"
    return first if is_scoped else last


_AROUND_A_SUBJECT, _LONGEST_ADJECTIVE = 40, 40
"""Characters around a subject's label and text, and those of what qualifies an answer before it."""
_ANSWER_FIRST = 20
"""Characters before the sentence of the first statement, in a reply that begins with its answer."""


def final_statement(reply: Reply) -> NamedOption | None:
    """The last statement of a final answer: "Final answer: B"."""
    return _last(reply, statements(reply, (patterns.FINAL,)), Certainty.FIRM, Certainty.SUPPOSED)


def last_statement(reply: Reply) -> NamedOption | None:
    """The last statement of an answer."""
    stating = [patterns.ANSWER, patterns.VERB]
    if reply.asks.for_worst:
        stating += [patterns.WORST_ANSWER, patterns.ALL_EXCEPT]
    return _last(
        reply,
        [
            *statements(reply, stating),
            *_called_right(reply),
            *_corrections(reply),
        ],
        Certainty.FIRM,
        Certainty.SUPPOSED,
    )


def conditional_statement(reply: Reply) -> NamedOption | None:
    """The option that all conditional statements name."""
    stated = [
        *statements(reply, (patterns.FINAL, patterns.ANSWER, patterns.VERB)),
        *_called_right(reply),
    ]
    return agreed(
        [statement.named for statement in stated if statement.certainty is Certainty.CONDITIONAL]
    )


def _corrections(reply: Reply) -> Iterator[Statement]:
    """Corrections of what was denied or said before: "not A but B", "wait, B."."""
    for pattern in (patterns.CONTRAST, patterns.AFTER_ALL, patterns.NONE_BUT):
        for match in pattern.finditer(reply.low):
            named = reply.named_at(match.end())
            if named is None:
                continue
            is_arrow = match[0].rstrip().endswith(("->", "→", "⇒"))
            is_answer = (
                patterns.SENTENCE_ENDED.match(reply.low, named.end)
                or (not reply.options.labels and patterns.HEADING.match(reply.low, named.end))
                or pattern is patterns.CONTRAST
                or patterns.BETTER_NEXT.match(reply.low, named.end)
                or (is_arrow and reply.options.whole(reply.text[: match.start()]))
            )  # "A -> B, which is safer", where the reply begins with A
            is_open = reply.is_question(named) or not reply.holds_where_cut(named)
            is_word = named.is_text and match[0].partition(",")[0] in reply.options.texts
            is_out = is_word or reply.is_left_out(named.start)  # "yes, no, maybe", "all but B"
            if is_answer and not (is_out or is_open or reply.is_refuted(named)):
                yield Statement(named, Certainty.FIRM)


def _called_right(reply: Reply) -> Iterator[Statement]:
    """Options that are the subject of a sentence which calls them right: "(B) is correct"."""
    verdicts = [*patterns.IS_RIGHT.finditer(reply.low)]
    if reply.asks.for_exception and _are_several(reply, verdicts):
        verdicts = []  # it says which ones are true, and not which one is the answer
    if reply.asks.for_worst:
        verdicts += patterns.IS_WORST.finditer(reply.low)
    if reply.asks.for_exception:
        verdicts += patterns.IS_NOT.finditer(reply.low)
        verdicts += patterns.IS_NOT_SUCH.finditer(reply.low)
    for verdict in verdicts:
        start = verdict.start()
        for named in subjects(reply, start):
            certainty = certainty_of(reply, named.start, verdict.end(), named)
            if verdict.re is patterns.IS_NOT_SUCH:  # it may explain another answer
                certainty = min(certainty, Certainty.SUPPOSED)
            yield Statement(NamedOption(named.result, named.start, start), certainty)


def _are_several(reply: Reply, verdicts: list[re.Match[str]]) -> bool:
    """Whether verdicts are about different options."""
    return (
        len({named.result for verdict in verdicts for named in subjects(reply, verdict.start())})
        > 1
    )


def subjects(reply: Reply, end: int) -> Iterator[NamedOption]:
    """The options that may be the subject of a verb at `end`: by label, or by text."""
    begin = max(0, end - reply.options.longest - _AROUND_A_SUBJECT)
    for match in patterns.SUBJECT.finditer(reply.low, begin, end):
        named = reply.named_at(match.end())
        if named and not reply.low[named.end : end].strip(" \n\"')].:"):
            yield named
    subject = reply.low[begin:end].rstrip(" \"')].:")
    for option, result in reply.options.longest_first:
        if subject.endswith(option) and not patterns.INSIDE.search(
            subject.removesuffix(option)[-3:]
        ):
            stop = begin + len(subject)
            yield NamedOption(result, stop - len(option), stop, is_text=True)
            return


def agreed(named: list[NamedOption]) -> NamedOption | None:
    """The option that all name; a result of None where they differ, None where nothing is named."""
    if not named:
        return None
    if len({option.result for option in named}) == 1:
        return named[-1]
    return NamedOption(None, named[-1].start, named[-1].end)
