"""The notes of a lake: the newest of each answer, and one more row."""

from collections.abc import Collection, Iterable, Mapping
from uuid import uuid4

import pyarrow as pa

from medhelm_spark.board import InstanceDetail, InstanceKey, Viewer
from medhelm_spark.board.viewers import refuse
from medhelm_spark.domain.access import strictest
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.errors import LakeError, PolicyError
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import WRITE_ID
from medhelm_spark.notes.tables import KEY, AnswerNote, Flag

_NEWEST = """
SELECT * FROM (SELECT *, row_number() OVER (
        PARTITION BY {key} ORDER BY noted_at DESC, write_id DESC) AS age
      FROM {{answer_notes}} WHERE run_spec_id IN ({units})) n
WHERE age = 1
"""

Notes = Mapping[tuple[str, InstanceKey], AnswerNote]
"""Notes by the run and the key of the answer within it."""


def stored_notes(reader: Reader, run_spec_ids: Collection[str], *, viewer: Viewer) -> Notes:
    """The notes on these runs' answers that count; without those that the viewer may not see."""
    if not run_spec_ids:
        return {}
    sql = _NEWEST.format(key=", ".join(KEY), units=literals(run_spec_ids))
    return {
        (row.run_spec_id, key_of(row)): row
        for row in reader.rows(sql, AnswerNote)
        if (row.flags or row.text) and viewer.may_see(row.access_level)
    }


def key_of(note: AnswerNote) -> InstanceKey:
    """The answer that a note is on."""
    return InstanceKey(
        instance_id=note.instance_id,
        train_trial_index=note.train_trial_index,
        trial_index=note.trial_index,
    )


def write_note(
    reader: Reader,
    spec: RunSpec,
    key: InstanceKey,
    detail: InstanceDetail,
    *,
    flags: Iterable[Flag | str],
    text: str,
    viewer: Viewer,
) -> AnswerNote:
    """Store a note in the place of the answer's earlier one; it is in the lake when this returns.

    Args:
        reader: a lake that is a folder of this machine.
        spec: the run.
        key: the answer within the run.
        detail: what is stored of the answer; the note has the strictest of its levels.
        flags: values of Flag.
        text: what the person wrote; with no flag and no text the note is taken back.
        viewer: who writes: a person at this machine, or one who signed in and may.

    Raises:
        PolicyError: the viewer may not write, or not see the text.
        LakeError: the note was not stored.
    """
    if not viewer.may_write:
        raise PolicyError(
            "notes are written only at the machine that serves this page, or by people of the "
            "policy's viewers with may_rate."
        )
    refuse(viewer, detail.levels)
    chosen = {Flag(flag) for flag in flags}
    notes = stored_notes(reader, [spec.run_spec_id], viewer=viewer)
    before = notes.get((spec.run_spec_id, key))
    row = AnswerNote(
        run_spec_id=spec.run_spec_id,
        instance_id=key.instance_id,
        train_trial_index=key.train_trial_index,
        trial_index=key.trial_index,
        flags=tuple(flag.value for flag in Flag if flag in chosen),
        text=text.strip(),
        access_level=strictest([spec.access_level, *detail.levels]),
        noted_at=now([before.noted_at] if before else []),
    )
    table = pa.Table.from_batches([encode_batch(AnswerNote, [row])])
    table = table.append_column(WRITE_ID, pa.array([uuid4().hex], pa.string()))
    try:
        FileTables(reader.location).append("answer_notes", table)
    except Exception as error:  # delta-rs, Arrow and the disk have kinds of their own
        raise LakeError(f"a note was not stored ({type(error).__name__}).") from None
    return row
