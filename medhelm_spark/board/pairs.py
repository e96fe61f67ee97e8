"""Paired differences of a board's models, from the scores of each instance."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import pyarrow as pa

from medhelm_spark import features
from medhelm_spark.board.measured import measured, needed_stats
from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import in_batches, own_scores, scores_of
from medhelm_spark.domain.jury_evidence import weakest
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.board import BoardRow
from medhelm_spark.statistics.cell import BoardCell, all_known
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.pairs import FEW_MODELS, BoardPair, adjusted

_Column = list[tuple[BoardRun, BoardCell, str]]
"""Runs of one scenario, each with its cell and the name of its row."""

_Pairs = Callable[[Sequence[int]], Iterable[tuple[int, int]]]
"""Which rows of a column are compared, the better-ranked one first."""


def with_all(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every row against every other one."""
    return combinations(rows, 2)


def with_all_of_few(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every row against every other one; of more than FEW_MODELS the best-ranked against each."""
    if len(rows) <= FEW_MODELS:
        return with_all(rows)
    return ((rows[0], other) for other in rows[1:])


def has_few_models(runs: Iterable[BoardRun]) -> bool:
    """Whether a board of these runs has all pairs of its models."""
    return len({run.run_spec.model_deployment for run in runs if run.cell}) <= FEW_MODELS


def paired(
    reader: Reader,
    runs: Iterable[BoardRun],
    rows: Iterable[BoardRow],
    *,
    pairs: _Pairs = with_all_of_few,
) -> tuple[BoardPair, ...]:
    """In each column, the board's rows on the same instances, with adjusted p-values.

    The unit is the instance: several trials of one are averaged, and the parts of a scenario are
    compared one by one. A stat of whole runs is compared by pseudo-values. Runs of one model that
    were asked otherwise (a sweep) are compared with each other. Left out are runs that were scored
    again after their cell was made, and other runs that the board does not rank.
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs if run.cell}
    columns: dict[tuple[str, ...], _Column] = {}
    for row in rows:  # in the order of their ranks, and so is each column
        for board_cell in filter(None, row.cells):
            for cell in board_cell.parts or (board_cell,):
                run = by_id[cell.run_spec_ids[0]]
                benchmark = (cell.scenario_name, cell.part, cell.main_metric, cell.split)
                for key in _columns(board_cell, benchmark) if run.is_current else ():
                    columns.setdefault(key, []).append((run, cell, row.name))
    swept = {key for key, column in columns.items() if key[-1] and len(column) > 1}
    columns = {key: column for key, column in columns.items() if not key[-1] or key in swept}
    several = (key for key, column in columns.items() if len({name for _, _, name in column}) > 1)
    in_order = sorted(several, key=lambda key: tuple(map(in_natural_order, key)))
    differences = [
        pair
        for batch in in_batches((columns[key] for key in in_order), _num_answers)
        for pair in _batch_pairs(reader, batch, pairs)
    ]
    sizes = {True: 0, False: 0}
    for column in columns.values():
        sizes[_is_primary(column)] += math.comb(len(column), 2)
    for feature in features.parts("of_pairs"):
        differences = feature.with_pairs(reader, by_id.values(), differences)
    return adjusted(differences, num_declared=sizes[True], num_others=sizes[False])


def _columns(cell: BoardCell, benchmark: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The columns that a cell is compared in: of all models, and of its own model's sweep."""
    if cell.is_counted:
        yield (*benchmark, "")
    if cell.is_of_sweep or (cell.mean is not None and not cell.variant and not cell.is_below_floor):
        yield (*benchmark, cell.model_deployment)


def _is_primary(column: _Column) -> bool:
    return any(cell.is_primary for _, cell, _ in column)


def _num_answers(column: _Column) -> int:
    return sum(cell.total for _, cell, _ in column)


def _batch_pairs(reader: Reader, batch: Sequence[_Column], pairs: _Pairs) -> Iterator[BoardPair]:
    scores = scores_of(
        reader,
        [run.run_spec.run_spec_id for column in batch for run, _, _ in column],
        {name for column in batch for run, cell, _ in column[:1] for name in _needed(run, cell)},
    )
    for column in batch:
        yield from _column_pairs(scores, column, pairs)


def _needed(run: BoardRun, cell: BoardCell) -> tuple[str, ...]:
    return needed_stats(run, cell.main_metric)


def _column_pairs(scores: pa.Table, column: _Column, pairs: _Pairs) -> Iterator[BoardPair]:
    run, cell, _ = column[0]
    units = [each.run_spec.run_spec_id for each, _, _ in column]
    own = own_scores(scores, units, cell.split)
    if not len(own):
        return
    stat = measured(run, cell.main_metric, own, units)
    template = BoardPair(
        scenario_name=run.run_spec.scenario_name,
        display_name=f"{cell.display_name}: {cell.part}" if cell.part else cell.display_name,
        main_metric=cell.main_metric,
        first="",
        second="",
        difference=PairedDifference(n=0, num_dropped=0),
        category=cell.category,
        lower_is_better=cell.lower_is_better,
        is_primary=_is_primary(column),
        margin=cell.margin,
        cluster_column=cell.cluster_column,
        jury_evidence=weakest(cell.jury_evidence for _, cell, _ in column),
    )
    for first, second in pairs(range(len(column))):
        yield replace(
            template,
            first=column[first][2],
            second=column[second][2],
            difference=stat.difference(first, second),
            run_spec_ids=(units[first], units[second]),
            imported=all_known(column[index][1].imported for index in (first, second)),
        )
