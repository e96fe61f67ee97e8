"""What perturbed copies and other prompts do to a model's main metric, as rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS
from medhelm_spark.domain.stats import ComputedOn, Stat

COUNTED = (ComputedOn.PERTURBED, ComputedOn.MEAN, ComputedOn.WORST, ComputedOn.INVARIANCE)
COLLECTIONS = ("robustness", "fairness", PROMPT_VARIANTS, REPEATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessRow:
    """One change of a scenario's instances or prompt, and what it does to a deployment's metric.

    `perturbation` is the name of a copy, of a prompt variant, or of a collection of them; `repeats`
    are the trials of what is the same. What was not computed is None; `count` is the number of
    instances, for `prompt_variants` of prompts, for `repeats` of trials.
    """

    model_deployment: str
    scenario_name: str
    display_name: str
    main_metric: str
    lower_is_better: bool | None
    perturbation: str = ""
    count: int = 0
    original: float | None = None
    changed: float | None = None
    worst: float | None = None
    worst_ci_low: float | None = None
    worst_ci_high: float | None = None
    invariance: float | None = None
    spread: float | None = None

    @property
    def is_collection(self) -> bool:
        return self.perturbation in COLLECTIONS


def with_numbers(
    run: RobustnessRow, stats: Iterable[Stat], mean: float | None
) -> Iterator[RobustnessRow]:
    """The rows of a run, one per perturbation, out of its main metric's stats on one split.

    `mean` is that of all its originals, with which a collection is compared.
    """
    held: dict[str, dict[ComputedOn | None, Stat]] = {}
    for stat in stats:
        held.setdefault(stat.perturbation, {})[stat.computed_on] = stat
    for name, found in held.items():
        means = {computed_on: stat.mean for computed_on, stat in found.items()}
        worst = found.get(ComputedOn.WORST)
        yield replace(
            run,
            perturbation=name,
            count=next((found[one].count for one in COUNTED if one in found), 0),
            original=mean if name in COLLECTIONS else means.get(ComputedOn.ORIGINAL),
            changed=means.get(ComputedOn.PERTURBED, means.get(ComputedOn.MEAN)),
            worst=worst.mean if worst else None,
            worst_ci_low=worst.ci_low if worst else None,
            worst_ci_high=worst.ci_high if worst else None,
            invariance=means.get(ComputedOn.INVARIANCE),
            spread=means.get(ComputedOn.SPREAD),
        )


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
