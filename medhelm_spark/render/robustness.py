"""What perturbed copies, other prompts and repeats do to a metric, as a report."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import Table, interval_text, number_text
from medhelm_spark.statistics.robustness import RobustnessRow

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
    "num_trials=..."
)


def render_robustness(
    rows: Sequence[RobustnessRow], output_format: str, *, banner: str = ""
) -> str:
    """The rows in one of `report.FORMATS`, with a newline at its end; `banner` stands above."""
    return formatted(robustness_report(rows, banner), output_format)


def robustness_report(rows: Sequence[RobustnessRow], banner: str = "") -> Report:
    """One line per perturbation, prompt variant or collection of them, of each run."""
    records = [asdict(row) for row in rows]
    return Report(
        tables=[Table(header=HEADER, rows=[_cells(row) for row in rows], notes=NOTES)],
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
        number_text(row.original),
        number_text(row.changed),
        number_text(row.worst) + interval_text(row.worst_ci_low, row.worst_ci_high),
        number_text(row.invariance),
        number_text(row.spread),
        str(row.count),
    )
