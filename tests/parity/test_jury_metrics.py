"""Juries and HealthBench: MedHELM's sums over the same verdicts, and where the corrected differ.

The judges' replies are made, because neither side has a real model; HealthBench's rubrics are
real. MedHELM gets what its annotators would have stored, and its HealthBench annotators run with
their replies given.
"""

import json
import random
from pathlib import Path
from typing import Any

from medhelm_spark.annotators.verdict import parse_verdict
from medhelm_spark.domain.annotation import Rubric, RubricItem, items_text
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.request import CriterionScore, Verdict, VerdictStatus
from tests.parity.compare import MEDHELM, NUM_ROWS, differing, ours, state
from tests.parity.pairs import chooser, json_lines, noise, row
from tests.parity.peer import Peer

JUDGES = ("claude", "gpt", "llama")
CRITERIA = ("accuracy", "completeness", "clarity")
FAILED = VerdictStatus.UNPARSEABLE
EMPTY = VerdictStatus.SKIPPED_EMPTY_OUTPUT

JudgeScores = dict[str, dict[str, float] | None]


def random_scores(rng: random.Random) -> JudgeScores:
    """A score for each criterion of each judge, or None where a judge's reply was of no use."""

    def scores():
        return {name: float(rng.randint(1, 5)) for name in CRITERIA}

    return {judge: scores() if rng.random() < 0.8 else None for judge in JUDGES}


def verdicts_of(judge_scores: JudgeScores, *, is_empty: bool) -> list[Verdict]:
    missing_status = EMPTY if is_empty else FAILED
    return [
        Verdict(
            annotator="jury",
            judge=judge,
            status=VerdictStatus.OK if scores and not is_empty else missing_status,
            scores=tuple(
                CriterionScore(criterion=name, score=score)
                for name, score in (scores or {}).items()
            )
            if not is_empty
            else (),
        )
        for judge, scores in judge_scores.items()
    ]


def stored_annotations(judge_scores: JudgeScores, *, is_empty: bool) -> dict[str, Any]:
    """The annotations as MedHELM's jury annotator leaves them."""
    if is_empty:
        return {"prompt_text": None, "empty_output_equivalence_judgement": False}
    annotations = {
        judge: {name: {"score": score, "explanation": "x"} for name, score in scores.items()}
        for judge, scores in judge_scores.items()
        if scores is not None
    }
    return {"prompt_text": "Judge.", **annotations}


def test_jury_score(medhelm: Peer) -> None:
    rng = chooser("jury")
    rows = [row(rng.choice(["an answer", noise(rng), ""]), []) for _ in range(1000)]
    cases = [
        (random_scores(rng), not example["completions"][0]["text"].strip()) for example in rows
    ]
    medhelm_rows = [
        {**example, "annotations": stored_annotations(judge_scores, is_empty=empty)}
        for example, (judge_scores, empty) in zip(rows, cases, strict=True)
    ]
    states = [
        state(example, verdicts_of(judge_scores, is_empty=empty))
        for example, (judge_scores, empty) in zip(rows, cases, strict=True)
    ]
    for default in (1.0, 0.0):
        theirs = medhelm.ask("jury", judges=JUDGES, default=default, rows=medhelm_rows)
        own_values = ours("jury_score", states, stat_name="score", default_score=str(default))
        assert differing(own_values, theirs, ["score"], MEDHELM) == []
        # No value here where a judge failed on an answer that is one.
        for index in differing(own_values, theirs, ["score"]):
            judge_scores, is_empty = cases[index]
            assert not all(judge_scores.values()) and not is_empty


def reply(rng: random.Random) -> str:
    """A judge's text: a sound verdict alone, fenced or in prose, or none at all."""
    verdict = {
        name: {"score": rng.choice([1, 2, 3, 4, 5, 3.5, "4"]), "explanation": noise(rng, 5)}
        for name in rng.sample(CRITERIA, len(CRITERIA))
    }
    indent, is_ascii = rng.choice([None, 2]), rng.random() < 0.5
    sound = json.dumps(verdict, indent=indent, ensure_ascii=is_ascii)
    fenced, in_prose = f"```json\n{sound}\n```", f"Here it is:\n{sound}\nThat is all."
    verdict.pop(CRITERIA[0])
    unusable = ["I cannot rate this.", "", json.dumps(verdict), sound[: len(sound) // 2], "[1, 2]"]
    return rng.choice([sound, fenced, in_prose]) if rng.random() < 0.7 else rng.choice(unusable)


def test_replies_that_hold_one_sound_verdict_or_none(medhelm: Peer) -> None:
    rng = chooser("replies")
    rubric = Rubric(
        name="r",
        template="",
        criteria=tuple(Criterion(name=name) for name in CRITERIA),
        version="",
    )
    rows = [
        {**row("an answer", []), "replies": {judge: reply(rng) for judge in JUDGES}}
        for _ in range(3 * NUM_ROWS)
    ]

    def read(judge: str, text: str) -> Verdict:
        scores = parse_verdict(text, rubric)
        status = FAILED if scores is None else VerdictStatus.OK
        return Verdict(annotator="jury", judge=judge, status=status, scores=scores or ())

    states = [state(one, [read(*pair) for pair in one["replies"].items()]) for one in rows]
    theirs = medhelm.ask("replies", criteria=CRITERIA, rows=rows)
    assert (
        differing(ours("jury_score", states, stat_name="score"), theirs, ["score"], MEDHELM) == []
    )


def rubrics(real_data: Path) -> list[list[dict[str, Any]]]:
    """The rubric items of every HealthBench instance."""
    lines = json_lines(real_data / "healthbench" / "hive_lite_hard50.jsonl")
    return [
        [{"criterion": one["criterion"], "points": one["points"]} for one in line["rubrics"]]
        for line in lines
    ]


def random_verdicts(
    rng: random.Random, items: list[dict[str, Any]], reply_share: float
) -> dict[str, list[Any]]:
    """Of each judge, whether each item is met; None where its reply was of no use."""

    def random_verdict():
        return rng.random() < 0.5 if rng.random() < reply_share else None

    return {judge: [random_verdict() for _ in items] for judge in JUDGES}


def as_verdicts(met_items: dict[str, list[Any]], ratings: dict[str, int | None]) -> list[Verdict]:
    def verdict(annotator: str, judge: str, value: float | None, item: int | None) -> Verdict:
        scores = () if value is None else (CriterionScore(criterion="c", score=float(value)),)
        status = FAILED if value is None else VerdictStatus.OK
        return Verdict(
            annotator=annotator, judge=judge, status=status, scores=scores, rubric_item=item
        )

    items = [
        verdict("items", judge, is_met, index)
        for judge, judge_items in met_items.items()
        for index, is_met in enumerate(judge_items)
    ]
    return items + [verdict("physician", judge, rating, None) for judge, rating in ratings.items()]


def replies(met_items: dict[str, list[Any]], ratings: dict[str, int | None]) -> list[Any]:
    """The replies that MedHELM's annotator gets, in the order of its requests."""

    def verdict(value: Any) -> dict[str, Any] | None:
        return None if value is None else {"criteria_met": value, "explanation": "x"}

    return [
        verdict(value)
        for judge, values in met_items.items()
        for value in (*values, *([ratings[judge]] if judge in ratings else []))
    ]


def medhelm_row(
    items: list[dict[str, Any]], met_items: Any, ratings: Any, answer: str
) -> dict[str, Any]:
    """A row for MedHELM; ours has the rubric in a form of its own."""
    extra = {"rubrics": items, **({"physician_response": "x"} if ratings else {})}
    return {
        **row(answer, [], extra_data=extra),
        "judges": [*met_items],
        "replies": replies(met_items, ratings),
    }


def own_scores(metric: str, cases: list[Any], **params: str) -> list[Any]:
    states = []
    for items, met_items, ratings, answer in cases:
        rubric = items_text(
            RubricItem(criterion=one["criterion"], points=one["points"]) for one in items
        )
        example = row(answer, [], extra_data={"rubric_items": rubric})
        states.append(state(example, as_verdicts(met_items, ratings)))
    return ours(metric, states, annotator="items", **params)


def test_health_bench(medhelm: Peer, real_data: Path) -> None:
    rng, item_lists = chooser("health bench"), rubrics(real_data)
    cases = [
        (
            items,
            random_verdicts(rng, items, rng.choice([1.0, 0.9])),
            {},
            rng.choice(["an answer"] * 9 + [" "]),
        )
        for items in rng.choices(item_lists, k=2 * NUM_ROWS)
    ]
    theirs = medhelm.ask(
        "health_bench", professional=False, rows=[medhelm_row(*case) for case in cases]
    )
    own_stats = own_scores("health_bench", cases)
    own_values = [
        {
            "score": one["health_bench_score"],
            "score@medhelm-0.8": one["health_bench_score@medhelm-0.8"],
        }
        for one in own_stats
    ]
    assert differing(own_values, theirs, ["score"], MEDHELM) == []
    for index in differing(own_values, theirs, ["score"]):
        items, met_items, _, answer = cases[index]
        is_plain = all(one["points"] >= 0 for one in items) and all(
            None not in values for values in met_items.values()
        )
        assert not (is_plain and answer.strip())


def test_health_bench_without_items_that_take_away(medhelm: Peer, real_data: Path) -> None:
    """The authors' rule and MedHELM's are one where no points are negative and no verdict fails."""
    rng = chooser("earning")
    item_lists = [[one for one in items if one["points"] > 0] for items in rubrics(real_data)]
    cases = [
        (items, random_verdicts(rng, items, 1.0), {}, "an answer")
        for items in rng.choices(
            [items_left for items_left in item_lists if items_left], k=NUM_ROWS
        )
    ]
    theirs = medhelm.ask(
        "health_bench", professional=False, rows=[medhelm_row(*case) for case in cases]
    )
    own_values = [{"score": one["health_bench_score"]} for one in own_scores("health_bench", cases)]
    assert differing(own_values, theirs, ["score"]) == []


def test_health_bench_professional(medhelm: Peer, real_data: Path) -> None:
    rng, item_lists = chooser("professional"), rubrics(real_data)
    cases = []
    for items in rng.choices(item_lists, k=NUM_ROWS):
        ratings = {judge: rng.choice([None, *range(1, 11)]) for judge in JUDGES}
        cases.append(
            (items, random_verdicts(rng, items, rng.choice([1.0, 0.9])), ratings, "an answer")
        )
    theirs = medhelm.ask(
        "health_bench", professional=True, rows=[medhelm_row(*case) for case in cases]
    )
    own_stats = own_scores("health_bench_professional", cases, compared_by="physician")
    name = f"health_bench_professional_score{MEDHELM}"
    assert differing([{"score": one[name]} for one in own_stats], theirs, ["score"]) == []
