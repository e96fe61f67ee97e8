"""A model's text, and the facts about a position in it: which option, which sentence, denied?

All searches around a position are bounded, so that the time is linear in the length of the text.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from medhelm_spark.adaptation import answer_patterns as patterns
from medhelm_spark.adaptation.naming import NamedOption, named_at
from medhelm_spark.adaptation.options import Options
from medhelm_spark.adaptation.words import any_of

_DENIED = re.compile(
    rf"(?:\b(?:{any_of('deny')})(?!\w)|n't|不是|并非|不选)[ \"'(]{{0,4}}"
    rf"(?:(?!(?:{any_of('but')}) )[\w']+[ \"'(]{{1,4}}){{0,2}}\Z",
)
_REFUTED = re.compile(
    r"[)\]\"':]{0,4} ?(?:(?!(?:and|but|so|over|which|as)\b|(?:"
    + any_of("because")
    + r")\b|-)[^\s,;.!?–—]+ ){0,3}?(?:(?:is|are|was|were|would be|seems|es|est|ist|é|è"
    rf"|ser[ií]a|serait)\s?)?(?:(?:{any_of('wrong')})\b|n't|不正确|错误|(?:सही )?नहीं|गलत|ग़लत)",
)
_ABSENT = re.compile(
    rf"\b(?:{any_of('absent')})(?:[ \"'(]{{1,4}}(?!(?:{patterns.AND}|to|is|are|was"
    rf"|were|means|but)\b)[\w'-]+){{0,2}}?[ \"'(]{{1,4}}\Z"
)
_ASKS_FOR_EXCEPTION = re.compile(
    r"\bexcept(?:ion)?\b|\bodd one\b|\b(?:not|n't) belong\b|\b(?:sauf|excepto|exceto|tranne|eccetto"
    r"|behalve|opr[oó]cz|utom|au[sß]er)\b|\b(?:welche\w*|quel\w*|cu[aá]l\w*|qual\w*|welke"
    r"|kt[oó]r\w*"
    r"|vilke\w*)\b[^?]{0,80}?\b(?:nicht|kein\w*|pas|no|non|n[aã]o|niet|geen|nie|inte|icke)\b"
    r"|(?<!at )\bleast\b|\bbut (?:one|which)\b|\b(?:which|what)(?: one)?"
    r"(?: (?:of|among) [^,;?]{1,60}?)?"
    r"(?: \w+){0,3}? (?:is|are|was|were|does|do|would|should|can|could|has|have)(?: not|n't)\b"
    r"|\b(?:statements?|options?|answers?|one|which|following|claims?)\b[^.?]{0,80}? (?:is|are)"
    r" (?:false|untrue|incorrect|wrong)\b(?! with)"
)
_STANDS = re.compile(
    r"\b(?:the|my|that) (?:\w+ )?(?:answer|choice|response) (?:still )?(?:stands|holds(?: up)?"
    r"|is unchanged|remains (?:unchanged|the same)|does(?: not|n't) change)(?=[.!;\n])"
)
_REASON = re.compile(
    rf"(?: (?:answer|choice|option|here|\(\w\)))?\W{{0,4}},? ?(?:{any_of('because')}|as|given"
    r"|due to)\b(?<!or) \w"
)
_EXPLANATION = re.compile(r"(?: \(\w\))?[\"')\]]{0,3}(?:(?::| [–—-])|,? which) \w")
_IS = re.compile(
    rf"\b(?:{any_of('be')}|{any_of('choose')})(?:[ \"'(]|(?:{patterns.FILLER})(?!\w)){{1,9}}\Z"
)
_ARROW = re.compile(r"[\w)\"'] ?(?:->|→|⇒)")
_OPTION_LINE = re.compile(r"[ \t]*\(?\w[.):]\)? ")
_LINE_START = re.compile(r"^(?:[^\w\n(\[\"']|\d{1,2}[.)] |[(\[] ?[x ]?[)\]]){0,8}", re.MULTILINE)
_AFTER_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"')\]]|\Z)|\n|;")

_LONGEST_QUESTION, _LONGEST_SENTENCE = 4_000, 400
_BEFORE, _AFTER, _DENIAL = 200, 160, 48
"""Characters that are searched before a position, behind it, and before it for a denial."""


@dataclass(frozen=True, slots=True)
class Asks:
    """Whether a question wants the wrong or least option, and whether the one that is not so."""

    for_worst: bool = False
    for_exception: bool = False
    question: str = ""


class Reply:
    """A plain text and the options that it may name; `low` is its lower case of equal length."""

    def __init__(
        self, text: str, options: Options, *, is_cut: bool, asks: Asks | None = None
    ) -> None:
        low = text.lower()
        self.text = text if len(low) == len(text) else low
        self.low = low
        self.options = options
        self.is_cut = is_cut
        self.asks = asks or Asks()

    @cached_property
    def without_negated_texts(self) -> str:
        """The lower-case text, with option texts that contain a negation blanked out."""
        low = self.low
        for text in self.options.negated_texts:
            if text in low:
                low = low.replace(text, "_" * len(text))
        return low

    @cached_property
    def line_starts(self) -> list[NamedOption]:
        """The options that lines begin with."""
        starts = (match.end() for match in _LINE_START.finditer(self.low))
        return [named for at in starts if (named := self.named_at(at)) and named.result]

    def named_at(self, at: int) -> NamedOption | None:
        """The option that is named at a position."""
        return named_at(self.text, self.low, at, self.options)

    def is_denied(self, at: int) -> bool:
        """Whether the words before a position deny what follows, option texts aside."""
        is_denied = _DENIED.search(self.without_negated_texts, max(0, at - _DENIAL), at)
        return is_denied is not None or self.is_left_out(at)

    def is_left_out(self, at: int) -> bool:
        """Whether all options but the one at a position are meant, and the question asks not so."""
        if self.asks.for_worst:
            return False
        return patterns.ALL_BUT.search(self.low, max(0, at - _BEFORE), at) is not None

    def is_refuted(self, named: NamedOption) -> bool:
        """Whether the words after an option deny it, or warn of it where no one asks for that."""
        if _REFUTED.match(self.without_negated_texts, named.end) or self.is_warned_of(named):
            return True
        rest = self.low[named.end : self.sentence_end(named.end)]
        return patterns.NOT_HERE.search(rest) is not None

    def is_warned_of(self, named: NamedOption) -> bool:
        """Whether the words after an option call it harmful, and the question does not ask so."""
        if self.asks.for_worst:
            return False
        return patterns.HARMFUL.match(self.without_negated_texts, named.end) is not None

    def is_called_worst(self, begin: int, start: int) -> bool:
        """Whether what a statement names is called worst or wrong, and the question asks not so.

        Its clause begins at `begin`, the words of the answer at `start`.
        """
        if self.asks.for_worst:
            return False
        is_before = patterns.CALLED_WORST.search(self.low, max(begin, start - _DENIAL), start)
        return bool(is_before or patterns.CALLED_WORST_AFTER.match(self.low, start))

    def is_absent(self, at: int) -> bool:
        """Whether the words before a position say that it is not there, or not chosen."""
        return _ABSENT.search(self.without_negated_texts, max(0, at - _BEFORE), at) is not None

    @cached_property
    def has_mapping(self) -> bool:
        """Whether several lines map something by an arrow: "croup → B"."""
        if not _ARROW.search(self.low):
            return False
        return sum(_ARROW.search(line) is not None for line in self.low.splitlines()) > 1

    @cached_property
    def _last_turn(self) -> int:
        return max((match.end() for match in patterns.SENTENCE_TURN.finditer(self.low)), default=-1)

    def holds_where_cut(self, named: NamedOption, end: int = 0) -> bool:
        """Whether a statement up to `end` is valid whatever follows where a text was cut.

        Its sentence is finished, or goes on with a reason; neither the rest of it nor a sentence
        after it begins to take it back.
        """
        if not self.is_cut:
            return True
        stated = max(named.end, end)
        if self._last_turn > stated and _STANDS.search(self.low, self._last_turn):
            return True
        if patterns.TURN_NEXT.match(self.low, stated) or patterns.SCOPED_NEXT.match(
            self.low, stated
        ):
            return False
        is_text_alone = self.low[named.start : named.end] in self.options.texts
        begin = stated if is_text_alone or end > named.end else named.start
        stop = _SENTENCE_END.search(self.low, begin, begin + _LONGEST_SENTENCE)
        if stop and "\n" in self.low[stop.start() : stop.end() + 1]:
            return not patterns.TURN_NEXT.match(self.low, stop.end())
        rest = self.low[stated : min(stop.start() if stop else len(self.low), stated + _AFTER)]
        if patterns.TURN.search(rest) or self._last_turn > stated:
            return False
        is_explained = _EXPLANATION.match(rest) and _IS.search(
            self.low, max(0, named.start - _DENIAL), named.start
        )
        is_reasoned = (is_explained or _REASON.match(rest)) and not patterns.UNREAL.search(rest)
        is_with_label = named.is_text and not is_text_alone
        return bool(stop or is_reasoned or is_with_label)

    def is_question(self, named: NamedOption) -> bool:
        """Whether the sentence that names an option is a question."""
        stop = self.sentence_end(named.end)
        return self.low[stop : stop + 1] == "?"

    def sentence_start(self, at: int) -> int:
        """Where the sentence around a position begins; at most `_BEFORE` characters before it."""
        begin = max(0, at - _BEFORE)
        ends = [match.end() for match in _SENTENCE_END.finditer(self.low, begin, at)]
        return ends[-1] if ends else begin

    def sentence_end(self, at: int) -> int:
        """Where the sentence around a position ends; at most `_AFTER` characters behind it."""
        match = _SENTENCE_END.search(self.low, at, at + _AFTER)
        return match.start() if match else min(len(self.low), at + _AFTER)


def asking_sentence(question: str) -> str:
    """The sentence of a question that asks, in lower case; without the options it lists."""
    lines = [
        line
        for line in question[-_LONGEST_QUESTION:].splitlines()
        if line.strip() and not _OPTION_LINE.match(line)
    ]
    sentences = _AFTER_SENTENCE.split(" ".join(lines).lower())
    asking = (sentence for sentence in reversed(sentences) if "?" in sentence)
    return next(asking, sentences[-1])


@lru_cache(maxsize=1024)
def asks_of(sentence: str) -> Asks:
    """What the sentence that asks wants: "EXCEPT", "least likely"."""
    return Asks(
        for_worst=patterns.ASKS_FOR_WORST.search(sentence) is not None,
        for_exception=_ASKS_FOR_EXCEPTION.search(sentence) is not None,
    )
