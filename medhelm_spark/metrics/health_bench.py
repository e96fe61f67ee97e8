"""HealthBench: the points that an answer earns by its instance's own rubric.

The authors' rule (Arora et al. 2025, arXiv 2505.08775, and their evaluation code): the points of
all met items over the sum of the positive points. Negative items take away; a single answer may
fall below 0, and only the mean over answers is clipped to 0..1. The same over the items of one axis
gives that axis, over the instances of one theme that theme; an instance has no value on an axis
where it has no positive points. For Professional (arXiv 2604.27470) the authors also subtract
0.0147 for every 500 characters that an answer has beyond 2,000, and add it for those it lacks.

`jury_coverage` is the share of usable verdicts; params["incomplete_jury"] and params["missing"] say
what an answer gets that lacks one (see `rubric_points`), params["annotator"] whose verdicts count,
params["compared_by"] whose ratings enter `health_bench_professional_score@medhelm-0.8`.

MedHELM 0.8.0's scores: a negative item weighs 10 + points and earns when it is met. Verdicts that
failed are left out, and later ones move up to the items before. An empty answer gets 0. Where all
weights are 0 MedHELM stops; here there is no value. It takes the judges in the jury's order, here
they are sorted by name.
"""

import json
import math
from collections.abc import Mapping, Sequence

from medhelm_spark.domain.annotation import TAGS, RubricItem, rubric_items
from medhelm_spark.domain.request import RequestState, Verdict, VerdictStatus
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.metrics.jury import COVERAGE
from medhelm_spark.metrics.metric import MEDHELM, Metric, Params, ScoreRow, unscored
from medhelm_spark.metrics.rubric_points import (
    Shares,
    check_missing,
    coverage_of,
    earned,
    refusal,
    score_of,
    shares_of,
    usable,
    verdicts_of,
)

AXES = (
    "accuracy",
    "communication_quality",
    "completeness",
    "context_awareness",
    "instruction_following",
)
THEMES = (
    "communication",
    "complex_responses",
    "context_seeking",
    "emergency_referrals",
    "global_health",
    "health_data_tasks",
    "hedging",
)
LENGTH_CENTRE = 2000
HIGHEST_RATING = 10.0
LENGTH_PENALTY = 0.0147 / 500
"""What a character beyond the centre costs a Professional answer."""

_NEEDS = frozenset({"completions", "verdicts", "extra_data"})
_RULE = "Points earned over the positive points possible, by the physicians' own rubric."


def _points(name: str, label: str, rule: str = _RULE) -> MetricInfo:
    return MetricInfo(name=name, display_name=label, description=rule, clips_mean=True)


def _helm(name: str, label: str) -> MetricInfo:
    return MetricInfo(
        name=f"{name}{MEDHELM}",
        display_name=f"{label} (MedHELM 0.8)",
        description="MedHELM's sum, in which negative items earn points when they are met.",
    )


def _group(kind: str, name: str) -> MetricInfo:
    return _points(f"health_bench_{kind}_{name}", f"HealthBench, {name.replace('_', ' ')}")


_EMITS = (
    _points("health_bench_score", "HealthBench"),
    COVERAGE,
    _helm("health_bench_score", "HealthBench"),
    *(_group("axis", axis) for axis in AXES),
    *(_group("theme", theme) for theme in THEMES),
)
_PROFESSIONAL_EMITS = (
    _points("health_bench_professional_score", "HealthBench Professional"),
    COVERAGE,
    _helm("health_bench_professional_score", "HealthBench Professional"),
    _points(
        "health_bench_professional_length_adjusted",
        "HealthBench Professional, length adjusted",
        f"{_RULE} Less 0.0147 for every 500 characters beyond 2,000.",
    ),
)
_NAMES = tuple(info.name for info in _EMITS)
_PROFESSIONAL_NAMES = tuple(info.name for info in _PROFESSIONAL_EMITS)


def _health_bench(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state, params) for state in states]


def _row(state: RequestState, params: Params) -> ScoreRow:
    items, verdicts = rubric_items(state.extra_data), verdicts_of(state, params)
    if reason := refusal(state, items, verdicts):
        return unscored(_NAMES, reason)
    shares = shares_of(items, verdicts, params)
    value = earned(items, shares, params)
    return (
        score_of(_NAMES[0], value),
        coverage_of(items, verdicts),
        score_of(_NAMES[2], _medhelm_plain(state, items, verdicts)),
        *(_of_axis(axis, items, shares, params) for axis in AXES),
        *_of_themes(state, value),
    )


def _of_axis(axis: str, items: Sequence[RubricItem], shares: Shares, params: Params) -> Score:
    tag = f"axis:{axis}"
    tagged = [pair for pair in zip(items, shares, strict=True) if tag in pair[0].tags]
    value = earned([item for item, _ in tagged], [share for _, share in tagged], params)
    return score_of(f"health_bench_axis_{axis}", value)


def _of_themes(state: RequestState, value: float | ScoreStatus) -> ScoreRow:
    tags = json.loads(state.extra_data.get(TAGS, "[]"))
    return tuple(
        score_of(
            f"health_bench_theme_{theme}",
            value if f"theme:{theme}" in tags else ScoreStatus.NOT_APPLICABLE,
        )
        for theme in THEMES
    )


def _professional(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_professional_row(state, params) for state in states]


def _professional_row(state: RequestState, params: Params) -> ScoreRow:
    items, verdicts = rubric_items(state.extra_data), verdicts_of(state, params)
    if reason := refusal(state, items, verdicts):
        return unscored(_PROFESSIONAL_NAMES, reason)
    value = earned(items, shares_of(items, verdicts, params), params)
    length = len(state.completions[0].text) if state.completions else 0
    penalty = LENGTH_PENALTY * (length - LENGTH_CENTRE)
    values = (
        value,
        _medhelm_professional(state, items, verdicts, params),
        value if isinstance(value, ScoreStatus) else value - penalty,
    )
    score, helm, adjusted = map(score_of, (_PROFESSIONAL_NAMES[at] for at in (0, 2, 3)), values)
    return (score, coverage_of(items, verdicts), helm, adjusted)


def _medhelm_plain(
    state: RequestState, items: Sequence[RubricItem], verdicts: Sequence[Verdict]
) -> float | ScoreStatus:
    """MedHELM's HealthBench score: the mean over judges."""
    by_judge = _met_by_judge(verdicts)
    return _medhelm_mean(state, [_medhelm_score(items, met) for met in by_judge.values()])


def _medhelm_professional(
    state: RequestState, items: Sequence[RubricItem], verdicts: Sequence[Verdict], params: Params
) -> float | ScoreStatus:
    """MedHELM's Professional score: the mean over judges of score and rating.

    The list of verdicts is not cleared between judges, so that later judges are scored by it as
    well; a rating is appended to it as a verdict that is not met.
    """
    ratings = _ratings(state, params)
    scores: list[float | None] = []
    all_met: list[float] = []
    for judge, met in _met_by_judge(verdicts).items():
        all_met += met
        score = _medhelm_score(items, all_met)
        if judge in ratings and score is not None:
            score = (score + ratings[judge] / HIGHEST_RATING) / 2
            all_met.append(0.0)
        scores.append(score)
    return _medhelm_mean(state, scores)


def _met_by_judge(verdicts: Sequence[Verdict]) -> dict[str, list[float]]:
    """Each judge's usable verdicts, 1 or 0, in the order of the items and without gaps."""
    by_judge: dict[str, list[float]] = {
        judge: [] for judge in sorted({verdict.judge for verdict in verdicts})
    }
    for judge, _, met in sorted(usable(verdicts)):
        by_judge[judge].append(met)
    return by_judge


def _medhelm_score(items: Sequence[RubricItem], all_met: Sequence[float]) -> float | None:
    """The score of verdicts, taken for those of the first items; None where weights sum to 0."""
    weights = [10 + item.points if item.points < 0 else item.points for item in items]
    total = math.fsum(weights)
    points = (weight for weight, met in zip(weights, all_met, strict=False) if met)
    return math.fsum(points) / total if total else None


def _ratings(state: RequestState, params: Params) -> Mapping[str, float]:
    """Each judge's rating of the answer in comparison with the physician's."""
    return {
        verdict.judge: verdict.scores[0].score
        for verdict in state.verdicts
        if verdict.annotator == params.get("compared_by") and verdict.status is VerdictStatus.OK
    }


def _medhelm_mean(state: RequestState, scores: Sequence[float | None]) -> float | ScoreStatus:
    if not state.completions or not state.completions[0].text.strip():
        return 0.0
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return ScoreStatus.NOT_APPLICABLE
    return math.fsum(known) / len(known)


HEALTH_BENCH = Metric(
    fn=_health_bench,
    needs=_NEEDS,
    emits=_EMITS,
    version="2",
    preflight=check_missing,
    data_set="HealthBench",
)
HEALTH_BENCH_PROFESSIONAL = Metric(
    fn=_professional,
    needs=_NEEDS,
    emits=_PROFESSIONAL_EMITS,
    version="2",
    preflight=check_missing,
    data_set="HealthBench",
)

METRICS = {"health_bench": HEALTH_BENCH, "health_bench_professional": HEALTH_BENCH_PROFESSIONAL}
