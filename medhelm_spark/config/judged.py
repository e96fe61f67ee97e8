"""What a run's judged metrics are told of their jury: the rubric's scale, the policy's rule."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import Comparison, IncompleteJury
from medhelm_spark.domain.run import MetricSpec

JURY_SCORE = "jury_score"
JUDGED = (JURY_SCORE, "health_bench", "health_bench_professional")
"""The metrics that read verdicts and take the argument `incomplete_jury`."""

USUAL_SCALE = (1.0, 5.0)
"""The scale that `jury_score` has where its arguments name none."""

UNKNOWN_SCALE = (float("-inf"), float("inf"))


def with_jury(
    metrics: Iterable[MetricSpec],
    annotators: Sequence[ResolvedAnnotator],
    comparison: Comparison,
) -> tuple[MetricSpec, ...]:
    """The metrics of a run with what its rubrics and the policy say; a card's own words win.

    Only what differs from a metric's default is told, so that other runs keep their ids.
    """
    rubrics = {one.spec.name: one.rubric for one in annotators}
    return tuple(
        replace(spec, args={**_told(spec, rubrics, comparison), **spec.args})
        if spec.name in JUDGED
        else spec
        for spec in metrics
    )


def _told(
    spec: MetricSpec, rubrics: Mapping[str, Rubric], comparison: Comparison
) -> dict[str, str]:
    rule = comparison.incomplete_jury
    told = {} if rule is IncompleteJury.UNSCORED else {"incomplete_jury": rule.value}
    if spec.name == JURY_SCORE:
        named = spec.args.get("annotator")
        scale = _scale(rubric for name, rubric in rubrics.items() if named in (None, name))
        if scale != USUAL_SCALE:
            told |= {"minimum": f"{scale[0]:g}", "maximum": f"{scale[1]:g}"}
    return told


def _scale(rubrics: Iterable[Rubric]) -> tuple[float, float]:
    """From the lowest to the highest score of all criteria; not known where a rubric has none."""
    criteria = [rubric.criteria for rubric in rubrics]
    if not criteria or not all(criteria):
        return UNKNOWN_SCALE
    every = [criterion for some in criteria for criterion in some]
    return min(one.minimum for one in every), max(one.maximum for one in every)
