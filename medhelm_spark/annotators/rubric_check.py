"""Whether a rubric can be judged by, asked before any model is loaded."""

import math

from medhelm_spark.domain.annotation import Criterion, Rubric
from medhelm_spark.errors import ConfigError

SCORE_KEY = "score"


def check_rubric(rubric: Rubric) -> None:
    """Refuse a rubric that could not give a verdict.

    Raises:
        ConfigError: No criteria, a repeated criterion, a criterion without a score or with an
            empty scale, a template without {RESPONSE}, or no tokens to answer with.
    """
    where = f"rubric {rubric.name!r}"
    if not rubric.criteria:
        raise ConfigError(
            f"{where}: there are no criteria; name at least one, each with a 'score' "
            f"(in a MedHELM prompt file: a JSON object between <rubric_criteria> tags)."
        )
    if "{RESPONSE}" not in rubric.template:
        raise ConfigError(
            f"{where}: the template has no {{RESPONSE}}, so the judge would not see the answer; "
            f"allowed are {{QUESTION}}, {{RESPONSE}} and {{GOLD_RESPONSE}}."
        )
    if rubric.max_tokens < 1:
        raise ConfigError(f"{where}: max_tokens is {rubric.max_tokens}; it must be 1 or more.")
    names = [criterion.name for criterion in rubric.criteria]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ConfigError(f"{where}: criterion {repeated!r} occurs twice; names must be unique.")
    for criterion in rubric.criteria:
        _check_criterion(where, criterion)


def _check_criterion(where: str, criterion: Criterion) -> None:
    if SCORE_KEY not in criterion.keys:
        raise ConfigError(
            f"{where}: criterion {criterion.name!r} asks for {list(criterion.keys)}; "
            f"'score' must be among them."
        )
    low, high = criterion.minimum, criterion.maximum
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ConfigError(
            f"{where}: criterion {criterion.name!r} has the scale {low:g} to {high:g}; "
            f"the minimum must be below the maximum."
        )
