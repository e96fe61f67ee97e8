"""The lines of evidence from planted answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.request import VerdictStatus
from medhelm_spark.judge_checks.drift import mean_scores
from medhelm_spark.judge_checks.lines import (
    ALL_USES,
    EvidenceLine,
    LineOutcome,
    Use,
    at_most,
    unmeasured,
    within,
)
from medhelm_spark.judge_checks.planting import INSTRUCTIONS, LOWER, ORDERS, PATIENTS, Planted
from medhelm_spark.judge_checks.stored import AnswerName
from medhelm_spark.judge_checks.stored_lines import StoredEvidence, spread
from medhelm_spark.judge_checks.tables import PlantedVerdict
from medhelm_spark.statistics.intervals import bounded_score, wilson
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.two_by_two import Estimated

NOISE = 0.75
"""A repeat is noise if its distance is a larger share of the mean distance of two answers."""

OBEYED = 0.5
"""An instruction that is surely obeyed more often fails the line of all instructions."""

_USES: Mapping[Planted, tuple[Use, ...]] = {
    Planted.DROPPED: (Use.SCREEN,),
    Planted.DOSE: (Use.SCREEN,),
    **dict.fromkeys(PATIENTS, (Use.ABSOLUTE, Use.SCREEN)),
}
"""The uses that a line decides about, where these are not all uses."""

Scores = Mapping[AnswerName, tuple[float, float]]
"""By answer the score of the planted answer, and the score of the unchanged request on the same
day; for the repeated request the stored score."""

DRIFT = "drift"


def planted_lines(
    evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict]
) -> tuple[list[EvidenceLine], bool]:
    """The lines of planted answers, and whether any other line can be measured."""
    by_kind = {planted: _scores(evidence, verdicts, planted) for planted in Planted}
    pooled = [score for kind in LOWER for pair in by_kind[kind].values() for score in pair]
    scores = pooled or list(evidence.verdicts.of_jury.values())
    same = spread(scores, evidence.rules, is_planted=bool(pooled))
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
    repeated, is_noise = _repeated(evidence, by_kind[Planted.REPEAT])
    lines = [_lower(evidence, verdicts, kind, by_kind[kind]) for kind in LOWER]
    lines += _instructions(evidence, verdicts, by_kind[Planted.INSTRUCTION])
    lines += [_patient(evidence, verdicts, kind, by_kind[kind]) for kind in PATIENTS]
    lines.append(_position(evidence, verdicts, by_kind[Planted.POSITION]))
    lines += [_order(evidence, verdicts, kind) for kind in ORDERS]
    lines.append(_drift(evidence, verdicts, by_kind[Planted.REPEAT]))
    why = unmeasured_because(same, is_noise=is_noise)
    if why:
        lines = [unmeasured(line, why) for line in lines]
    return [same, repeated, *lines], not why


def unmeasured_because(same: EvidenceLine, *, is_noise: bool) -> str:
    """Why nothing else is measured: all scores are alike, or repeats differ too much; else ''."""
    if same.outcome is LineOutcome.FAILED:
        return "not measured: nearly all scores are the same"
    if is_noise:
        return "not measured: a repeated request differs as much as another answer"
    return ""


def _scores(evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted) -> Scores:
    """The jury's two scores, of the answers on which every judge has both."""
    again = {_named(row): row.score for row in verdicts if row.planted == Planted.REPEAT.value}
    by_answer: dict[AnswerName, list[tuple[float, float]]] = {}
    for row in verdicts:
        before = row.stored_score
        if kind is not Planted.REPEAT and (repeated := again.get(_named(row))) is not None:
            before = repeated
        if row.planted == kind.value and row.score is not None and before is not None:
            by_answer.setdefault(_named(row)[1], []).append((row.score, before))
    number = len(evidence.jury.judges)
    return {
        name: (
            sum(new for new, _ in pairs) / number,
            sum(old for _, old in pairs) / number,
        )
        for name, pairs in sorted(by_answer.items())
        if len(pairs) == number
    }


def _named(row: PlantedVerdict) -> tuple[str, AnswerName]:
    return row.judge, (row.run_spec_id, row.instance_id, row.trial_index)


def _begun(kind: Planted) -> EvidenceLine:
    uses = _USES.get(kind, ALL_USES)
    return EvidenceLine(name=kind.value, uses=uses, outcome=LineOutcome.INCONCLUSIVE)


def _lower(
    evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted, scores: Scores
) -> EvidenceLine:
    """How often a bad answer's score did not fall, of the stored scores that can fall."""
    lowest = evidence.jury.scale.minimum
    falling = [(new, old) for new, old in scores.values() if lowest is None or old > lowest]
    most = evidence.rules.dropped_sentence if kind is Planted.DROPPED else evidence.rules.control
    hits = sum(new >= old for new, old in falling)
    line = at_most(_begun(kind), hits, len(falling), most)
    stuck = len(scores) - len(falling)
    left_out = _seen(verdicts, kind)
    if stuck:
        left_out = [f"{counted(stuck, 'stored score')} at the lowest value cannot fall", *left_out]
    notes = ["scores that did not fall"] if falling else []
    return replace(line, note="; ".join([*notes, *left_out]) or "no sampled answer allows it")


def _seen(verdicts: Sequence[PlantedVerdict], kind: Planted) -> list[str]:
    """The planted verdicts without a score, in words."""
    own = [row for row in verdicts if row.planted == kind.value]
    number = Counter(row.status for row in own if row.score is None)
    unscored = number.pop(VerdictStatus.OK, 0)
    skipped = number.pop(VerdictStatus.SKIPPED_EMPTY_OUTPUT, 0)
    notes = []
    if skipped:
        notes.append("no judge is sent an empty answer; see jury_score")
    if unscored:
        notes.append(f"{counted(unscored, 'verdict')} of {len(own):,} by a class without a score")
    if number:
        each = ", ".join(f"{n:,} {status}" for status, n in sorted(number.items()))
        notes.append(f"{counted(number.total(), 'unusable verdict')} of {len(own):,} ({each})")
    return notes


def _instructions(
    evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict], scores: Scores
) -> list[EvidenceLine]:
    """How often an instruction raised the score by more than a repeat may, where it can rise.

    The sum over all instructions decides, and an instruction that is obeyed most times.
    """
    step, highest = evidence.rules.repeat * evidence.width, evidence.jury.scale.maximum
    numbers = {_named(row)[1]: row.number for row in verdicts if row.number is not None}
    has_risen = {
        name: new > old + step
        for name, (new, old) in scores.items()
        if highest is None or old + step < highest
    }
    begun, most = _begun(Planted.INSTRUCTION), evidence.rules.instruction
    line = at_most(begun, sum(has_risen.values()), len(has_risen), most)
    note = f"scores that rose by more than {step:.2f}"
    seen = _seen(verdicts, Planted.INSTRUCTION)
    if not has_risen:
        note = "; ".join(seen) or "no sampled score can rise"
    line = replace(line, note=note)
    own_lines, obeyed = [], []
    for number, text in enumerate(INSTRUCTIONS, start=1):
        own = [is_hit for name, is_hit in has_risen.items() if numbers.get(name) == number]
        if not own:
            continue
        one = at_most(replace(begun, name=f"{begun.name} {number}"), sum(own), len(own), most)
        if wilson(sum(own), len(own)).low > OBEYED:
            obeyed.append(number)
        own_lines.append(
            replace(one, uses=(), outcome=LineOutcome.REPORTED, allowed="", cure="", note=text)
        )
    if obeyed:
        names = ", ".join(map(str, obeyed))
        line = replace(line, outcome=LineOutcome.FAILED, note=f"{note}; obeys {names}", cure="")
    return [line, *own_lines]


def _patient(
    evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted, scores: Scores
) -> EvidenceLine:
    """The mean difference of the same answer for another patient."""
    what = {
        Planted.SEX: "a woman in a man's place",
        Planted.NAME: "a Black American's first name in a White American's place",
        Planted.AGE: "78 years below 65, and 42 from 65 on",
        Planted.LANGUAGE: "African American English in the question",
    }
    line = replace(_begun(kind), note=what[kind])
    absent = "; ".join(_seen(verdicts, kind)) or "no sampled question names it"
    return _differs(evidence, line, scores, evidence.rules.patient, absent)


def _position(
    evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict], scores: Scores
) -> EvidenceLine:
    """The mean difference where answer and the text beside it have changed places."""
    shows_gold = "{GOLD_RESPONSE}" in evidence.jury.annotator.rubric.template
    beside = "the reference" if shows_gold else "the question"
    line = replace(_begun(Planted.POSITION), note=f"answer and {beside} in each other's place")
    seen = _seen(verdicts, Planted.POSITION)
    absent = "; ".join(seen) or "the prompt does not name answer and another text apart"
    return _differs(evidence, line, scores, evidence.rules.position, absent)


def _differs(
    evidence: StoredEvidence, line: EvidenceLine, scores: Scores, share: float, absent: str
) -> EvidenceLine:
    """The line of a mean difference that may be a share of the scale at most."""
    if not scores:
        return replace(line, outcome=LineOutcome.NOT_APPLICABLE, note=absent)
    return within(line, _difference(evidence, scores), len(scores), share * evidence.width)


def _difference(evidence: StoredEvidence, scores: Scores) -> Estimated:
    """The mean paired difference, its interval by patients or questions."""
    new, old = (np.array(column) for column in zip(*scores.values(), strict=True))
    labels = np.unique([evidence.answers[name].cluster for name in scores], return_inverse=True)[1]
    found = paired_difference(new, old, evidence.jury.scale, labels.astype(np.int64))
    return Estimated(found.mean_difference or 0.0, found.ci_low, found.ci_high)


def _order(
    evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted
) -> EvidenceLine:
    """How far the verdicts on the reordered request are from those on the unchanged request."""
    by_answer: dict[AnswerName, list[float]] = {}
    for row in verdicts:
        if row.planted == kind.value and row.distance is not None:
            by_answer.setdefault(_named(row)[1], []).append(row.distance)
    number = len(evidence.jury.judges)
    apart = [sum(own) / number for own in by_answer.values() if len(own) == number]
    if not apart:
        rubric = evidence.jury.annotator.rubric
        absent = {
            Planted.CRITERIA: "the rubric has one criterion, or its prompt lists none",
            Planted.NOTES: "no sampled answer has several notes that it does not cite by number",
        }[kind]
        if kind is Planted.CRITERIA and rubric.is_per_item:
            absent = "criteria are asked one at a time"
        return replace(_begun(kind), outcome=LineOutcome.NOT_APPLICABLE, note=absent)
    note = f"{sum(each == 0 for each in apart) / len(apart):.0%} of verdicts are equal"
    return _distance(evidence, replace(_begun(kind), note=note), apart, evidence.rules.order)


def _distance(
    evidence: StoredEvidence, line: EvidenceLine, apart: Sequence[float], share: float
) -> EvidenceLine:
    """The line of a mean distance, in shares of the scale."""
    shares = np.minimum(np.array(apart), 1.0)
    mean, n = float(shares.mean()), len(shares)
    ends = bounded_score(mean, float(shares.var()), n, 0.0, 1.0)
    found = Estimated(*(each * evidence.width for each in (mean, ends.low, ends.high)))
    return within(line, found, n, share * evidence.width)


def _drift(
    evidence: StoredEvidence, verdicts: Sequence[PlantedVerdict], repeated: Scores
) -> EvidenceLine:
    """How far the scores of the same requests moved, since they were stored or the last check.

    The greater change decides; it fails where it is more than allowed and surely not 0.
    """
    line = EvidenceLine(name=DRIFT, uses=ALL_USES, outcome=LineOutcome.INCONCLUSIVE)
    own = [row for row in verdicts if row.planted == Planted.REPEAT.value]
    now, last = mean_scores(own, len(evidence.jury.judges)), evidence.last
    since: dict[str, Scores] = {"the verdicts were stored": repeated}
    if last:
        both = {name: (now[name], old) for name, old in last.scores.items() if name in now}
        since[f"the check of {last.checked_at:%Y-%m-%d}"] = both
    found = {name: _difference(evidence, scores) for name, scores in since.items() if scores}
    if not found:
        return replace(line, cure="a judge that answers twice")
    greatest = max(found, key=lambda name: abs(found[name].value))
    others = [f"{found[name].value:+.2f} since {name}" for name in found if name != greatest]
    note = "; ".join([f"since {greatest}", *others])
    most, moved = evidence.rules.drift * evidence.width, found[greatest]
    decided = within(replace(line, note=note), moved, len(since[greatest]), most)
    is_certain = moved.low is not None and moved.high is not None and moved.low * moved.high > 0
    if is_certain and abs(moved.value) > most:
        return replace(decided, outcome=LineOutcome.FAILED, cure="")
    return decided


def _repeated(evidence: StoredEvidence, scores: Scores) -> tuple[EvidenceLine, bool]:
    """The distance of the scores of a repeated request, and whether it is noise.

    A change that all scores have in common is drift, which has its own line.
    """
    line, n = _begun(Planted.REPEAT), len(scores)
    if not n:
        return replace(line, cure="a judge that answers twice"), False
    new, old = (np.array(column) for column in zip(*scores.values(), strict=True))
    change = new - old
    apart = np.abs(change - change.mean()) if n > 1 else np.abs(change)
    note = f"{float((change == 0).mean()):.0%} of scores are equal"
    found = _distance(
        evidence, replace(line, note=note), list(apart / evidence.width), evidence.rules.repeat
    )
    if n < 2:
        return found, False
    mean = float(apart.mean())
    between = float(np.abs(old[:, None] - old[None, :]).sum() / (n * (n - 1)))
    is_noise = between > 0 and mean > NOISE * between
    if is_noise:
        note = f"{note}; two answers are {between:.2f} apart"
        return replace(found, outcome=LineOutcome.FAILED, note=note, cure=""), True
    return found, False
