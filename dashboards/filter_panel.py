"""The filters of the page: a panel that every page has, kept by the address."""

from collections.abc import Collection, Sequence
from itertools import cycle

import streamlit as st

from medhelm_spark.board import BoardRun
from medhelm_spark.board.filters import (
    STATUS,
    UNKNOWN,
    Filter,
    FilterKind,
    Filters,
    offered,
    read_filters,
    values_of,
    written_filters,
)

COLUMNS = 4


def panel(runs: Sequence[BoardRun], statuses: Collection[str]) -> Filters:
    """Offer the filters that these runs can have; returns those in use.

    `statuses` are those of all suites and releases, by which the picker goes. A filter that the
    address names is in use whatever these runs have: a link never shows more than it says.

    Raises:
        ConfigError: The address sets a filter to what it cannot be.
    """
    written = written_filters(st.query_params.get_all)
    # Not a popover: the key Tab does not lead into one.
    with st.expander("Filters", icon=":material/filter_list:"):
        columns = cycle(st.columns(COLUMNS))
        chosen = {}
        for each, column in zip(offered(runs, written), columns, strict=False):
            with column:
                chosen[each.key] = _widget(each, runs, statuses)
        st.caption(
            "Nothing chosen: all pass. A result whose value is unknown passes no filter in use."
        )
    return read_filters(chosen)


def _widget(each: Filter, runs: Sequence[BoardRun], statuses: Collection[str]) -> Sequence[str]:
    """The texts that a filter is set to; empty where it is not in use."""
    if each.kind is not FilterKind.CHOICE:
        number = st.number_input(
            f"{each.label}, {each.kind.value}",
            min_value=0.0,
            value=None,
            key=each.key,
            bind="query-params",
            help=each.meaning,
        )
        return [] if number is None else [str(number)]
    counts = values_of(runs, each)
    absent = counts.pop(UNKNOWN, 0)
    unknown = f" ({UNKNOWN}: {absent} of {len(runs)} runs)" if absent else ""
    return st.pills(
        each.label + unknown,
        # Streamlit drops a value of the address that is not among the options.
        sorted({*(statuses if each.key == STATUS else counts), *st.query_params.get_all(each.key)}),
        selection_mode="multi",
        key=each.key,
        bind="query-params",
        help=each.meaning,
    )
