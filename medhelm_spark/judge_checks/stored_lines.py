"""The lines of evidence from stored verdicts, without any request to a judge."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.policy import JudgeCheckRules
from medhelm_spark.domain.request import VerdictStatus
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.judge_checks.bias import Column, doublings, has_markdown, slopes
from medhelm_spark.judge_checks.drift import LastCheck
from medhelm_spark.judge_checks.juries import CheckedJury
from medhelm_spark.judge_checks.lines import (
    ALL_USES,
    RATINGS,
    EvidenceLine,
    LineOutcome,
    More,
    Use,
    at_least,
    at_most,
    not_below,
    within,
)
from medhelm_spark.judge_checks.model_order import JudgedAnswer, model_order
from medhelm_spark.judge_checks.people import PeoplesRatings, WithPeople
from medhelm_spark.judge_checks.planting import StoredAnswer
from medhelm_spark.judge_checks.stored import AnswerName, StoredVerdicts
from medhelm_spark.statistics.alt_test import PASSED
from medhelm_spark.statistics.two_by_two import Estimated

FEWEST_RATED = 30
"""The rated answers needed before quality can be held equal, and for the alt-test."""

_SENT = (
    VerdictStatus.OK,
    VerdictStatus.UNPARSEABLE,
    VerdictStatus.REQUEST_FAILED,
    VerdictStatus.DENIED,
)
_OPEN = LineOutcome.INCONCLUSIVE
_VERDICTS = More("{n} more verdict{s}")
_OF_EACH_RATER = More("{n} more rated answer{s} of each rater")
_ALPHA = "Krippendorff's alpha"
QUALITY, LENGTH, MARKDOWN, OWN = "quality", "length", "markdown", "own family"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvidence:
    """The evidence about a jury in the lake."""

    jury: CheckedJury
    verdicts: StoredVerdicts
    answers: Mapping[AnswerName, StoredAnswer]
    people: PeoplesRatings
    rules: JudgeCheckRules
    registry: Registry
    last: LastCheck | None = None
    """The last check before this one, on another day."""

    @property
    def width(self) -> float:
        """The distance between the lowest and the highest score."""
        scale = self.jury.scale
        return (scale.maximum or 0.0) - (scale.minimum or 0.0)


def _line(name: str, *uses: Use) -> EvidenceLine:
    return EvidenceLine(name=name, uses=uses or ALL_USES, outcome=_OPEN)


def stored_lines(evidence: StoredEvidence) -> list[EvidenceLine]:
    """All lines that are computed from stored verdicts, answers and ratings."""
    return [
        *_coverage(evidence),
        *_agreement(evidence),
        _order(evidence),
        *_bias(evidence),
        *_own_family(evidence),
    ]


def spread(scores: Sequence[float], rules: JudgeCheckRules, *, is_planted: bool) -> EvidenceLine:
    """Whether the jury gives one and the same score to nearly all answers.

    Good answers may all deserve one score: without planted bad answers the line cannot fail.
    """
    most = Counter(scores).most_common(1)
    line = at_most(_line("same score"), most[0][1] if most else 0, len(scores), rules.same_score)
    if line.outcome is LineOutcome.FAILED and not is_planted:
        return replace(line, outcome=_OPEN, cure="plant bad answers before the judges (--items 50)")
    return line


def _coverage(evidence: StoredEvidence) -> list[EvidenceLine]:
    status = [each for own in evidence.verdicts.status.values() for each in own]
    counts = Counter(each for each in status if each in _SENT)
    total, usable = sum(counts.values()), counts[VerdictStatus.OK]
    unreadable = at_most(
        _line("unreadable verdicts"), counts[VerdictStatus.UNPARSEABLE], total, 1.0
    )
    return [
        at_least(_line("coverage"), usable, total, evidence.rules.coverage, _VERDICTS),
        replace(unreadable, uses=(), outcome=LineOutcome.REPORTED, allowed=""),
    ]


def _agreement(evidence: StoredEvidence) -> list[EvidenceLine]:
    people, least = evidence.people, evidence.rules.agreement
    lines = []
    if people.raters:
        lines.append(_reported("raters among themselves", people.raters))
    lines += [_reported(f"agreement of {each.who}", each) for each in people.judges]
    own = _line("agreement with raters", Use.ABSOLUTE, Use.SCREEN)
    jury = people.jury
    if jury is None:
        why = _unrated(evidence, "no answer has a rating by the rubric's criteria")
        return [*lines, replace(own, note=why[0], cure=why[1]), _alt_test(None)]
    note = _ceiling(people.raters) if people.raters else ""
    agreement = not_below(replace(own, note=note), jury.icc, jury.num_items, least)
    return [*lines, agreement, _alt_test(jury)]


def _ceiling(raters: WithPeople) -> str:
    """How far the raters agree among themselves, in words; empty without a coefficient."""
    if raters.icc:
        return f"raters among themselves {raters.icc.value:.2f}"
    return f"raters among themselves: {_ALPHA} {raters.alpha.value:.2f}" if raters.alpha else ""


def _reported(name: str, found: WithPeople) -> EvidenceLine:
    """The intraclass correlation, else alpha of the raters, else why there is neither."""
    estimate = found.icc or found.alpha
    note = "intraclass correlation of absolute agreement"
    if not found.icc:
        note = "; ".join(filter(None, (_ALPHA if found.alpha else "", found.why)))
    return EvidenceLine(
        name=name,
        uses=(),
        outcome=LineOutcome.REPORTED,
        value=estimate.value if estimate else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        num_items=found.num_items,
        note=note,
    )


def _alt_test(jury: WithPeople | None) -> EvidenceLine:
    line = replace(
        _line("alternative annotator test", Use.SCREEN), allowed=f"omega at least {PASSED:g}"
    )
    found = jury.alt_test if jury else None
    if jury is None or found is None:
        cure = f"two raters on {FEWEST_RATED} answers"
        return replace(line, note="no answer has two raters", cure=cure)
    measured = replace(line, value=found.winning_rate, num_items=found.fewest_items)
    if found.is_small:
        return replace(
            measured, cure=_OF_EACH_RATER.text(max(1, FEWEST_RATED - found.fewest_items))
        )
    return replace(measured, outcome=LineOutcome.PASSED if found.is_passed else LineOutcome.FAILED)


def _unrated(evidence: StoredEvidence, otherwise: str) -> tuple[str, str]:
    """Why ratings decide nothing, and the cure."""
    number = len(evidence.people.means.keys() & evidence.verdicts.of_jury.keys())
    if number < FEWEST_RATED:
        note = f"people rated {counted(number, 'answer')}" if number else "nobody rated an answer"
        return note, RATINGS.text(FEWEST_RATED - number)
    return otherwise, "rate answers by the rubric's criteria"


def _order(evidence: StoredEvidence) -> EvidenceLine:
    line = _line("order of models", Use.RANK)
    models = {spec.run_spec_id: spec.model_deployment for spec in evidence.jury.specs}
    by_model: dict[str, dict[tuple[str, int], JudgedAnswer]] = {}
    for name, score in evidence.verdicts.of_jury.items():
        if name in evidence.people.means and name in evidence.answers:
            by_model.setdefault(models[name[0]], {})[name[1:]] = JudgedAnswer(
                score, evidence.people.means[name], evidence.answers[name].cluster
            )
    if len(set(models.values())) < 2:
        return replace(line, note="one model", cure="judge the answers of a second model")
    found = model_order(by_model, _scale_of_people(evidence))
    if not found.num_pairs:
        why = _unrated(evidence, "raters tell no two models apart")
        note = why[0] if not by_model else f"{why[0]}; raters tell no two models apart"
        return replace(line, note=note, cure=RATINGS.text(FEWEST_RATED))
    note = "; ".join(
        [
            f"{counted(found.num_pairs, 'pair')} that raters tell apart",
            *found.turned,
            *(f"equal scores of the jury for {pair}" for pair in found.tied),
        ]
    )
    return not_below(
        replace(line, note=note), found.same, found.num_pairs, evidence.rules.model_order
    )


def _scale_of_people(evidence: StoredEvidence) -> MetricInfo:
    """The jury's scale, without ends where raters used another scale."""
    scale, means = evidence.jury.scale, evidence.people.means.values()
    low, high = scale.minimum or 0.0, scale.maximum or 0.0
    if all(low <= mean <= high for mean in means):
        return scale
    return replace(scale, minimum=None, maximum=None)


def _bias(evidence: StoredEvidence) -> list[EvidenceLine]:
    lines = []
    found, n, is_adjusted = _slopes(evidence, evidence.verdicts.of_jury, {})
    for name, limit in ((LENGTH, evidence.rules.length), (MARKDOWN, evidence.rules.markdown)):
        line = _line(name)
        what = "for twice the length" if name == LENGTH else "for markdown"
        if name not in found:
            lines.append(
                replace(line, outcome=LineOutcome.NOT_APPLICABLE, note="all answers are alike")
            )
            continue
        if is_adjusted:
            adjusted = replace(line, note=f"{what}, the raters' mean held equal")
            lines.append(within(adjusted, found[name], n, limit * evidence.width, RATINGS))
            continue
        plain = within(line, found[name], n, limit * evidence.width)
        reason, cure = _unrated(evidence, "ratings do not vary")
        note = f"plain slope {what}: quality is not held equal; {reason}"
        lines.append(replace(plain, outcome=_OPEN, note=note, cure=cure))
    return lines


def _own_family(evidence: StoredEvidence) -> list[EvidenceLine]:
    lines = []
    makers = {
        spec.run_spec_id: evidence.registry.model(spec.model).creator_organization
        for spec in evidence.jury.specs
    }
    several = len(evidence.jury.judges) > 1
    for judge in evidence.jury.annotator.jury.judges:
        line = _line(f"{OWN} of {judge.name}" if several else OWN)
        maker = evidence.registry.model(judge.model).creator_organization
        own = {unit: float(name == maker) for unit, name in makers.items()}
        if len(set(own.values())) < 2:
            note = f"no model, or every one, is of {maker}"
            lines.append(replace(line, outcome=LineOutcome.NOT_APPLICABLE, note=note))
            continue
        found, n, is_adjusted = _slopes(evidence, evidence.verdicts.by_judge[judge.name], own)
        if not is_adjusted or OWN not in found:
            reason, cure = _unrated(evidence, "ratings do not vary")
            note = f"not known without ratings; {reason}"
            lines.append(replace(line, note=note, cure=cure))
            continue
        note = f"for models of {maker}, the raters' mean held equal"
        limit = evidence.rules.own_family * evidence.width
        lines.append(within(replace(line, note=note), found[OWN], n, limit, RATINGS))
    return lines


def _slopes(
    evidence: StoredEvidence, scores: Mapping[AnswerName, float], own: Mapping[str, float]
) -> tuple[Mapping[str, Estimated], int, bool]:
    """What length, markdown and maker add; the number of answers; whether quality is held equal."""
    judged = sorted(scores.keys() & evidence.answers.keys())
    rated = [name for name in judged if name in evidence.people.means]
    is_adjusted = len(rated) >= FEWEST_RATED
    names = rated if is_adjusted else judged
    texts = [evidence.answers[name].judge_input.response for name in names]
    columns: dict[str, Column] = {}
    if is_adjusted:
        columns[QUALITY] = np.array([evidence.people.means[name] for name in names])
    columns[LENGTH] = np.array([doublings(text) for text in texts])
    columns[MARKDOWN] = np.array([float(has_markdown(text)) for text in texts])
    if own:
        columns[OWN] = np.array([own[name[0]] for name in names])
    if not names:
        return {}, 0, False
    score = np.array([scores[name] for name in names])
    found = slopes(score, columns, [evidence.answers[name].cluster for name in names])
    return found, len(names), is_adjusted
