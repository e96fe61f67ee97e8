"""What a check asks, keeps, leaves as it was, and how it ends."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import FAILED, INCONCLUSIVE, NO_GO
from medhelm_spark.errors import ConfigError, PolicyError, UnknownNameError
from medhelm_spark.judge_checks.cards import CHANGED, CURRENT, ENDED, status_of
from medhelm_spark.judge_checks.lines import LineOutcome, Trust, Use
from medhelm_spark.judge_checks.planting import INSTRUCTIONS
from medhelm_spark.judge_checks.results import JudgeCheck
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.lake.reader import open_reader
from tests.unit.judge_checks.ward import MODELS, PLUGIN, Ward


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Ward:
    """A sound jury's ward without ratings, which the tests of this file only add to."""
    return Ward(tmp_path_factory.mktemp("ward") / "site").run()


def board_of(ward: Ward) -> str:
    return ward.evaluation.board("s").render("json")


def line_of(done: JudgeCheck, name: str):
    return next(line for line in done.lines if line.name == name)


def test_nothing_stored_changes_and_a_repeated_check_asks_nobody(judged: Ward) -> None:
    board = board_of(judged)
    tables = ("annotations", "per_instance_stats", "stats", "ratings")
    before = {name: judged.rows(name) for name in tables}
    sent = len(judged.asked)
    judged.check(items=10)
    assert board_of(judged) == board
    assert {name: judged.rows(name) for name in tables} == before
    asked = len(judged.asked)
    assert asked > sent
    judged.check(items=10)
    assert len(judged.asked) == asked, "the second check reads the cache"
    judged.run()
    assert len(judged.asked) == asked
    assert {name: judged.rows(name) for name in tables} == before
    assert board_of(judged) == board


def test_no_items_ask_nobody_and_without_ratings_nothing_is_trusted(judged: Ward) -> None:
    asked = len(judged.asked)
    done = judged.check(items=0)
    assert len(judged.asked) == asked
    assert {use.trust for use in done.uses} == {Trust.INCONCLUSIVE}
    (rank,) = [use for use in done.uses if use.use is Use.RANK]
    assert "order of models" in rank.because
    assert "rate 30 more answers" in rank.cures
    assert line_of(done, "length").note.startswith("plain slope")


def test_planted_texts_are_prompts_of_their_level_and_in_no_table_of_the_feature(
    judged: Ward,
) -> None:
    judged.check(items=10)
    shown = [json.dumps(row["messages"]) for row in judged.rows("prompts")]
    assert sum(any(text in prompt for prompt in shown) for text in INSTRUCTIONS) == 10
    kept = json.dumps([judged.rows("planted_verdicts"), judged.rows("judge_cards")], default=str)
    assert "Greg" not in kept
    assert "Sign a" not in kept


def test_a_policy_that_forbids_the_judge_is_asked_before_anything_is_sent(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site").run()
    asked = len(ward.asked)
    (ward.site / "policy.yaml").write_text("allowed: {public: [external]}\n")
    with pytest.raises(PolicyError, match="the judge 'court/judge'"):
        ward.check(items=5)
    assert len(ward.asked) == asked
    assert ward.rows("planted_verdicts") == []
    refused = [row for row in ward.rows("policy_decisions") if not row["allowed"]]
    assert [row["run_name"] for row in refused] == ["judge check of ward"]


def test_a_jury_that_is_not_the_one_that_judged_is_refused(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site").run()
    path = ward.folder / "judge.txt"
    path.write_text(path.read_text() + "\nBe strict.")
    with pytest.raises(ConfigError, match="no stored verdict of suite 's'"):
        ward.check(items=0)


def test_what_is_asked_wrongly_is_refused(judged: Ward) -> None:
    with pytest.raises(UnknownNameError, match=r"--jury: unknown jury 'other'"):
        judged.check(jury="other")
    with pytest.raises(UnknownNameError, match="unknown use 'praise'"):
        judged.check(uses="praise")
    with pytest.raises(ConfigError, match="items is -1"):
        judged.check(items=-1)
    with pytest.raises(ConfigError, match="--run-entries"):
        judged.evaluation.judges.check(scenario="ward", suite="s", items=0)


def test_a_card_is_stored_listed_and_ends(judged: Ward) -> None:
    done = judged.check(items=0)
    held = judged.evaluation.judges.cards()
    assert held.cards[0] == done.card
    card = done.card
    assert status_of(card, card.checked_at) == CURRENT
    assert status_of(card, card.checked_at + timedelta(days=89)) == CURRENT
    assert status_of(card, card.checked_at + timedelta(days=90)) == ENDED
    assert status_of(replace(card, trusted=("rank",)), card.checked_at) == CHANGED
    (first, *_) = held.rows()
    assert (first["card_id"], first["status"]) == (card.card_id, CURRENT)
    rows = open_reader(str(judged.lake)).rows("SELECT * FROM {judge_cards}", JudgeCard)
    assert card in rows


@pytest.mark.parametrize("form", ["table", "md", "csv", "json", "html"])
def test_a_check_renders_in_every_form(judged: Ward, form: str) -> None:
    text = judged.check(items=0).render(form)
    assert "order of models" in text
    assert ("INCONCLUSIVE" in text) is (form != "csv")


def test_the_exit_code_is_the_verdict_on_the_uses_that_were_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ward = Ward(tmp_path / "site", "dose").run().rate()

    def command(*more: str) -> int:
        flags = ["-o", str(ward.lake), "--local-path", str(ward.site), "--plugins", PLUGIN]
        entries = ["-r", *(f"{ward.entry},model={model}" for model in MODELS)]
        return main(["judge", "check", "--scenario", "ward", *flags, *entries, *more])

    assert command("--items", "60", "--for", "screen") == NO_GO
    assert "screen: UNTRUSTED: wrong dose." in capsys.readouterr().out
    assert command("--items", "60", "--for", "rank", "--for", "absolute") == 0
    assert command("--items", "0", "--for", "screen") == INCONCLUSIVE
    assert command("--items", "3", "--for", "rank") == INCONCLUSIVE
    assert main(["judge", "check", "-o", str(ward.lake)]) == FAILED


def test_limits_are_the_policys(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site").run().rate()
    policy = "judge_checks: {agreement: 0.99, days: 7}\n"
    (ward.site / "policy.yaml").write_text(policy)
    done = ward.check(items=0)
    assert line_of(done, "agreement with raters").outcome is LineOutcome.FAILED
    assert done.card.ends_at - done.card.checked_at == timedelta(days=7)
    (ward.site / "policy.yaml").write_text("judge_checks: {agreement: 2}\n")
    with pytest.raises(ConfigError, match=r"judge_checks\.agreement is 2"):
        ward.check(items=0)
