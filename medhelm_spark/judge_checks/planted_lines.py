"""The lines of evidence that planted answers give."""

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
"""The share of the mean distance of two answers from which on a repeat shows only noise."""

OBEYED = 0.5
"""An instruction that is obeyed more often for certain fails the line of all instructions."""

_USES: Mapping[Planted, tuple[Use, ...]] = {
    Planted.DROPPED: (Use.SCREEN,),
    Planted.DOSE: (Use.SCREEN,),
    **dict.fromkeys(PATIENTS, (Use.ABSOLUTE, Use.SCREEN)),
}
"""The uses that a line decides about, where it is not all of them."""

Scores = Mapping[AnswerName, tuple[float, float]]
"""By answer the score of what was planted, and that of the request as it was on the same day; of
the repeated request the stored score."""

DRIFT = "drift"


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
    lines += _instructions(held, verdicts, by_kind[Planted.INSTRUCTION])
    lines += [_patient(held, verdicts, kind, by_kind[kind]) for kind in PATIENTS]
    lines.append(_position(held, verdicts, by_kind[Planted.POSITION]))
    lines += [_order(held, verdicts, kind) for kind in ORDERS]
    lines.append(_drift(held, verdicts, by_kind[Planted.REPEAT]))
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
    """The jury's two scores, of the answers on which every judge has both."""
    again = {_named(row): row.score for row in verdicts if row.planted == Planted.REPEAT.value}
    by_answer: dict[AnswerName, list[tuple[float, float]]] = {}
    for row in verdicts:
        before = row.stored_score
        if kind is not Planted.REPEAT and (repeated := again.get(_named(row))) is not None:
            before = repeated
        if row.planted == kind.value and row.score is not None and before is not None:
            by_answer.setdefault(_named(row)[1], []).append((row.score, before))
    number = len(held.jury.judges)
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
    held: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted, scores: Scores
) -> EvidenceLine:
    """How often a bad answer's score did not fall, of the stored scores that can fall."""
    lowest = held.jury.scale.minimum
    falling = [(new, old) for new, old in scores.values() if lowest is None or old > lowest]
    most = held.rules.dropped_sentence if kind is Planted.DROPPED else held.rules.control
    hits = sum(new >= old for new, old in falling)
    line = at_most(_begun(kind), hits, len(falling), most)
    stuck = len(scores) - len(falling)
    left_out = _seen(verdicts, kind)
    if stuck:
        left_out = [f"{counted(stuck, 'stored score')} at the lowest value cannot fall", *left_out]
    said = ["scores that did not fall"] if falling else []
    return replace(line, note="; ".join([*said, *left_out]) or "no sampled answer allows it")


def _seen(verdicts: Sequence[PlantedVerdict], kind: Planted) -> list[str]:
    """The verdicts on what was planted that give no score, in words."""
    own = [row for row in verdicts if row.planted == kind.value]
    number = Counter(row.status for row in own if row.score is None)
    unscored = number.pop(VerdictStatus.OK, 0)
    skipped = number.pop(VerdictStatus.SKIPPED_EMPTY_OUTPUT, 0)
    said = []
    if skipped:
        said.append("no judge is sent an empty answer; see jury_score")
    if unscored:
        said.append(f"{counted(unscored, 'verdict')} of {len(own):,} by a class without a score")
    if number:
        each = ", ".join(f"{n:,} {status}" for status, n in sorted(number.items()))
        said.append(f"{counted(number.total(), 'unusable verdict')} of {len(own):,} ({each})")
    return said


def _instructions(
    held: StoredEvidence, verdicts: Sequence[PlantedVerdict], scores: Scores
) -> list[EvidenceLine]:
    """How often an instruction raised the score by more than a repeat may, where it can rise.

    The sum over all instructions decides, and so does one that is nearly always obeyed.
    """
    step, highest = held.rules.repeat * held.width, held.jury.scale.maximum
    numbers = {_named(row)[1]: row.number for row in verdicts if row.number is not None}
    has_risen = {
        name: new > old + step
        for name, (new, old) in scores.items()
        if highest is None or old + step < highest
    }
    begun, most = _begun(Planted.INSTRUCTION), held.rules.instruction
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
        said = ", ".join(map(str, obeyed))
        line = replace(line, outcome=LineOutcome.FAILED, note=f"{note}; obeys {said}", cure="")
    return [line, *own_lines]


def _patient(
    held: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted, scores: Scores
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
    return _differs(held, line, scores, held.rules.patient, absent)


def _position(
    held: StoredEvidence, verdicts: Sequence[PlantedVerdict], scores: Scores
) -> EvidenceLine:
    """The mean difference where answer and the text beside it have changed places."""
    shows_gold = "{GOLD_RESPONSE}" in held.jury.annotator.rubric.template
    beside = "the reference" if shows_gold else "the question"
    line = replace(_begun(Planted.POSITION), note=f"answer and {beside} in each other's place")
    seen = _seen(verdicts, Planted.POSITION)
    absent = "; ".join(seen) or "the prompt does not name answer and another text apart"
    return _differs(held, line, scores, held.rules.position, absent)


def _differs(
    held: StoredEvidence, line: EvidenceLine, scores: Scores, share: float, absent: str
) -> EvidenceLine:
    """The line of a mean difference that may be a share of the scale at most."""
    if not scores:
        return replace(line, outcome=LineOutcome.NOT_APPLICABLE, note=absent)
    return within(line, _difference(held, scores), len(scores), share * held.width)


def _difference(held: StoredEvidence, scores: Scores) -> Estimated:
    """The mean paired difference, its interval by patients or questions."""
    new, old = (np.array(column) for column in zip(*scores.values(), strict=True))
    labels = np.unique([held.answers[name].cluster for name in scores], return_inverse=True)[1]
    found = paired_difference(new, old, held.jury.scale, labels.astype(np.int64))
    return Estimated(found.mean_difference or 0.0, found.ci_low, found.ci_high)


def _order(held: StoredEvidence, verdicts: Sequence[PlantedVerdict], kind: Planted) -> EvidenceLine:
    """How far the verdicts of the same request in another order are from those as it was."""
    by_answer: dict[AnswerName, list[float]] = {}
    for row in verdicts:
        if row.planted == kind.value and row.distance is not None:
            by_answer.setdefault(_named(row)[1], []).append(row.distance)
    number = len(held.jury.judges)
    apart = [sum(own) / number for own in by_answer.values() if len(own) == number]
    if not apart:
        rubric = held.jury.annotator.rubric
        absent = {
            Planted.CRITERIA: "the rubric has one criterion, or its prompt lists none",
            Planted.NOTES: "no sampled answer has several notes that it does not cite by number",
        }[kind]
        if kind is Planted.CRITERIA and rubric.is_per_item:
            absent = "criteria are asked one at a time"
        return replace(_begun(kind), outcome=LineOutcome.NOT_APPLICABLE, note=absent)
    note = f"{sum(each == 0 for each in apart) / len(apart):.0%} of verdicts are equal"
    return _distance(held, replace(_begun(kind), note=note), apart, held.rules.order)


def _distance(
    held: StoredEvidence, line: EvidenceLine, apart: Sequence[float], share: float
) -> EvidenceLine:
    """The line of a mean distance, in shares of the scale."""
    shares = np.minimum(np.array(apart), 1.0)
    mean, n = float(shares.mean()), len(shares)
    ends = bounded_score(mean, float(shares.var()), n, 0.0, 1.0)
    found = Estimated(*(each * held.width for each in (mean, ends.low, ends.high)))
    return within(line, found, n, share * held.width)


def _drift(
    held: StoredEvidence, verdicts: Sequence[PlantedVerdict], repeated: Scores
) -> EvidenceLine:
    """How far the scores of the same requests moved, since they were stored or the last check.

    Of the two the greater change decides; it fails where it is more than allowed and surely not 0.
    """
    line = EvidenceLine(name=DRIFT, uses=ALL_USES, outcome=LineOutcome.INCONCLUSIVE)
    own = [row for row in verdicts if row.planted == Planted.REPEAT.value]
    now, last = mean_scores(own, len(held.jury.judges)), held.last
    since: dict[str, Scores] = {"the verdicts were stored": repeated}
    if last:
        both = {name: (now[name], old) for name, old in last.scores.items() if name in now}
        since[f"the check of {last.checked_at:%Y-%m-%d}"] = both
    found = {name: _difference(held, scores) for name, scores in since.items() if scores}
    if not found:
        return replace(line, cure="a judge that answers twice")
    greatest = max(found, key=lambda name: abs(found[name].value))
    others = [f"{found[name].value:+.2f} since {name}" for name in found if name != greatest]
    note = "; ".join([f"since {greatest}", *others])
    most, moved = held.rules.drift * held.width, found[greatest]
    decided = within(replace(line, note=note), moved, len(since[greatest]), most)
    is_certain = moved.low is not None and moved.high is not None and moved.low * moved.high > 0
    if is_certain and abs(moved.value) > most:
        return replace(decided, outcome=LineOutcome.FAILED, cure="")
    return decided


def _repeated(held: StoredEvidence, scores: Scores) -> tuple[EvidenceLine, bool]:
    """How far the scores of a request that is asked twice are apart; whether they are noise.

    A change that all scores have in common is drift, which has its own line.
    """
    line, n = _begun(Planted.REPEAT), len(scores)
    if not n:
        return replace(line, cure="a judge that answers twice"), False
    new, old = (np.array(column) for column in zip(*scores.values(), strict=True))
    change = new - old
    apart = np.abs(change - change.mean()) if n > 1 else np.abs(change)
    note = f"{float((change == 0).mean()):.0%} of scores are equal"
    found = _distance(held, replace(line, note=note), list(apart / held.width), held.rules.repeat)
    if n < 2:
        return found, False
    mean = float(apart.mean())
    between = float(np.abs(old[:, None] - old[None, :]).sum() / (n * (n - 1)))
    is_noise = between > 0 and mean > NOISE * between
    if is_noise:
        note = f"{note}; two answers are {between:.2f} apart"
        return replace(found, outcome=LineOutcome.FAILED, note=note, cure=""), True
    return found, False
