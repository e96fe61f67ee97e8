"""A model's text with what can be asked of a position in it: which option, which sentence, denied?

All searches around a position are bounded, so that the time is linear in the length of the text.
"""

from functools import cached_property

from medhelm_spark.adaptation import cues
from medhelm_spark.adaptation.naming import NamedOption, named_at
from medhelm_spark.adaptation.options import Options

_BEFORE, _AFTER, _DENIAL = 200, 160, 48
"""Characters that are searched before a position, behind it, and before it for a denial."""


class Reply:
    """A plain text and the options that it may name; `low` is its lower case of equal length."""

    def __init__(self, text: str, options: Options, *, is_cut: bool) -> None:
        low = text.lower()
        self.text = text if len(low) == len(text) else low
        self.low = low
        self.options = options
        self.is_cut = is_cut

    @cached_property
    def _without_negated_texts(self) -> str:
        """The lower-case text, with option texts that contain a negation blanked out."""
        low = self.low
        for text in self.options.negated_texts:
            if text in low:
                low = low.replace(text, "_" * len(text))
        return low

    def named_at(self, at: int) -> NamedOption | None:
        """The option that is named at a position."""
        return named_at(self.text, self.low, at, self.options)

    def is_denied(self, at: int) -> bool:
        """Whether the words before a position deny what follows, option texts aside."""
        return cues.DENIED.search(self._without_negated_texts, max(0, at - _DENIAL), at) is not None

    def is_refuted(self, named: NamedOption) -> bool:
        """Whether the words after an option deny it."""
        return cues.REFUTED.match(self._without_negated_texts, named.end) is not None

    def is_question(self, named: NamedOption) -> bool:
        """Whether the sentence that names an option is a question."""
        stop = self.sentence_end(named.end)
        return self.low[stop : stop + 1] == "?"

    def sentence_start(self, at: int) -> int:
        """Where the sentence around a position begins; at most `_BEFORE` characters before it."""
        begin = max(0, at - _BEFORE)
        ends = [match.end() for match in cues.SENTENCE_END.finditer(self.low, begin, at)]
        return ends[-1] if ends else begin

    def sentence_end(self, at: int) -> int:
        """Where the sentence around a position ends; at most `_AFTER` characters behind it."""
        match = cues.SENTENCE_END.search(self.low, at, at + _AFTER)
        return match.start() if match else min(len(self.low), at + _AFTER)
