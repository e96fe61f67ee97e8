"""What perturbed copies and other prompts do to a model's main metric, as rows and as text."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS
from medhelm_spark.domain.stats import ComputedOn, Stat
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.statistics.text_table import aligned, interval, markdown_line

COUNTED = (ComputedOn.PERTURBED, ComputedOn.MEAN, ComputedOn.WORST, ComputedOn.INVARIANCE)
COLLECTIONS = ("robustness", "fairness", PROMPT_VARIANTS, REPEATS)
NOTES = (
    "original: mean over the originals that were changed, of a collection over all; changed: over "
    f"their copies, of {PROMPT_VARIANTS} over all prompts, of {REPEATS} over all repeats.",
    "worst: mean over instances of the worst of the original and its copies, the highest where "
    "lower is better; of prompts or repeats the worst one.",
    "invariance: share of instances with the same value on original and copies; spread: the best "
    "prompt or repeat less the worst; n: instances, prompts or repeats.",
)
HEADER = (
    "Model",
    "Benchmark",
    "Change",
    "Original",
    "Changed",
    "Worst",
    "Invariance",
    "Spread",
    "n",
)
EMPTY = (
    "Nothing was perturbed or repeated: ask for it by data_augmentation=..., prompt_variants or "
    "num_trials=...\n"
)


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


def _number_text(value: float | None) -> str:
    """Three decimals; `-` where there is no value."""
    return "-" if value is None else f"{value:.3f}"


def _texts(row: RobustnessRow) -> tuple[str, ...]:
    direction = " (lower is better)" if row.lower_is_better else ""
    return (
        row.model_deployment,
        f"{row.display_name}: {row.main_metric}{direction}",
        row.perturbation,
        _number_text(row.original),
        _number_text(row.changed),
        _number_text(row.worst) + interval(row.worst_ci_low, row.worst_ci_high),
        _number_text(row.invariance),
        _number_text(row.spread),
        str(row.count),
    )


def _table(rows: Sequence[RobustnessRow]) -> str:
    columns = zip(HEADER, *map(_texts, rows), strict=True)
    lines = aligned([list(column) for column in columns], 1)
    return "\n".join([*lines, "", *NOTES]) + "\n"


def _markdown(rows: Sequence[RobustnessRow]) -> str:
    lines = [markdown_line(HEADER), markdown_line(["---"] * len(HEADER))]
    lines += [markdown_line(_texts(row)) for row in rows]
    return "\n".join([*lines, "", *NOTES]) + "\n"


def _json(rows: Sequence[RobustnessRow]) -> str:
    content = {"rows": [asdict(row) for row in rows], "notes": list(NOTES)}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(rows: Sequence[RobustnessRow]) -> str:
    text = io.StringIO()
    names = [field.name for field in fields(RobustnessRow)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


FORMATS: Mapping[str, Callable[[Sequence[RobustnessRow]], str]] = {
    "table": lambda rows: _table(rows) if rows else EMPTY,
    "json": _json,
    "csv": _csv,
    "md": _markdown,
}


def render_robustness(rows: Sequence[RobustnessRow], output_format: str) -> str:
    """The rows as text in one of `FORMATS`, with a newline at its end."""
    if output_format not in FORMATS:
        raise UnknownNameError("board format", output_format, FORMATS)
    return FORMATS[output_format](rows)
