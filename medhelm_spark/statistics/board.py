"""The leaderboard: model deployments against scenarios, with win rates and notes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.winrate import mean_win_rates

DEMO_JUDGE_NOTE = "* scored by a demo judge that nobody validated: not evidence of quality."


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCell:
    """The main metric of one run of one model deployment on one scenario.

    `demo_judge` is true where a jury scored it that no clinician validated; `jury_coverage` is the
    mean share of usable verdicts. `unreadable` is the share of answers in which no single answer
    could be read, None where nothing is read out of them. `is_primary` marks the suite's declared
    primary endpoint, `margin` is its difference that was declared too small to matter. `num_runs`
    runs stand behind it.
    """

    model: str
    model_deployment: str
    locality: str
    scenario_name: str
    display_name: str
    category: str
    subcategory: str
    access_level: str
    main_metric: str
    lower_is_better: bool | None
    split: str
    count: int
    num_unscored: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    demo_judge: bool = False
    jury_coverage: float | None = None
    unreadable: float | None = None
    is_primary: bool = False
    margin: float | None = None
    num_runs: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardColumn:
    """One scenario, read by one metric on one split."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One model deployment; `cells` stand in the order of the board's columns."""

    model: str
    model_deployment: str
    locality: str
    cells: tuple[BoardCell | None, ...]
    mean_win_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPair:
    """The paired difference, first minus second, of two deployments on one scenario."""

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


_ColumnKey = tuple[str, str, str]
_RowKey = tuple[str, str]


def _column_key(cell: BoardCell) -> _ColumnKey:
    return (cell.scenario_name, cell.main_metric, cell.split)


def _row_key(cell: BoardCell) -> _RowKey:
    return (cell.model_deployment, cell.model)


def _half_width(sides: Iterable[float | None], means: Sequence[float]) -> float | None:
    """Distance of a mean of independent means to its limit (MOVER, Zou and Donner 2008)."""
    known = [side for side in sides if side is not None]
    if len(known) < len(means):
        return None
    squares = ((m - side) ** 2 for m, side in zip(means, known, strict=True))
    return math.sqrt(math.fsum(squares)) / len(means)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _merged(cells: Sequence[BoardCell]) -> BoardCell:
    """One cell of several runs of a scenario: the unweighted mean of run means, as MedHELM's."""
    if len(cells) == 1:
        return cells[0]
    valued = [cell for cell in cells if cell.mean is not None]
    means = [cell.mean for cell in valued if cell.mean is not None]
    mean = _mean(means)
    below = _half_width((cell.ci_low for cell in valued), means) if means else None
    above = _half_width((cell.ci_high for cell in valued), means) if means else None
    return replace(
        cells[0],
        count=sum(cell.count for cell in cells),
        num_unscored=sum(cell.num_unscored for cell in cells),
        mean=mean,
        ci_low=None if mean is None or below is None else mean - below,
        ci_high=None if mean is None or above is None else mean + above,
        demo_judge=any(cell.demo_judge for cell in cells),
        jury_coverage=_mean(cell.jury_coverage for cell in cells),
        unreadable=_mean(cell.unreadable for cell in cells),
        is_primary=any(cell.is_primary for cell in cells),
        margin=_margin(cells),
        num_runs=sum(cell.num_runs for cell in cells),
    )


def _margin(cells: Iterable[BoardCell]) -> float | None:
    """The strictest of several suites'."""
    return min((cell.margin for cell in cells if cell.margin is not None), default=None)


def _pair_key(pair: BoardPair) -> tuple[str, str, str, str]:
    return (pair.scenario_name, pair.main_metric, pair.first, pair.second)


def _column(cells: Sequence[BoardCell]) -> BoardColumn:
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
        is_primary=any(one.is_primary for one in cells),
        margin=_margin(cells),
    )


def _rank(row: BoardRow) -> tuple[float, float, str, str]:
    """Best first: by win rate, then by the mean over cells that have a direction, then by name."""
    values = [
        -cell.mean if cell.lower_is_better else cell.mean
        for cell in row.cells
        if cell and cell.mean is not None and cell.lower_is_better is not None
    ]
    win_rate = -1.0 if row.mean_win_rate is None else row.mean_win_rate
    mean = math.fsum(values) / len(values) if values else -math.inf
    return (-win_rate, -mean, row.model_deployment, row.model)


def _notes(cells: Sequence[BoardCell], num_rows: int) -> tuple[str, ...]:
    notes = {
        "[low, high] is the 95 % confidence interval of the mean; n is the number of answers.": any(
            cell.ci_low is not None for cell in cells
        ),
        DEMO_JUDGE_NOTE: any(cell.demo_judge for cell in cells),
        "n=a/b: a of b answers are scored.": any(cell.num_unscored for cell in cells),
        "cov: the share of the judges' verdicts that could be used.": any(
            cell.jury_coverage is not None and cell.jury_coverage < 1 for cell in cells
        ),
        "unread: the share of answers in which no single answer could be read.": any(
            cell.unreadable for cell in cells
        ),
        "margin: the difference that the suite declared too small to matter; nothing is decided by "
        "it here.": _margin(cells) is not None,
        "Win rate: the chance to beat another model drawn at random, mean over benchmarks.": (
            num_rows > 1
        ),
        "No win rate: it needs two model deployments on one benchmark.": num_rows == 1,
    }
    return tuple(note for note, applies in notes.items() if applies)


def _table(cells: Iterable[BoardCell]) -> dict[_RowKey, dict[_ColumnKey, BoardCell]]:
    """One cell per row and column, from any number of cells in any order."""
    groups: dict[_RowKey, dict[_ColumnKey, list[BoardCell]]] = {}
    for cell in sorted(cells, key=repr):
        groups.setdefault(_row_key(cell), {}).setdefault(_column_key(cell), []).append(cell)
    return {
        row: {column: _merged(same) for column, same in found.items()}
        for row, found in groups.items()
    }


def _columns(
    table: Mapping[_RowKey, Mapping[_ColumnKey, BoardCell]],
) -> dict[_ColumnKey, BoardColumn]:
    """The columns in the order of taxonomy, scenario, metric and split."""
    cells: dict[_ColumnKey, list[BoardCell]] = {}
    for found in table.values():
        for key, cell in found.items():
            cells.setdefault(key, []).append(cell)
    columns = {key: _column(same) for key, same in cells.items()}
    ordered = sorted(
        columns, key=lambda key: (columns[key].category, columns[key].subcategory, key)
    )
    return {key: columns[key] for key in ordered}


def build_board(
    cells: Iterable[BoardCell], pairs: Iterable[BoardPair] = (), notes: Iterable[str] = ()
) -> Leaderboard:
    """Arrange cells into a board, the same for any order of the cells; `notes` come last.

    Several cells of one deployment and scenario are merged. A scenario read by two metrics or
    splits gets two columns: they are never compared.
    """
    table = _table(cells)
    columns = _columns(table)
    win_rates = mean_win_rates(
        {
            key: {row: found[key].mean for row, found in table.items() if key in found}
            for key in columns
        },
        {key: column.lower_is_better for key, column in columns.items()},
    )
    rows = [
        BoardRow(
            model=row[1],
            model_deployment=row[0],
            locality=next(iter(found.values())).locality,
            cells=tuple(found.get(key) for key in columns),
            mean_win_rate=win_rates.get(row),
        )
        for row, found in table.items()
    ]
    shown = [cell for found in table.values() for cell in found.values()]
    return Leaderboard(
        columns=tuple(columns.values()),
        rows=tuple(sorted(rows, key=_rank)),
        pairs=tuple(sorted(pairs, key=_pair_key)),
        notes=(*_notes(shown, len(rows)), *notes),
    )
