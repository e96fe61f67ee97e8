"""Answers by line: a label alone on a line, the first line, the last one, the only marked one."""

import re

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.mentions import (
    are_subjects,
    is_discussed,
    is_text,
    mentions,
    texts_in,
    with_own_label,
)
from medhelm_spark.adaptation.naming import NamedOption, named_at
from medhelm_spark.adaptation.options import Options
from medhelm_spark.adaptation.reply import Reply
from medhelm_spark.adaptation.statements import agreed

_BULLETS = " -+•"
_LONGEST_LINES = 600
"""Characters that are searched for two lines that are an option each."""
_FEWEST_MARKS, _MOST_MARKS = 2, 20
"""Marks of a single line that is a list, and those that are read."""


def bare_label(reply: Reply) -> NamedOption | None:
    """Labels alone on a line; the last line does not count in a text that was cut."""
    bare = [
        NamedOption(reply.options.labels[match[1].upper()], match.start(), match.end())
        for match in patterns.BARE_LINE.finditer(reply.low)
        if match[1].upper() in reply.options.labels
        and not (reply.is_cut and match.end() == len(reply.text))
        and not (reply.is_cut and patterns.TURN_NEXT.match(reply.low, match.end()))
        and not (reply.is_cut and _is_heading(reply, match))
        and not _continues_list(reply, match)
    ]
    return agreed(bare)


def _is_heading(reply: Reply, line: re.Match[str]) -> bool:
    """Whether a label alone on a line may begin the discussion of its option.

    "Option B:", or the option's text on the next line; a reason after it makes it an answer.
    """
    if patterns.REASON_NEXT.match(reply.low, line.end()):
        return False
    text = reply.options.text_by_label.get(line[1].upper(), "")
    begins_text = bool(text) and reply.low[line.end() :].lstrip("\n *(\"'").startswith(text)
    return (
        begins_text or ":" in line[0] or line[0].lstrip(" *([\"'").startswith(("option", "choice"))
    )


def _continues_list(reply: Reply, line: re.Match[str]) -> bool:
    """Whether a label alone on the last line continues the list of options above it."""
    if line.end() < len(reply.text) or reply.low[line.start() - 2 : line.start()] == "\n\n":
        return False
    if patterns.BARE_LINE.match(reply.low, reply.low.rfind("\n", 0, line.start() - 1) + 1):
        return False
    above = reply.low[: line.start()].rstrip("\n").rpartition("\n")[2].lstrip("*_([ ")
    return above[:1].isalnum() and ord(line[1]) - ord(above[0]) == 1 and not above[1:2].isalnum()


def final_line(reply: Reply) -> NamedOption | None:
    """The option of a last line that says that it is the answer: "Label: soon"."""
    begin = reply.low.rfind("\n") + 1
    lead = patterns.CLOSING_LINE.match(reply.low, begin) if begin and not reply.is_cut else None
    result = reply.options.whole(reply.text[lead.end() :]) if lead else None
    result = result or _last_paragraph(reply, begin)
    return NamedOption(result, begin, len(reply.low)) if result else None


def _last_paragraph(reply: Reply, begin: int) -> str | None:
    """The label that a text ends in after prose, or the option below the heading of the answer."""
    above = reply.low[:begin].rstrip("\n")
    is_paragraph = reply.low[len(above) : begin] == "\n\n" and not reply.is_cut
    heading = above.rpartition("\n")[2] if above else ""
    is_headed = patterns.FINAL_HEADING.fullmatch(heading) is not None
    if reply.is_cut or not above or not (is_paragraph or is_headed):
        return None
    line = reply.text[begin:]
    is_prose = heading.endswith((".", "!", ")")) and len(heading.split()) > _FEWEST_MARKS
    is_label = line.strip(" .()*[]\"'").upper() in reply.options.labels
    if not is_headed and not (is_prose and is_label):
        return None
    return reply.options.whole(line) or (_with_text(line, reply.options) if is_headed else None)


def last_line(reply: Reply) -> NamedOption | None:
    """The last line, or the last sentence, where it is an option and nothing else."""
    begin = reply.text.rfind("\n") + 1
    start = max(begin, reply.sentence_start(len(reply.text) - 2))
    if patterns.LABEL_LAST.search(reply.text, max(0, start - 5), start):
        start = begin  # the full stop of a label ends no sentence
    if reply.text.endswith("?") or len(_listed(reply)) > 1 or _is_in_list(reply, begin):
        return None
    last = patterns.NO_DOUBT.sub("", reply.text[start:])
    is_ended = (
        start <= begin
        or reply.text[:start].endswith("?")
        or reply.text[-1:] in ".!\"')]*"
        or _is_only_letter(reply, start)
        or patterns.LEAD.match(last.strip())
    )
    for part in (reply.text[begin:], last if is_ended else ""):
        bare = patterns.LEAD.sub("", part.strip())
        result = reply.options.whole(part) or reply.options.whole(bare)
        if result := result or _with_text(bare, reply.options):
            return NamedOption(result, start, len(reply.text))
    return None


def _is_only_letter(reply: Reply, start: int) -> bool:
    """Whether a text ends in a letter as its last sentence, and has no other: "It is fast. B"."""
    if not patterns.CAPITAL_LAST.search(reply.text, max(0, start - 6)):
        return False
    begun = reply.named_at(0)  # "A is weak", where A is no article
    is_other = begun and not begun.is_text
    return not is_other and patterns.CAPITAL.search(reply.text, 0, start) is None


def _with_text(line: str, options: Options) -> str | None:
    """The option that a line is by label and text: "D, atropine", "Atropine (D)"."""
    is_both = len(line) < _LONGEST_LINES and (
        (line[:1].upper() in options.labels and not line[1:2].isalnum())
        or line.endswith((")", ")."))
    )
    return of_cell(line, options) if is_both and options.text_by_label else None


def _is_list(reply: Reply) -> bool:
    """Whether the first two lines are two options, as in a list of them."""
    first, _, rest = reply.text[:_LONGEST_LINES].partition("\n")
    if not rest:
        return False
    second = rest.partition("\n")[0]
    results = {reply.options.whole(line.lstrip(_BULLETS)) for line in (first, second)}
    return None not in results and len(results) > 1


def _is_in_list(reply: Reply, begin: int) -> bool:
    """Whether the line above the one that begins at `begin` is another option, as in a list."""
    above = reply.text[: max(0, begin - 1)].rpartition("\n")[2]
    other = reply.options.whole(above.lstrip(_BULLETS)) if above else None
    return other is not None and other != reply.options.whole(reply.text[begin:].lstrip(_BULLETS))


def first_line(reply: Reply) -> NamedOption | None:
    """The option that the text begins with, unless a discussion of the options begins there."""
    named = reply.named_at(0)
    if named is None and (not reply.options.labels or patterns.CLOSING_LINE.match(reply.low)):
        return _after_lead(reply)
    if named is None or _is_no_answer(reply, named):
        return None
    if _is_explained(reply, named) or (reply.is_cut and _is_compared(reply, named)):
        return named
    is_word = is_text(reply, named) and reply.low[named.end : named.end + 2] == ", "
    is_loose = not reply.options.labels or ({"yes", "no"} <= reply.options.texts.keys())
    if is_word and is_loose and reply.holds_where_cut(named):
        return agreed([named, *texts_in(reply, len(reply.text))])  # "No, the trial was small"
    is_sentence = reply.low[named.end : named.end + 2] in (". ", "! ", ".\n", "\n\n")
    if reply.is_cut and is_sentence and is_loose and is_text(reply, named):
        return named if reply.holds_where_cut(named) else None  # "Yes. The trial"
    if reply.is_cut or is_discussed(reply, named):
        return None
    is_label = not is_text(reply, named)
    if is_label and named.start and not patterns.ENDED.match(reply.low, named.end):
        return None  # "Option A, aspirin, inhibits"
    if patterns.SENTENCE_ENDED.match(reply.low, named.end) and (
        is_label or reply.low[named.end : named.end + 1] in ".!"
    ):
        return named
    if is_label:
        return agreed([named, *mentions(reply)])
    end = reply.text.find("\n") % (len(reply.text) + 1)
    aside = patterns.CONCESSION.search(reply.low, named.end, end)
    return agreed([named, *texts_in(reply, aside.start() if aside else end)])


def _is_no_answer(reply: Reply, named: NamedOption) -> bool:
    """Whether the option at the beginning is denied, a question, in a list, or left ("A -> B")."""
    return bool(
        _is_prefix(reply, 0, named)
        or reply.is_refuted(named)
        or reply.is_question(named)
        or patterns.ARROW_NEXT.match(reply.low, named.end)
        or patterns.DOUBT_NEXT.match(reply.low, named.end)
        or _is_list(reply)
        or reply.low[named.end : named.end + 2].lstrip().startswith("|")  # a row of a table
        or _begins_list(reply, named)
        or _goes_through(reply, named)
        or are_subjects(reply, named)
        or (reply.is_cut and patterns.TURN_NEXT.match(reply.low, named.end))
    )


def _after_lead(reply: Reply) -> NamedOption | None:
    """The option in the first line after words that say what it is: "Label: urgent. He bleeds"."""
    lead = patterns.LEAD.match(reply.text)
    named = reply.named_at(lead.end()) if lead else None
    if named is None or not (
        patterns.SENTENCE_ENDED.match(reply.low, named.end)
        or patterns.BRACKET_NEXT.match(reply.low, named.end)
    ):
        return None
    is_out = reply.is_refuted(named) or reply.is_question(named)
    return None if is_out or not reply.holds_where_cut(named) else named


def _begins_list(reply: Reply, named: NamedOption) -> bool:
    """Whether lines go through the options, and the text's beginning is the first of them.

    "C. Warfarin", and below it a list that begins with A, is an answer and a list.
    """
    listed = [option.result for _, option in sorted(_listed(reply).items()) if option.result]
    if len(set(listed)) < _FEWEST_MARKS:
        return False
    order = [*reply.options.labels.values()]
    is_answer = (
        named.result in order
        and listed[0] == named.result
        and listed[1] in order
        and order.index(listed[1]) < order.index(named.result)
        and patterns.BELOW.match(reply.low, named.end)
    )
    return not is_answer


def _goes_through(reply: Reply, named: NamedOption) -> bool:
    """Whether sentences go through options by their texts: "Aspirin: yes. Heparin: no."."""
    if not is_text(reply, named) or not patterns.HEADING.match(reply.low, named.end):
        return False
    if not reply.options.text_by_label:
        return False
    return any(
        other and other.result != named.result and patterns.HEADING.match(reply.low, other.end)
        for stop in patterns.SENTENCE.finditer(reply.low, named.end)
        for other in (reply.named_at(stop.end()),)
    )


def _is_explained(reply: Reply, named: NamedOption) -> bool:
    """Whether an explanation follows; in a text that was cut, one that says that it is one.

    "Option A: Aspirin", a line break and "This is a" may begin the discussion of all options.
    """
    named = with_own_label(reply, named)
    pattern = patterns.REASON_NEXT if reply.is_cut and reply.options.labels else patterns.EXPLAINED
    return pattern.match(reply.low, named.end) is not None


def _is_compared(reply: Reply, named: NamedOption) -> bool:
    """Whether what follows the option at the beginning of a text compares others with it."""
    if not named.is_text or not patterns.ENDED.match(reply.low, named.end):
        return False
    if _is_out_of_order(reply, named):
        return True
    rest = reply.text[named.end :]
    return not _is_subject_of_lines(reply) and any(
        len(_others_in(reply, sentence, named)) > 1 for sentence in patterns.SENTENCE.split(rest)
    )


def _is_subject_of_lines(reply: Reply) -> bool:
    """Whether lines or sentences begin with options as headings do: "B. Heparin", "Heparin: "."""
    starts = (stop.end() for stop in patterns.SENTENCE.finditer(reply.low))
    begun = (reply.named_at(at) for at in starts)
    return any(
        other
        and other.is_text
        and (patterns.HEADING.match(reply.low, other.end) or not is_text(reply, other))
        for other in begun
    )


def _others_in(reply: Reply, sentence: str, named: NamedOption) -> set[str]:
    """The other options that a sentence names, by their texts or their labels in brackets."""
    low = sentence.lower()
    by_text = {result for text, result in reply.options.longest_first if text in low}
    by_label = {
        result
        for label, result in reply.options.labels.items()
        if f"({label.lower()})" in low or (label != "A" and f" {label} " in f" {sentence} ")
    }
    return (by_text | by_label) - {named.result}


def _is_out_of_order(reply: Reply, named: NamedOption) -> bool:
    """Whether the first line is an option, not the first one, and its explanation compares it.

    "C. Warfarin", a blank line and "It is slow, and heparin" compares; "A. Aspirin" begins a list.
    """
    first = next(iter(reply.options.labels.values()), None)
    is_alone = reply.low.startswith("\n\n", named.end) and named.is_text
    if not is_alone or is_text(reply, named) or named.result == first:
        return False
    explanation = reply.low[named.end + 2 :].partition("\n")[0]
    sentence = patterns.SENTENCE.search(explanation)
    own = reply.low[named.start : named.end]
    others = (text for text in reply.options.text_by_label.values() if text and text not in own)
    return sentence is not None and any(text in explanation[sentence.end() :] for text in others)


def _is_prefix(reply: Reply, at: int, named: NamedOption) -> bool:
    """Whether "A:" may mean "Answer:", there being no text of option A after it."""
    is_called_option = reply.low[:at].endswith(("option ", "choice "))
    is_prefix = re.match(r"[\"'(\[]{0,4}A:", reply.text[at : at + 6]) is not None
    return is_prefix and not named.is_text and not is_called_option


def _listed(reply: Reply) -> dict[int, NamedOption]:
    """The options that lines begin with, by position."""
    lines: dict[int, NamedOption] = {}
    starts = [*patterns.LINE_START.finditer(reply.low)]
    if patterns.HEADED.match(reply.low):  # "A. Aspirin: weak. B. Heparin: slow."
        starts += patterns.INLINE_START.finditer(reply.low)
    end = 0
    for match in sorted(starts, key=lambda match: match.start()):
        named = reply.named_at(match.end())
        if match.start() < end or named is None or _is_prefix(reply, match.end(), named):
            continue  # within the option before it, or "A:" for "Answer:"
        lines[match.start()] = named
        end = named.end
    return lines


def only_line(reply: Reply) -> NamedOption | None:
    """The only line that begins with a label, or the only one that is marked as right."""
    lines = _listed(reply)
    listed = list(lines.values())
    if len({named.result for named in listed}) == 1:
        is_answer = patterns.SENTENCE_ENDED.match(reply.low, listed[0].end)
        return listed[0] if is_answer and not reply.is_refuted(listed[0]) else None
    starts = sorted(lines)
    ends = dict(zip(starts, [*starts[1:], len(reply.low)], strict=False))
    return agreed([lines[at] for at in starts if _is_marked(reply, lines[at], ends[at])])


def only_yes(reply: Reply) -> NamedOption | None:
    """The option of the only line that ends in yes, where all others end in no: "Heparin: yes"."""
    lines = [line for line in reply.low.splitlines() if line and line[-1] != ":"]
    yes = [line for line in lines if patterns.YES_LAST.search(line)]
    is_list = len(yes) == 1 and len(lines) > _FEWEST_MARKS and not reply.asks.for_worst
    if not is_list or not all(line in yes or patterns.NO_LAST.search(line) for line in lines):
        return None
    line = patterns.LINE_OF_OPTION.match(reply.low, reply.low.find(yes[0]))
    result = _of_line(reply, line) if line and reply.options.labels else None
    return NamedOption(result, *line.span()) if line and result else None


def ticked_line(reply: Reply) -> NamedOption | None:
    """The only ticked line, where several lines are an option each; several where several are.

    In a single line, the only option before a tick, where each mark has its option before it.
    """
    if not patterns.TICK.search(reply.low) and not patterns.POINTED_AT.search(reply.low):
        return None
    if "\n" not in reply.low:
        return _ticked_inline(reply)
    options: set[str] = set()
    ticked: list[NamedOption] = []
    crossed: list[NamedOption] = []
    for line in patterns.LINE_OF_OPTION.finditer(reply.low):
        if "|" in line[0]:
            continue  # `tables` reads them
        mark = patterns.MARK.search(line[0])
        is_pointed = mark is None and patterns.POINTED_AT.search(line[0])
        result = _of_line(reply, line) or (_above(reply, line) if is_pointed else None)
        if result is None:
            continue
        options.add(result)
        if is_pointed or (mark and mark["tick"]):
            ticked.append(NamedOption(result, *line.span()))
        elif mark:
            crossed.append(NamedOption(result, *line.span()))
    if reply.asks.for_exception and len(ticked) > 1 and len(crossed) == 1:
        return crossed[0]
    return agreed(ticked) if len(options) > 1 else None


def _above(reply: Reply, line: re.Match[str]) -> str | None:
    """The option of the line above, where that is no list's: "It is fast - this is the answer"."""
    begin = max(0, line.start() - _LONGEST_LINES)
    above = [*patterns.LINE_OF_OPTION.finditer(reply.low, begin, line.start())][-2:]
    is_in_list = len(above) > 1 and _of_line(reply, above[0]) is not None
    is_next = bool(above) and above[-1].end() + 1 == line.start() and not is_in_list
    return _of_line(reply, above[-1]) if is_next else None


def _of_line(reply: Reply, line: re.Match[str]) -> str | None:
    """The option that a line begins with, or is: "Heparin: it acts at once ✅", "B → fast ✓"."""
    if result := of_cell(line["said"], reply.options):
        return result
    if named := reply.named_at(line.start("said")):
        return named.result
    label = patterns.MARKED_LABEL.match(line["said"])
    return reply.options.labels.get(label[1].upper()) if label else None


def _ticked_inline(reply: Reply) -> NamedOption | None:
    marks = [*patterns.MARK.finditer(reply.low)][:_MOST_MARKS]
    if len(marks) < _FEWEST_MARKS or not reply.low[: marks[0].start()].strip():
        return None
    starts = [0, *(mark.end() for mark in marks[:-1])]
    named = [
        _marked_at(reply, start, mark.start()) for start, mark in zip(starts, marks, strict=True)
    ]
    if None in named or len({option.result for option in named if option}) == 1:
        return None
    crossed = [option for option, mark in zip(named, marks, strict=True) if not mark["tick"]]
    if reply.asks.for_exception and len(crossed) == 1 and len(marks) > _FEWEST_MARKS:
        return crossed[0]
    return agreed(
        [option for option, mark in zip(named, marks, strict=True) if option and mark["tick"]]
    )


def _marked_at(reply: Reply, start: int, end: int) -> NamedOption | None:
    """The option that words before a mark begin with."""
    words = reply.text[start:end]
    start += len(words) - len(words.lstrip(" ,;|-–—"))
    result = reply.options.whole(reply.text[start:end])
    return NamedOption(result, start, end) if result else reply.named_at(start)


def of_cell(cell: str, options: Options) -> str | None:
    """The option that a cell of a table, or a line, names: by label, text or both."""
    if result := options.whole(cell):
        return result
    low = cell.lower()
    named = named_at(cell if len(low) == len(cell) else low, low, 0, options)
    return named.result if named and not cell[named.end :].strip(" .)*\"'") else None


def _is_marked(reply: Reply, named: NamedOption, end: int) -> bool:
    end = min(end, named.end + 400)
    line = reply.low[named.end : end].partition("\n")[0]
    others = (text for text, result in reply.options.longest_first if result != named.result)
    line = line[: min((at for text in others if (at := line.find(text)) >= 0), default=len(line))]
    return bool(patterns.MARKED.search(line)) and not patterns.MARKED_WRONG.search(line)
