"""What perturbed copies, other prompts and repeats do to a metric, as a report."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import TextTable, interval_text, number_text
from medhelm_spark.statistics.robustness import RobustnessRow

NOTES = (
    "original: mean over the originals that were changed, of a collection over all; changed: over "
    f"their copies, of {PROMPT_VARIANTS} over all prompts, of {REPEATS} over all repeats.",
    "worst: mean over instances of the worst of the original and its copies, the highest where "
    "lower is better; of prompts or repeats the worst one.",
    "invariance: share of instances with the same value on original and copies; spread: the best "
    "prompt or repeat less the worst; n: instances, prompts or repeats. [low, high]: 95 % "
    "intervals.",
    "A metric of the whole run (F1, sensitivity) has its value on these answers: original and "
    "changed on originals and copies, worst on a wrong answer to each instance that has one among "
    "them (none where the metric does not say which are right). Its invariance is the share of "
    "instances for which all that the metric reads, as the class given, is the same on all.",
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
    "num_trials=..."
)


def render_robustness(
    rows: Sequence[RobustnessRow], output_format: str, *, banner: str = ""
) -> str:
    """The rows in one of `report.FORMATS`, with a newline at its end; `banner` is above."""
    return formatted(robustness_report(rows, banner), output_format)


def robustness_report(rows: Sequence[RobustnessRow], banner: str = "") -> Report:
    """One line per perturbation, prompt variant or collection of them, of each run."""
    records = [asdict(row) for row in rows]
    return Report(
        tables=[TextTable(header=HEADER, rows=[_cells(row) for row in rows], notes=NOTES)],
        content={"rows": records, "notes": list(NOTES)},
        fields=[field.name for field in fields(RobustnessRow)],
        records=records,
        if_empty="" if rows else EMPTY,
        banner=banner,
    )


def _cells(row: RobustnessRow) -> tuple[str, ...]:
    direction = " (lower is better)" if row.lower_is_better else ""
    return (
        row.model_deployment,
        f"{row.display_name}: {row.main_metric}{direction}",
        row.perturbation,
        *(number_text(value) + interval_text(low, high) for value, low, high in numbers(row)),
        number_text(row.spread),
        str(row.count),
    )


def numbers(row: RobustnessRow) -> tuple[tuple[float | None, float | None, float | None], ...]:
    """Original, changed, worst and invariance, each with the ends of its interval."""
    return (
        (row.original, row.original_ci_low, row.original_ci_high),
        (row.changed, row.changed_ci_low, row.changed_ci_high),
        (row.worst, row.worst_ci_low, row.worst_ci_high),
        (row.invariance, row.invariance_ci_low, row.invariance_ci_high),
    )
