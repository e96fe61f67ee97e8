"""What is known of a jury's agreement with clinicians, and how a mean that it scored is marked."""

from collections.abc import Iterable
from enum import StrEnum


class JuryEvidence(StrEnum):
    """The evidence behind the jury of a mean, the weakest last; NO_JURY where none scored it.

    VALIDATED: a current judge card trusts it to rank models and to score. STATED: the jury's file
    says that clinicians checked it, and no card shows it. NOT_VALIDATED: the file says that nobody
    did. IMPORTED: it judged elsewhere, and nothing here says who checked it. UNTRUSTED: the newest
    judge card that decides does not trust it. DEMO: a judge of it is a deployment for demos alone.
    """

    NO_JURY = ""
    VALIDATED = "validated"
    STATED = "stated, not shown by evidence"
    NOT_VALIDATED = "not validated"
    IMPORTED = "imported"
    UNTRUSTED = "untrusted"
    DEMO = "demo judge"

    @property
    def mark(self) -> str:
        """`*` where there is no evidence, else nothing."""
        return "*" if self in _UNPROVEN else ""


_UNPROVEN = {
    JuryEvidence.STATED: "a jury whose validation is stated, not shown by evidence",
    JuryEvidence.NOT_VALIDATED: "a jury that nobody validated",
    JuryEvidence.IMPORTED: "an imported jury",
    JuryEvidence.UNTRUSTED: "a jury that a judge card calls UNTRUSTED",
    JuryEvidence.DEMO: "a demo judge",
}


def weakest(evidence: Iterable[JuryEvidence]) -> JuryEvidence:
    """The evidence of several means that are shown as one.

    >>> weakest([JuryEvidence.VALIDATED, JuryEvidence.NO_JURY])
    <JuryEvidence.VALIDATED: 'validated'>
    """
    order = list(JuryEvidence)
    return max(evidence, key=order.index, default=JuryEvidence.NO_JURY)


def mark_note(evidence: Iterable[JuryEvidence]) -> str:
    """The meaning of the mark, with the kinds of juries that have it; empty without a mark.

    >>> mark_note([JuryEvidence.VALIDATED, JuryEvidence.NO_JURY])
    ''
    """
    present = set(evidence)
    kinds = ", ".join(words for kind, words in _UNPROVEN.items() if kind in present)
    return kinds and (
        f"* scored by a judge without evidence of its agreement with clinicians ({kinds}): not "
        "evidence of quality."
    )
