"""No hidden cell can be computed from what is shown: a solver tries."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from medhelm_spark.subgroups.small_cells import Total, hidden, hidden_groups

MINIMUM = 11
SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=8)


def solved(sizes: dict[object, int], totals: list[Total[object]], gone: frozenset[object]) -> set:
    """The hidden cells that are the same in every solution of the equations."""
    cells = list(sizes)
    rows, known = [], []
    for cell in cells:
        if cell not in gone:
            rows.append([float(other == cell) for other in cells])
            known.append(sizes[cell])
    for total in totals:
        row = [float(cell in total.parts) - float(cell == total.whole) for cell in cells]
        rows.append(row)
        known.append(0 if total.whole is not None else sum(sizes[cell] for cell in total.parts))
    matrix = np.array(rows)
    assert np.allclose(matrix @ np.array([sizes[cell] for cell in cells]), known)
    rank = np.linalg.matrix_rank(matrix)
    return {
        cell
        for index, cell in enumerate(cells)
        if cell in gone
        and np.linalg.matrix_rank(np.vstack([matrix, np.eye(len(cells))[index]])) == rank
    }


def test_a_group_of_few_patients_takes_the_next_smallest_with_it():
    sizes = {"f": 40, "m": 30, "other": 4}
    assert hidden(sizes, [Total(list(sizes))], MINIMUM) == {"other", "m"}


def test_two_small_groups_that_are_too_few_together_take_a_third():
    assert hidden({"a": 50, "b": 40, "c": 4, "d": 3}, [Total("abcd")], MINIMUM) == set("bcd")


def test_two_small_groups_with_enough_patients_together_hide_each_other():
    assert hidden({"a": 50, "b": 40, "c": 6, "d": 7}, [Total("abcd")], MINIMUM) == set("cd")


def test_a_minimum_of_1_hides_nothing():
    assert hidden({"a": 1, "b": 90}, [Total("ab")], 1) == set()


def test_a_single_small_group_is_hidden_though_its_total_tells_it():
    assert hidden({"a": 4}, [Total("a")], MINIMUM) == {"a"}


@given(SIZES)
def test_no_hidden_group_of_a_column_can_be_computed(sizes: list[int]):
    cells = dict(enumerate(sizes))
    total = Total(list(cells))
    gone = hidden(cells, [total], MINIMUM)
    assert {cell for cell, size in cells.items() if size < MINIMUM} <= gone
    if len(gone) < len(cells) and gone:
        assert not solved(cells, [total], gone)
        assert sum(cells[cell] for cell in gone) >= MINIMUM


@given(st.lists(st.integers(1, 60), min_size=9, max_size=9))
def test_no_hidden_cell_of_two_crossed_columns_can_be_computed(sizes: list[int]):
    """Three groups by three: the cells, both margins and the total are shown."""
    inner = dict(zip(product("abc", "xyz"), sizes, strict=True))
    rows = {row: sum(n for (a, _), n in inner.items() if a == row) for row in "abc"}
    columns = {column: sum(n for (_, x), n in inner.items() if x == column) for column in "xyz"}
    cells = {**inner, **rows, **columns}
    totals = [
        Total(list("abc")),
        Total(list("xyz")),
        *(Total([cell for cell in inner if cell[0] == row], row) for row in "abc"),
        *(Total([cell for cell in inner if cell[1] == column], column) for column in "xyz"),
    ]
    gone = hidden(cells, totals, MINIMUM)
    assert {cell for cell, size in cells.items() if size < MINIMUM} <= gone
    if len(gone) < len(cells):
        assert not solved(cells, totals, gone)


@given(SIZES, st.data())
def test_two_models_hide_the_same_groups_where_the_data_makes_them_small(
    sizes: list[int], data: st.DataObject
):
    """Else one table would show what the other one hides, and both the rest of the total."""
    cells = {("site", str(index)): size for index, size in enumerate(sizes)}
    by_data = hidden(cells, [Total(list(cells))], MINIMUM)
    for _ in range(2):
        seen = {cell: data.draw(st.integers(0, size)) for cell, size in cells.items()}
        assert by_data <= hidden_groups(cells, seen, MINIMUM)


def test_a_group_is_hidden_where_few_of_its_answers_have_a_value():
    women, men = ("sex", "f"), ("sex", "m")
    assert hidden_groups({women: 40, men: 40}, {women: 3, men: 40}, MINIMUM) == {women, men}


def test_a_small_crossed_group_is_computed_from_neither_column():
    crossed = {"f × old": 40, "f × young": 30, "m × old": 20, "m × young": 4}
    groups = {("sex*age", name): count for name, count in crossed.items()}
    margins = {("sex", "f"): 70, ("sex", "m"): 24, ("age", "old"): 60, ("age", "young"): 34}
    gone = hidden_groups(groups | margins, groups | margins, MINIMUM)
    assert {("sex*age", "m × young"), ("sex*age", "m × old"), ("sex*age", "f × young")} <= gone
    assert hidden_groups(margins, margins, MINIMUM) == set()


@pytest.mark.parametrize("minimum", [5, 11, 20])
def test_a_higher_minimum_hides_no_less(minimum: int):
    cells = dict(zip("abcdef", (3, 8, 14, 22, 50, 90), strict=True))
    num_hidden = [len(hidden(cells, [Total(list(cells))], least)) for least in (1, minimum, 200)]
    assert all(low <= high for low, high in pairwise(num_hidden))
