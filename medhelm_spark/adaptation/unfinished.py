"""Whether a reply ends in mid-sentence, or in the midst of a discussion of the options."""

from medhelm_spark.adaptation import answer_patterns as patterns, choice_patterns as own
from medhelm_spark.adaptation.naming import named_at
from medhelm_spark.adaptation.options import Options

_LONG_CLAUSE, _LONGEST_WORD = 12, 24
_SHORTEST_LINE, _LONGEST_LINE = 3, 400


def is_unfinished(text: str, options: Options) -> bool:
    """Whether a text ends in mid-sentence: at a function word, or in a begun or long clause."""
    low = text.lower()
    if any(low.endswith(option) for option in options.texts if len(option) > 1):
        return False
    tail = low[-200:]
    arrow = own.ARROW_TO_LABEL.search(text[-_LONGEST_WORD:])
    if arrow and arrow[1] in options.labels:
        return False
    if (
        own.ARTICLE_LAST.search(text[-20:])
        or own.FUNCTION_WORD.search(tail[-_LONGEST_WORD:])
        or own.BEGUN_CLAUSE.search(tail)
    ):
        return own.ENDED_BY_IT.search(tail) is None
    if _is_begun_discussion(text, low, options) or _is_begun_list(low, options):
        return True
    if text[:1].islower():
        return False  # a loose reply, which needs no full stop
    return tail[-1:].isalnum() and len(own.CLAUSE_END.split(tail)[-1].split()) > _LONG_CLAUSE


def _is_begun_list(low: str, options: Options) -> bool:
    """Whether a text says that it goes through the options, and ends before the last of them."""
    head = low[:_LONGEST_LINE]
    announced = own.ANNOUNCED.search(head) if options.labels and "\n" in head else None
    if announced is None:
        return False
    labels = {match[1].upper() for match in own.LISTED_LABEL.finditer(low, announced.end() - 1)}
    listed = [label for label in options.labels if label in labels]
    return bool(listed) and listed == [*options.labels][: len(listed)] != [*options.labels]


def _is_begun_discussion(text: str, low: str, options: Options) -> bool:
    """Whether a text that begins with an option ends in a line without a full stop."""
    named = named_at(text, low, 0, options) if options.labels else None
    line = text.rpartition("\n")[2] if "\n" in text else ""
    is_list = len(patterns.LINE_START.findall(low)) > 1
    if not named or not named.is_text or is_list or not own.BEGUN_LINE.search(line[-2:]):
        return False
    line = line.lower()
    if len(line) > _LONGEST_LINE or len(line.split()) < _SHORTEST_LINE:
        return False
    return not (
        patterns.REASON_NEXT.match(line)
        or patterns.ANSWER.search(line)
        or patterns.FINAL.search(line)
    )
