"""The leaderboard: model deployments against scenarios, with win rates and notes."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.jury_evidence import mark_note
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.domain.pluralize import counted, counted_by, first_of
from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.statistics.arrangement import Arranged, ColumnKey, RowKey, arranged
from medhelm_spark.statistics.bootstrap import MIN_UNITS
from medhelm_spark.statistics.cell import MOVER, MOVING_TOGETHER, BoardCell, strictest_margin
from medhelm_spark.statistics.common import NOTHING_MISSING, Common
from medhelm_spark.statistics.mcnemar import planned_detectable
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.ranking import (
    deciding_columns,
    is_listed,
    lacking,
    medhelm_win_rates,
    ranking_columns,
    ranks_of,
    tier_ranks_of,
    win_rates,
)
from medhelm_spark.statistics.tiers import TierRank

PRIMARY = "Primary endpoint"
_SHARE = IntervalMethod.WILSON.value
_METHODS = {
    "wilson": "Wilson",
    MOVER: IntervalMethod.MOVER.label,
    MOVING_TOGETHER: "mean half width over parts that share cases",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardColumn:
    """One metric of one scenario on one split; `is_ranked` where ranks are made of it.

    `detectable` is the difference of two models that its answers find with a power of 80 % if 20 %
    of pairs disagree; None where the metric is no share, or clusters make such a plan too hopeful.
    """

    scenario_name: str
    display_name: str
    category: str
    subcategory: str
    access_level: AccessLevel
    main_metric: str
    lower_is_better: bool | None
    split: str
    is_primary: bool = False
    margin: float | None = None
    is_ranked: bool = False
    detectable: float | None = None

    @property
    def heading(self) -> str:
        """The heading above it; primary endpoints have a heading of their own, first."""
        return PRIMARY if self.is_primary else self.category or "Other"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One model deployment; `cells` are in the order of the board's columns.

    `variant` names what differs in a further run of a model, empty for the first. `lacks` are the
    columns to be ranked on in which it has no counted mean, with the reason: with any it has
    neither rank nor win rate. Equal win rates share a rank. `standing` says from which rows it can
    be told apart; None where it has no rank, or a mean that decides rests on too few answers for
    resamples. `medhelm_mean_win_rate` is MedHELM's number; a further run has none.
    """

    model: str
    model_deployment: str
    locality: str
    cells: tuple[BoardCell | None, ...]
    mean_win_rate: float | None
    variant: str = ""
    rank: int | None = None
    standing: TierRank | None = None
    lacks: tuple[str, ...] = ()
    medhelm_mean_win_rate: float | None = None

    @property
    def name(self) -> str:
        """`gpt-4o`, or `gpt-4o (strict)` for a further run."""
        return row_name(self.model_deployment, self.variant)


EVEN = 0.9
"""Above this share of them, clusters count as of equal size."""


def is_uneven(cell: BoardCell) -> bool:
    """Whether the clusters of a cell come to fewer of equal size."""
    effective, clusters = cell.num_effective_clusters, cell.num_clusters
    return bool(clusters) and effective is not None and effective <= EVEN * (clusters or 0)


def row_name(model_deployment: str, variant: str) -> str:
    """The name of a row.

    >>> row_name("gpt-4o", "n=3")
    'gpt-4o (n=3)'
    """
    return f"{model_deployment} ({variant})" if variant else model_deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """Columns, rows (best first), paired differences, and the notes below the table."""

    columns: tuple[BoardColumn, ...]
    rows: tuple[BoardRow, ...]
    pairs: tuple[BoardPair, ...] = ()
    notes: tuple[str, ...] = ()


def build_board(
    cells: Iterable[BoardCell],
    notes: Iterable[str] = (),
    common: Common = NOTHING_MISSING,
    *,
    coverage_floor: float,
) -> Leaderboard:
    """Arrange cells into a board, the same for any order of the cells; `notes` come last.

    `common` has the means of two runs on the instances that both have, where answers are missing.

    Parts of one scenario are merged; each further run of a model is a row of its own. Two metrics
    or splits of a scenario are two columns and never compared. A cell with less than
    `coverage_floor` (0 to 1) of its answers scored is shown and counts in no win rate.
    """
    cells = list(cells)
    table = arranged(cells, coverage_floor)
    by_column = _by_column(table)
    ranked = ranking_columns(by_column)
    columns = _columns(by_column, ranked)
    deciding = deciding_columns(by_column, ranked)
    rows = _rows(table, columns, ranked, deciding, common, medhelm_win_rates(cells))
    row_cells = [cell for row in rows for cell in row.cells if cell]
    return Leaderboard(
        columns=tuple(columns.values()),
        rows=rows,
        notes=(
            *_cell_notes(row_cells, coverage_floor),
            *_detectable_notes(columns.values()),
            *_ranking_notes(rows, len(ranked), listed=is_listed(by_column)),
            *_missing_notes(cell for key in ranked for cell in by_column[key].values()),
            *_tier_notes(rows, {columns[key]: by_column[key].values() for key in deciding}),
            *_unranked_notes(rows),
            *notes,
        ),
    )


def _rows(
    table: Arranged,
    columns: Mapping[ColumnKey, BoardColumn],
    ranked: Sequence[ColumnKey],
    deciding: Sequence[ColumnKey],
    common: Common,
    medhelm: Mapping[tuple[str, str], float],
) -> tuple[BoardRow, ...]:
    titles = {key: column.display_name for key, column in columns.items()}
    lacks = {row: lacking(cells, ranked, titles) for row, cells in table.items()}
    complete = [row for row, missing in lacks.items() if not missing]
    rates = win_rates(_by_column(table), ranked, complete, common)
    standing = tier_ranks_of(_by_column(table), deciding, list(rates), common)
    ranks = ranks_of(rates)
    rows = (
        BoardRow(
            model=row[1],
            model_deployment=row[0],
            variant=row[2],
            locality=next(iter(cells.values())).locality,
            cells=tuple(cells.get(key) for key in columns),
            mean_win_rate=rates.get(row),
            rank=ranks.get(row),
            standing=standing.get(row),
            lacks=lacks[row],
            medhelm_mean_win_rate=None if row[2] else medhelm.get(row[:2]),
        )
        for row, cells in table.items()
    )
    return tuple(sorted(rows, key=_order))


def _order(row: BoardRow) -> tuple[object, ...]:
    """By tier, then rank, then how many columns a row lacks, then name; never by means."""
    tier = 0 if row.standing is None else row.standing.tier
    rank = math.inf if row.rank is None else row.rank
    name = (row.model_deployment, row.model, row.variant)
    return (bool(row.lacks), tier, rank, len(row.lacks), *name)


def _by_column(table: Arranged) -> dict[ColumnKey, dict[RowKey, BoardCell]]:
    columns: dict[ColumnKey, dict[RowKey, BoardCell]] = {}
    for row, cells in table.items():
        for key, cell in cells.items():
            columns.setdefault(key, {})[row] = cell
    return columns


def _columns(
    by_column: Mapping[ColumnKey, Mapping[RowKey, BoardCell]], ranked: Sequence[ColumnKey]
) -> dict[ColumnKey, BoardColumn]:
    """Primary endpoints, then the columns in the order of taxonomy, scenario, metric and split."""
    columns = {
        key: _column(list(cells.values()), is_ranked=key in ranked)
        for key, cells in by_column.items()
    }
    ordered = sorted(
        columns,
        key=lambda key: (
            not columns[key].is_primary,
            columns[key].category,
            columns[key].subcategory,
            *map(in_natural_order, key),
        ),
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
        detectable=_detectable(cells),
    )


def _detectable(cells: Sequence[BoardCell]) -> float | None:
    sizes = [cell.num_counted for cell in cells if cell.is_counted and cell.ci_method == _SHARE]
    return planned_detectable(max(sizes)) if sizes else None


def _cell_notes(cells: Sequence[BoardCell], coverage_floor: float) -> Iterator[str]:
    """Explanations of the marks in the cells, of those that occur."""
    notes = {
        "[low, high] is the 95 % confidence interval of the mean"
        f"{_methods(cells)}; n is the number of answers.": any(
            cell.ci_low is not None for cell in cells
        ),
        (note := mark_note(cell.jury_evidence for cell in cells)): bool(note),
        "n=a/b: a of b answers are scored.": any(cell.num_unscored for cell in cells),
        f"Under the floor: less than {100 * coverage_floor:g} % of the answers are scored, so the "
        "mean counts in no win rate, rank or paired test. It lies between the two bounds: all "
        "answers without a score counted as the worst of the scale, or all as the best.": any(
            cell.is_below_floor for cell in cells
        ),
        "too long: prompts too long for the model's own window; beside it the mean that "
        "counts them as wrong.": any(cell.num_model_failures for cell in cells),
        "(in brackets): why a mean is not compared with the others of its column. It counts in no "
        "win rate, rank or paired test.": any(
            cell.differs and not cell.is_asked_otherwise for cell in cells
        ),
        "(asked otherwise): the model was asked with other settings. The mean counts in no win "
        "rate or rank, and is compared with the model's other means alone.": any(
            cell.is_asked_otherwise for cell in cells
        ),
        "cov: the share of the judges' verdicts that could be used.": any(
            cell.jury_coverage is not None and cell.jury_coverage < 1 for cell in cells
        ),
        "unread: the share of all answers in which no single answer could be read.": any(
            cell.unreadable for cell in cells
        ),
        **_traded_notes(cells),
        "margin: a difference that the suite file declares too small to matter. Tiers and ranks do "
        "not use it; Compare says which models are within it.": strictest_margin(cells) is not None,
        "people rated: the jury's mean, moved by how far the jury was off on so many answers that "
        "people rated; right if these are a random sample.": any(
            cell.corrected_mean is not None for cell in cells
        ),
        **_uncorrected_notes(cells),
        **_import_notes(cells),
        **_part_notes(cells),
        **_cluster_notes(cells),
        "counts as: some patients, or whatever the answers are grouped by, have more answers than "
        "others; they are as much evidence as so many with equally many answers.": any(
            map(is_uneven, cells)
        ),
    }
    return (note for note, applies in notes.items() if applies)


def _methods(cells: Sequence[BoardCell]) -> str:
    names = {cell.ci_method for cell in cells if cell.ci_low is not None} - {"none"}
    labels = ", ".join(_METHODS.get(name, name.replace("_", " ")) for name in sorted(names))
    return f" ({labels})" if labels else ""


def _traded_notes(cells: Sequence[BoardCell]) -> dict[str, bool]:
    """Which stat is shown beside which, and why."""
    pairs = {(c.main_metric, c.traded_metric) for c in cells if c.traded_mean is not None}
    return {
        f"{traded} is shown beside {metric}: a model can raise one by lowering the other, so judge "
        "a model by both. Metrics has its errors in 1,000 cases.": True
        for metric, traded in sorted(pairs)
    }


def _uncorrected_notes(cells: Sequence[BoardCell]) -> dict[str, bool]:
    """Why the ratings of some answers correct no mean of their jury."""
    models: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.uncorrected:
            models.setdefault((cell.display_name, cell.uncorrected), []).append(
                cell.model_deployment
            )
    return {
        f"{name}: ratings correct no jury's mean of {first_of(own)}: {why}.": True
        for (name, why), own in models.items()
    }


def _import_notes(cells: Sequence[BoardCell]) -> dict[str, bool]:
    """What is unknown of answers made elsewhere, by what is known of them."""
    models: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.imported:
            models.setdefault(cell.imported, {})[cell.model_deployment] = None
    return {
        f"imported: answers of {first_of(list(names), 8)} were made elsewhere; {known}.": True
        for known, names in sorted(models.items())
    }


def _part_notes(cells: Sequence[BoardCell]) -> dict[str, bool]:
    sizes = {cell.display_name: len(cell.parts) for cell in cells if cell.parts}
    return {
        f"{name} is the mean of the means of {counted(size, 'part')}.": True
        for name, size in sorted(sizes.items())
    }


def _cluster_notes(cells: Sequence[BoardCell]) -> dict[str, bool]:
    largest: dict[str, BoardCell] = {}
    for cell in sorted(cells, key=lambda cell: (cell.num_clusters or 0, cell.count)):
        if cell.num_clusters:
            largest[cell.display_name] = cell
    return {
        f"{name}: {clustered_text(cell.num_counted, cell.num_clusters or 0, cell.cluster_column)}; "
        "intervals, tests and ranks count these, not answers.": True
        for name, cell in sorted(largest.items())
    }


def clustered_text(answers: int, clusters: int, column: str | None) -> str:
    """How many answers belong to how many patients, or whatever the card's column is of.

    >>> clustered_text(300, 120, "patient_id")
    '300 answers of 120 patients (patient_id)'
    """
    named = f" ({column})" if column else ""
    return f"{counted(answers, 'answer')} of {counted_by(clusters, column)}{named}"


def _detectable_notes(columns: Iterable[BoardColumn]) -> Iterator[str]:
    """What the benchmarks of the ranking can show at all, those that can show least first."""
    names: dict[str, list[str]] = {}
    ranked = [each for each in columns if each.is_ranked and each.detectable is not None]
    for each in sorted(ranked, key=lambda each: each.detectable or 0.0, reverse=True):
        names.setdefault(f"{each.detectable:.3f}", []).append(each.display_name)
    if names:
        sizes = [
            f"{titles[0] if len(titles) == 1 else counted(len(titles), 'benchmark')} {size}"
            for size, titles in names.items()
        ]
        yield (
            "Difference of two models that is found with a power of 80 %, if a fifth of their "
            f"answers disagree: {first_of(sizes, 8)}."
        )


def _ranking_notes(rows: Sequence[BoardRow], num_ranked: int, *, listed: bool) -> Iterator[str]:
    """Which benchmarks models are ranked on, or why none is ranked."""
    which = "that the suite file lists" if listed else "that two models or more completed"
    if any(row.mean_win_rate is not None for row in rows):
        yield (
            "Win rate: the chance to beat another model drawn at random, mean over the "
            f"{counted(num_ranked, 'benchmark')} {which}."
        )
    elif num_ranked and rows:
        yield "No win rate: no two models have a mean that counts on every ranked benchmark."
    elif rows:
        yield "No win rate: it needs two model deployments on one benchmark."


def _missing_notes(cells: Iterable[BoardCell]) -> Iterator[str]:
    """On what models are compared where answers are missing."""
    if any(cell.is_counted and cell.num_failed for cell in cells):
        yield (
            "Answers are missing: win rates and tiers compare two models on the instances that "
            "both have; each mean is of the model's own answers."
        )


def _tier_notes(
    rows: Sequence[BoardRow], deciding: Mapping[BoardColumn, Collection[BoardCell]]
) -> Iterator[str]:
    """What a tier says, about which benchmarks; or on which benchmark a tier fails, and why."""
    if any(row.standing for row in rows):
        yield (
            f"Tier: a model is in a lower tier where its mean over {_named([*deciding])} is shown "
            "to be worse than another model's. If all models were equal, chance alone would make "
            "about one board in twenty show two tiers. Ranks beside a tier: all that are possible "
            "by this mean, with 95 % confidence for all models together."
        )
    elif any(row.rank is not None for row in rows):
        few = [column for column, cells in deciding.items() if any(cell.is_few for cell in cells)]
        bare = [
            column
            for column, cells in deciding.items()
            if column not in few and not all(cell.draws for cell in cells)
        ]
        reasons = (
            (few, f"rests on fewer than {MIN_UNITS} answers or clusters"),
            (bare, "is not resampled (an older version made it, or it is not the main metric)"),
        )
        for columns, reason in reasons:
            if columns:
                names = first_of([column.display_name for column in columns])
                yield f"No tiers: a mean on {names} {reason}."


def _named(deciding: Sequence[BoardColumn]) -> str:
    """The primary endpoints by name, without any the benchmarks by number."""
    if not deciding[0].is_primary:
        return f"the {counted(len(deciding), 'benchmark')} of the ranking"
    names = [f"{each.display_name} ({each.main_metric})" for each in deciding]
    return f"the primary {'endpoint' if len(names) == 1 else 'endpoints'} {first_of(names)}"


def _unranked_notes(rows: Sequence[BoardRow]) -> Iterator[str]:
    """What each model without a rank lacks."""
    for row in rows:
        if row.lacks and not row.variant:
            yield f"Not ranked: {row.name} has no mean that counts on {first_of(row.lacks)}."
    further = [row.name for row in rows if row.variant and row.rank is None]
    if further:
        yield f"Not ranked, further runs of a model, named by what differs: {', '.join(further)}."
