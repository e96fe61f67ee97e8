"""Who looks at a page: how they came, or, where the policy lists viewers, who signed in."""

from datetime import UTC, datetime
from pathlib import Path

import streamlit as st
from loaded import viewers_now
from page_markup import note, text

from medhelm_spark.board import Viewer, viewer_of
from medhelm_spark.board.viewers import signed_in
from medhelm_spark.errors import ConfigError, PolicyError

NOT_READ = "The site's policy cannot be read, so that nothing is shown: ask whoever serves this."
NOT_SET_UP = (
    "The site's policy lists viewers, and this server cannot sign anybody in, so that nothing is "
    "shown: start it by medhelm-spark serve, with the setting sign_in."
)
ASKED = "Sign in to see results. Whoever has a rater's link opens it again after that."


def visitor(site: Path) -> Viewer | None:
    """Who looks; None where they may see nothing, and the page says why."""
    came = viewer_of(st.get_option("server.address"), st.context.headers.to_dict())
    try:
        viewers = viewers_now(site)
    except ConfigError:  # which may quote a file that not every viewer may see
        st.html(note(NOT_READ, "error"))
        return None
    if not viewers.rules.people:
        return came
    claims = st.user.to_dict()
    if "is_logged_in" not in claims:
        st.html(note(NOT_SET_UP, "error"))
        return None
    if not claims["is_logged_in"]:
        st.html(note(ASKED))
        st.button("Sign in", on_click=st.login, type="primary")
        return None
    try:
        at = datetime.now(UTC)
        viewer = signed_in(claims, viewers.rules, at, came=came, is_binding=viewers.is_binding)
    except PolicyError as error:
        st.html(note(str(error), "error"))
        st.button("Sign out", on_click=st.logout)
        return None
    _name(viewer)
    return viewer


def _name(viewer: Viewer) -> None:
    """Who is signed in, what they see, and the way out."""
    sees = f"text up to {viewer.text}" if viewer.text else "numbers of benchmarks alone"
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        st.html(f'<p class="ms-source">{text(viewer.name)}: {sees}</p>', width="content")
        st.button("Sign out", on_click=st.logout, type="tertiary")
