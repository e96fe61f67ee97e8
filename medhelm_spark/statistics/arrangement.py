"""Cells by row and column: which runs of a model are one cell, and which are rows of their own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from medhelm_spark.statistics.cell import BoardCell, merged
from medhelm_spark.statistics.comparison import differences, reference_of, why_not

ColumnKey = tuple[str, str, str]
"""Scenario, metric and split."""

RowKey = tuple[str, str, str]
"""Model deployment, model, and what tells a further run of it from the first; empty for that."""

Arranged = Mapping[RowKey, Mapping[ColumnKey, BoardCell]]
ANOTHER = "another run"


def column_key(cell: BoardCell) -> ColumnKey:
    """What names a cell's column."""
    return (cell.scenario_name, cell.main_metric, cell.split)


def distinct(cells: Iterable[BoardCell]) -> list[BoardCell]:
    """The cells in one order, a run that stands in two suites of a release once."""
    ordered = sorted(cells, key=repr)
    known = {cell.run_spec_ids: cell for cell in ordered if cell.run_spec_ids}
    return [*known.values(), *(cell for cell in ordered if not cell.run_spec_ids)]


def arranged(cells: Iterable[BoardCell], coverage_floor: float) -> Arranged:
    """One cell per row and column, from any number of cells in any order.

    Only parts of one scenario are merged. Of several runs of a model on the same part the one like
    the other models' stays in the model's row, else the newest; each other is a row of its own,
    named by what differs. Every cell is told why it is not compared, if it is not.
    """
    groups: dict[RowKey, dict[ColumnKey, list[BoardCell]]] = {}
    for cell in _named(distinct(cells)):
        row = (cell.model_deployment, cell.model, cell.variant)
        groups.setdefault(row, {}).setdefault(column_key(cell), []).append(cell)
    table = {
        row: {column: merged(same) for column, same in held.items()} for row, held in groups.items()
    }
    columns: dict[ColumnKey, list[BoardCell]] = {}
    for held in table.values():
        for column, cell in held.items():
            columns.setdefault(column, []).append(cell)
    references = {column: reference_of(same) for column, same in columns.items()}
    return {
        row: {
            column: replace(
                cell,
                differs=why_not(cell, references[column]),
                is_below_floor=cell.is_below(coverage_floor),
            )
            for column, cell in held.items()
        }
        for row, held in table.items()
    }


def _named(cells: Iterable[BoardCell]) -> Iterable[BoardCell]:
    """The cells, each further run of a model on the same part named by what differs."""
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
    """The runs of one model on one part: the first as it is, the others with names."""
    first, *others = sorted(runs, key=lambda cell: _place(cell, reference))
    yield first
    taken: dict[str, int] = {}
    for cell in others:
        name = ", ".join(differences(cell, first)) or ANOTHER
        taken[name] = taken.get(name, 0) + 1
        yield replace(cell, variant=name if taken[name] == 1 else f"{name}, run {taken[name]}")


def _place(cell: BoardCell, reference: BoardCell | None) -> tuple[bool, bool, float, str]:
    """Comparable with the others first, then runs with a value, then the newest."""
    made = cell.made_at.timestamp() if cell.made_at else 0.0
    return (bool(why_not(cell, reference)), cell.mean is None, -made, repr(cell))
