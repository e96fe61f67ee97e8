"""The sentences below a board: what its numbers mean, who is ranked, and what was left out."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from medhelm_spark.domain.counting import counted
from medhelm_spark.statistics.cell import MOVER, MOVING_TOGETHER, BoardCell, strictest_margin

if TYPE_CHECKING:
    from medhelm_spark.statistics.board import BoardRow

DEMO_JUDGE_NOTE = "* scored by a demo judge that nobody validated: not evidence of quality."
MAX_NAMES = 4
"""Benchmarks that a row's sentence names of those it lacks."""

_METHODS = {
    "wilson": "Wilson",
    MOVER: "MOVER over independent parts",
    MOVING_TOGETHER: "mean half width over parts that share cases",
}


def cell_notes(cells: Sequence[BoardCell], coverage_floor: float) -> Iterator[str]:
    """What the marks in the cells mean, each where it applies."""
    notes = {
        "[low, high] is the 95 % confidence interval of the mean"
        f"{_methods(cells)}; n is the number of answers.": any(
            cell.ci_low is not None for cell in cells
        ),
        DEMO_JUDGE_NOTE: any(cell.demo_judge for cell in cells),
        "n=a/b: a of b answers are scored.": any(cell.num_unscored for cell in cells),
        f"Under the floor: less than {100 * coverage_floor:g} % of the answers are scored, so the "
        "mean counts in no win rate or rank. It lies between the two bounds: all answers without a "
        "score counted as the worst of the scale, or all as the best.": any(
            cell.is_below_floor for cell in cells
        ),
        "too long: prompts that the model's own window could not hold; beside it the mean that "
        "counts them as wrong.": any(cell.num_model_failures for cell in cells),
        "(in brackets): why a mean is not compared with the others of its column. It counts in no "
        "win rate, rank or paired test.": any(cell.differs for cell in cells),
        "cov: the share of the judges' verdicts that could be used.": any(
            cell.jury_coverage is not None and cell.jury_coverage < 1 for cell in cells
        ),
        "unread: the share of answers in which no single answer could be read.": any(
            cell.unreadable for cell in cells
        ),
        "margin: the difference that the suite declared too small to matter; nothing is decided by "
        "it here.": strictest_margin(cells) is not None,
        **_part_notes(cells),
    }
    return (note for note, applies in notes.items() if applies)


def _methods(cells: Sequence[BoardCell]) -> str:
    names = {cell.ci_method for cell in cells if cell.ci_low is not None} - {"none"}
    said = ", ".join(_METHODS.get(name, name.replace("_", " ")) for name in sorted(names))
    return f" ({said})" if said else ""


def _part_notes(cells: Sequence[BoardCell]) -> dict[str, bool]:
    sizes = {cell.display_name: len(cell.parts) for cell in cells if cell.parts}
    return {
        f"{name} is the mean of the means of {counted(size, 'part')}.": True
        for name, size in sorted(sizes.items())
    }


def ranking_notes(rows: Sequence["BoardRow"], num_ranked: int, *, listed: bool) -> Iterator[str]:
    """On what models are ranked, and what each model that is not ranked lacks."""
    which = "that the suite file lists" if listed else "that two models or more completed"
    if any(row.mean_win_rate is not None for row in rows):
        yield (
            "Win rate: the chance to beat another model drawn at random, mean over the "
            f"{counted(num_ranked, 'benchmark')} {which}."
        )
    elif num_ranked and rows:
        yield (
            f"No win rate: no two models can be compared on the {counted(num_ranked, 'benchmark')} "
            f"{which}."
        )
    elif rows:
        yield "No win rate: it needs two model deployments on one benchmark."
    for row in rows:
        if row.lacks and not row.variant:
            yield f"Not ranked: {row.name} lacks {_some(row.lacks)}."
    further = [row.name for row in rows if row.variant and row.rank is None]
    if further:
        yield f"Not ranked, further runs of a model, named by what differs: {', '.join(further)}."


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
