"""The outcomes of a gate's lines, and the verdict over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from medhelm_spark.candidate_gate.gate_file import GateTier


class GateVerdict(StrEnum):
    """Whether the data show that a condition, or all of them, is met, is broken, or neither."""

    GO = "GO"
    NO_GO = "NO-GO"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """One condition on one benchmark, of a gap on one column too."""

    tier: GateTier

    kind: str
    """As in the gate file: `no_worse`."""

    scenario_name: str

    display_name: str

    measure: str
    """What is compared: a metric, the share of critical failures, the coverage."""

    verdict: GateVerdict

    limit: float
    """The margin, or the floor of the coverage."""

    group_column: str = ""

    group_value: str | None = None
    """The group that decides the line, the worst one."""

    value: float | None = None
    """The candidate less the baseline; of a gap the difference in the group less that in the
    rest; of the coverage the candidate's share."""

    low: float | None = None
    """The lower end of its 95 % interval."""

    high: float | None = None

    n: int | None = None
    """The number of instances behind the value."""

    needed: int | None = None
    """Of an INCONCLUSIVE line the instances that would decide it with a power of 80 %, if the
    difference and the spread stay as they are; None where no number would."""

    reason: str = ""
    """A note that explains the numbers."""

    @property
    def label(self) -> str:
        """`no_worse Referral: exact_match`, `coverage Referral`."""
        by = f" by {self.group_column}" if self.group_column else ""
        measure = "" if self.measure == self.kind else f": {self.measure}"
        return f"{self.kind} {self.display_name}{measure}{by}"


def decided(gain: tuple[float, float] | None, margin: float) -> GateVerdict:
    """Whether the interval of a gain excludes a loss of the margin, or shows a larger one.

    >>> [decided(ends, 0.05).value for ends in [(-0.04, 0.1), (-0.2, -0.06), (-0.1, 0.1)]]
    ['GO', 'NO-GO', 'INCONCLUSIVE']
    """
    if gain is None:
        return GateVerdict.INCONCLUSIVE
    low, high = gain
    if low > -margin:
        return GateVerdict.GO
    return GateVerdict.NO_GO if high < -margin else GateVerdict.INCONCLUSIVE


def verdict_of(lines: Sequence[GateLine], allowed: int) -> GateVerdict:
    """The verdict of all lines, where `allowed` supporting ones may be NO-GO."""
    reasons = set(deciding(lines, allowed).values())
    for verdict in (GateVerdict.NO_GO, GateVerdict.INCONCLUSIVE):
        if verdict in reasons:
            return verdict
    return GateVerdict.GO


def deciding(lines: Sequence[GateLine], allowed: int) -> dict[int, GateVerdict]:
    """The indices of the lines that keep the verdict from GO, each with the line's verdict."""
    failed = [line for line in lines if line.verdict is GateVerdict.NO_GO]
    supporting = [line for line in failed if line.tier is GateTier.SUPPORTING]
    counted = {GateTier.CRITICAL, *([GateTier.SUPPORTING] if len(supporting) > allowed else [])}
    return {
        index: line.verdict
        for index, line in enumerate(lines)
        if (line.verdict is GateVerdict.NO_GO and line.tier in counted)
        or (line.verdict is GateVerdict.INCONCLUSIVE and line.tier is GateTier.CRITICAL)
    }
