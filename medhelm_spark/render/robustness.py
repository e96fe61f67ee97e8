"""What perturbed copies, other prompts and repeats do to a metric, as text."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields

from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.render.text_table import aligned, interval, markdown_line
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
    "num_trials=...\n"
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
