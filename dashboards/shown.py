"""What a page is given to show, and what the list of pages holds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from prevalence import PARAMETER
from reference import REFERENCE

from medhelm_spark.board import BoardRun, BoardSource, Viewer, lost_note
from medhelm_spark.board.filters import Filters, filters_text
from medhelm_spark.lake.reader import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The runs of one suite or release, to whoever looks.

    `runs` pass `filters`, `all_runs` are those of the source. `reader` reads the lake, or of a
    release what it froze. `coverage_floor` is the policy's, `site` the folder of its own files.
    """

    reader: Reader
    source: BoardSource
    runs: tuple[BoardRun, ...]
    all_runs: tuple[BoardRun, ...]
    filters: Filters
    coverage_floor: float
    viewer: Viewer
    site: Path


def address_of(shown: Shown) -> dict[str, list[str]]:
    """The part of the address that all links keep: source, filters, prevalence, reference."""
    kept = {key: st.query_params.get_all(key) for key in (*shown.filters, PARAMETER, REFERENCE)}
    return {shown.source.kind.value: [shown.source.name], **kept}


def nothing(shown: Shown) -> str:
    """Why there is nothing to show."""
    if not shown.all_runs:
        return "This suite or release holds no runs."
    if not shown.runs:
        return f"The filters let no result pass: {filters_text(shown.filters)}."
    yet = "These runs have no results yet: `medhelm-spark summarize` makes them."
    return lost_note(shown.runs) or yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its `name` in the picker and in the address, what it is for in three sentences."""

    name: str
    about: str
    show: Callable[[Shown], None]
    is_of_instances: bool = False
    """Whether it shows answers to instances, which is not for who sees numbers alone."""
