"""A jury's scores of each criterion, which the mean of all hides.

They come with every `jury_score`. Accuracy 1, completeness 5 and clarity 5 are 3.67 on average;
here the 1 is seen. Of each answer:

- `criterion[NAME]`: the judges' mean, on the criterion's own scale; of classes by their table.
- `criterion_low[NAME]`: 1 where most judges (more than half) are at the criterion's `low` or worse,
  by default in the last quarter of its scale (2 or less on a scale from 1 to 5).
- `criterion_class[NAME=CLASS]`: the share of the judges that gave a class.
- `criterion_critical`: 1 where most judges give one and the same criterion the bad end of its
  scale.

The mean over answers of the last three is a share of answers. What lacks a usable verdict has no
value (NO_VERDICT; params["incomplete_jury"] as in `jury_score`), and neither have an empty answer,
which no judge sees, and a class that its table leaves unscored: both follow from the answer, so
that they count against its coverage. A value of the instance's field that the table does not name
is a fact of the data and gives NO_REFERENCE.

params["criteria"] are the criteria as `domain.criterion.criteria_text` writes them. A rubric whose
criteria are scales alone gives none: its stats are then of whatever criteria the verdicts have, on
the scale params["minimum"] to params["maximum"].
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from medhelm_spark.domain.criterion import Criterion, Direction, criteria_of
from medhelm_spark.domain.request import RequestState, Verdict, VerdictStatus
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.metrics.metric import Metric, Params, ScoreRow

CRITERION, LOW, CLASS = "criterion", "criterion_low", "criterion_class"
CRITICAL = "criterion_critical"
STEMS = frozenset({CRITERION, LOW, CLASS, CRITICAL})
"""What the names of these stats begin with, before the brackets."""
USUAL_SCALE = (1.0, 5.0)
"""The scale of rubrics that do not name another."""

Votes = Mapping[str, Sequence[float]]
"""By criterion each judge's score."""


def majority(votes: Sequence[bool]) -> bool:
    """Whether more than half of the votes are true."""
    return 2 * sum(votes) > len(votes)


def usable_verdicts(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that have scores."""
    return [v for v in verdicts if v.status is VerdictStatus.OK and v.scores]


def votes_by_criterion(verdicts: Sequence[Verdict]) -> dict[str, list[float]]:
    """By criterion each judge's score."""
    votes: dict[str, list[float]] = {}
    for verdict in verdicts:
        for score in verdict.scores:
            votes.setdefault(score.criterion, []).append(score.score)
    return votes


def is_at_worst(criterion: Criterion, votes: Sequence[float], fields: Mapping[str, str]) -> bool:
    """Whether most judges give a criterion the bad end of its scale."""
    return majority([criterion.score(each, fields) == criterion.worst for each in votes])


def scale_in(params: Params) -> tuple[float, float]:
    """The scale that the params name."""
    low, high = USUAL_SCALE
    return float(params.get("minimum", low)), float(params.get("maximum", high))


def _named(stem: str, inside: str) -> str:
    return f"{stem}[{inside}]"


def _share(name: str, label: str, rule: str) -> MetricInfo:
    return MetricInfo(name=name, display_name=label, lower_is_better=True, description=rule)


def _mean(name: str, label: str, low: float, high: float, *, lower: bool = False) -> MetricInfo:
    ends = [end if math.isfinite(end) else None for end in (low, high)]
    return MetricInfo(
        name=name,
        display_name=label,
        lower_is_better=lower,
        minimum=ends[0],
        maximum=ends[1],
        description="The judges' mean on one criterion, on its own scale.",
    )


_LOW_RULE = "Share of answers that most judges put in the low part of the criterion's scale."
_CLASS_RULE = "Share of the judges that gave the class."
_CRITICAL_RULE = "Share of answers to which most judges give a criterion the bad end of its scale."


def _infos(params: Params) -> tuple[MetricInfo, ...]:
    critical = _share(CRITICAL, "Any criterion at its worst", _CRITICAL_RULE)
    criteria = criteria_of(params.get("criteria", ""))
    if not criteria:
        low = _share(LOW, "Criterion is low", _LOW_RULE)
        return (_mean(CRITERION, "Criterion", *scale_in(params)), low, critical)
    return (*(info for each in criteria for info in _infos_of(each)), critical)


def _infos_of(each: Criterion) -> Iterator[MetricInfo]:
    yield _mean(
        _named(CRITERION, each.name),
        each.name,
        each.minimum,
        each.maximum,
        lower=each.direction is Direction.LOWER,
    )
    sign = "or more" if each.direction is Direction.LOWER else "or less"
    yield _share(_named(LOW, each.name), f"{each.name} at {each.low_at:g} {sign}", _LOW_RULE)
    for name in each.classes:
        yield MetricInfo(
            name=_named(CLASS, f"{each.name}={name}"),
            display_name=f"{each.name} is {name}",
            lower_is_better=None,
            description=_CLASS_RULE,
        )


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    criteria = criteria_of(params.get("criteria", ""))
    annotator = params.get("annotator")
    partial = params.get("incomplete_jury") == "available"
    rows = []
    for state in states:
        verdicts = [v for v in state.verdicts if annotator in (None, v.annotator)]
        usable = usable_verdicts(verdicts)
        absent = _absent(state, verdicts, usable, partial=partial)
        votes = {} if absent else votes_by_criterion(usable)
        own = criteria or _of_verdicts(votes, params)
        rows.append(tuple(_row(own, votes, absent, state.extra_data)))
    return rows


def _of_verdicts(votes: Votes, params: Params) -> tuple[Criterion, ...]:
    """The criteria that verdicts have, where all are scales alone."""
    low, high = scale_in(params)
    return tuple(Criterion(name=name, minimum=low, maximum=high) for name in votes)


def _absent(
    state: RequestState, verdicts: Sequence[Verdict], usable: Sequence[Verdict], *, partial: bool
) -> ScoreStatus | None:
    """Why an answer has no value, or None where it has."""
    if not state.completions:
        return ScoreStatus.NO_ANSWER
    if not usable or (len(usable) < len(verdicts) and not partial):
        return ScoreStatus.NO_VERDICT
    return None


def _row(
    criteria: Sequence[Criterion],
    votes: Votes,
    absent: ScoreStatus | None,
    fields: Mapping[str, str],
) -> Iterator[Score]:
    for each in criteria:
        yield from _of_criterion(each, votes.get(each.name, ()), absent, fields)
    value, reason = _critical(criteria, votes, absent, fields)
    yield Score(name=CRITICAL, value=value, status=reason)


def _critical(
    criteria: Sequence[Criterion],
    votes: Votes,
    absent: ScoreStatus | None,
    fields: Mapping[str, str],
) -> tuple[float | None, ScoreStatus]:
    """Whether a criterion is at its worst; not known where none is and one has no score."""
    if absent or not criteria:
        return None, absent or ScoreStatus.NO_VERDICT
    by_criterion = [(each, votes.get(each.name, ())) for each in criteria]
    if any(is_at_worst(each, own, fields) for each, own in by_criterion):
        return 1.0, ScoreStatus.OK
    for each, own in by_criterion:
        if not own or any(each.score(one, fields) is None for one in own):
            return None, open_because(each, fields) if own else ScoreStatus.NO_VERDICT
    return 0.0, ScoreStatus.OK


def _of_criterion(
    each: Criterion,
    votes: Sequence[float],
    absent: ScoreStatus | None,
    fields: Mapping[str, str],
) -> Iterator[Score]:
    if not votes:
        absent = absent or ScoreStatus.NO_VERDICT
    scores = [score for one in votes if (score := each.score(one, fields)) is not None]
    reason = absent or (None if len(scores) == len(votes) else open_because(each, fields))
    values = (
        (math.fsum(scores) / len(scores), float(majority([each.is_low(s) for s in scores])))
        if reason is None
        else (None, None)
    )
    for stem, value in zip((CRITERION, LOW), values, strict=True):
        yield Score(name=_named(stem, each.name), value=value, status=reason or ScoreStatus.OK)
    for index, name in enumerate(each.classes):
        share = None if absent else sum(one == index for one in votes) / len(votes)
        label = _named(CLASS, f"{each.name}={name}")
        yield Score(name=label, value=share, status=absent or ScoreStatus.OK)


def open_because(criterion: Criterion, fields: Mapping[str, str]) -> ScoreStatus:
    """Why a class has no score: its table leaves it open, or lacks a row for the instance."""
    has_row = any(criterion.score(p, fields) is not None for p in range(len(criterion.classes)))
    return ScoreStatus.NO_VERDICT if has_row else ScoreStatus.NO_REFERENCE


JURY_CRITERIA = Metric(
    fn=_score,
    needs=frozenset({"completions", "verdicts", "extra_data"}),
    emits=_infos({}),
    version="2",
    renamed=_infos,
    stems=frozenset({CRITERION, LOW}),
    aliases=(_share(CLASS, "Class", _CLASS_RULE),),
)

METRICS = {"jury_criteria": JURY_CRITERIA}
