"""How common positive cases are where a model is to be used: stated once, kept in the address."""

from collections.abc import Mapping

import streamlit as st

from medhelm_spark.board.render.risk import check_stated
from medhelm_spark.domain.stated_prevalence import Stated, share_of, stated_of

PARAMETER = "prevalence"
"""Its values are written as those of the command line's --prevalence: `referral=0.02`."""


def stated() -> Stated:
    """The prevalence that the address states.

    Raises:
        ConfigError: the address has another text, or a number that is not between 0 and 1.
    """
    prevalence = stated_of(st.query_params.get_all(PARAMETER))
    check_stated(prevalence, prevalence if isinstance(prevalence, Mapping) else ())
    return prevalence


def pick(scenario_name: str) -> None:
    """The field for one benchmark; what is written there goes into the address."""
    share = share_of(stated(), scenario_name)
    st.number_input(
        "Prevalence, %",
        min_value=0.01,
        max_value=99.99,
        value=None if share is None else round(100 * share, 4),
        step=0.5,
        placeholder="as in the data",
        key=_key(scenario_name),
        on_change=_keep,
        args=(scenario_name,),
        help="how many of 100 cases are positive where the model is to be used; the pages Metrics "
        "and Compare use it, and reports that are downloaded",
    )


def _key(scenario_name: str) -> str:
    return f"{PARAMETER}-{scenario_name}"


def _keep(scenario_name: str) -> None:
    percent, before = st.session_state[_key(scenario_name)], stated()
    shares = dict(before) if isinstance(before, Mapping) else {}
    shares.pop(scenario_name, None)
    if percent is not None:
        shares[scenario_name] = percent / 100
    st.query_params[PARAMETER] = [f"{name}={share:.6g}" for name, share in shares.items()]
