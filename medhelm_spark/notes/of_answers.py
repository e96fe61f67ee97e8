"""The notes beside the answers of `Evaluation.answers`."""

from collections.abc import Mapping, Sequence

from medhelm_spark.board import InstanceKey, Viewer
from medhelm_spark.board.results import AnswerMark
from medhelm_spark.lake.reader import Reader
from medhelm_spark.notes.stored import stored_notes
from medhelm_spark.notes.tables import Flag


def marks(
    reader: Reader, run_spec_ids: Sequence[str]
) -> Mapping[tuple[str, InstanceKey], AnswerMark]:
    """What people left on the answers of these runs, by run and answer.

    Whoever calls Python here can read the lake's files, so that every level is shown.
    """
    notes = stored_notes(reader, run_spec_ids, viewer=Viewer.THIS_MACHINE)
    return {
        key: AnswerMark(
            flags=tuple(Flag(flag).label for flag in note.flags),
            note=note.text or None,
            access_level=note.access_level,
        )
        for key, note in notes.items()
    }
