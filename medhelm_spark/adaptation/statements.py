"""The statements of a text that name the answer: "the answer is B", "B is correct", "not A but B".

Of several the last one holds, since models think aloud; how far each holds says `standing`.
"""

import re
from collections.abc import Iterable, Iterator

from medhelm_spark.adaptation import cues
from medhelm_spark.adaptation.naming import Named
from medhelm_spark.adaptation.standing import Reply, Standing, Statement, standing_of


def statements(reply: Reply, patterns: Iterable[re.Pattern[str]]) -> Iterator[Statement]:
    """What statements name, and how far each holds."""
    for pattern in patterns:
        for match in pattern.finditer(reply.low):
            start, end = match.span()
            if cues.ONE_OPTION.search(reply.text, start, end):
                continue  # about one option: "answer choice B:"
            if named := reply.named_at(end):
                yield Statement(named, standing_of(reply, start, end, named))


def _last(reply: Reply, stated: Iterable[Statement], *standings: Standing) -> Named | None:
    """What the last of the statements that hold names, the firmest ones first.

    After a reply that begins with its answer a statement without a sign of a correction or a
    conclusion is about something else ("The answer is B. In pregnancy A is best.").
    """
    stated = list(stated)
    for standing in standings:
        held = [one.named for one in stated if one.standing is standing]
        if held:
            held.sort(key=lambda named: named.end)
            return _kept(reply, held)
    return None


def _kept(reply: Reply, held: list[Named]) -> Named:
    first, last = held[0], held[-1]
    if first.result == last.result or reply.sentence_start(first.start) > _ANSWER_FIRST:
        return last
    between = reply.low[first.end : last.start]
    begin = reply.sentence_start(last.start)
    after = reply.low[last.end : reply.sentence_end(last.end)]
    if cues.ALSO.search(reply.low, begin, reply.sentence_end(last.end)):
        return Named(None, last.start, last.end)
    if (
        cues.TURN.search(between)
        or cues.CONCLUDED.search(between)
        or cues.AFTER_ALL.search(between)
    ):
        return last
    is_scoped = cues.SCOPE.match(reply.low[begin : last.start]) or cues.SCOPED.match(after)
    if is_scoped and cues.SCOPED.match(reply.low[first.end : reply.sentence_end(first.end)]):
        return Named(None, last.start, last.end)  # "A is best for adults, B is best for children"
    return first if is_scoped else last


_ANSWER_FIRST = 20
"""How many characters may stand before the first statement's sentence in a reply that answers
first."""


def final_statement(reply: Reply) -> Named | None:
    """What the last statement names that is called final."""
    return _last(reply, statements(reply, (cues.FINAL,)), Standing.FIRM, Standing.SUPPOSED)


def last_statement(reply: Reply) -> Named | None:
    """What the last statement names that holds."""
    patterns = [cues.ANSWER, cues.VERB]
    if reply.asks_for_worst:
        patterns.append(cues.WORST_ANSWER)
    return _last(
        reply,
        [
            *statements(reply, patterns),
            *_called_right(reply),
            *_instead(reply),
        ],
        Standing.FIRM,
        Standing.SUPPOSED,
    )


def conditional_statement(reply: Reply) -> Named | None:
    """What all statements name that hold under a condition."""
    stated = [*statements(reply, (cues.FINAL, cues.ANSWER, cues.VERB)), *_called_right(reply)]
    return agreed([one.named for one in stated if one.standing is Standing.CONDITIONAL])


def _instead(reply: Reply) -> Iterator[Statement]:
    """What stands instead of what was denied or said before: "not A but B", "wait, B."."""
    for pattern in (cues.CONTRAST, cues.AFTER_ALL, cues.NONE_BUT):
        for match in pattern.finditer(reply.low):
            named = reply.named_at(match.end())
            if named is None:
                continue
            is_answer = cues.SENTENCE_ENDED.match(reply.low, named.end) or pattern is cues.CONTRAST
            is_open = reply.is_question(named) or not reply.holds_where_cut(named)
            if is_answer and not reply.is_refuted(named) and not is_open:
                yield Statement(named, Standing.FIRM)


def _called_right(reply: Reply) -> Iterator[Statement]:
    """Options that a sentence begins with and calls right: "(B) is the correct answer"."""
    verdicts = [*cues.IS_RIGHT.finditer(reply.low)]
    if reply.asks_for_worst:
        verdicts += cues.IS_WORST.finditer(reply.low)
    for verdict in verdicts:
        start = verdict.start()
        for named in _subjects(reply, start):
            standing = standing_of(reply, named.start, verdict.end(), named)
            yield Statement(Named(named.result, named.start, start), standing)


def _subjects(reply: Reply, end: int) -> Iterator[Named]:
    """The options that may be the subject of a verb at `end`: by label, or by text."""
    begin = max(0, end - cues.LONGEST_SUBJECT)
    for match in cues.SUBJECT.finditer(reply.low, begin, end):
        named = reply.named_at(match.end())
        if named and not reply.low[named.end : end].strip(" \n\"')].:"):
            yield named
    subject = reply.low[begin:end].rstrip(" \"')].:")
    for option, result in reply.options.longest_first:
        if subject.endswith(option) and not cues.INSIDE.search(subject.removesuffix(option)[-3:]):
            stop = begin + len(subject)
            yield Named(result, stop - len(option), stop, is_text=True)
            return


def agreed(named: list[Named]) -> Named | None:
    """The one option that all name; several make no result, none at all no evidence."""
    if not named:
        return None
    if len({one.result for one in named}) == 1:
        return named[-1]
    return Named(None, named[-1].start, named[-1].end)
