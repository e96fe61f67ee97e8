"""Every number that a page shows, beside the release table and scores worked out from it."""

import re
from collections.abc import Collection, Hashable, Iterator, Mapping
from html import unescape
from itertools import combinations, permutations, product
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import streamlit
from deltalake import DeltaTable
from scipy.stats import binom, t
from streamlit.testing.v1 import AppTest

from tests.app_pages import answer_rows, board, markup, opened, page_text, words_of
from tests.unit.board.facts import (
    AGAIN,
    ALPHA,
    APPROVED,
    BENCHMARKS,
    BETA,
    CELLS,
    DELTA,
    EPSILON,
    GAMMA,
    JUDGED_BY,
    LATE,
    LOCALITIES,
    NAMED,
    REASON,
    SECOND,
    SUITE,
    VALIDATED,
    WIN_RATES,
    WITHDRAWN,
    Values,
    plant_facts,
    unit,
)

SOURCES: list[dict[str, str]] = [
    {"suite": SUITE},
    {"suite": "", "release": APPROVED},
    {"suite": "", "release": WITHDRAWN},
]
Cell = tuple[str, str]
MODELS = (ALPHA, BETA, EPSILON, GAMMA, DELTA)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    streamlit.cache_resource.clear()
    return plant_facts(tmp_path_factory.mktemp("facts"))


@pytest.fixture(scope="module")
def released(lake: Path) -> Mapping[Cell, Mapping[str, object]]:
    """The rows of the release table by model and scenario, read without our reader."""
    rows = DeltaTable(str(lake / "release_stats")).to_pyarrow_table().to_pylist()
    by_run = {row["run_spec_id"]: row for row in rows if row["release"] == APPROVED}
    return {cell: by_run[unit(*cell)] for cell in CELLS}


@pytest.fixture(scope="module")
def scored(lake: Path) -> Mapping[Cell, Values]:
    """The scores of the release, in the order of the data."""
    rows = DeltaTable(str(lake / "release_scores")).to_pyarrow_table().to_pylist()
    scores = {
        (row["run_spec_id"], row["instance_id"]): row["stats"][0]["value"]
        for row in rows
        if row["release"] == APPROVED
    }
    return {
        cell: tuple(scores[unit(*cell), f"{cell[1]}-i{index}"] for index in range(10))
        for cell in CELLS
    }


def test_the_release_holds_what_was_planted(released, scored) -> None:
    assert scored == {cell: tuple(values) for cell, values in CELLS.items()}
    assert {row["count"] + row["num_unscored"] for row in released.values()} == {10}


def written(cell: Cell, row: Mapping[str, object], shown: Collection[Cell] = CELLS) -> str:
    """What the board writes into a cell beside the others that are shown."""
    if row["mean"] is None:
        return "unscored n=0/10 imported under the floor: 0.00 to 1.00"
    mark = " *" if cell[1] == "note" else ""  # a jury's file states, and no card shows
    total = "/10" if row["num_unscored"] else ""
    text = (
        f"{row['mean']:.3f}{mark} [{row['ci_low']:.2f}, {row['ci_high']:.2f}] "
        f"n={row['count']}{total} imported"
    )
    if cell == (GAMMA, "note"):
        # 7 scores of 3.5 on average; the three others all 1, or all 5.
        text += f" under the floor: {(7 * 3.5 + 3) / 10:.2f} to {(7 * 3.5 + 15) / 10:.2f}"
    if cell == other_prompt(shown):
        text += " (other prompt or decoding)"
    return text


def other_prompt(shown: Collection[Cell]) -> Cell | None:
    """The cell that is compared with no other: epsilon's, but of two alone the older one."""
    first, *others = sorted(
        (cell for cell in shown if cell[1] == "coding"), key=lambda cell: cell[0] != EPSILON
    ) or [None]
    if not others or first != (EPSILON, "coding"):
        return None
    return others[0] if len(others) == 1 else first


def rows_of(body: str) -> Iterator[tuple[str, list[str]]]:
    """Each row's head and its cells."""
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body.partition("<tbody>")[2]):
        head = re.search(r"<th[^>]*>(?:<span[^>]*>\d*</span>)?([^<]*)", row)
        assert head
        yield head[1], [words_of(cell) for cell in re.findall(r"<td[^>]*>.*?</td>", row)]


def shown_cells(test: AppTest) -> dict[Cell, str]:
    """The board's cells by model and scenario."""
    body = board(test)
    titles = {benchmark.title: name for name, benchmark in BENCHMARKS.items()}
    heads = re.findall(r'<th scope="col">([^<]*)', body)
    names = [titles[head] for head in heads if head in titles]
    return {
        (model, name): text
        for model, cells in rows_of(body)
        for name, text in zip(names, cells[-len(names) :], strict=True)
    }


class TestLeaderboard:
    @pytest.mark.parametrize("source", SOURCES)
    def test_every_cell_is_the_release_tables(self, monkeypatch, lake, released, source) -> None:
        test = opened(monkeypatch, lake, **source)
        shown = shown_cells(test)
        expected = dict.fromkeys(product(MODELS, BENCHMARKS), "not run")
        expected |= {cell: written(cell, row) for cell, row in released.items()}
        if "release" not in source:
            expected[GAMMA, "coding"] += " (scored again since, not summarised yet)"
        assert shown == expected
        text = " ".join(page_text(test).split())
        assert ("Some runs were scored again after" in text) == ("release" not in source)
        is_withdrawn = source.get("release") == WITHDRAWN
        assert (f"WITHDRAWN: do not use the numbers of release '{WITHDRAWN}'." in text) == (
            is_withdrawn
        )
        assert (REASON in text) == is_withdrawn
        assert ("Approved release." in text) == (source.get("release") == APPROVED)

    def test_ranks_and_win_rates_are_those_by_hand(self, monkeypatch, lake) -> None:
        body = board(opened(monkeypatch, lake, suite="", release=APPROVED))
        # Beside a tier a rank by win rate would be a second order.
        assert set(re.findall(r'<span class="ms-rank">(\d*)</span>', body)) == {""}
        assert [model for model, _ in rows_of(body)][:2] == [ALPHA, BETA]
        rates = {model: cells[1] for model, cells in rows_of(body)}
        assert rates == {
            **{model: f"{rate:.3f}" for model, rate in WIN_RATES.items()},
            **dict.fromkeys((EPSILON, GAMMA, DELTA), "–"),
        }

    def test_models_that_lack_something_are_told_with_the_reason(self, monkeypatch, lake) -> None:
        text = page_text(opened(monkeypatch, lake, suite="", release=APPROVED))
        for line in (
            f"{EPSILON} has no mean that counts on Coding (other prompt or decoding)",
            f"{GAMMA} has no mean that counts on Dose (not run), Note (7 of 10 answers scored)",
            f"{DELTA} has no mean that counts on",
        ):
            assert line in text

    @pytest.mark.parametrize("form", [{"transpose": "true"}, {"compact": "true"}])
    def test_another_form_has_the_same_means(self, monkeypatch, lake, released, form) -> None:
        test = opened(monkeypatch, lake, suite="", release=APPROVED, **form)
        means = re.findall(r"<a[^>]*><b>([\d.]+)", board(test))
        expected = [f"{row['mean']:.3f}" for row in released.values() if row["mean"] is not None]
        assert sorted(means) == sorted(expected)

    def test_sorted_by_a_benchmark_the_better_mean_comes_first(self, monkeypatch, lake) -> None:
        for name, models in {
            "Dose": [ALPHA, EPSILON, BETA],  # lower is better
            "Triage": [ALPHA, BETA, EPSILON, GAMMA],
            "Note": [EPSILON, ALPHA, BETA, GAMMA],  # the last one is under the floor
            "Coding": [ALPHA, BETA, GAMMA, EPSILON],  # the last one is not comparable
        }.items():
            test = opened(monkeypatch, lake, suite="", release=APPROVED, sort=name)
            assert [model for model, _ in rows_of(board(test))][: len(models)] == models

    def test_the_suite_that_holds_a_run_twice_planned_shows_it(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, SECOND)
        assert list(shown_cells(test)) == [(ALPHA, "triage")]


FACTS = {
    "access": lambda model, scenario: BENCHMARKS[scenario].level,
    "locality": lambda model, scenario: LOCALITIES[model],
    "jury": lambda model, scenario: (
        "no judge" if scenario != "note" else "validated" if model in VALIDATED else "not validated"
    ),
    "provenance": lambda model, scenario: "complete" if model in NAMED else "incomplete",
    "holder": lambda model, scenario: BENCHMARKS[scenario].declared.get("data_holder"),
    "licence": lambda model, scenario: BENCHMARKS[scenario].declared.get("licence"),
    "contamination": lambda model, scenario: BENCHMARKS[scenario].declared.get("contamination"),
    "judges": lambda model, scenario: "no judge" if scenario != "note" else JUDGED_BY.get(model),
}
CHOICES = sorted(
    {(key, fact(*cell)) for key, fact in FACTS.items() for cell in CELLS if fact(*cell)}
)


class TestFilters:
    @pytest.mark.parametrize(("key", "value"), CHOICES)
    def test_a_choice_keeps_what_has_the_value(
        self, monkeypatch, lake, released, key, value
    ) -> None:
        test = opened(monkeypatch, lake, suite="", release=APPROVED, **{key: value})
        self.shows(test, released, {cell for cell in CELLS if FACTS[key](*cell) == value})

    @pytest.mark.parametrize(("key", "number"), [("answers", 8), ("width", 0.55), ("age", 30)])
    def test_a_number_bounds_what_is_shown(self, monkeypatch, lake, released, key, number) -> None:
        passes = {
            "answers": lambda cell, row: row["count"] >= number,
            "width": lambda cell, row: (
                row["ci_low"] is not None and row["ci_high"] - row["ci_low"] <= number
            ),
            "age": lambda cell, row: cell[0] in LATE,
        }[key]
        selected = {cell for cell, row in released.items() if passes(cell, row)}
        assert 0 < len(selected) < len(CELLS)
        test = opened(monkeypatch, lake, suite="", release=APPROVED, **{key: str(number)})
        self.shows(test, released, selected)

    @pytest.mark.parametrize("view", ["Compare", "Instances", "Robustness"])
    def test_the_other_pages_have_what_the_filter_leaves(self, monkeypatch, lake, view) -> None:
        address = {"suite": "", "release": APPROVED, "view": view, "access": "public"}
        test = opened(monkeypatch, lake, locality="local", **address)
        assert "Filters in use: access level of the benchmark: public" in page_text(test)
        if view == "Compare":
            assert test.selectbox(key="first").options == [ALPHA, EPSILON]
        elif view == "Instances":
            names = {box.label: box.options for box in test.selectbox}
            assert names["Model"] == [ALPHA, EPSILON]
            assert names["Benchmark"] == ["Triage"]

    def test_a_status_that_the_release_lacks_lets_nothing_pass(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, suite="", release=APPROVED, status="withdrawn")
        assert "no result pass: release status: withdrawn" in test.info[0].value
        test = opened(monkeypatch, lake, suite="", release=WITHDRAWN, status="withdrawn")
        assert len(shown_cells(test)) == len(MODELS) * len(BENCHMARKS)

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("locality", "elsewhere", "no result pass: locality of the model: elsewhere"),
            ("holder", "Nobody", "no result pass: data holder: Nobody"),
            ("width", "0", "no result pass: width of the interval at most 0"),
            ("answers", "abc", "filter 'answers' takes one number from 0 on (at least), got 'abc'"),
            ("width", "-1", "filter 'width' takes one number from 0 on (at most), got '-1'"),
            ("locality", "unknown", "a run whose value is unknown never passes a filter"),
        ],
    )
    def test_a_link_never_shows_more_than_its_filters_say(
        self, monkeypatch, lake, key, value, message
    ) -> None:
        test = opened(monkeypatch, lake, suite="", release=APPROVED, **{key: value})
        assert message in page_text(test) + "".join(each.value for each in test.info)
        assert not any('aria-label="Leaderboard"' in body for body in markup(test))

    def shows(self, test: AppTest, released, selected: set[Cell]) -> None:
        """The selected cells with the release table's numbers, and no other."""
        shown = {cell: text for cell, text in shown_cells(test).items() if text != "not run"}
        assert shown == {cell: written(cell, released[cell], selected) for cell in selected}


class TestCompare:
    @pytest.mark.parametrize(("first", "second"), list(permutations((ALPHA, BETA, EPSILON), 2)))
    def test_every_row_is_worked_out_from_the_releases_scores(
        self, monkeypatch, lake, scored, first, second
    ) -> None:
        address = {"suite": "", "release": APPROVED, "view": "Compare"}
        test = opened(monkeypatch, lake, first=first, second=second, **address)
        (body,) = (part for part in markup(test) if 'aria-label="Comparison"' in part)
        rows = [
            [words_of(cell) for cell in re.findall(r"<td>.*?</td>", row)]
            for row in re.findall(r"<tr>(.*?)</tr>", body.partition("<tbody>")[2])
        ]
        found = {row[1].partition(":")[0]: row for row in rows}
        common = [
            name
            for name in BENCHMARKS
            if (first, name) in scored and not (name == "coding" and EPSILON in (first, second))
        ]
        assert sorted(found) == sorted(BENCHMARKS[name].title for name in common)
        # All pairs of the release count, as on its board.
        counted = [
            cell
            for cell, values in scored.items()
            if None not in values and cell != (EPSILON, "coding")
        ]
        p_values = {
            (name, frozenset((ours, theirs))): p_value(
                scored[ours, name], scored[theirs, name], name == "note"
            )
            for (ours, name), (theirs, other) in combinations(counted, 2)
            if name == other
        }
        of_all = benjamini_hochberg(p_values)
        adjusted = {name: of_all[name, frozenset((first, second))] for name in common}
        for name in common:
            ours, theirs = scored[first, name], scored[second, name]
            differences = [a - b for a, b in zip(ours, theirs, strict=True)]
            row = found[BENCHMARKS[name].title]
            assert row[2].startswith(f"{sum(differences) / 10:+z.3f} ")
            assert row[3] == p_text(adjusted[name])
            assert row[4] == "10"
            signs = [(d > 0) - (d < 0) for d in differences]
            higher, lower = signs.count(1), signs.count(-1)
            wins, losses = (lower, higher) if name == "dose" else (higher, lower)
            assert row[5] == f"{wins}/{signs.count(0)}/{losses}"
            is_ahead = (sum(differences) < 0) == (name == "dose")
            verdict = "better" if is_ahead else "worse"
            assert row[0] == (verdict if adjusted[name] < 0.05 else "not told apart")


def p_value(ours: Values, theirs: Values, is_scale: bool) -> float:
    """McNemar's mid-p of shares, of ratings from 1 to 5 the score test of their difference.

    Differences are between -4 and 4, here 0 and 1; 0.4 pseudo-answers are added at either end.
    """
    if is_scale:
        scaled = [(a - b + 4) / 8 for a, b in zip(ours, theirs, strict=True)]
        size, total = len(scaled), len(scaled) + 0.8
        centre = (sum(scaled) + 0.4) / total
        variance = (sum(value**2 for value in scaled) + 0.4) / total - centre**2
        error = (variance / (centre * (1 - centre)) / (4 * size)) ** 0.5
        return float(2 * t.sf(abs(sum(scaled) / size - 0.5) / error, size - 1))
    signs = [a - b for a, b in zip(ours, theirs, strict=True) if a != b]
    low, n = min(signs.count(1.0), signs.count(-1.0)), len(signs)
    if not n:
        return 1.0
    return min(1.0, float(2 * binom.cdf(low, n, 0.5) - binom.pmf(low, n, 0.5)))


def benjamini_hochberg(p_values: Mapping[Hashable, float]) -> dict[Hashable, float]:
    ordered = sorted(p_values, key=p_values.__getitem__, reverse=True)
    smallest, adjusted = 1.0, {}
    for rank, name in enumerate(ordered):
        smallest = min(smallest, p_values[name] * len(ordered) / (len(ordered) - rank))
        adjusted[name] = smallest
    return adjusted


def p_text(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


class TestInstances:
    @pytest.mark.parametrize("cell", CELLS, ids="-".join)
    def test_every_answer_has_the_releases_score(self, monkeypatch, lake, scored, cell) -> None:
        address = {"suite": "", "release": APPROVED, "view": "Instances", "run": unit(*cell)}
        test = opened(monkeypatch, lake, **address)
        values = [_value(value, cell[0]) for value in scored[cell]]
        assert [(row[0], row[-1]) for row in answer_rows(test)] == [
            (f"#{number}", value) for number, value in enumerate(values, start=1)
        ]
        test = opened(monkeypatch, lake, **address, order="lowest")
        scores = sorted(value for value in scored[cell] if value is not None)
        listed = [row[-1] for row in answer_rows(test)]
        assert listed[: len(scores)] == [f"{value:.3f}" for value in scores]

    @pytest.mark.parametrize("index", [0, 4, 9])
    def test_a_deep_link_opens_the_answer_and_its_score(
        self, monkeypatch, lake, scored, index
    ) -> None:
        cell = (BETA, "note")
        address = {"view": "Instances", "run": unit(*cell), "instance": f"note-i{index}"}
        text = page_text(opened(monkeypatch, lake, suite="", release=APPROVED, **address))
        assert f"Note · #{index + 1}" in text
        assert f"{BETA} answers note {index}" in text
        assert re.search(rf"jury_score\s+\(on the board\)\s+{scored[cell][index]:.3f}", text)

    def test_a_release_keeps_the_scores_that_the_suite_has_no_more(
        self, monkeypatch, lake, scored
    ) -> None:
        address = {"view": "Instances", "run": unit(GAMMA, "coding")}
        release_page = opened(monkeypatch, lake, suite="", release=APPROVED, **address)
        suite_page = opened(monkeypatch, lake, SUITE, **address)
        for test, values in ((release_page, scored[GAMMA, "coding"]), (suite_page, AGAIN)):
            assert [row[-1] for row in answer_rows(test)] == [f"{value:.3f}" for value in values]
        assert "This run was scored again after the numbers" in page_text(suite_page)

    def test_judges_that_failed_stand_beside_the_answer(self, monkeypatch, lake) -> None:
        address = {"view": "Instances", "run": unit(GAMMA, "note"), "instance": "note-i1"}
        text = page_text(opened(monkeypatch, lake, suite="", release=APPROVED, **address))
        assert re.search(r"j2\s+unparseable", text)
        assert re.search(r"jury_score\s+\(on the board\)\s+no verdict", text)

    def test_a_denied_model_has_no_answer(self, monkeypatch, lake) -> None:
        address = {"view": "Instances", "run": unit(DELTA, "triage")}
        test = opened(monkeypatch, lake, suite="", release=APPROVED, **address)
        assert "no answer: denied" in page_text(test)
        (picker,) = (box for box in test.selectbox if box.label == "Show")
        assert "failed (10)" in picker.options

    def test_every_link_of_the_board_opens_the_run_behind_the_number(
        self, monkeypatch, lake, released
    ) -> None:
        body = board(opened(monkeypatch, lake, suite="", release=APPROVED))
        links = [parse_qs(unescape(link)) for link in re.findall(r'href="\?([^"]*)" title', body)]
        assert sorted(link["run"][0] for link in links) == sorted(unit(*cell) for cell in CELLS)
        assert all(link["release"] == [APPROVED] for link in links)


def _value(value: float | None, model: str) -> str:
    if value is None:
        return "no answer" if model == DELTA else "no verdict"
    return f"{value:.3f}"


def test_nothing_was_changed_so_robustness_says_so(monkeypatch, lake) -> None:
    test = opened(monkeypatch, lake, suite="", release=APPROVED, view="Robustness")
    assert "Not tested. Ask whoever ran the suite" in test.info[0].value
