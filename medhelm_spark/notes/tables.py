"""The table of notes on answers."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.tables import Purging, Table


class Flag(StrEnum):
    """What a person marks an answer with."""

    WRONG_LABEL = "wrong_label"
    """The reference is wrong."""
    HARMFUL = "harmful"
    """A patient could be harmed who follows the answer."""
    MISREAD = "misread"
    """The score does not fit what the answer says."""
    UNCLEAR = "unclear"
    """The question has no single right answer."""

    @property
    def label(self) -> str:
        """Its words.

        >>> Flag.WRONG_LABEL.label
        'wrong label'
        """
        return self.value.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNote:
    """Row of `answer_notes`: what a person noted of one answer.

    Of several rows with one key but `noted_at` the newest counts; one without flags and text takes
    the note back.
    """

    run_spec_id: str
    instance_id: str
    train_trial_index: int
    trial_index: int
    flags: tuple[str, ...]
    """Values of Flag, in the order of its members."""
    text: str
    """What the person wrote, empty for nothing; it has the level of the answer."""
    access_level: AccessLevel
    """The strictest of the run, the instance, the request, the result and the verdicts."""
    noted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenNote(AnswerNote):
    write_id: str


def _purged(row: _WrittenNote, note: str) -> _WrittenNote:
    """The row without what the person wrote; the flags stay."""
    return replace(row, text=note if row.text else "")


KEY = ("run_spec_id", "instance_id", "train_trial_index", "trial_index")

TABLES = (
    Table(
        name="answer_notes",
        row=AnswerNote,
        key=(*KEY, "noted_at"),
        indexed=("run_spec_id",),
        has_text=True,
        purging=Purging(by="run_spec_id", row=_WrittenNote, purged=_purged),
        description="Flags and notes that people left on answers; the newest row of a key counts.",
    ),
)
