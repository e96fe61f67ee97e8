"""Flags and a note on the answer that is shown; each change is stored at once."""

from functools import partial
from typing import Any

import streamlit as st
from page_markup import note, section, text

from medhelm_spark.board import InstanceDetail, InstanceKey, Viewer
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.errors import MedhelmSparkError
from medhelm_spark.features import part
from medhelm_spark.lake.reader import Reader

MAX_NOTE = 2000
FAILED = "note-failed"
"""The session's key for why a note was not stored."""


def notes_of(reader: Reader, spec: RunSpec, viewer: Viewer) -> dict[InstanceKey, Any]:
    """The notes on a run's answers, of text that the viewer may see."""
    stored = part("notes", "stored")
    stored_notes = stored.stored_notes(reader, [spec.run_spec_id], viewer=viewer) if stored else {}
    return {key: found for (_, key), found in stored_notes.items()}


def flags_text(found: Any) -> str:
    """The flags of a note in words; "note" for one that has none, nothing for no note."""
    return (_labels(found) or "note") if found else ""


def _labels(found: Any) -> str:
    return ", ".join(part("notes", "tables").Flag(flag).label for flag in found.flags)


def show_note(
    reader: Reader,
    spec: RunSpec,
    key: InstanceKey,
    detail: InstanceDetail,
    found: Any,
    viewer: Viewer,
) -> None:
    """The inputs with the note `found`, for viewers who may write; for others the note as text."""
    stored, tables = part("notes", "stored"), part("notes", "tables")
    if stored is None or tables is None:
        return
    if not viewer.may_write:
        if found:
            noted = " · ".join(part for part in (_labels(found), found.text) if part)
            st.html(section("Note", f'<p class="ms-role">{text(noted)}</p>'))
        return
    if why := st.session_state.pop(FAILED, None):
        st.html(note(f"Not saved: {why}", "error"))
    suffix = f"{spec.run_spec_id}-{key.instance_id}-{key.train_trial_index}-{key.trial_index}"
    flags, words = f"flags-{suffix}", f"note-{suffix}"
    st.session_state.setdefault(flags, list(found.flags) if found else [])
    st.session_state.setdefault(words, found.text if found else "")
    save = partial(_save, stored, reader, spec, key, detail, (flags, words), viewer)
    st.pills(
        "Flags",
        [flag.value for flag in tables.Flag],
        selection_mode="multi",
        format_func=lambda value: tables.Flag(value).label,
        key=flags,
        on_change=save,
        help="Saved at once; `medhelm-spark answers --noted` lists these answers.",
    )
    st.text_area("Note", key=words, max_chars=MAX_NOTE, height=68, on_change=save)


def _save(
    stored: Any,
    reader: Reader,
    spec: RunSpec,
    key: InstanceKey,
    detail: InstanceDetail,
    widgets: tuple[str, str],
    viewer: Viewer,
) -> None:
    flags, words = (st.session_state[name] for name in widgets)
    try:
        stored.write_note(reader, spec, key, detail, flags=flags, text=words, viewer=viewer)
    except MedhelmSparkError as error:
        st.session_state[FAILED] = str(error)
