"""What each page reads and shows, and an entry of the list of pages."""

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
class PageContext:
    """The runs of one suite or release, and who looks at them.

    `runs` pass `filters`, `all_runs` are those of the source. `reader` reads the lake, or what
    a release froze of it. `coverage_floor` is the policy's, and so is `smallest_group`: the
    patients that a group of gated and private rows needs to be shown. `site` is the folder of its
    own files.
    """

    reader: Reader
    source: BoardSource
    runs: tuple[BoardRun, ...]
    all_runs: tuple[BoardRun, ...]
    filters: Filters
    coverage_floor: float
    smallest_group: int
    viewer: Viewer
    site: Path


def address_of(context: PageContext) -> dict[str, list[str]]:
    """The part of the address that all links keep: source, filters, prevalence, reference."""
    parameters = {
        key: st.query_params.get_all(key) for key in (*context.filters, PARAMETER, REFERENCE)
    }
    return {context.source.kind.value: [context.source.name], **parameters}


def nothing(context: PageContext) -> str:
    """Why there is nothing to show."""
    if not context.all_runs:
        return "This suite or release has no runs."
    if not context.runs:
        return f"The filters let no result pass: {filters_text(context.filters)}."
    yet = "These runs have no results yet: `medhelm-spark summarize` makes them."
    return lost_note(context.runs) or yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its `name` in the picker and in the address, what it is for in three sentences."""

    name: str
    about: str
    show: Callable[[PageContext], None]
    is_of_instances: bool = False
    """Whether it shows answers to instances, which not every viewer may see."""
