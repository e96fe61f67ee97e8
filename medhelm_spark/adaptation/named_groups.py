"""The options that a sentence names, in groups: by label, text, ordinal, or a distinctive word.

"A, B and D" is one group, and so is a label beside another option's text ("B. aspirin", where B is
heparin): a group of two is no choice. A text and its own label are one naming.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from medhelm_spark.adaptation import conclusion_patterns as own, stance_words as words
from medhelm_spark.adaptation.distinctive_words import distinctive_matches, stem, stems_of_question
from medhelm_spark.adaptation.mentions import is_alone
from medhelm_spark.adaptation.naming import NamedOption
from medhelm_spark.adaptation.reply import Reply

_BESIDE = 3
"""Characters between an option's text and its label."""
_BEFORE = 20

Group = list[NamedOption]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Where a sentence begins and ends; whether it asks."""

    start: int
    end: int
    is_asked: bool


def sentences(reply: Reply) -> list[Sentence]:
    """The sentences and lines of a text."""
    found, at = [], 0
    for stop in own.SENTENCE_END.finditer(reply.text):
        end = stop.start()
        if stop[0] == "." and _is_of_label(reply, at, end):
            continue
        if reply.low[at:end].strip():
            found.append(Sentence(at, end, is_asked=reply.low[end : end + 1] == "?"))
        at = end + 1
    if reply.low[at:].strip():
        found.append(Sentence(at, len(reply.low), is_asked=False))
    return found


def _is_of_label(reply: Reply, begin: int, stop: int) -> bool:
    """Whether a full stop belongs to a label: "B. Heparin", "no. 2"."""
    if stop - begin == 1 and reply.low[max(0, begin - 1) : begin] in ("", "\n"):
        return True
    if words.NUMBER_SIGN.fullmatch(reply.low, max(0, stop - 3), stop + 3):
        return True
    option = reply.options.text_by_label.get(reply.text[stop - 1 : stop].upper(), "")
    is_label = not reply.low[stop - 2 : stop - 1].isalnum()
    return bool(option) and is_label and reply.low.startswith(option, stop + 2)


def groups(reply: Reply, sentence: Sentence) -> list[Group]:
    """The options of a sentence, those together that "and" or a comma joins."""
    found: list[Group] = []
    is_ended = False  # by "and": what follows a comma then is no part of the group
    for named in _named(reply, sentence):
        last = found[-1][-1] if found else None
        joint = own.JOINT.fullmatch(reply.low, last.end, named.start) if last else None
        is_beside = last and words.BESIDE.fullmatch(reply.low, last.end, named.start)
        if is_beside or (joint and not (is_ended and joint["and"] is None)):
            found[-1].append(named)
            is_ended = bool(joint and joint["and"])
        else:
            found.append([named])
            is_ended = False
    return found


def _named(reply: Reply, sentence: Sentence) -> Group:
    """Labels, texts and ordinals in their order; a text and its label beside it are one."""
    found = [
        *texts_between(reply, sentence.start, sentence.end),
        *_labels(reply, sentence),
        *_ordinals(reply, sentence),
    ]
    span = (sentence.start, sentence.end)
    question_stems = stems_of_question(reply.asks.question)
    found += [
        NamedOption(result, start, end, is_text=True)
        for start, end, result in distinctive_matches(
            reply.text, reply.low, span, reply.options.longest_first
        )
        if stem(reply.low[start:end]) not in question_stems
    ]
    found.sort(key=lambda named: (named.start, -named.end))
    merged: Group = []
    for named in found:
        last = merged[-1] if merged else None
        if last and named.start < last.end:
            continue
        if last and last.result == named.result and named.start - last.end <= _BESIDE:
            is_text = last.is_text and named.is_text
            merged[-1] = NamedOption(last.result, last.start, named.end, is_text)
        else:
            merged.append(named)
    return merged


def _labels(reply: Reply, sentence: Sentence) -> Iterator[NamedOption]:
    limit = min(len(reply.text), sentence.end + _BESIDE)
    for match in own.LABEL.finditer(reply.text, sentence.start, limit):
        at = match.start("label")
        result = reply.options.labels.get(match["label"])
        if result is None or at >= sentence.end or reply.low[max(0, at - 2) : at + 1] == "n/a":
            continue
        is_open = match["label"] in "AI" and match[0].endswith(match["label"])
        if is_open and _is_word(reply, at, match.end()):
            continue
        if not own.is_part_of_name(reply.low, at):
            yield NamedOption(result, *match.span())
    for match in words.SMALL_LABEL.finditer(reply.low, sentence.start, sentence.end):
        if result := reply.options.labels.get(match[1].upper()):
            yield NamedOption(result, *match.span(1))


def _is_word(reply: Reply, start: int, end: int) -> bool:
    """Whether "A" is an article, or "I" a pronoun; inside a sentence an article is small."""
    if reply.text[start] == "A" and words.INSIDE_SENTENCE.search(
        reply.text, max(0, start - 3), start
    ):
        return False
    return bool(
        words.WORD_NEXT.match(reply.text, end)
        and not words.JOINED_LABEL.match(reply.text, end)
        and not words.LABEL_BEFORE.search(reply.low, max(0, start - _BEFORE), start)
    )


def texts_between(reply: Reply, start: int, end: int) -> Iterator[NamedOption]:
    """The options whose texts are between two positions; the longest text counts."""
    taken = bytearray(max(0, end - start))
    for option, result in reply.options.longest_first:
        at = reply.low.find(option, start, end)
        while at >= 0:
            stop = at + len(option)
            span = slice(at - start, stop - start)
            if not any(taken[span]) and is_alone(reply.low, option, at):
                taken[span] = b"\1" * len(option)
                yield NamedOption(result, at, stop, is_text=True)
            at = reply.low.find(option, stop, end)


def _ordinals(reply: Reply, sentence: Sentence) -> Iterator[NamedOption]:
    """Options that are called by an ordinal: "the second one", "option no. 3", "the first"."""
    results = [*reply.options.labels.values()]
    texts = reply.options.text_by_label.values()
    if not texts or reply.options.are_numbers or any(text[:1].isdigit() for text in texts):
        return
    for match in words.ORDINAL.finditer(reply.low, sentence.start, sentence.end):
        at = words.INDEX_BY_ORDINAL[match["before"] or match["after"] or match["alone"]]
        if at < len(results):
            yield NamedOption(results[at], *match.span())
