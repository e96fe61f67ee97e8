"""Planted beside the lake's facts: copies, other prompts, unreadable answers, an endpoint.

alpha/large on Triage choice is summarised again with the mean it had (0.75), a quarter of its
answers unreadable, three of four instances with a copy with typos, and a second prompt.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from medhelm_spark.domain.stats import ComputedOn
from tests.unit.board.planted import (
    ALPHA,
    CELLS,
    Values,
    append,
    finish,
    planned,
    run_spec,
    stat,
    unit,
    write_stats,
)

RUN = unit(ALPHA, "triage_choice")
CHANGES: Mapping[str, Mapping[str, Values]] = {
    "typos": {
        "perturbed": (1, 0, 0),
        "original": (1, 1, 0),
        "worst": (1, 0, 0),
        "invariance": (1, 0, 1),
    },
    "robustness": {"worst": (1, 0, 0, 1), "invariance": (1, 0, 1)},
    "prompt_variants": {"mean": (0.625,), "worst": (0.5,), "spread": (0.25,)},
    "repeats": {"mean": (0.625, 0.625, 0.625), "worst": (0.5,) * 3, "spread": (0.125,) * 3},
}


def plant_changes(lake: Path) -> None:
    """Write them into a lake that `plant` made."""
    entered = planned(run_spec(RUN, ALPHA, "triage_choice"), minutes=5)
    declared = replace(entered, is_primary=True, margin=0.02)
    append(lake, "run_specs", [declared], "p-again")
    write_stats(lake, RUN, "triage_choice", CELLS[ALPHA, "triage_choice"], "w-again")
    rows = [
        replace(stat(RUN, name, values), perturbation=change, computed_on=ComputedOn(computed_on))
        for name in ("exact_match", "other")
        for change, stats in CHANGES.items()
        for computed_on, values in stats.items()
    ]
    rows.append(stat(RUN, "answer_unreadable", (1, 0, 0, 0)))
    append(lake, "stats", rows, "w-again")
    append(lake, "stats", [replace(rows[0], perturbation="late")], "w-unfinished")
    finish(lake, "summarize", RUN, "w-again", minutes=9)
