"""The lines of evidence that planted answers give."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from medhelm_spark.domain.request import VerdictStatus
from medhelm_spark.judge_checks.lines import (
    ALL_USES,
    EvidenceLine,
    LineOutcome,
    Use,
    at_most,
    unmeasured,
    within,
)
from medhelm_spark.judge_checks.planting import LOWER, PATIENTS, Planted
from medhelm_spark.judge_checks.stored import AnswerName
from medhelm_spark.judge_checks.stored_lines import StoredEvidence, spread
from medhelm_spark.judge_checks.tables import PlantedVerdict
from medhelm_spark.statistics.intervals import bounded_score
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.two_by_two import Estimated

NOISE = 0.75
"""The share of the mean distance of two answers from which on a repeat shows only noise."""

_USES: Mapping[Planted, tuple[Use, ...]] = {
    Planted.DROPPED: (Use.SCREEN,),
    Planted.DOSE: (Use.SCREEN,),
    **dict.fromkeys(PATIENTS, (Use.ABSOLUTE, Use.SCREEN)),
}
"""The uses that a line decides about, where it is not all of them."""

Scores = Mapping[AnswerName, tuple[float, float]]
"""By answer the planted and the stored score."""


def planted_lines(
    held: StoredEvidence, verdicts: Sequence[PlantedVerdict]
) -> tuple[list[EvidenceLine], bool]:
    """The lines of what was planted, and whether another line can be measured at all."""
    by_kind = {planted: _scores(held, verdicts, planted) for planted in Planted}
    pooled = [score for kind in LOWER for pair in by_kind[kind].values() for score in pair]
    scores = pooled or list(held.verdicts.of_jury.values())
    same = spread(scores, held.rules, is_planted=bool(pooled))
    if not verdicts:
        cure = "plant answers before the judges (--items 50)"
        return [
            same,
            *(
                replace(_begun(kind), note="nothing was planted", cure=cure)
                for kind in Planted
                if kind is not Planted.EMPTY
            ),
        ], True
    repeated, is_noise = _repeated(held, by_kind[Planted.REPEAT])
    lines = [_lower(held, verdicts, kind, by_kind[kind]) for kind in LOWER]
    lines.append(_instruction(held, by_kind[Planted.INSTRUCTION]))
    lines += [_patient(held, kind, by_kind[kind]) for kind in PATIENTS]
    why = unmeasured_because(same, is_noise=is_noise)
    if why:
        lines = [unmeasured(line, why) for line in lines]
    return [same, repeated, *lines], not why


def unmeasured_because(same: EvidenceLine, *, is_noise: bool) -> str:
    """Why nothing else is measured: all scores are alike, or a second one is another; else ''."""
    if same.outcome is LineOutcome.FAILED:
        return "not measured: nearly all scores are the same"
    if is_noise:
        return "not measured: a repeated request differs as much as another answer"
    return ""


def _scores(held: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted) -> Scores:
    """The jury's planted and stored scores, of the answers on which every judge has both."""
    by_answer: dict[AnswerName, list[PlantedVerdict]] = {}
    for row in verdicts:
        if row.planted == kind.value and row.score is not None and row.stored_score is not None:
            name = (row.run_spec_id, row.instance_id, row.trial_index)
            by_answer.setdefault(name, []).append(row)
    number = len(held.jury.judges)
    return {
        name: (
            sum(row.score or 0.0 for row in rows) / number,
            sum(row.stored_score or 0.0 for row in rows) / number,
        )
        for name, rows in sorted(by_answer.items())
        if len(rows) == number
    }


def _begun(kind: Planted) -> EvidenceLine:
    uses = _USES.get(kind, ALL_USES)
    return EvidenceLine(name=kind.value, uses=uses, outcome=LineOutcome.INCONCLUSIVE)


def _lower(
    held: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted, scores: Scores
) -> EvidenceLine:
    """How often a bad answer's score did not fall, of the stored scores that can fall."""
    lowest = held.jury.scale.minimum
    counted = [(new, old) for new, old in scores.values() if lowest is None or old > lowest]
    most = held.rules.dropped_sentence if kind is Planted.DROPPED else held.rules.control
    line = at_most(_begun(kind), sum(new >= old for new, old in counted), len(counted), most)
    if counted:
        return replace(line, note="scores that did not fall")
    own = [row.status for row in verdicts if row.planted == kind.value]
    if own and all(status is VerdictStatus.SKIPPED_EMPTY_OUTPUT for status in own):
        return replace(line, note="no judge is sent an empty answer; see jury_score")
    return replace(line, note="no sampled answer allows it")


def _instruction(held: StoredEvidence, scores: Scores) -> EvidenceLine:
    """How often an instruction raised the score by more than a repeat may, where it can rise."""
    step, highest = held.rules.repeat * held.width, held.jury.scale.maximum
    counted = [(n, o) for n, o in scores.values() if highest is None or o + step < highest]
    hits = sum(new > old + step for new, old in counted)
    line = at_most(_begun(Planted.INSTRUCTION), hits, len(counted), held.rules.instruction)
    note = f"scores that rose by more than {step:.2f}"
    return replace(line, note=note if counted else "no sampled score can rise")


def _patient(held: StoredEvidence, kind: Planted, scores: Scores) -> EvidenceLine:
    """The mean difference of the same answer for another patient."""
    line, n = _begun(kind), len(scores)
    if not n:
        note = "no sampled question names it"
        return replace(line, outcome=LineOutcome.NOT_APPLICABLE, note=note)
    new, old = (np.array(column) for column in zip(*scores.values(), strict=True))
    labels = np.unique([held.answers[name].cluster for name in scores], return_inverse=True)[1]
    found = paired_difference(new, old, held.jury.scale, labels.astype(np.int64))
    mean = found.mean_difference or 0.0
    estimated = Estimated(mean, found.ci_low, found.ci_high)
    what = {
        Planted.SEX: "a woman in a man's place",
        Planted.NAME: "a Black American's first name in a White American's place",
        Planted.AGE: "78 years below 65, and 42 from 65 on",
        Planted.LANGUAGE: "African American English in the question",
    }
    return within(replace(line, note=what[kind]), estimated, n, held.rules.patient * held.width)


def _repeated(held: StoredEvidence, scores: Scores) -> tuple[EvidenceLine, bool]:
    """How far the scores of a request that is asked twice are apart; whether they are noise."""
    line, n = _begun(Planted.REPEAT), len(scores)
    if not n:
        return replace(line, cure="a judge that answers twice"), False
    new, old = (np.array(column) for column in zip(*scores.values(), strict=True))
    apart = np.abs(new - old)
    mean = float(apart.mean())
    ends = bounded_score(mean, float(apart.var()), n, 0.0, held.width)
    note = f"{float((apart == 0).mean()):.0%} of scores are equal"
    most = held.rules.repeat * held.width
    found = within(replace(line, note=note), Estimated(mean, ends.low, ends.high), n, most)
    if n < 2:
        return found, False
    between = float(np.abs(old[:, None] - old[None, :]).sum() / (n * (n - 1)))
    is_noise = between > 0 and mean > NOISE * between
    if is_noise:
        note = f"{note}; two answers are {between:.2f} apart"
        return replace(found, outcome=LineOutcome.FAILED, note=note, cure=""), True
    return found, False
