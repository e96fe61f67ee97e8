"""Jury score: the mean of all criterion scores of all judges, and the share of usable verdicts.

HELM's formula (facts 9.3): the sum of every judge's scores on every criterion over their number,
unweighted, on the rubric's own scale (1 to 5 for MedHELM's rubrics, so it is no accuracy although
MedHELM calls it so). Three stats:

- `jury_score` (or params["stat_name"], say `aci_bench_accuracy`): no value (NO_VERDICT) where a
  judge's verdict is not usable, because an answer that lacks a strict judge's verdict would look
  better; with params["incomplete_jury"] = "available" the mean of the usable verdicts. An empty
  answer is never sent to a judge: by MedHELM's rule it is wrong, so it gets
  params["default_score"], the rubric's minimum, and no value without this param.
- `jury_coverage`: the share of judges whose verdict is usable. Not applicable to an empty answer.
- `jury_score@medhelm-0.8`: over the usable verdicts; default_score (0 where none is given) whenever
  there is none, so that a judge's failure counts as a bad answer.

params["criteria"] are the criteria of a rubric that states more than scales, with direction,
weight, classes (`domain.criterion`): the score is then the mean over judges of each one's weighted
mean, on the criteria's scale where they share one, else from 0 to 1, high for good. A class that
its table leaves unscored leaves the answer unscored, and so is an empty one where a criterion has
classes: it is no refusal. The value by MedHELM's rule, which has none of these, is left out.

params["hard_gate"] names criteria, parted by commas, or is `all`: an answer to which most judges
give such a criterion the bad end of its scale has the lowest score, whatever the others.

`metrics.jury_criteria` has the scores of each criterion.

params["annotator"] picks the verdicts of one annotator; without it all verdicts count.
params["minimum"] and params["maximum"] are the scale where it is not 1 to 5, `-inf` and `inf` where
it is not known.
"""

import math
from collections.abc import Mapping, Sequence

from medhelm_spark.domain.criterion import Criterion, criteria_of, mean_of_criteria, scale_of
from medhelm_spark.domain.policy import IncompleteJury
from medhelm_spark.domain.request import RequestState, Verdict, VerdictStatus
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics.jury_criteria import (
    Votes,
    is_at_worst,
    open_because,
    usable_verdicts,
    votes_by_criterion,
)
from medhelm_spark.metrics.metric import MEDHELM, Metric, Params, ScoreRow, unscored

COVERAGE = MetricInfo(
    name="jury_coverage",
    display_name="Jury coverage",
    description="Share of judges whose verdict could be used.",
)
_SCENARIOS = (
    "aci_bench",
    "chw_care_plan",
    "dischargeme",
    "med_dialog",
    "medalign",
    "medi_qa",
    "medication_qa",
    "mental_health",
    "mimic_bhc",
    "mimic_rrs",
    "mtsamples_procedures",
    "mtsamples_replicate",
    "starr_patient_instructions",
)
"""The scenarios whose jury score MedHELM calls `<scenario>_accuracy`; their rubrics go 1 to 5."""


HARD_GATE, ALL_CRITERIA = "hard_gate", "all"
"""The param that names the criteria whose worst value makes an answer's score the lowest."""

LOWEST, HIGHEST = 1.0, 5.0
"""The scale of MedHELM's rubrics, which params["minimum"] and params["maximum"] replace."""

_SCALE = ("minimum", "maximum")
_NUMBERS = ("default_score", *_SCALE)


def _rating(name: str, low: float | None = LOWEST, high: float | None = HIGHEST) -> MetricInfo:
    return MetricInfo(
        name=name,
        display_name="Jury score (MedHELM 0.8)" if name.endswith(MEDHELM) else "Jury score",
        minimum=low,
        maximum=high,
        description="Mean score of all judges on all criteria, on the rubric's own scale.",
    )


def _renamed(params: Params) -> tuple[MetricInfo, ...]:
    name = params.get("stat_name", "jury_score")
    low, high = (
        float(params.get(key, end)) for key, end in zip(_SCALE, (LOWEST, HIGHEST), strict=True)
    )
    default = _default(params)
    if default is not None:  # an empty answer's score may lie beyond what judges give
        low, high = min(low, default), max(high, default)
    ends = [end if math.isfinite(end) else None for end in (low, high)]
    own, medhelm = (_rating(each, *ends) for each in (name, f"{name}{MEDHELM}"))
    return (own, COVERAGE) if "criteria" in params else (own, COVERAGE, medhelm)


def takes_available(params: Params) -> bool:
    """Whether an answer is scored although it lacks a judge's verdict."""
    return params.get("incomplete_jury") == IncompleteJury.AVAILABLE


def check_incomplete_jury(params: Params) -> None:
    """Raise ConfigError for an unknown rule for incomplete juries."""
    rule = params.get("incomplete_jury", IncompleteJury.UNSCORED)
    if rule not in list(IncompleteJury):
        allowed = ", ".join(IncompleteJury)
        raise ConfigError(f"incomplete_jury is {rule!r}; allowed: {allowed}.")


def _mean_score(verdicts: Sequence[Verdict]) -> float | None:
    scores = [score.score for verdict in verdicts for score in verdict.scores]
    return math.fsum(scores) / len(scores) if scores else None


def _default(params: Params) -> float | None:
    return float(params["default_score"]) if "default_score" in params else None


def _coverage(num_usable: int, verdicts: Sequence[Verdict], *, is_empty: bool) -> Score:
    if is_empty:
        return Score(name=COVERAGE.name, value=None, status=ScoreStatus.NOT_APPLICABLE)
    return Score(name=COVERAGE.name, value=num_usable / len(verdicts))


def _row(
    verdicts: Sequence[Verdict], names: Sequence[str], default: float | None, *, partial: bool
) -> ScoreRow:
    if not verdicts:
        return unscored(names, ScoreStatus.NO_VERDICT)
    usable = usable_verdicts(verdicts)
    is_empty = not usable and any(v.status is VerdictStatus.SKIPPED_EMPTY_OUTPUT for v in verdicts)
    mean = _mean_score(usable)
    of_jury = mean if partial or len(usable) == len(verdicts) else None
    value = default if is_empty else of_jury
    medhelm = mean if mean is not None else default or 0.0
    return (
        Score(
            name=names[0],
            value=value,
            status=ScoreStatus.NO_VERDICT if value is None else ScoreStatus.OK,
        ),
        _coverage(len(usable), verdicts, is_empty=is_empty),
        Score(name=names[2], value=medhelm),
    )


def _typed_row(
    state: RequestState,
    verdicts: Sequence[Verdict],
    names: Sequence[str],
    criteria: Sequence[Criterion],
    params: Params,
) -> ScoreRow:
    """The score by criteria that have direction, weight or classes, and the coverage."""
    if not verdicts:
        return unscored(names, ScoreStatus.NO_VERDICT)
    usable = usable_verdicts(verdicts)
    is_empty = not usable and any(v.status is VerdictStatus.SKIPPED_EMPTY_OUTPUT for v in verdicts)
    coverage = _coverage(len(usable), verdicts, is_empty=is_empty)
    if is_empty:
        default = None if any(each.classes for each in criteria) else _default(params)
        value, status = default, ScoreStatus.NO_VERDICT
    elif not usable or (len(usable) < len(verdicts) and not takes_available(params)):
        value, status = None, ScoreStatus.NO_VERDICT
    else:
        value, status = _typed_score(usable, criteria, state.extra_data, params)
    status = status if value is None else ScoreStatus.OK
    return (Score(name=names[0], value=value, status=status), coverage)


def _typed_score(
    usable: Sequence[Verdict],
    criteria: Sequence[Criterion],
    fields: Mapping[str, str],
    params: Params,
) -> tuple[float | None, ScoreStatus]:
    """The mean over judges, or why there is none."""
    votes = votes_by_criterion(usable)
    lowest = lowest_by_gates(params, criteria, votes, fields)
    if lowest is not None:
        return lowest, ScoreStatus.OK
    means = [
        mean_of_criteria(criteria, {s.criterion: s.score for s in verdict.scores}, fields)
        for verdict in usable
    ]
    known = [mean for mean in means if mean is not None]
    if known and (len(known) == len(means) or takes_available(params)):
        return math.fsum(known) / len(known), ScoreStatus.OK
    reasons = {
        open_because(each, fields)
        for each in criteria
        if any(each.score(one, fields) is None for one in votes.get(each.name, ()))
    }
    lacks_row = ScoreStatus.NO_REFERENCE in reasons
    return None, ScoreStatus.NO_REFERENCE if lacks_row else ScoreStatus.NO_VERDICT


def lowest_by_gates(
    params: Params, criteria: Sequence[Criterion], votes: Votes, fields: Mapping[str, str]
) -> float | None:
    """The lowest score where most votes give a hard gate its bad end; else None."""
    gates = gates_of(params, criteria)
    if any(is_at_worst(each, votes.get(each.name, ()), fields) for each in gates):
        return scale_of(criteria)[0]
    return None


def gates_of(params: Params, criteria: Sequence[Criterion]) -> list[Criterion]:
    """The criteria that are hard gates.

    Raises:
        UnknownNameError: one is none of the rubric's.
    """
    named = [name.strip() for name in params.get(HARD_GATE, "").split(",") if name.strip()]
    if named == [ALL_CRITERIA]:
        return list(criteria)
    known = {each.name: each for each in criteria}
    for name in named:
        if name not in known:
            raise UnknownNameError("criterion", name, {*known, ALL_CRITERIA}, where=HARD_GATE)
    return [known[name] for name in named]


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    names, default = tuple(info.name for info in _renamed(params)), _default(params)
    annotator, partial = params.get("annotator"), takes_available(params)
    no_answer = unscored(names, ScoreStatus.NO_ANSWER)
    if criteria := criteria_of(params.get("criteria", "")):
        return [
            _typed_row(
                state,
                [v for v in state.verdicts if annotator in (None, v.annotator)],
                names,
                criteria,
                params,
            )
            if state.completions
            else no_answer
            for state in states
        ]
    return [
        _row(
            [v for v in state.verdicts if annotator in (None, v.annotator)],
            names,
            default,
            partial=partial,
        )
        if state.completions
        else no_answer
        for state in states
    ]


def _check(params: Params) -> None:
    check_incomplete_jury(params)
    gates_of(params, criteria_of(params.get("criteria", "")))
    for key in _NUMBERS:
        _check_number(key, params.get(key, "0"))
    low, high = (
        float(params.get(key, end)) for key, end in zip(_SCALE, (LOWEST, HIGHEST), strict=True)
    )
    if not low < high:
        raise ConfigError(
            f"jury_score: its scale is {low:g} to {high:g}; the minimum must be less."
        )


def _check_number(key: str, text: str) -> None:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number) or (key not in _SCALE and math.isinf(number)):
        raise ConfigError(f"jury_score: {key} is {text!r}; a finite number is allowed.")


_ALIASES = tuple(
    _rating(f"{scenario}_accuracy{suffix}") for scenario in _SCENARIOS for suffix in ("", MEDHELM)
)

JURY_SCORE = Metric(
    fn=_score,
    needs=frozenset({"completions", "verdicts", "extra_data"}),
    emits=(_rating("jury_score"), COVERAGE, _rating(f"jury_score{MEDHELM}")),
    version="3",
    renamed=_renamed,
    aliases=_ALIASES,
    preflight=_check,
)

METRICS = {"jury_score": JURY_SCORE}
