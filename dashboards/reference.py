"""The model that others are compared with: chosen once, kept in the address."""

from collections.abc import Collection, Sequence

import streamlit as st

REFERENCE = "reference"
LOWEST = "the lowest declared cost"
"""What is compared with where nobody chose a model; without costs it is the fewest missed."""


def chosen(names: Collection[str]) -> str:
    """The model that the address names, empty where it names none of these."""
    name = st.query_params.get(REFERENCE, "")
    return name if name in names else ""


def keep(key: str) -> None:
    """Write what was picked in the field of this key into the address."""
    name = st.session_state[key]
    if name == LOWEST:
        st.query_params.pop(REFERENCE, None)
    else:
        st.query_params[REFERENCE] = name


def pick(names: Sequence[str]) -> str:
    """The field of a page that compares all models with one; returns the model, or empty."""
    options, before, key = [LOWEST, *names], chosen(names), f"{REFERENCE} of a benchmark"
    st.selectbox(
        "Compared with",
        options,
        index=options.index(before) if before else 0,
        key=key,
        on_change=keep,
        args=(key,),
        help="the model that runs today, say; the page Compare opens with it as the second model",
    )
    return chosen(names)
