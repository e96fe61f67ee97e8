"""Cells by row and column: which runs of a model are one cell, and which are rows of their own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from medhelm_spark.statistics.cell import BoardCell, merged
from medhelm_spark.statistics.comparison import (
    differences,
    is_asked_otherwise,
    reference_of,
    why_not,
)

ColumnKey = tuple[str, str, str]
"""Scenario, metric and split."""

RowKey = tuple[str, str, str]
"""Model deployment, model, and the variant: what differs in a further run, empty for the first."""

Arranged = Mapping[RowKey, Mapping[ColumnKey, BoardCell]]
ANOTHER = "another run"


def column_key(cell: BoardCell) -> ColumnKey:
    """The column of a cell."""
    return (cell.scenario_name, cell.main_metric, cell.split)


def distinct(cells: Iterable[BoardCell]) -> list[BoardCell]:
    """The cells in a fixed order; a run in two suites of a release counts once."""
    ordered = sorted(cells, key=repr)
    known = {cell.run_spec_ids: cell for cell in ordered if cell.run_spec_ids}
    return [*known.values(), *(cell for cell in ordered if not cell.run_spec_ids)]


def arranged(cells: Iterable[BoardCell], coverage_floor: float) -> Arranged:
    """One cell per row and column, from any number of cells in any order.

    Only parts of one scenario are merged. Of several runs of a model on the same part the model's
    row keeps the one that is comparable with the other models', else the newest; each other run is
    a row of its own, named by what differs. `differs` of every cell is filled in.
    """
    groups: dict[RowKey, dict[ColumnKey, list[BoardCell]]] = {}
    for cell in _named(distinct(cells)):
        row = (cell.model_deployment, cell.model, cell.variant)
        groups.setdefault(row, {}).setdefault(column_key(cell), []).append(cell)
    table = {
        row: {column: merged(parts) for column, parts in by_column.items()}
        for row, by_column in groups.items()
    }
    columns: dict[ColumnKey, list[BoardCell]] = {}
    for cells_of_row in table.values():
        for column, cell in cells_of_row.items():
            columns.setdefault(column, []).append(cell)
    references = {column: reference_of(in_column) for column, in_column in columns.items()}
    return {
        row: {
            column: replace(
                cell,
                differs=why_not(cell, references[column]),
                is_asked_otherwise=_is_asked_otherwise(
                    cell, table.get((*row[:2], ""), {}).get(column)
                ),
                is_below_floor=cell.is_below(coverage_floor),
            )
            for column, cell in cells_of_row.items()
        }
        for row, cells_of_row in table.items()
    }


def _is_asked_otherwise(cell: BoardCell, first: BoardCell | None) -> bool:
    return bool(cell.variant) and first is not None and is_asked_otherwise(cell, first)


def _named(cells: Iterable[BoardCell]) -> Iterable[BoardCell]:
    """The cells; each further run of a model on the same part gets its `variant`."""
    same_part: dict[tuple[ColumnKey, str], list[BoardCell]] = {}
    for cell in cells:
        same_part.setdefault((column_key(cell), cell.part), []).append(cell)
    for group in same_part.values():
        reference = reference_of(group)
        models: dict[tuple[str, str], list[BoardCell]] = {}
        for cell in group:
            models.setdefault((cell.model_deployment, cell.model), []).append(cell)
        for runs in models.values():
            yield from _variants(runs, reference)


def _variants(runs: Sequence[BoardCell], reference: BoardCell | None) -> Iterable[BoardCell]:
    """The runs of one model on one part: the first as it is, the others with a `variant`."""
    first, *others = sorted(runs, key=lambda cell: _preference(cell, reference))
    yield first
    times: dict[str, int] = {}
    for cell in others:
        name = ", ".join(differences(cell, first)) or ANOTHER
        times[name] = times.get(name, 0) + 1
        yield replace(cell, variant=name if times[name] == 1 else f"{name}, run {times[name]}")


def _preference(
    cell: BoardCell, reference: BoardCell | None
) -> tuple[bool, bool, bool, float, str]:
    """Sort key: comparable with the reference, with a mean, asked for here, then the newest."""
    made_at = cell.made_at.timestamp() if cell.made_at else 0.0
    is_other = bool(why_not(cell, reference))
    return (is_other, cell.mean is None, bool(cell.imported), -made_at, repr(cell))
