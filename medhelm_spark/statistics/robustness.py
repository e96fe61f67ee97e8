"""A model's main metric on perturbed copies, other prompts and repeats, as rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS
from medhelm_spark.domain.stats import ComputedOn, Stat

COUNTED = (ComputedOn.PERTURBED, ComputedOn.MEAN, ComputedOn.WORST, ComputedOn.INVARIANCE)
"""The stats whose count is a row's: the first of these that there is."""

COLLECTIONS = ("robustness", "fairness", PROMPT_VARIANTS, REPEATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessRow:
    """A deployment's main metric under one perturbation, prompt variant, or collection of them.

    `perturbation` is its name; a collection is one of COLLECTIONS, and `repeats` are the trials of
    the unchanged prompt. What was not computed is None, and so are the ends of an interval that is
    not there. `count` is the number of instances, for `prompt_variants` that of prompts, for
    `repeats` that of trials.
    """

    model_deployment: str
    scenario_name: str
    display_name: str
    main_metric: str
    lower_is_better: bool | None
    perturbation: str = ""
    count: int = 0
    original: float | None = None
    original_ci_low: float | None = None
    original_ci_high: float | None = None
    changed: float | None = None
    changed_ci_low: float | None = None
    changed_ci_high: float | None = None
    worst: float | None = None
    worst_ci_low: float | None = None
    worst_ci_high: float | None = None
    invariance: float | None = None
    invariance_ci_low: float | None = None
    invariance_ci_high: float | None = None
    spread: float | None = None

    @property
    def is_collection(self) -> bool:
        return self.perturbation in COLLECTIONS


def with_numbers(
    run: RobustnessRow, stats: Iterable[Stat], whole: Stat | None
) -> Iterator[RobustnessRow]:
    """The rows of a run, one per perturbation, out of its main metric's stats on one split.

    `whole` is the stat over all original instances, which is the `original` of a collection.
    """
    by_name: dict[str, dict[ComputedOn | None, Stat]] = {}
    for stat in stats:
        by_name.setdefault(stat.perturbation, {})[stat.computed_on] = stat
    for name, by_kind in by_name.items():
        spread = by_kind.get(ComputedOn.SPREAD)
        changed = by_kind.get(ComputedOn.PERTURBED) or by_kind.get(ComputedOn.MEAN)
        yield replace(
            run,
            perturbation=name,
            count=next((by_kind[kind].count for kind in COUNTED if kind in by_kind), 0),
            spread=spread.mean if spread else None,
            **_numbers(
                original=whole if name in COLLECTIONS else by_kind.get(ComputedOn.ORIGINAL),
                changed=changed,
                worst=by_kind.get(ComputedOn.WORST),
                invariance=by_kind.get(ComputedOn.INVARIANCE),
            ),
        )


def _numbers(**stats: Stat | None) -> dict[str, Any]:
    """The mean of each stat that there is, and the ends of its interval, by the field's name."""
    numbers: dict[str, Any] = {}
    for name, stat in stats.items():
        if stat:
            ends = {f"{name}_ci_low": stat.ci_low, f"{name}_ci_high": stat.ci_high}
            numbers |= {name: stat.mean, **ends}
    return numbers


def ordered(rows: Iterable[RobustnessRow]) -> tuple[RobustnessRow, ...]:
    """By benchmark and model, each model's collections first."""
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.display_name,
                row.scenario_name,
                row.main_metric,
                row.model_deployment,
                not row.is_collection,
                row.perturbation,
            ),
        )
    )
