"""The leaderboard: model deployments against scenarios, with win rates and notes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.statistics.arrangement import Arranged, ColumnKey, RowKey, arranged
from medhelm_spark.statistics.board_notes import cell_notes, ranking_notes
from medhelm_spark.statistics.cell import BoardCell, strictest_margin
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.ranking import (
    is_listed,
    lacking,
    medhelm_win_rates,
    ranking_columns,
    ranks_of,
    win_rates,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardColumn:
    """One scenario, read by one metric on one split; models are ranked on it or not."""

    scenario_name: str
    display_name: str
    category: str
    subcategory: str
    access_level: str
    main_metric: str
    lower_is_better: bool | None
    split: str
    is_primary: bool = False
    margin: float | None = None
    is_ranked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One model deployment; `cells` stand in the order of the board's columns.

    `variant` tells a further run of a model from its first. `lacks` says what it lacks of the
    columns that models are ranked on: with any it has neither rank nor win rate. Equal win rates
    share a rank. `medhelm_mean_win_rate` is MedHELM's number, of the model's row only.
    """

    model: str
    model_deployment: str
    locality: str
    cells: tuple[BoardCell | None, ...]
    mean_win_rate: float | None
    variant: str = ""
    rank: int | None = None
    lacks: tuple[str, ...] = ()
    medhelm_mean_win_rate: float | None = None

    @property
    def name(self) -> str:
        """`gpt-4o`, or `gpt-4o (strict)` for a further run."""
        return row_name(self.model_deployment, self.variant)


def row_name(model_deployment: str, variant: str) -> str:
    """What a row is called.

    >>> row_name("gpt-4o", "n=3")
    'gpt-4o (n=3)'
    """
    return f"{model_deployment} ({variant})" if variant else model_deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPair:
    """The paired difference, first minus second, of two rows on one scenario."""

    scenario_name: str
    display_name: str
    main_metric: str
    first: str
    second: str
    difference: PairedDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """Columns, rows best first, paired differences, and the sentences that belong below."""

    columns: tuple[BoardColumn, ...]
    rows: tuple[BoardRow, ...]
    pairs: tuple[BoardPair, ...] = ()
    notes: tuple[str, ...] = ()


def build_board(
    cells: Iterable[BoardCell],
    pairs: Iterable[BoardPair] = (),
    notes: Iterable[str] = (),
    *,
    coverage_floor: float,
) -> Leaderboard:
    """Arrange cells into a board, the same for any order of the cells; `notes` come last.

    Parts of one scenario are merged, any further run of a model is a row of its own. A scenario
    read by two metrics or splits gets two columns: they are never compared. A cell with less than
    `coverage_floor` (0 to 1) of its answers scored is shown and counts in no win rate.
    """
    cells = list(cells)
    table = arranged(cells, coverage_floor)
    by_column = _by_column(table)
    ranked = ranking_columns(by_column)
    columns = _columns(by_column, ranked)
    rows = _rows(table, columns, ranked, medhelm_win_rates(cells))
    shown = [cell for row in rows for cell in row.cells if cell]
    return Leaderboard(
        columns=tuple(columns.values()),
        rows=rows,
        pairs=tuple(sorted(pairs, key=_pair_key)),
        notes=(
            *cell_notes(shown, coverage_floor),
            *ranking_notes(rows, len(ranked), listed=is_listed(by_column)),
            *notes,
        ),
    )


def _rows(
    table: Arranged,
    columns: Mapping[ColumnKey, BoardColumn],
    ranked: Sequence[ColumnKey],
    medhelm: Mapping[tuple[str, str], float],
) -> tuple[BoardRow, ...]:
    titles = {key: column.display_name for key, column in columns.items()}
    lacks = {row: lacking(held, ranked, titles) for row, held in table.items()}
    complete = [row for row, missing in lacks.items() if not missing]
    rates = win_rates(_by_column(table), ranked, complete)
    ranks = ranks_of(rates)
    rows = (
        BoardRow(
            model=row[1],
            model_deployment=row[0],
            variant=row[2],
            locality=next(iter(held.values())).locality,
            cells=tuple(held.get(key) for key in columns),
            mean_win_rate=rates.get(row),
            rank=ranks.get(row),
            lacks=lacks[row],
            medhelm_mean_win_rate=None if row[2] else medhelm.get(row[:2]),
        )
        for row, held in table.items()
    )
    return tuple(sorted(rows, key=_order))


def _order(row: BoardRow) -> tuple[object, ...]:
    """Ranked rows by rank, then those that lack the least; equals by name, never by their means."""
    rank = math.inf if row.rank is None else row.rank
    return (bool(row.lacks), rank, len(row.lacks), row.model_deployment, row.model, row.variant)


def _pair_key(pair: BoardPair) -> tuple[str, str, str, str]:
    return (pair.scenario_name, pair.main_metric, pair.first, pair.second)


def _by_column(table: Arranged) -> dict[ColumnKey, dict[RowKey, BoardCell]]:
    found: dict[ColumnKey, dict[RowKey, BoardCell]] = {}
    for row, held in table.items():
        for key, cell in held.items():
            found.setdefault(key, {})[row] = cell
    return found


def _columns(
    by_column: Mapping[ColumnKey, Mapping[RowKey, BoardCell]], ranked: Sequence[ColumnKey]
) -> dict[ColumnKey, BoardColumn]:
    """The columns in the order of taxonomy, scenario, metric and split."""
    columns = {
        key: _column(list(cells.values()), is_ranked=key in ranked)
        for key, cells in by_column.items()
    }
    ordered = sorted(
        columns, key=lambda key: (columns[key].category, columns[key].subcategory, key)
    )
    return {key: columns[key] for key in ordered}


def _column(cells: Sequence[BoardCell], *, is_ranked: bool) -> BoardColumn:
    cell = cells[-1]
    return BoardColumn(
        scenario_name=cell.scenario_name,
        display_name=cell.display_name or cell.scenario_name,
        category=cell.category,
        subcategory=cell.subcategory,
        access_level=cell.access_level,
        main_metric=cell.main_metric,
        lower_is_better=cell.lower_is_better,
        split=cell.split,
        is_primary=any(each.is_primary for each in cells),
        margin=strictest_margin(cells),
        is_ranked=is_ranked,
    )
