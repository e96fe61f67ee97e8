"""What the evidence of looks contains about a line, and which answers differ."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Completion, FinishReason
from medhelm_spark.statistics.always_valid import (
    betting_interval,
    log_evidence_below,
    look_share,
    unit_totals,
)
from medhelm_spark.watch.answers import AnswerPair, changed
from medhelm_spark.watch.lines import DriftLine, decided, verdict_of
from medhelm_spark.watch.tables import DriftVerdict, WatchedPart, WatchResult

BLANK = WatchResult(
    release="r",
    manifest_hash="m",
    look=1,
    looked_at=datetime(2026, 1, 1, tzinfo=UTC),
    part=WatchedPart.SCORES,
    run_spec_id="u",
    scenario_name="cases",
    model_deployment="ward/a",
    name="exact_match",
    group_column="",
    group_value="",
    access_level=AccessLevel.PUBLIC,
    verdict=DriftVerdict.OPEN,
)


def line(lost: int, n: int, margin: float | None = 0.02, **more: object) -> DriftLine:
    values = np.array([-1.0] * lost + [0.0] * (n - lost))
    totals = unit_totals(values, None, -1.0, 1.0)
    low, high = betting_interval(totals, 0.05)
    row = replace(BLANK, margin=margin, low=low, high=high, **more)
    return DriftLine(row=row, totals=totals)


def looks(lost: list[int], n: int, margin: float = 0.02) -> list[WatchResult]:
    """The row of each look of a watch of one line."""
    rows: list[WatchResult] = []
    for number, each in enumerate(lost, start=1):
        (row,) = decided([line(each, n, margin, look=number)], rows, number)
        rows.append(row)
    return rows


def test_one_line_has_the_whole_share_by_its_two_sides() -> None:
    (row,) = looks([0], 200)
    assert row.share == look_share(1) / 2
    assert row.log_e_below == pytest.approx(log_evidence_below(line(0, 200).totals, -0.02))


def test_groups_and_answers_share_the_other_half() -> None:
    groups = [line(0, 50, part=WatchedPart.GROUP, group_value=value) for value in "abc"]
    answers = replace(line(0, 50, part=WatchedPart.ANSWERS), is_one_sided=True)
    rows = decided([line(0, 50), *groups, answers], [], 4)
    main, *others = (row.share for row in rows)
    assert main == look_share(4) / 2 / 2
    assert others == [look_share(4) / 2 / 7] * 4
    assert 2 * main + 6 * others[0] + others[-1] == pytest.approx(look_share(4))


def test_a_loss_is_found_by_the_sum_of_looks() -> None:
    rows = looks([0, 0] + [41] * 30, 1000)
    found = [row.look for row in rows if row.verdict is DriftVerdict.MOVED]
    assert found == list(range(found[0], 33)), "and from then on"
    assert found[0] > 3, "not by a single look"
    total = sum((row.share or 0) * math.exp(row.log_e_below or 0) for row in rows)
    assert rows[-1].p_value == pytest.approx(1 / total)


def test_what_came_back_has_moved_no_more() -> None:
    rows = looks([120, 120, 0], 1000)
    assert [row.verdict.value for row in rows] == ["moved", "moved", "not moved"]
    assert rows[-1].p_value == pytest.approx(rows[-2].p_value, rel=0.5)


def test_evidence_against_a_narrower_margin_is_none_against_a_wider_one() -> None:
    first = looks([120, 120], 1000, margin=0.02)
    alone = decided([line(120, 1000, 0.1, look=3)], [], 3)
    after = decided([line(120, 1000, 0.1, look=3)], first, 3)
    assert after == alone
    wider = looks([170, 170], 1000, margin=0.1)
    (narrow,) = decided([line(0, 1000, 0.02, look=3)], wider, 3)
    (without,) = decided([line(0, 1000, 0.02, look=3)], [], 3)
    assert (narrow.p_value or 0) < (without.p_value or 0)


def test_few_scores_are_not_said_to_be_the_same() -> None:
    (row,) = decided([line(0, 1000, reason="fewer answers")], [], 1)
    assert row.verdict is DriftVerdict.OPEN


def test_a_line_without_a_margin_is_shown() -> None:
    (row,) = decided([replace(line(5, 100, None), is_one_sided=True)], [], 1)
    assert (row.verdict, row.share, row.p_value) == (DriftVerdict.SHOWN, None, None)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("scores", "not moved"), ("group", "cannot say yet")], "not moved"),
        ([("scores", "cannot say yet"), ("group", "not moved")], "cannot say yet"),
        ([("scores", "not moved"), ("answers", "shown")], "not moved"),
        ([("scores", "not moved"), ("answers", "cannot say yet")], "cannot say yet"),
        ([("scores", "not moved"), ("fingerprint", "moved")], "moved"),
        ([("scores", "cannot say yet"), ("group", "moved")], "moved"),
        ([], "cannot say yet"),
    ],
    ids=[
        *("open group", "open scores", "answers without a margin", "open answers"),
        *("fingerprint", "group that moved", "nothing"),
    ],
)
def test_the_verdict_of_a_look(parts: list[tuple[str, str]], expected: str) -> None:
    rows = [
        replace(BLANK, part=WatchedPart(part), verdict=DriftVerdict(verdict))
        for part, verdict in parts
    ]
    assert verdict_of(rows).value == expected


def answer(text: str) -> tuple[Completion, ...]:
    return (Completion(text=text, finish_reason=FinishReason.STOP),)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (answer("yes"), answer(" yes\n"), [False]),
        (answer("<think>so</think>yes"), answer("<think>or so</think>yes"), [False]),
        (answer("yes"), answer("no"), [True]),
        (answer("yes"), None, [True]),
        (None, answer("no"), [True]),
        (None, None, []),
    ],
    ids=["blanks", "thinking", "other", "none now", "none before", "none"],
)
def test_which_answers_are_other_ones(
    before: tuple[Completion, ...] | None, now: tuple[Completion, ...] | None, expected: list[bool]
) -> None:
    pair = AnswerPair(run_spec_id="u", instance_id="i", before=before, now=now)
    assert [each.is_changed for each in changed([pair])] == expected
