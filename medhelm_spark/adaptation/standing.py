"""Whether a statement holds as it stands: not denied, asked, conditional or somebody else's.

"The answer is B. Had she been pregnant, the answer would be C": the second is conditional. "Many
would choose C", "the wrong answer is C" state no answer. All looks around a place are bounded.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from medhelm_spark.adaptation import cues
from medhelm_spark.adaptation.naming import Named, named_at
from medhelm_spark.adaptation.options import Options

_BEFORE, _AFTER, _DENIAL = 200, 160, 48
_LONGEST_QUESTION, _LONGEST_SENTENCE = 4_000, 400


class Standing(IntEnum):
    """How far a statement holds, weakest first."""

    NONE = 0
    CONDITIONAL = 1  # "if it is acute, the answer is B"
    SUPPOSED = 2  # "the answer would be B"
    FIRM = 3


class Reply:
    """An undressed text beside the options; its lower-case twin has the same length."""

    def __init__(
        self, text: str, options: Options, *, is_cut: bool, asks_for_worst: bool = False
    ) -> None:
        low = text.lower()
        self.text = text if len(low) == len(text) else low
        self.low = low
        self.options = options
        self.is_cut = is_cut
        self.asks_for_worst = asks_for_worst

    @cached_property
    def _undenied(self) -> str:
        """The text with the options' texts that hold a denial blanked out, of the same length."""
        low = self.low
        for text in self.options.denying:
            if text in low:
                low = low.replace(text, "_" * len(text))
        return low

    def named_at(self, at: int) -> Named | None:
        """The option that a place names."""
        return named_at(self.text, self.low, at, self.options)

    def is_denied(self, at: int) -> bool:
        """Whether the words before a place deny it; an option's own text denies nothing."""
        return cues.DENIED.search(self._undenied, max(0, at - _DENIAL), at) is not None

    def is_refuted(self, named: Named) -> bool:
        """Whether the words after an option deny it, or warn of it where no one asks for that."""
        if cues.REFUTED.match(self._undenied, named.end) or self.is_warned_of(named):
            return True
        rest = self.low[named.end : self.sentence_end(named.end)]
        return cues.NOT_HERE.search(rest) is not None

    def is_warned_of(self, named: Named) -> bool:
        """Whether the words after an option call it harmful, and the question does not ask so."""
        if self.asks_for_worst:
            return False
        return cues.HARMFUL.match(self._undenied, named.end) is not None

    def is_called_worst(self, begin: int, start: int) -> bool:
        """Whether what a statement names is called worst or wrong, and the question asks not so.

        Its clause begins at `begin`, the words that tell the answer at `start`.
        """
        if self.asks_for_worst:
            return False
        is_before = cues.CALLED_WORST.search(self.low, begin, start)
        return bool(is_before or cues.CALLED_WORST_AFTER.match(self.low, start))

    def is_absent(self, at: int) -> bool:
        """Whether the words before a place say that it is not there, or not chosen."""
        return cues.ABSENT.search(self._undenied, max(0, at - _BEFORE), at) is not None

    @cached_property
    def _last_turn(self) -> int:
        return max((match.end() for match in cues.SENTENCE_TURN.finditer(self.low)), default=-1)

    def holds_where_cut(self, named: Named, end: int = 0) -> bool:
        """Whether a statement that goes up to `end` holds whatever follows where a text was cut.

        Its sentence is finished, or goes on with a reason; neither the rest of it nor a sentence
        after it begins to take it back.
        """
        if not self.is_cut:
            return True
        stated = max(named.end, end)
        if cues.TURN_NEXT.match(self.low, stated) or cues.SCOPED_NEXT.match(self.low, stated):
            return False
        is_text_alone = self.low[named.start : named.end] in self.options.texts
        begin = stated if is_text_alone or end > named.end else named.start
        stop = cues.SENTENCE_END.search(self.low, begin, begin + _LONGEST_SENTENCE)
        if stop and "\n" in self.low[stop.start() : stop.end() + 1]:
            return not cues.TURN_NEXT.match(self.low, stop.end())
        rest = self.low[stated : min(stop.start() if stop else len(self.low), stated + _AFTER)]
        if cues.TURN.search(rest) or self._last_turn > stated:
            return False
        is_reasoned = cues.REASON.match(rest) and not cues.UNREAL.search(rest)
        is_with_label = named.is_text and not is_text_alone
        return bool(stop or is_reasoned or is_with_label)

    def is_question(self, named: Named) -> bool:
        """Whether the sentence that names an option asks."""
        stop = self.sentence_end(named.end)
        return self.low[stop : stop + 1] == "?"

    def sentence_start(self, at: int) -> int:
        """Where the sentence of a place begins, at most `_BEFORE` characters ahead of it."""
        begin = max(0, at - _BEFORE)
        ends = [match.end() for match in cues.SENTENCE_END.finditer(self.low, begin, at)]
        return ends[-1] if ends else begin

    def sentence_end(self, at: int) -> int:
        """Where the sentence ends that goes on at a place."""
        match = cues.SENTENCE_END.search(self.low, at, at + _AFTER)
        return match.start() if match else min(len(self.low), at + _AFTER)


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence names as the answer, and how far it holds."""

    named: Named
    standing: Standing


def standing_of(reply: Reply, start: int, end: int, named: Named) -> Standing:
    """How far a statement holds whose cue spans `start` to `end` and that names an option."""
    begin = reply.sentence_start(start)
    before = cues.OWN_CLAUSE.split(reply.low[begin:start])[-1]
    if reply.is_question(named) or cues.SOMEBODY.search(before + reply.low[start:end]):
        return Standing.NONE
    if cues.OTHER_ANSWER.search(before) or reply.is_denied(start):
        return Standing.NONE
    if reply.is_called_worst(start - len(before), start) or reply.is_warned_of(named):
        return Standing.NONE
    if cues.DENIED_LINK.search(reply.low, start, end):
        return Standing.NONE
    after = reply.low[named.end : reply.sentence_end(named.end)]
    if not reply.holds_where_cut(named, end) or cues.NOT_HERE.search(after):
        return Standing.NONE
    if _is_shared(reply, named):
        return Standing.NONE
    if (but := cues.EXCEPT.search(after)) and reply.named_at(named.end + but.end()):
        return Standing.NONE
    would = cues.WOULD.search(reply.low, start, max(end, named.start))
    if cues.CONDITION.search(before) or cues.CONDITION.search(after):
        is_unreal = would or cues.WOULD.search(before)
        is_none = is_unreal or cues.ONLY_IF.search(after)
        return Standing.NONE if is_none else Standing.CONDITIONAL
    if would and not cues.TURN.search(before):
        return Standing.NONE if cues.BUT_HERE.search(after) else Standing.SUPPOSED
    return Standing.FIRM


def asks_for_worst(asked: str) -> bool:
    """Whether the sentence that asks wants the wrong or least option: "EXCEPT", "least likely"."""
    return cues.ASKS_FOR_WORST.search(asked) is not None


def _is_shared(reply: Reply, named: Named) -> bool:
    """Whether an option holds for some cases and another for others: "A in adults, B in others"."""
    scoped = cues.SCOPED_NEXT.match(reply.low, named.end)
    if not scoped:
        return False
    others = (
        reply.named_at(joined.end())
        for joined in cues.JOINED.finditer(reply.low, scoped.end(), named.end + _AFTER)
    )
    return any(other and other.result != named.result for other in others)


def asked_in(question: str) -> str:
    """The sentence of a question that asks, in lower case; without the options it lists."""
    lines = [
        line
        for line in question[-_LONGEST_QUESTION:].splitlines()
        if line.strip() and not cues.OPTION_LINE.match(line)
    ]
    sentences = cues.AFTER_SENTENCE.split(" ".join(lines).lower())
    return next((one for one in reversed(sentences) if "?" in one), sentences[-1])
