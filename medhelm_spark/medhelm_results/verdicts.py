"""Judges' verdicts of an answer, as HELM's files have them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from medhelm_spark.domain.request import CriterionScore, VerdictStatus
from medhelm_spark.medhelm_results.content import object_of, text_of
from medhelm_spark.medhelm_results.states import HelmState

PROMPT_TEXT = "prompt_text"
CRITERIA_MET = "criteria_met"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadVerdict:
    """One judge's verdict on one answer, or on one item of its instance's own rubric."""

    annotator: str
    judge: str
    status: VerdictStatus
    scores: tuple[CriterionScore, ...] = ()
    rubric_item: int | None = None


def verdicts(state: HelmState) -> Iterator[ReadVerdict | None]:
    """Judges' verdicts of an answer; None for each verdict of an unknown form.

    HELM writes by annotator and judge an object of criteria with `score` and `explanation`, or a
    list with an object for each item of the instance's own rubric.
    """
    for annotator, judges in object_of(state.annotations).items():
        for judge, verdict in object_of(judges).items():
            if isinstance(verdict, dict):
                yield from _of_judge(str(annotator), str(judge), verdict)


def _of_judge(
    annotator: str, judge: str, verdict: Mapping[str, Any]
) -> Iterator[ReadVerdict | None]:
    lists = [value for value in verdict.values() if isinstance(value, list)]
    items = [item for value in lists for item in value if isinstance(item, dict)]
    if items:
        for index, item in enumerate(items):
            score = _met(item)
            yield _verdict(annotator, judge, (score,), index) if score else None
        return
    criteria = [
        _criterion(str(name), object_of(value))
        for name, value in verdict.items()
        if isinstance(value, dict)
    ]
    scores = tuple(score for score in criteria if score)
    yield _verdict(annotator, judge, scores) if scores and len(scores) == len(criteria) else None


def _verdict(
    annotator: str, judge: str, scores: tuple[CriterionScore, ...], item: int | None = None
) -> ReadVerdict:
    return ReadVerdict(
        annotator=annotator,
        judge=judge,
        status=VerdictStatus.OK,
        scores=scores,
        rubric_item=item,
    )


def _criterion(name: str, value: Mapping[str, Any]) -> CriterionScore | None:
    try:
        score = float(value["score"])
    except (KeyError, TypeError, ValueError):
        return None
    return CriterionScore(
        criterion=name, score=score, explanation=text_of(value.get("explanation"))
    )


def _met(item: Mapping[str, Any]) -> CriterionScore | None:
    met = item.get(CRITERIA_MET)
    if not isinstance(met, bool):
        return None
    return CriterionScore(
        criterion=CRITERIA_MET, score=float(met), explanation=text_of(item.get("explanation"))
    )
