"""The dashboard of a lake: `streamlit run dashboards/app.py -- --output-path LAKE --suite S`.

Reads Delta files through `lake.reader`, without Spark. The address (query parameters) has
names of suites and releases, filters and ids, never text.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import rate_page
import streamlit as st
from command_line import arguments
from filter_panel import panel
from loaded import (
    REFRESH_SECONDS,
    first_source,
    named_source,
    reader_of,
    runs_of,
    sources_of,
    tracked_by,
)
from mlflow_links import mlflow_links
from page_context import PageContext
from page_markup import about, heading, links, note, styles, view_note
from pages import PAGES
from sign_in import visitor

from medhelm_spark.board import (
    BoardSource,
    Viewer,
    reader_of as frozen,
)
from medhelm_spark.board.filters import STATUS, filters_text, passing
from medhelm_spark.board.render.report_file import standing_of
from medhelm_spark.errors import LakeError, MedhelmSparkError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.plugins import activate


@st.cache_resource(show_spinner=False)
def load_plugins(modules: Sequence[str]) -> None:
    """Once for all sessions; of their metrics only direction and scale are read."""
    activate(modules)


@st.cache_data(ttl=REFRESH_SECONDS, show_spinner=False)
def check_listed(location: str, site: Path) -> None:
    """Check again, however the server was started: the lake may have other text than then."""
    # Not at the top: it reads configuration, which takes a third of a second to import.
    from medhelm_spark.governance.listed_plugins import refuse_unlisted

    refuse_unlisted(reader_of(location), site)


def source_of(reader: Reader, args: argparse.Namespace) -> BoardSource:
    """The source by the address, else by the command line."""
    params = st.query_params
    if "suite" in params or "release" in params:
        return named_source(reader, params.get("suite"), params.get("release"))
    return first_source(reader, args)


def source_text(source: BoardSource) -> str:
    """The label of a suite or release in the picker."""
    status = f" ({source.status})" if source.status else ""
    return f"{source.kind.value.capitalize()} {source.name}{status}"


def address_follows() -> None:
    """Write the picked suite or release into the address, and drop the run of the one before."""
    source = st.session_state["source"]
    for name in ("suite", "release", "run", "instance", "only", "beside"):
        st.query_params.pop(name, None)
    st.query_params[source.kind.value] = source.name


def pick_source(reader: Reader, args: argparse.Namespace) -> BoardSource:
    """The picker of suites and releases."""
    selected = source_of(reader, args)
    statuses = st.query_params.get_all(STATUS)
    sources = [
        source
        for source in sources_of(reader.location)
        if not statuses or source.release_status in statuses or source == selected
    ]
    names = [(source.kind, source.name) for source in sources]
    if (selected.kind, selected.name) not in names:
        raise LakeError(
            f"{source_text(selected)} is newer than this page's list of suites and releases, which "
            f"is read again every {REFRESH_SECONDS} seconds: load the page again then."
        )
    picked: BoardSource = st.selectbox(
        "Suite or release",
        sources,
        index=names.index((selected.kind, selected.name)),
        format_func=source_text,
        key="source",
        on_change=address_follows,
        label_visibility="collapsed",
    )
    return picked


def main(args: argparse.Namespace, viewer: Viewer) -> None:
    """The whole page."""
    load_plugins(tuple(args.plugins))
    reader = reader_of(args.output_path)
    if args.plugins:
        check_listed(args.output_path, args.local_path)
    title, views, picker = st.columns([1.15, 3.05, 1.15], vertical_alignment="center")
    with picker:
        source = pick_source(reader, args)
    names = [each.name for each in PAGES]
    with views:
        view = st.segmented_control(
            "View",
            names,
            default=names[0],
            key="view",
            bind="query-params",
            required=True,
            label_visibility="collapsed",
        )
    title.html(heading(source_text(source)))
    runs = runs_of(reader.location, source)
    if source.banner:
        st.html(note(source.banner, "error"))
    st.html(note(standing_of(source), "note" if source.is_approved else "warning"))
    page = PAGES[names.index(view)]
    left, right = st.columns([3.2, 1], vertical_alignment="center")
    with left:
        filters = panel(runs, {each.release_status for each in sources_of(reader.location)})
    right.html(about(page.about))
    if filters:
        st.html(note(f"Filters in use: {filters_text(filters)}."))
    context = PageContext(
        reader=frozen(reader, source),
        source=source,
        runs=passing(runs, filters),
        all_runs=runs,
        filters=filters,
        coverage_floor=args.coverage_floor,
        smallest_group=args.smallest_group,
        viewer=viewer,
        site=args.local_path,
    )
    if page.is_of_instances and viewer.text is None:
        st.html(note(view_note(viewer)))
    else:
        page.show(context)
    tracked = tracked_by(reader.location, source)
    if tracked_runs := mlflow_links(tracked, context, st.query_params.get("run")):
        st.html(tracked_runs)


def show_error(error: MedhelmSparkError) -> None:
    """What failed, and what else can be opened."""
    location = arguments().output_path
    # Not st.error: Streamlit renders its text as Markdown, and a link could load a picture.
    st.html(heading(location) + note(str(error), "error"))
    try:
        sources = sources_of(location)
    except MedhelmSparkError:
        return  # of this lake nothing can be listed
    if sources:
        named = ((source_text(each), urlencode({each.kind.value: each.name})) for each in sources)
        st.html(links("Open another", named))


HERE = Path(__file__).parent
ARGUMENTS = arguments()
IS_RATER = rate_page.PARAMETER in st.query_params or ARGUMENTS.raters_only
TITLE = "Rate answers" if IS_RATER else "Medical leaderboard"
st.set_page_config(page_title=TITLE, page_icon=str(HERE / "favicon.svg"), layout="wide")
st.html(styles(HERE))
if IS_RATER:
    if looking := visitor(ARGUMENTS.local_path):
        # And nothing else: who has a link sees this page alone.
        rate_page.show(ARGUMENTS, looking)
else:
    try:
        if looking := visitor(ARGUMENTS.local_path):
            main(ARGUMENTS, looking)
    except MedhelmSparkError as error:
        show_error(error)
