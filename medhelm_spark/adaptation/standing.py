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


class Standing(IntEnum):
    """How far a statement holds, weakest first."""

    NONE = 0
    CONDITIONAL = 1  # "if it is acute, the answer is B"
    SUPPOSED = 2  # "the answer would be B"
    FIRM = 3


class Reply:
    """An undressed text beside the options; its lower-case twin has the same length."""

    def __init__(self, text: str, options: Options, *, is_cut: bool) -> None:
        low = text.lower()
        self.text = text if len(low) == len(text) else low
        self.low = low
        self.options = options
        self.is_cut = is_cut

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
        """Whether the words after an option deny it."""
        return cues.REFUTED.match(self._undenied, named.end) is not None

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
    if cues.DENIED_LINK.search(reply.low, start, end):
        return Standing.NONE
    after = reply.low[named.end : reply.sentence_end(named.end)]
    would = cues.WOULD.search(reply.low, start, max(end, named.start))
    if cues.CONDITION.search(before) or cues.CONDITION.search(after):
        is_unreal = would or cues.WOULD.search(before)
        return Standing.NONE if is_unreal else Standing.CONDITIONAL
    if would and not cues.TURN.search(before):
        return Standing.SUPPOSED
    return Standing.FIRM
