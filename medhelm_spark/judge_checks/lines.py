"""Lines of evidence about a jury: a number, its interval, and what the policy allows."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.two_by_two import Estimated

MOST_ITEMS = 100_000


class Use(StrEnum):
    """What a jury's scores are used for."""

    RANK = "rank"
    ABSOLUTE = "absolute"
    SCREEN = "screen"


ALL_USES = tuple(Use)


class LineOutcome(StrEnum):
    """The outcome of a line of evidence.

    NOT_APPLICABLE: no judged answer can show it, and it decides nothing. REPORTED: a number that
    is printed and decides nothing.
    """

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not applicable"
    REPORTED = "reported"


class Trust(StrEnum):
    """What the lines of evidence decide together about a use."""

    TRUSTED = "TRUSTED"
    UNTRUSTED = "UNTRUSTED"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLine:
    """One line of evidence about a jury."""

    name: str
    uses: tuple[Use, ...]
    """The uses that the line decides about; none where it is only reported."""
    outcome: LineOutcome
    value: float | None = None
    low: float | None = None
    high: float | None = None
    """The ends of the 95 % interval."""
    num_items: int = 0
    """The number of answers, verdicts or pairs of models that it is computed from."""
    allowed: str = ""
    """What passes, in words."""
    note: str = ""
    cure: str = ""
    """What would decide an inconclusive line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseVerdict:
    """Whether a jury may be trusted for one use, and the lines that decide it."""

    use: Use
    trust: Trust
    because: tuple[str, ...]
    """The names of the lines that failed, else of those that are inconclusive."""
    cures: tuple[str, ...] = ()


def verdict_of(use: Use, lines: list[EvidenceLine]) -> UseVerdict:
    """The verdict on a use: a line that fails decides, else a line that is inconclusive."""
    own = [line for line in lines if use in line.uses]
    failed = tuple(line.name for line in own if line.outcome is LineOutcome.FAILED)
    undecided = [line for line in own if line.outcome is LineOutcome.INCONCLUSIVE]
    if failed:
        return UseVerdict(use=use, trust=Trust.UNTRUSTED, because=failed)
    if undecided:
        return UseVerdict(
            use=use,
            trust=Trust.INCONCLUSIVE,
            because=tuple(line.name for line in undecided),
            cures=tuple(dict.fromkeys(line.cure for line in undecided if line.cure)),
        )
    return UseVerdict(use=use, trust=Trust.TRUSTED, because=())


@dataclass(frozen=True, slots=True)
class More:
    """The words of a cure for missing items: `rate {n} more answers`."""

    words: str

    def text(self, number: int | None) -> str:
        """The cure for this number of items; None: more than anybody would make."""
        if number is None:
            return self.words.format(n="many", s="s")
        return self.words.format(n=f"{number:,}", s="" if number == 1 else "s")


ITEMS = More("{n} more stored answer{s} (--items) of this kind")
RATINGS = More("rate {n} more answer{s}")


def at_most(line: EvidenceLine, hits: int, n: int, most: float, more: More = ITEMS) -> EvidenceLine:
    """The line of a share that may be `most` at most, by Wilson's interval."""
    return _share(
        line, hits, n, f"at most {most:.0%}", lambda low, high: _below(low, high, most), more
    )


def at_least(
    line: EvidenceLine, hits: int, n: int, least: float, more: More = ITEMS
) -> EvidenceLine:
    """The line of a share that has to be `least` at least."""
    return _share(
        line, hits, n, f"at least {least:.0%}", lambda low, high: _below(-high, -low, -least), more
    )


Decide = Callable[[float, float], LineOutcome]


def _below(low: float, high: float, most: float) -> LineOutcome:
    if high <= most:
        return LineOutcome.PASSED
    return LineOutcome.FAILED if low > most else LineOutcome.INCONCLUSIVE


def _share(
    line: EvidenceLine, hits: int, n: int, allowed: str, decide: Decide, more: More
) -> EvidenceLine:
    if n == 0:
        return replace(line, outcome=LineOutcome.NOT_APPLICABLE, allowed=allowed)
    interval = wilson(hits, n)
    outcome = decide(interval.low, interval.high)
    cure = ""
    if outcome is LineOutcome.INCONCLUSIVE:
        cure = more.text(_enough(hits / n, n, decide))
    return replace(
        line,
        outcome=outcome,
        value=hits / n,
        low=interval.low,
        high=interval.high,
        num_items=n,
        allowed=allowed,
        cure=cure,
    )


def _enough(share: float, n: int, decide: Decide) -> int | None:
    """How many more items would decide, if the share stayed the same."""
    total = n
    while total < MOST_ITEMS:
        total += max(1, total // 50)
        interval = wilson(share * total, total)
        if decide(interval.low, interval.high) is not LineOutcome.INCONCLUSIVE:
            return total - n
    return None


def within(
    line: EvidenceLine, found: Estimated | None, n: int, most: float, more: More = ITEMS
) -> EvidenceLine:
    """The line of a difference or slope that may be `most` at most in either direction."""

    def decide(low: float, high: float) -> LineOutcome:
        if -most <= low and high <= most:
            return LineOutcome.PASSED
        is_beyond = low > most or high < -most
        return LineOutcome.FAILED if is_beyond else LineOutcome.INCONCLUSIVE

    line = replace(line, num_items=n, allowed=f"within ±{most:.2f}")
    room = most - abs(found.value) if found else 0.0
    return _of_interval(line, found, decide, room, more, fewest=10)


def not_below(
    line: EvidenceLine, found: Estimated | None, n: int, least: float, more: More = RATINGS
) -> EvidenceLine:
    """The line of a coefficient that has to be `least` at least."""

    def decide(low: float, high: float) -> LineOutcome:
        return _below(-high, -low, -least)

    line = replace(line, num_items=n, allowed=f"at least {least:.2f}")
    room = found.value - least if found else 0.0
    return _of_interval(line, found, decide, room, more, fewest=30)


def _of_interval(
    line: EvidenceLine,
    found: Estimated | None,
    decide: Decide,
    room: float,
    more: More,
    *,
    fewest: int,
) -> EvidenceLine:
    """The line of an estimate; `room` is how far it is on the allowed side of its limit.

    Without an interval it is inconclusive, and at least `fewest` items are needed.
    """
    n = line.num_items
    if found is None or found.low is None or found.high is None:
        return replace(
            line,
            outcome=LineOutcome.INCONCLUSIVE,
            value=found.value if found else None,
            cure=more.text(max(2, fewest - n)),
        )
    outcome = decide(found.low, found.high)
    is_open = outcome is LineOutcome.INCONCLUSIVE
    return replace(
        line,
        outcome=outcome,
        value=found.value,
        low=found.low,
        high=found.high,
        cure=narrower(found, n, room, more) if is_open else "",
    )


def narrower(found: Estimated, n: int, distance: float, more: More) -> str:
    """How many more items would bring the nearer end to the limit, at a width of 1 / sqrt(n).

    Args:
        found: the estimate, with its interval.
        n: the number of items that it is computed from.
        distance: of the estimate from the limit.
        more: how a cure names the items.
    """
    if found.low is None or found.high is None or not distance:
        return more.text(None)
    half = (found.high - found.low) / 2
    needed = math.ceil(n * (half / distance) ** 2) - n
    return more.text(max(1, needed) if needed < MOST_ITEMS else None)


def unmeasured(line: EvidenceLine, why: str) -> EvidenceLine:
    """The line where a failure of another line leaves nothing to measure."""
    return replace(line, outcome=LineOutcome.NOT_APPLICABLE, note=why, cure="")
