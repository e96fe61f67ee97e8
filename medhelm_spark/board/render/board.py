"""A leaderboard as a report: the means, the paired differences, and every number as data."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from medhelm_spark.board.render import comparison
from medhelm_spark.domain.pluralize import counted_by, first_of
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.table import TextTable, interval_text, mean_text, number_text
from medhelm_spark.statistics.board import BoardColumn, BoardRow, Leaderboard, is_uneven
from medhelm_spark.statistics.cell import BoardCell, CellSubject
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.ranking import MEAN_WIN_RATE, MEDHELM_MEAN_WIN_RATE
from medhelm_spark.statistics.tiers import TierRank

EMPTY = "The board is empty: no run has a summary."
PAIRS_HEADER = (
    "Benchmark",
    "First",
    "Second",
    "First - second",
    "n",
    "Win/tie/loss",
    "p adjusted",
    "First is",
)
PAIRS_TITLE = "Paired differences on the same instances"
BELOW_FLOOR = "under the floor"
NO_BETTER = "no better than one answer to every case"

# Of a cell's fields these are used to arrange the board, or written by `_cell_record` as text; the
# board's notes have `uncorrected`.
_NOT_AS_IS = (
    *("comparability", "configuration", "parts", "part", "made_at", "run_spec_ids", "draws"),
    *("uncorrected", "is_of_run"),
)
_FIRST = (
    *(field.name for field in fields(CellSubject)),
    *("count", "num_unscored", "mean", "ci_low", "ci_high", "ci_method", "minimum", "maximum"),
    *("num_model_failures", "num_unscorable"),
)
"""Files have these in this order; the others of a mean come next, then the cell's own."""
_CELL_FIELDS = tuple(
    name
    for name in dict.fromkeys((*_FIRST, *(field.name for field in fields(BoardCell))))
    if name not in _NOT_AS_IS
)
_COMPUTED = (
    MEDHELM_MEAN_WIN_RATE,
    "rank",
    "tier",
    "rank_low",
    "rank_high",
    "coverage",
    "bound_low",
    "bound_high",
    "mean_with_model_failures",
    "comparability",
    "parts",
)
CELL_FIELDS = (MEAN_WIN_RATE, *_CELL_FIELDS, *_COMPUTED)
"""The fields of a cell's record."""
MODEL_FIELDS = (
    "model_deployment",
    "model",
    "variant",
    MEAN_WIN_RATE,
    MEDHELM_MEAN_WIN_RATE,
    "rank",
    *(field.name for field in fields(TierRank)),
    "lacks",
)
"""The fields of a model in JSON."""


def render(board: Leaderboard, output_format: str, *, banner: str = "") -> str:
    """The board in one of `report.FORMATS`, with a newline at its end; `banner` is above it."""
    return formatted(board_report(board, banner), output_format)


def board_report(board: Leaderboard, banner: str = "", filters: str = "") -> Report:
    """The board and its paired differences; in CSV the field `record` says which a line is."""
    cells, pairs = _cell_records(board), [comparison.record(pair) for pair in board.pairs]
    names = dict.fromkeys(["record", *CELL_FIELDS, *comparison.FIELDS])
    return Report(
        tables=[_grid(board), *([_pairs_table(board)] if board.pairs else [])],
        content={
            "models": [_model_record(row) for row in board.rows],
            "cells": cells,
            "pairs": pairs,
            "notes": list(board.notes),
        },
        fields=list(names),
        records=[
            *({"record": "cell", **record} for record in cells),
            *({"record": "pair", **record} for record in pairs),
        ],
        rounding=ROUNDED if board.rows else "",
        if_empty="" if board.rows else _if_empty(board.notes),
        banner=banner,
        filters=filters,
    )


def _if_empty(notes: Sequence[str]) -> str:
    """Why there is nothing to show: the board's notes, else that nothing was summarised."""
    return " ".join(["The board is empty.", *notes]) if notes else EMPTY


def _grid(board: Leaderboard) -> TextTable:
    tier = ["Tier"] if any(row.standing for row in board.rows) else []
    return TextTable(
        header=["Model", *tier, "Win rate", *(column.display_name for column in board.columns)],
        subheader=["", *("" for _ in tier), "", *(_metric_text(each) for each in board.columns)],
        rows=[
            [
                row.name,
                *(rank_text(row.standing) for _ in tier),
                number_text(row.mean_win_rate),
                *map(_cell_text, row.cells),
            ]
            for row in board.rows
        ],
        notes=board.notes,
        num_fixed=2 + len(tier),
    )


def tiers_text(board: Leaderboard) -> str:
    """What the board comes to, in a sentence or two."""
    ranked = [row for row in board.rows if row.rank is not None]
    if not ranked:
        return "No model is ranked: none has a mean that counts on every benchmark of the ranking."
    best = [row.name for row in ranked if row.standing and row.standing.tier == 1]
    if not best:
        return (
            "No tiers: the order over all benchmarks of the ranking may be chance. Single "
            "benchmarks may still show which model is better: see Compare."
        )
    apart = [row for row in ranked if row.name not in best]
    which = "these" if len(best) > 1 else "this one"
    first = (
        f"Tier 1: {first_of(best)}. On these benchmarks no ranked model is shown to be better than "
        f"{which}."
    )
    behind = f" Shown to be behind {_ahead(ranked)}: {_named(apart)}." if apart else ""
    unranked = len(board.rows) - len(ranked)
    third = f" Not ranked: {unranked} of {len(board.rows)}, for reasons below." if unranked else ""
    return first + behind + third + _chance_text([row for row in ranked if row.name in best])


def _ahead(ranked: Sequence[BoardRow]) -> str:
    """Whom the models of lower tiers are shown to be behind."""
    standings = [(row, row.standing) for row in ranked if row.standing]
    if max(standing.tier for _, standing in standings) > 2:
        return "a model of the tier above"
    # Whoever cannot be last is shown to be better than somebody.
    above = [row for row, each in standings if each.tier == 1 and each.rank_high < len(standings)]
    return _named(above) if len(above) == 1 else f"one or more of {_named(above)}"


def _named(rows: Sequence[BoardRow]) -> str:
    return first_of([row.name for row in rows])


def _chance_text(rows: Sequence[BoardRow]) -> str:
    """Which of these models do no better than chance on a benchmark, whatever their rank."""
    found = {
        cell.display_name: [row.name for row in rows if cell in row.cells]
        for row in rows
        for cell in row.cells
        if cell and cell.is_no_better_than_chance
    }
    return "".join(
        f" On {name} {first_of(models)} {'is' if len(models) == 1 else 'are'} {NO_BETTER}: see "
        "Metrics."
        for name, models in found.items()
    )


def rank_text(standing: TierRank | None) -> str:
    """`1 (ranks 1-3)`; `-` for a row that is not ranked."""
    if standing is None:
        return "-"
    return f"{standing.tier} (ranks {standing.rank_low}-{standing.rank_high})"


def _metric_text(column: BoardColumn) -> str:
    """`exact_match (primary endpoint, margin 0.02)`."""
    remarks = {
        "primary endpoint": column.is_primary,
        f"margin {column.margin}": column.margin is not None,
        "lower is better": column.lower_is_better,
    }
    applying = ", ".join(remark for remark, applies in remarks.items() if applies)
    return f"{column.main_metric} ({applying})" if applying else column.main_metric


def _cell_text(cell: BoardCell | None) -> str:
    """`0.412* [0.38, 0.45] n=990/1000 cov 0.83 unread 0.05` and remarks; `-` where nothing ran."""
    if cell is None:
        return "-"
    return " ".join(
        [
            marked_mean(cell) + interval_text(cell.ci_low, cell.ci_high),
            *traded(cell),
            *counts(cell),
            *remarks(cell),
        ]
    )


def marked_mean(cell: BoardCell) -> str:
    """The mean, with `*` where a judge without evidence scored it."""
    return mean_text(cell.mean) + cell.jury_evidence.mark * (cell.mean is not None)


def counts(cell: BoardCell) -> Iterator[str]:
    """`n=990/1000`, `in 55 patients`, `cov 0.83` and `unread 0.05` where the share is not 1 or 0.

    Of a share of a part of the answers `n=90 of 300`, and of clusters of uneven size how many equal
    ones they come to.
    """
    total = f"/{cell.total}" if cell.num_unscored else ""
    part = "" if cell.num_counted == cell.count else f"{cell.num_counted} of "
    yield f"n={part}{cell.count}{total}"
    if cell.num_clusters:
        clusters = counted_by(cell.num_clusters, cell.cluster_column)
        yield f"in {clusters}{_effective_text(cell)}"
    if cell.jury_coverage is not None and cell.jury_coverage < 1:
        yield f"cov {cell.jury_coverage:.2f}"
    if cell.unreadable:
        of_all = "" if cell.num_counted == cell.count else f" of {cell.count}"
        yield f"unread {cell.unreadable:.2f}{of_all}"


def traded(cell: BoardCell) -> Iterator[str]:
    """`specificity 0.000` beside a sensitivity; none of a metric without a counterpart."""
    if cell.traded_mean is not None:
        yield f"{cell.traded_metric} {cell.traded_mean:.3f}"


def _effective_text(cell: BoardCell) -> str:
    """` (counts as 2.9)` where the clusters come to fewer of equal size."""
    return f" (counts as {cell.num_effective_clusters:.1f})" if is_uneven(cell) else ""


def remarks(cell: BoardCell) -> Iterator[str]:
    """The mean by ratings, the worst group, bounds, and why a mean is worth less than it seems."""
    if cell.corrected_mean is not None:
        corrected = number_text(cell.corrected_mean)
        interval = interval_text(cell.corrected_low, cell.corrected_high)
        yield f"people rated {cell.num_rated}: {corrected}{interval}"
        if cell.jury_sensitivity is not None and cell.jury_specificity is not None:
            of_class, of_other = cell.jury_sensitivity, cell.jury_specificity
            yield f"jury's sensitivity {of_class:.2f}, specificity {of_other:.2f}"
    if cell.is_no_better_than_chance:
        yield f"({NO_BETTER})"
    if cell.worst_group:
        yield f"worst {cell.worst_group} {number_text(cell.worst_group_mean)}"
    if cell.imported:
        yield "imported"
    if cell.is_below_floor:
        bounds = cell.bounds
        yield f"{BELOW_FLOOR}: {bounds[0]:.2f} to {bounds[1]:.2f}" if bounds else BELOW_FLOOR
    if cell.num_model_failures:
        mean = cell.mean_with_failures
        wrong = "" if mean is None else f", {mean:.3f} if wrong"
        yield f"{cell.num_model_failures} too long{wrong}"
    if cell.differs:
        yield f"({cell.differs})"


def _pairs_table(board: Leaderboard) -> TextTable:
    return TextTable(
        header=PAIRS_HEADER,
        rows=[_pair_cells(pair) for pair in board.pairs],
        title=PAIRS_TITLE,
        notes=[*comparison.notes(board.pairs)],
    )


def _pair_cells(pair: BoardPair) -> tuple[str, ...]:
    return (
        comparison.benchmark(pair),
        pair.first,
        pair.second,
        comparison.difference_text(pair.difference),
        comparison.size_text(pair),
        comparison.wins_text(pair),
        comparison.p_text(pair.adjusted_p),
        pair.decision.value,
    )


def _cell_records(board: Leaderboard) -> list[dict[str, object]]:
    return [
        {**_ranking(row), **_cell_record(cell)} for row in board.rows for cell in row.cells if cell
    ]


def _ranking(row: BoardRow) -> dict[str, object]:
    return {
        MEAN_WIN_RATE: row.mean_win_rate,
        MEDHELM_MEAN_WIN_RATE: row.medhelm_mean_win_rate,
        "rank": row.rank,
        **_standing(row.standing),
    }


def _standing(standing: TierRank | None) -> dict[str, object]:
    return {
        field.name: None if standing is None else getattr(standing, field.name)
        for field in fields(TierRank)
    }


def _cell_record(cell: BoardCell) -> dict[str, object]:
    """Every number of a cell, with those that are computed from it."""
    low, high = cell.bounds or (None, None)
    return {
        **{name: getattr(cell, name) for name in _CELL_FIELDS},
        "coverage": cell.coverage,
        "bound_low": low,
        "bound_high": high,
        "mean_with_model_failures": cell.mean_with_failures,
        "comparability": None if cell.comparability is None else dict(cell.comparability),
        "parts": [part.part for part in cell.parts],
    }


def _model_record(row: BoardRow) -> dict[str, object]:
    return {
        "model_deployment": row.model_deployment,
        "model": row.model,
        "variant": row.variant,
        **_ranking(row),
        "lacks": list(row.lacks),
    }
