"""Governance filters: what passes, what is unknown, and the page that shows them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.board import BoardRun, BoardSource, Kind, load_runs
from medhelm_spark.board.filters import (
    FILTERS,
    UNKNOWN,
    filters_text,
    offered,
    passing,
    read_filters,
    values_of,
)
from medhelm_spark.board.render.filter_page import page
from medhelm_spark.domain.declared import (
    CONTAMINATION,
    DATA_HOLDER,
    JUDGE_INDEPENDENCE,
    LICENCE,
    OTHER_MAKERS,
)
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import TABLES, columns
from tests.meta.tree import ROOT
from tests.unit.board.planted import ALPHA, BETA

Change = Callable[[BoardRun], BoardRun]


@pytest.fixture
def runs(reader: Reader) -> tuple[BoardRun, ...]:
    return load_runs(reader, BoardSource(kind=Kind.SUITE, name="s1"))


def names(runs: tuple[BoardRun, ...], **fields: list[str]) -> set[tuple[str, str]]:
    selected = passing(runs, read_filters(fields))
    return {(run.run_spec.model_deployment, run.run_spec.scenario_name) for run in selected}


def test_each_choice_keeps_the_runs_that_have_it(runs: tuple[BoardRun, ...]) -> None:
    assert {name for _, name in names(runs, access=["gated"])} == {"medcalc_bench"}
    assert {model for model, _ in names(runs, locality=["local", "tenant"])} == {ALPHA, BETA}
    assert names(runs, jury=["not validated"]) == {(ALPHA, "discharge_note")}
    assert (ALPHA, "discharge_note") not in names(runs, jury=["no judge", "validated"])
    assert names(runs, access=["public"], locality=["tenant"]) == {(BETA, "triage_choice")}


def test_numbers_bound_answers_and_the_width_of_intervals(runs: tuple[BoardRun, ...]) -> None:
    assert {name for _, name in names(runs, answers=["4"])} == {"triage_choice"}
    narrow = names(runs, width=["0.66"])
    assert narrow < names(runs, width=["4.5"])
    assert not names(runs, answers=["5"])


def test_a_run_without_results_passes_no_number(runs: tuple[BoardRun, ...]) -> None:
    """Gamma's was planned and never scored: nothing is known of it, which is not zero."""
    waiting = ("gamma/small", "medcalc_bench")
    assert waiting in names(runs)
    for each in ({"answers": ["0"]}, {"width": ["99"]}, {"age": ["99999"]}):
        assert waiting not in names(runs, **each)


def test_freshness_counts_days_since_the_score(runs: tuple[BoardRun, ...]) -> None:
    now = datetime.now(UTC)
    old, new = (replace(runs[0], scored_at=now - timedelta(days=days)) for days in (40, 3))
    assert passing((old, new), read_filters({"age": ["30"]})) == (new,)


def stated(run: BoardRun, **facts: Any) -> BoardRun:
    """The run, with other statements of its suite."""
    return replace(run, planned=replace(run.planned, **facts))


UNSTATED: dict[str, Change] = {
    "locality": lambda run: stated(run, locality=UNKNOWN),
    "status": lambda run: replace(run, release_status=""),
    "holder": lambda run: stated(run, declared={}),
    "licence": lambda run: stated(run, declared={}),
    "contamination": lambda run: stated(run, declared={}),
    "age": lambda run: replace(run, scored_at=None),
    "answers": lambda run: replace(run, cell=None),
    "width": lambda run: replace(run, cell=None),
}


@pytest.mark.parametrize("key", UNSTATED)
def test_an_unknown_value_never_passes(runs: tuple[BoardRun, ...], key: str) -> None:
    each, unstated = FILTERS[key], UNSTATED[key](runs[0])
    assert values_of([unstated], each) == {UNKNOWN: 1}
    chosen = read_filters({key: ["local", "", "None"] if each.kind == "choice" else ["0"]})
    assert not passing([unstated], chosen)


def test_a_jury_of_which_nobody_said_anything_is_unknown(runs: tuple[BoardRun, ...]) -> None:
    judged = next(run for run in runs if run.run_spec.annotators)
    unstated = stated(judged, is_jury_validated=None)
    assert values_of([unstated], FILTERS["jury"]) == {UNKNOWN: 1}
    assert values_of([judged], FILTERS["judges"]) == {UNKNOWN: 1}


def test_declared_values_are_offered_where_a_run_has_one(runs: tuple[BoardRun, ...]) -> None:
    usual = {"status", "access", "locality", "jury", "provenance", "answers", "width", "age"}
    assert {each.key for each in offered(runs)} == usual
    declared = {
        DATA_HOLDER: "PhysioNet, DUA 1.5.0",
        LICENCE: "MIT",
        CONTAMINATION: "public since 2019",
    }
    judged = next(run for run in runs if run.run_spec.annotators)
    judged = stated(judged, declared={**declared, JUDGE_INDEPENDENCE: OTHER_MAKERS})
    assert {each.key for each in offered([*runs, judged])} == set(FILTERS)
    chosen = {"holder": ["PhysioNet, DUA 1.5.0"], "licence": ["MIT"], "judges": [OTHER_MAKERS]}
    assert passing([*runs, judged], read_filters(chosen)) == (judged,)


def test_the_line_of_the_filters_in_use() -> None:
    filters = read_filters({"access": ["public", "gated"], "answers": ["100"], "locality": []})
    assert filters_text(filters) == (
        "access level of the benchmark: public, gated; scored answers at least 100"
    )
    assert filters_text({}) == ""


def test_what_is_no_filter_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'colour'"):
        read_filters({"colour": ["blue"]})
    with pytest.raises(ConfigError, match="takes one number"):
        read_filters({"answers": ["many"]})
    with pytest.raises(ConfigError, match="unknown never passes"):
        read_filters({"locality": ["unknown"]})


@pytest.mark.parametrize("key", FILTERS)
def test_a_filter_names_columns_that_the_lake_has(key: str) -> None:
    assert not set("_.`") & set(FILTERS[key].meaning), "a reader of the page sees it"
    for name in FILTERS[key].column.split(", "):
        table, column, *_ = name.split(".")
        assert column in columns(TABLES[table])


def test_the_page_of_filters_is_fresh() -> None:
    written = (Path(ROOT) / "docs" / "filters.md").read_text(encoding="utf-8")
    assert written == page(), "run `make docs`"
