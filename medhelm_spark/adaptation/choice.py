r"""Which option a model chose, read from what it wrote: strongest evidence first.

1. The whole text is a label or an option's text.
2. A statement of the answer: final ones ("Final answer: B", `\\boxed{B}`, `<answer>`), then others
   ("The answer is (B)", "I would choose B", "B is correct", `"answer": "B"`). Of several the last
   holds, since models think aloud; one that is denied ("the answer is not A") is none.
3. A label alone on a line; then the first line, where it begins with an option; then a line that
   begins with a label, if there is one only, or one only that is marked as correct.
4. Weaker words ("so, B", "it is B", "the answer could be B"), then the labels mentioned as such
   ("(B)", "option B"), then in a text of one sentence the options' texts: if they name one option.

Where the strongest evidence names several options the text is unreadable, and so is a text without
evidence. A base model that goes on to ask the next question itself is read up to there.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from medhelm_spark.adaptation.options import Named, Options, named_at
from medhelm_spark.adaptation.plain_text import plain

_NOUN = (
    r"answer(?:[_ -]?(?:choice|letter|option|idx|index|key|text|label))?|ans|prediction|selection"
    r"|respuesta|r[eé]ponse|antwort|risposta|resposta|ответ|उत्तर|الإجابة"
)
_RIGHT = (
    r"(?:(?:single |only |most )?(?:correct|right|accurate|appropriate|likely|suitable|probable"
    r"|plausible|consistent|fitting)|best|chosen|selected|final)"
)
_LINK = (
    r"(?:[\"')\]]*\s*(?::|=>?|→|->)|\s(?:is|to be|would be|should be|must be|will be|has to be|es"
    r"|est|ist|sera|será|seria|sería|lautet|è|é|—|–|-)(?=[\s:.\"'(])|[ \t]*\n|\s*(?=[(\[]\w[)\]]))"
)
_TO_LINK = rf"[^.:;!?\n]{{0,70}}?{_LINK}"
_CJK = r"(?:答案|答え|正解|正确选项|정답)\s*(?:应该|應該)?\s*(?:是|为|為|は|은|는|[:：])"
# Cues are searched in the lower-case text: without a flag, and without a look behind at their
# beginning, the search is ten times as fast.
_FINAL = re.compile(
    rf"final[_ ](?:{_NOUN}|choice|response|decision|diagnosis|verdict|selection){_TO_LINK}"
)
_ANSWER = re.compile(
    rf"(?:{_NOUN}|{_RIGHT} (?:option|choice|response|statement|diagnosis|alternative|one)"
    r"|(?:my|the model'?s) (?:choice|selection|response)|(?:correct|best|right)(?=:))(?![a-z])"
    rf"{_TO_LINK}"
    r"|\"(?:\w{1,20}_)?(?:choice|option|selection|prediction|label|letter|response|result|output)"
    rf"(?:_\w{{1,20}})?\"\s*:|ans\.? |{_CJK}"
)
_VERB = re.compile(
    r"(?:choos(?:e|ing)|chose|select(?:ing|ed)?|pick(?:ing|ed)?|(?:go|going|went) with"
    r"|opt(?:ing|ed)? for|settl(?:e|ing) (?:on|for)|(?:would|i'll|i will) (?:say|answer))\b"
)
_IS_RIGHT = re.compile(
    r"(?:is|are|being|would be|must be|seems(?: to be)?|appears(?: to be)?|remains)\s+"
    r"(?:clearly |definitely |likely |probably |therefore |thus )?"
    rf"(?:the |an? )?(?:{_RIGHT}|answer)\b"
)
_SUBJECT = re.compile(
    r"(?:\A|(?<=\n)|(?<=[.!?;,] )|\b(?:option|choice|answer|alternative|statement|therefore|thus"
    r"|hence|so|that|but|conclusion|believe|think),? )(?=[\"'(\[]*[^\W_](?![^\W_]))"
    r"|(?=[(\[][^\W_][)\]])",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"(?:therefore|thus|hence|so|consequently|conclusion|but(?: rather| instead)?|rather"
    r"|(?:it|this|that)(?:'s| is| was| must be| would be| should be| has to be)|leaning towards?"
    rf"|points? to|indicat\w+|suggests?|{_RIGHT}(?: [\w'-]+){{0,6}}? (?:is|would be|should be)"
    rf"|(?:{_NOUN})[^.:;!?\n]{{0,40}}?\s(?:might|could|may|can|is likely to) be)\b[,:]?"
)
_MENTION = re.compile(
    r"(?=[(\[][^\W_][)\]])|\b(?:option|choice|answer|alternative|opci[oó]n|letra) (?=[\"'(]*\w\b)",
    re.IGNORECASE,
)
_BARE_LINE = re.compile(
    r"^[^\w\n]{0,4}(?:(?:option|answer|choice)[ :]{1,2})?[\"'(\[]*(\w)(?!\w)[^\w\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
_LINE_START = re.compile(
    r"^[^\w\n(\[]{0,4}(?:(?:option|choice) (?=[\"'(\[]*\w\b))?(?=[\"'(\[]*\w(?:[.):\]]| [-–—] |$))",
    re.MULTILINE | re.IGNORECASE,
)
_MARKED = re.compile(r"[✓✔✅☑]|(?<!in)(?<!not )(?<!partially )\bcorrect\b", re.IGNORECASE)
_MARKED_WRONG = re.compile(r"[✗✘❌]|\b(?:not|in)\s?correct\b|\bwrong\b|n't\b", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|except|avoid|against|unlike|excludes?|eliminat\w+)"
    r"|n't|rather than|instead of|rul(?:e|es|ed|ing) out|than)[ \"'(]+"
    r"(?:(?!but )\w+[ \"'(]+){0,2}\Z",
    re.IGNORECASE,
)
_DENIES = re.compile(r"[\s\"':]*(?:not|never|neither|none|nicht|n't)\b", re.IGNORECASE)
_REFUTED = re.compile(
    r"[)\]\"'.:]*\s*(?:[^\s,;.]+\s+){0,3}?(?:is|are|was|were|would be|seems)?\s?"
    r"(?:not\b|n't|incorrect|wrong|false|unlikely|less|ruled out|contraindicated|excluded"
    r"|eliminated)",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"(?:\w|\d[.,])\Z")
_SPEAKER = re.compile(r"\A(?:assistant|response|output|model|ai)\s*(?::|\n)\s*", re.IGNORECASE)
_NEXT_TURN = re.compile(
    r"\n\s*(?:#+ *)?(?:question|q|input|human|user|passage|context|patient note|instruction)"
    r"s?(?: *\d+)? *:",
    re.IGNORECASE,
)
_ONE_OPTION = re.compile(r"[ (][A-HJ-Z]\b")
_LONGEST_SUBJECT = 400
_SENTENCE = re.compile(r"[.!?](?=\s+\S)|\n")

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
    undressed = _SPEAKER.sub("", plain(text))
    if found := options.whole(undressed):
        return found
    turn = _NEXT_TURN.search(undressed)
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
    if "a" <= text.low[start - 1 : start] <= "z" or _ONE_OPTION.search(text.text, start, end):
        return False
    instead = cue[0].startswith(("but", "rather"))
    return (instead or not _is_denied(text, start)) and not _DENIES.match(text.text, end)


def _is_denied(text: _Text, at: int) -> bool:
    return _DENIED.search(text.text, max(0, at - 48), at) is not None


def _final(text: _Text, options: Options) -> Named | None:
    return next(reversed(_stated(text, options, (_FINAL,))), None)


def _statement(text: _Text, options: Options) -> Named | None:
    found = [*_stated(text, options, (_ANSWER, _VERB)), *_called_right(text, options)]
    return max(found, key=lambda named: named.end, default=None)


def _called_right(text: _Text, options: Options) -> Iterator[Named]:
    """Options that a sentence begins with and calls right: "(B) is the correct answer"."""
    for verdict in _IS_RIGHT.finditer(text.low):
        begin = max(0, verdict.start() - _LONGEST_SUBJECT)
        for match in _SUBJECT.finditer(text.text, begin, verdict.start()):
            named = named_at(text.text, text.low, match.end(), options)
            if named is None or _is_denied(text, match.end()):
                continue
            if not text.low[named.end : verdict.start()].strip(" \n\"')].:"):
                yield named


def _bare_line(text: _Text, options: Options) -> Named | None:
    found = [
        Named(options.labels[match[1].upper()], match.end())
        for match in _BARE_LINE.finditer(text.text)
        if match[1].upper() in options.labels
    ]
    return _agreed(found)


def _line(text: _Text, options: Options) -> Named | None:
    """A line that begins with a label: the only one, or the only one that is marked as right."""
    lines: dict[int, Named] = {}
    for match in _LINE_START.finditer(text.text):
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
    return bool(_MARKED.search(line)) and not _MARKED_WRONG.search(line)


def _first_line(text: _Text, options: Options) -> Named | None:
    named = named_at(text.text, text.low, 0, options)
    if named is None or _is_prefix(text, 0, named, options) or _REFUTED.match(text.low, named.end):
        return None
    starts = {m.end() for m in _LINE_START.finditer(text.text)}
    listed = [named_at(text.text, text.low, at, options) for at in starts]
    is_list = len({one.result for one in listed if one}) > 1
    return None if is_list else named


def _last_line(text: _Text, options: Options) -> Named | None:
    result = options.whole(text.text.rpartition("\n")[2])
    return Named(result, len(text.text)) if result else None


def _weak(text: _Text, options: Options) -> Named | None:
    found = _stated(text, options, (_WEAK,))
    return _agreed([named for named in found if not _REFUTED.match(text.low, named.end)])


def _mentioned(text: _Text, options: Options) -> Named | None:
    found = [
        named
        for match in _MENTION.finditer(text.text)
        if (named := named_at(text.text, text.low, match.end(), options))
        and not _is_denied(text, match.end())
        and not _REFUTED.match(text.low, named.end)
    ]
    return _agreed(found)


def _in_one_sentence(text: _Text, options: Options) -> Named | None:
    """The option whose text a text of one sentence holds; longer texts hide shorter ones."""
    if _SENTENCE.search(text.text):
        return None
    left, found = text.low, []
    for option, result in options.longest_first:
        at = left.find(option)
        while at >= 0:
            end = at + len(option)
            if not (_INSIDE.search(left, max(0, at - 2), at) or left[end : end + 1].isalnum()):
                if option != "no" and not _is_denied(text, at) and not _REFUTED.match(left, end):
                    found.append(Named(result, end))
                left = left[:at] + " " * len(option) + left[end:]
            at = left.find(option, end)
    return _agreed(found)


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
