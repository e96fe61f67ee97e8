r"""Which option a model chose, read from what it wrote: strongest evidence first.

1. The whole text is a label or an option's text.
2. A field of a JSON object that asks for the choice.
3. A statement of the answer: final ones ("Final answer: B", `\boxed{B}`), then others ("The answer
   is (B)", "I would choose B", "B is correct"). Of several the last holds, since models think
   aloud; one that is denied, asked, conditional or somebody else's does not count.
4. An option alone on a line or as a sentence; then the first line, where it answers and does not
   begin a discussion of the options; then the only line of a list that is marked as correct.
5. Weaker words ("so, B", "it is B", "the answer could be B"), then the labels mentioned as such
   ("(B)", "option B"), then in a text of one sentence the options' texts: if they name one option.

Where the strongest evidence names several options the text is unreadable, and so is a text without
evidence. Of a text that ends in mid-sentence, or was cut, only statements count, and an answer
that comes first. A base model that goes on to ask the next question itself is read up to there.
"""

import re
from collections.abc import Callable, Iterator

from medhelm_spark.adaptation import cues
from medhelm_spark.adaptation.json_fields import (
    loose_values,
    members,
    objects,
    scalars,
    without_examples,
)
from medhelm_spark.adaptation.naming import Named
from medhelm_spark.adaptation.options import Options
from medhelm_spark.adaptation.plain_text import plain
from medhelm_spark.adaptation.standing import Reply, Standing
from medhelm_spark.adaptation.statements import (
    agreed,
    conditional_statement,
    final_statement,
    last_statement,
    statements,
)

Reader = Callable[[Reply], Named | None]


def read_choice(text: str, options: Options, *, is_cut: bool = False) -> str | None:
    """The option that a model's text chooses, as its result; None where it cannot be read.

    Of a text that was cut at its token limit weak evidence (5.) does not count, since nobody knows
    where it would have ended.
    """
    undressed = cues.SPEAKER.sub("", plain(text))
    if whole := _whole(undressed, options) or options.whole(cues.LEAD.sub("", undressed)):
        return whole
    if "{" in text and (value := _in_json(text, options)):
        return value
    turn = cues.NEXT_TURN.search(undressed)
    first_turn = undressed[: turn.start()] if turn else ""
    if first_turn and (result := _read(Reply(first_turn, options, is_cut=False))):
        return result
    return _read(Reply(undressed, options, is_cut=is_cut or _is_unfinished(undressed)))


def _whole(text: str, options: Options) -> str | None:
    """The option that the text is: its label, its text, or both."""
    if whole := options.whole(text):
        return whole
    reply = Reply(text, options, is_cut=False)
    named = reply.named_at(0)
    is_all = named and named.is_text and not text[named.end :].strip(" \n.,;:!?\"'()[]{}<>")
    return named.result if named and is_all else None


def _is_unfinished(text: str) -> bool:
    """Whether a text ends in mid-sentence: at a word that ends none, or late in a long clause."""
    tail = text[-200:].lower()
    if cues.FUNCTION_WORD.search(tail):
        return True
    return tail[-1:].isalnum() and len(cues.CLAUSE_END.split(tail)[-1].split()) > _LONG_CLAUSE


def _read(reply: Reply) -> str | None:
    for reader in _READERS_OF_CUT if reply.is_cut else _READERS:
        if named := reader(reply):
            return named.result
    return None


def read_value(value: str, options: Options) -> str | None:
    """The option that a value names which was cut out of a text as the answer."""
    undressed = plain(value)
    if whole := _whole(undressed, options):
        return whole
    if undressed[:1] in ("[", "{") and (parts := scalars(value)):
        results = {result for part in parts if (result := read_value(part, options))}
        return results.pop() if len(results) == 1 else None
    reply = Reply(undressed, options, is_cut=False)
    named = reply.named_at(0)
    if named and not reply.is_refuted(named):
        return named.result
    return _read(reply)


def _in_json(text: str, options: Options) -> str | None:
    """What the best name for a choice holds in the JSON objects of a text.

    Where no name asks for the choice, the only option that a member is, and nothing else.
    """
    values: dict[int, list[tuple[int, str]]] = {}
    parsed = objects(text)
    told = [(at, *member) for at, object_ in parsed for member in members(object_)]
    for at, name, value in told if parsed else loose_values(text):
        if (rank := _rank(name)) is not None and len(value) < _LONGEST_VALUE:
            values.setdefault(rank, []).append((at, value))
    unnamed = values.pop(0, [])
    for _, ranked in sorted(values.items(), reverse=True):
        if read := without_examples(text, ranked, lambda value: bool(read_value(value, options))):
            return read_value(read[-1], options)
    if values:
        return None
    whole = without_examples(text, unnamed, lambda value: bool(_whole(plain(value), options)))
    results = {_whole(plain(value), options) for value in whole}
    return results.pop() if len(results) == 1 else None


def _rank(name: str) -> int | None:
    """How surely a member's name asks for the choice; None where it asks for something else."""
    low = cues.CAMEL.sub("_", name).lower()
    if cues.OTHER_KEY.search(low):
        return None
    if not cues.KEY.fullmatch(low):
        return 0
    return 3 if "final" in low else 2 if cues.ANSWER_KEY.search(low) else 1


def _bare(reply: Reply) -> Named | None:
    """Labels alone on a line; the last line does not count in a text that was cut."""
    bare = [
        Named(reply.options.labels[match[1].upper()], match.start(), match.end())
        for match in cues.BARE_LINE.finditer(reply.low)
        if match[1].upper() in reply.options.labels
        and not (reply.is_cut and match.end() == len(reply.text))
        and not _goes_on(reply, match)
    ]
    return agreed(bare)


def _goes_on(reply: Reply, line: re.Match[str]) -> bool:
    """Whether a label alone on the last line goes on with the list of options above it."""
    if line.end() < len(reply.text) or reply.low[line.start() - 2 : line.start()] == "\n\n":
        return False
    above = reply.low[: line.start()].rstrip("\n").rpartition("\n")[2].lstrip("*_([ ")
    return above[:1].isalnum() and ord(line[1]) - ord(above[0]) == 1 and not above[1:2].isalnum()


def _last_line(reply: Reply) -> Named | None:
    """The last line, or the last sentence, if it is an option and nothing else."""
    begin = reply.text.rfind("\n") + 1
    start = max(begin, reply.sentence_start(len(reply.text) - 2))
    if cues.LABEL_LAST.search(reply.text, max(0, start - 5), start):
        start = begin  # the full stop of a label ends no sentence
    if reply.text.endswith("?") or len(_listed(reply)) > 1:
        return None
    last = reply.text[start:]
    is_ended = start <= begin or reply.text[-1:] in ".!\"')]*" or cues.LEAD.match(last.strip())
    for part in (reply.text[begin:], last if is_ended else ""):
        bare = cues.LEAD.sub("", part.strip())
        if result := reply.options.whole(part) or reply.options.whole(bare):
            return Named(result, start, len(reply.text))
    return None


def _first_line(reply: Reply) -> Named | None:
    """The option that the text begins with, unless a discussion of the options begins there."""
    named = reply.named_at(0)
    if named is None or _is_prefix(reply, 0, named) or reply.is_refuted(named):
        return None
    if reply.is_question(named) or len({one.result for one in _listed(reply).values()}) > 1:
        return None
    if cues.EXPLAINED.match(reply.low, named.end):
        return named
    if reply.is_cut or _is_discussed(reply, named):
        return None
    is_label = not _is_text(reply, named)
    if is_label and named.start and not cues.ENDED.match(reply.low, named.end):
        return None  # "Option A, aspirin, inhibits"
    if cues.SENTENCE_ENDED.match(reply.low, named.end) and (
        is_label or reply.low[named.end : named.end + 1] in ".!"
    ):
        return named
    if is_label:
        return agreed([named, *_mentions(reply)])
    return agreed([named, *_texts_in(reply, reply.text.find("\n") % (len(reply.text) + 1))])


def _is_discussed(reply: Reply, named: Named) -> bool:
    """Whether a text that begins with an option goes on to discuss it, as "B would" does.

    After a heading ("B. Heparin: it acts at once.") a whole sentence is an explanation.
    """
    is_preferred = cues.PREFERRED.match(reply.low, named.end) is not None
    if not named.is_text:
        is_bare = reply.low[named.end - 1 : named.end].isalnum()
        return is_bare and not is_preferred and bool(cues.DISCUSSED.match(reply.low, named.end))
    if reply.options.labels and cues.DISCUSSED.match(reply.low, named.end) and not is_preferred:
        return True
    is_heading = cues.HEADING.match(reply.low, named.end) and not _is_text(reply, named)
    return bool(is_heading) and reply.text[-1:].isalnum()


def _is_text(reply: Reply, named: Named) -> bool:
    """Whether an option is named by its text alone."""
    return reply.low[named.start : named.end] in reply.options.texts


def _is_prefix(reply: Reply, at: int, named: Named) -> bool:
    """Whether "A:" may stand for "Answer:", there being no text of option A after it."""
    return not named.is_text and re.match(r"[\"'(\[]{0,4}A:", reply.text[at : at + 6]) is not None


def _listed(reply: Reply) -> dict[int, Named]:
    """The options that lines begin with, by where."""
    lines: dict[int, Named] = {}
    starts = [*cues.LINE_START.finditer(reply.low)]
    if cues.HEADED.match(reply.low):  # "A. Aspirin: weak. B. Heparin: slow."
        starts += cues.INLINE_START.finditer(reply.low)
    for match in starts:
        named = reply.named_at(match.end())
        if named and not _is_prefix(reply, match.end(), named):
            lines[match.start()] = named
    return lines


def _line(reply: Reply) -> Named | None:
    """The only line that begins with a label, or the only one that is marked as right."""
    lines = _listed(reply)
    listed = list(lines.values())
    if len({named.result for named in listed}) == 1:
        is_told = cues.SENTENCE_ENDED.match(reply.low, listed[0].end)
        return listed[0] if is_told and not reply.is_refuted(listed[0]) else None
    return agreed([named for named in listed if _is_marked(reply, named)])


def _is_marked(reply: Reply, named: Named) -> bool:
    end = reply.low.find("\n", named.end) % (len(reply.low) + 1)
    line = reply.low[named.end : min(end, named.end + 400)]
    return bool(cues.MARKED.search(line)) and not cues.MARKED_WRONG.search(line)


def _weak(reply: Reply) -> Named | None:
    weak = statements(reply, (cues.WEAK,))
    return agreed(
        [
            one.named
            for one in weak
            if one.standing >= Standing.SUPPOSED and not reply.is_refuted(one.named)
        ]
    )


def _mentioned(reply: Reply) -> Named | None:
    return agreed(list(_mentions(reply)))


def _mentions(reply: Reply) -> Iterator[Named]:
    """Labels in brackets or after "option" that are neither denied nor discussed."""
    for match in cues.MENTION.finditer(reply.low):
        named = reply.named_at(match.end())
        if named is None or reply.is_denied(match.end()) or reply.is_refuted(named):
            continue
        begin = reply.sentence_start(match.start())
        before = reply.low[begin : match.start()].strip()
        is_ended = cues.ENDED.match(reply.low, named.end) and (
            begin == 0 or named.end < len(reply.low)
        )
        is_subject = len(before) < _LONGEST_ARTICLE and not is_ended
        is_told = named.end < len(reply.low) and (
            cues.EXPLAINED.match(reply.low, named.end) or cues.PREFERRED.match(reply.low, named.end)
        )
        if is_told or not is_subject:
            yield named


def _in_one_sentence(reply: Reply) -> Named | None:
    begun = reply.named_at(0)
    if cues.SENTENCE.search(reply.text) or (begun and _is_discussed(reply, begun)):
        return None
    if cues.OPEN.search(reply.low):
        return None
    return agreed(_texts_in(reply, len(reply.text)))


def _texts_in(reply: Reply, end: int) -> list[Named]:
    """The options whose texts stand undenied before `end`; longer texts hide shorter in them."""
    taken = bytearray(end)
    named = []
    for option, result in reply.options.longest_first:
        start = reply.low.find(option, 0, end)
        while start >= 0:
            stop = start + len(option)
            if not any(taken[start:stop]) and _is_alone(reply.low, option, start):
                taken[start:stop] = b"\1" * len(option)
                one = Named(result, start, stop, is_text=True)
                if (
                    not reply.is_denied(start)
                    and not reply.is_refuted(one)
                    and not _is_topic(reply, one)
                ):
                    named.append(one)
            start = reply.low.find(option, stop, end)
    return sorted(named, key=lambda one: one.end)


def _is_topic(reply: Reply, named: Named) -> bool:
    """Whether a text inside a sentence begins a discussion: "first A, aspirin: it"."""
    if not named.start or reply.low[named.start - 2] not in ":;,.":
        return False
    return _is_discussed(reply, named) or cues.HEADING.match(reply.low, named.end) is not None


def _is_alone(low: str, option: str, start: int) -> bool:
    end = start + len(option)
    if cues.INSIDE.search(low, max(0, start - 2), start) or low[end : end + 1].isalnum():
        return False
    return option != "no" or cues.NO_ALONE.match(low, end) is not None


_LONG_CLAUSE = 12
_LONGEST_ARTICLE = 4
_LONGEST_VALUE = 4_000
_READERS: tuple[Reader, ...] = (
    final_statement,
    last_statement,
    _bare,
    _last_line,
    _first_line,
    _line,
    conditional_statement,
    _weak,
    _mentioned,
    _in_one_sentence,
)
_READERS_OF_CUT: tuple[Reader, ...] = (final_statement, last_statement, _bare, _first_line)
