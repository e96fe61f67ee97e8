r"""Which option a model chose, read from what it wrote: strongest evidence first.

1. The whole text is a label or an option's text.
2. A statement of the answer: final ones ("Final answer: B", `\boxed{B}`, `"answer": "B"`), then
   others ("The answer is (B)", "I would choose B", "B is correct"). Of several the last holds,
   since models think aloud; one that is denied ("the answer is not A") is none.
3. A label alone on a line; then the first line, where it begins with an option; then a line that
   begins with a label, if there is one only, or one only that is marked as correct.
4. Weaker words ("so, B", "it is B", "the answer could be B"), then the labels mentioned as such
   ("(B)", "option B"), then in a text of one sentence the options' texts: if they name one option.

Where the strongest evidence names several options the text is unreadable, and so is a text without
evidence. A base model that goes on to ask the next question itself is read up to there.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from medhelm_spark.adaptation import cues
from medhelm_spark.adaptation.options import Named, Options, named_at
from medhelm_spark.adaptation.plain_text import plain

Reader = Callable[["_Text", Options], Named | None]


class _Text:
    """A plain text and its lower-case twin, of the same length."""

    def __init__(self, text: str) -> None:
        low = text.lower()
        self.text = text if len(low) == len(text) else low
        self.low = low


def read_choice(text: str, options: Options, *, is_cut: bool = False) -> str | None:
    """The option that a model's text chooses, as its result; None where it cannot be read.

    Of a text that was cut at its token limit weak evidence (4.) does not count, since nobody knows
    where it would have ended.
    """
    readers = _READERS[:-_WEAK_READERS] if is_cut else _READERS
    undressed = cues.SPEAKER.sub("", plain(text))
    if found := options.whole(undressed) or options.whole(cues.LEAD.sub("", undressed)):
        return found
    turn = cues.NEXT_TURN.search(undressed)
    if (
        turn
        and turn.start()
        and (found := _read(_Text(undressed[: turn.start()]), options, readers))
    ):
        return found
    return _read(_Text(undressed), options, readers)


def _read(text: _Text, options: Options, readers: Iterable[Reader]) -> str | None:
    for reader in readers:
        if found := reader(text, options):
            return found.result
    return None


def _stated(text: _Text, options: Options, cues: Iterable[re.Pattern[str]]) -> list[Named]:
    """What statements name, in their order."""
    found = []
    for cue in cues:
        for match in cue.finditer(text.low):
            if _counts(text, match) and (
                named := named_at(text.text, text.low, match.end(), options)
            ):
                found.append(named)
    return sorted(found, key=lambda named: named.end)


def _counts(text: _Text, cue: re.Match[str]) -> bool:
    """Whether a cue begins a word, is not about one option ("answer choice B:"), nor denied."""
    start, end = cue.span()
    if "a" <= text.low[start - 1 : start] <= "z" or cues.ONE_OPTION.search(text.text, start, end):
        return False
    instead = cue[0].startswith(("but", "rather"))
    return (instead or not _is_denied(text, start)) and not cues.DENIES.match(text.text, end)


def _is_denied(text: _Text, at: int) -> bool:
    return cues.DENIED.search(text.text, max(0, at - 48), at) is not None


def _final(text: _Text, options: Options) -> Named | None:
    return next(reversed(_stated(text, options, (cues.FINAL, cues.JSON_KEY))), None)


def _statement(text: _Text, options: Options) -> Named | None:
    found = [*_stated(text, options, (cues.ANSWER, cues.VERB)), *_called_right(text, options)]
    return max(found, key=lambda named: named.end, default=None)


def _called_right(text: _Text, options: Options) -> Iterator[Named]:
    """Options that a sentence begins with and calls right: "(B) is the correct answer"."""
    for verdict in cues.IS_RIGHT.finditer(text.low):
        begin = max(0, verdict.start() - cues.LONGEST_SUBJECT)
        for match in cues.SUBJECT.finditer(text.text, begin, verdict.start()):
            named = named_at(text.text, text.low, match.end(), options)
            if named is None or _is_denied(text, match.end()):
                continue
            if not text.low[named.end : verdict.start()].strip(" \n\"')].:"):
                yield named
        subject = text.low[begin : verdict.start()].rstrip(" \"')].:")
        for option, result in options.longest_first:
            head = subject.removesuffix(option)
            if head != subject and not head[-1:].isalnum():
                yield Named(result, verdict.start())
                break


def _bare_line(text: _Text, options: Options) -> Named | None:
    found = [
        Named(options.labels[match[1].upper()], match.end())
        for match in cues.BARE_LINE.finditer(text.text)
        if match[1].upper() in options.labels
    ]
    return _agreed(found)


def _line(text: _Text, options: Options) -> Named | None:
    """A line that begins with a label: the only one, or the only one that is marked as right."""
    lines: dict[int, Named] = {}
    for match in cues.LINE_START.finditer(text.text):
        if (named := named_at(text.text, text.low, match.end(), options)) and not _is_prefix(
            text, match.end(), named, options
        ):
            lines[match.start()] = named
    found = list(lines.values())
    if len({named.result for named in found}) < 2:
        return found[0] if found else None
    return _agreed([named for at, named in lines.items() if _is_marked(text.text, at)])


def _is_prefix(text: _Text, at: int, named: Named, options: Options) -> bool:
    """Whether "A:" may stand for "Answer:", there being no text of option A after it."""
    is_a = re.match(r"[\"'(\[]*A:", text.text[at:]) is not None
    return is_a and text.text[named.end - 1 : named.end + 1].strip() in ("A:", "A", ":")


def _is_marked(text: str, start: int) -> bool:
    line = text[start : text.find("\n", start + 1) % (len(text) + 1)]
    return bool(cues.MARKED.search(line)) and not cues.MARKED_WRONG.search(line)


def _first_line(text: _Text, options: Options) -> Named | None:
    named = named_at(text.text, text.low, 0, options)
    if (
        named is None
        or _is_prefix(text, 0, named, options)
        or cues.REFUTED.match(text.low, named.end)
    ):
        return None
    starts = {m.end() for m in cues.LINE_START.finditer(text.text)}
    listed = [named_at(text.text, text.low, at, options) for at in starts]
    if len({one.result for one in listed if one}) > 1:
        return None
    if cues.LABEL_FIRST.match(text.text):
        return named
    first_line = _Text(text.text.partition("\n")[0])
    return _agreed([named, *_texts_in(first_line, options)])


def _last_line(text: _Text, options: Options) -> Named | None:
    result = options.whole(text.text.rpartition("\n")[2])
    return Named(result, len(text.text)) if result else None


def _weak(text: _Text, options: Options) -> Named | None:
    found = _stated(text, options, (cues.WEAK,))
    return _agreed([named for named in found if not cues.REFUTED.match(text.low, named.end)])


def _mentioned(text: _Text, options: Options) -> Named | None:
    found = [
        named
        for match in cues.MENTION.finditer(text.text)
        if (named := named_at(text.text, text.low, match.end(), options))
        and not _is_denied(text, match.end())
        and not cues.REFUTED.match(text.low, named.end)
    ]
    return _agreed(found)


def _in_one_sentence(text: _Text, options: Options) -> Named | None:
    return None if cues.SENTENCE.search(text.text) else _agreed(_texts_in(text, options))


def _texts_in(text: _Text, options: Options) -> list[Named]:
    """The options whose texts a text holds undenied; longer texts hide shorter ones in them."""
    left, found = text.low, []
    for option, result in options.longest_first:
        at = left.find(option)
        while at >= 0:
            end = at + len(option)
            if not (cues.INSIDE.search(left, max(0, at - 2), at) or left[end : end + 1].isalnum()):
                if (
                    option != "no"
                    and not _is_denied(text, at)
                    and not cues.REFUTED.match(left, end)
                ):
                    found.append(Named(result, end))
                left = left[:at] + " " * len(option) + left[end:]
            at = left.find(option, end)
    return found


def _agreed(found: list[Named]) -> Named | None:
    """The one option that all name; several make no result, none at all no evidence."""
    if not found:
        return None
    results = {named.result for named in found}
    return found[-1] if len(results) == 1 else Named(None, found[-1].end)


_READERS: tuple[Reader, ...] = (
    _final,
    _statement,
    _bare_line,
    _last_line,
    _first_line,
    _line,
    _weak,
    _mentioned,
    _in_one_sentence,
)
_WEAK_READERS = 3
