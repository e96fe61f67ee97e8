"""What a visitor opens or takes away is put on record, or is not shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from page_context import PageContext
from page_markup import note

from medhelm_spark.board import BoardRun, InstanceDetail, InstanceKey, InstancePage, Kind
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import PolicyError
from medhelm_spark.features import part


def opening(context: PageContext) -> Any:
    """What records an opening; None where the feature is not there."""
    viewings = part("viewings", "record")
    if viewings is None:
        return None
    is_release = context.source.kind is Kind.RELEASE
    name = context.source.name
    return viewings.Opening(
        location=context.reader.location,
        viewer=context.viewer,
        suite=None if is_release else name,
        release=name if is_release else None,
    )


def recorded(
    context: PageContext, run: BoardRun, details: Mapping[InstanceKey, InstanceDetail]
) -> dict[InstanceKey, InstanceDetail]:
    """The details that may be shown: that their text is opened is recorded, once for a session.

    Where it cannot be recorded, the details whose text is public.
    """
    record = opening(context)
    if record is None:
        return dict(details)
    unit = run.run_spec.run_spec_id
    opened = {key: f"viewed-{unit}-{key}" for key in details}
    new = [key for key in details if opened[key] not in st.session_state]
    try:
        record.of_instances(run, [details[key].levels for key in new])
    except PolicyError as error:
        st.html(note(str(error), "error"))
        public = {AccessLevel.PUBLIC}
        return {
            key: detail
            for key, detail in details.items()
            if key not in new or detail.levels <= public
        }
    st.session_state.update((opened[key], True) for key in new)
    return dict(details)


def record_search(context: PageContext, run: BoardRun, page: InstancePage, text: str) -> None:
    """Put on record, once for a session, that a run's answers were searched for a text.

    Raises:
        PolicyError: it cannot be recorded, and so what was found may not be shown.
    """
    record = opening(context)
    searched = f"searched-{run.run_spec.run_spec_id}-{text}"
    if record is None or not text or searched in st.session_state:
        return
    record.of_search(run, page.searched, page.num_answers)
    st.session_state[searched] = True


def download(
    context: PageContext,
    runs: Sequence[BoardRun],
    label: str,
    make: Callable[[], str | bytes],
    file_name: str,
    mime: str,
    **more: Any,
) -> None:
    """A button for a file with numbers of these runs; who takes it is put on record first."""

    def taken() -> str | bytes:
        if record := opening(context):
            record.of_download(file_name, runs)
        return make()

    # Nothing changes on the page by it, so that the page is not run again.
    st.download_button(label, taken, file_name, mime, on_click="ignore", **more)
