"""What a check asks, stores and leaves unchanged, and how it ends."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import FAILED, INCONCLUSIVE, NO_GO
from medhelm_spark.errors import ConfigError, PolicyError, UnknownNameError
from medhelm_spark.judge_checks.cards import CHANGED, CURRENT, ENDED, status_of
from medhelm_spark.judge_checks.lines import LineOutcome, Trust, Use
from medhelm_spark.judge_checks.planting import INSTRUCTIONS
from medhelm_spark.judge_checks.results import JudgeCheck
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.lake.reader import open_reader
from tests.unit.judge_checks.judges import CLASSES
from tests.unit.judge_checks.ward import MODELS, PLUGIN, QUESTIONS, Ward


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
    num_before = len(judged.asked)
    judged.check(items=10)
    assert board_of(judged) == board
    assert {name: judged.rows(name) for name in tables} == before
    num_asked = len(judged.asked)
    assert num_asked > num_before
    judged.check(items=10)
    assert len(judged.asked) == num_asked, "the second check reads the cache"
    judged.run()
    assert len(judged.asked) == num_asked
    assert {name: judged.rows(name) for name in tables} == before
    assert board_of(judged) == board


def test_no_items_ask_nobody_and_without_ratings_nothing_is_trusted(judged: Ward) -> None:
    num_asked = len(judged.asked)
    done = judged.check(items=0)
    assert len(judged.asked) == num_asked
    assert {use.trust for use in done.uses} == {Trust.INCONCLUSIVE}
    (rank,) = [use for use in done.uses if use.use is Use.RANK]
    assert "order of models" in rank.because
    assert "rate 30 more answers" in rank.cures
    assert line_of(done, "length").note.startswith("plain slope")


def test_the_order_of_models_counts_patients(tmp_path: Path) -> None:
    done = Ward(tmp_path / "site", patients=3).run().rate().check(items=0)
    order = line_of(done, "order of models")
    assert (order.value, order.low, order.outcome) == (1.0, None, LineOutcome.INCONCLUSIVE)


def test_planted_texts_are_prompts_of_their_level_and_in_no_table_of_the_feature(
    judged: Ward,
) -> None:
    judged.check(items=10)
    prompts = [json.dumps(row["messages"]) for row in judged.rows("prompts")]
    assert sum(any(text in prompt for prompt in prompts) for text in INSTRUCTIONS) == 10
    stored = json.dumps([judged.rows("planted_verdicts"), judged.rows("judge_cards")], default=str)
    assert "Greg" not in stored
    assert "Sign a" not in stored


def test_a_policy_that_forbids_the_judge_is_asked_before_anything_is_sent(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site").run()
    num_asked = len(ward.asked)
    (ward.site / "policy.yaml").write_text("allowed: {public: [external]}\n")
    with pytest.raises(PolicyError, match="the judge 'court/judge'"):
        ward.check(items=5)
    assert len(ward.asked) == num_asked
    assert ward.rows("planted_verdicts") == []
    refused = [row for row in ward.rows("policy_decisions") if not row["allowed"]]
    assert [row["run_name"] for row in refused] == ["judge check of ward"]


def test_a_jury_that_is_not_the_one_that_judged_is_refused(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site").run()
    path = ward.folder / "judge.txt"
    path.write_text(path.read_text() + "\nBe strict.")
    with pytest.raises(ConfigError, match="no stored verdict of suite 's'"):
        ward.check(items=0)


def test_where_no_answer_has_all_raters_their_agreement_is_alpha(tmp_path: Path) -> None:
    """Two of three raters rated each answer."""
    ward = Ward(tmp_path / "site").run().rate(per_item=2)
    done = ward.check(items=0)
    line = line_of(done, "raters among themselves")
    agreements = ward.evaluation.ratings.agreement(suite="s", scenario="ward")
    raters = next(row for row in agreements.rows() if row["who"] == "raters")
    assert (raters["icc_a1"], raters["num_complete"]) == (None, 0)
    assert (line.value, line.low, line.high) == (
        raters["alpha"],
        raters["alpha_low"],
        raters["alpha_high"],
    )
    assert line.note.startswith("Krippendorff's alpha; too few answers have all raters")
    beside = line_of(done, "agreement with raters").note
    assert beside == f"raters among themselves: Krippendorff's alpha {line.value:.2f}"
    annotator_test = line_of(done, "alternative annotator test")
    assert annotator_test.num_items >= 30 or "of each rater" in annotator_test.cure


def test_a_bad_answer_that_a_class_leaves_unscored_is_said_to_be_so(tmp_path: Path) -> None:
    done = Ward(tmp_path / "site", "unscored", rubric=CLASSES).run().check(items=20)
    line = line_of(done, "answer 'I don't know.'")
    assert line.outcome is LineOutcome.NOT_APPLICABLE
    assert line.note == "20 verdicts of 20 by a class without a score"
    other = line_of(done, "another question's answer")
    stuck = 20 - other.num_items
    assert 0 < stuck < 20
    note = f"scores that did not fall; {stuck} stored scores at the lowest value cannot fall"
    assert other.note == note


def test_an_entry_may_name_the_deployment_in_the_models_place(tmp_path: Path) -> None:
    """A deployment that is not called as its model, which the run entry names by `model`."""
    ward = Ward(tmp_path / "site")
    path = ward.site / "model_deployments.yaml"
    listed = yaml.safe_load(path.read_text())
    listed["model_deployments"][0] |= {"name": "house/good", "model_name": MODELS[0]}
    path.write_text(yaml.safe_dump(listed))
    entry = f"{ward.entry},model=house/good"
    ward.evaluation.run(entry, suite="s")
    done = ward.evaluation.judges.check(scenario="ward", suite="s", items=0, entries=entry)
    assert line_of(done, "coverage").num_items == QUESTIONS
    other = f"{ward.entry},max_eval_instances=4,model=house/good"
    with pytest.raises(ConfigError, match="it judged ward:model=house_good: an entry needs"):
        ward.evaluation.judges.check(scenario="ward", suite="s", items=0, entries=other)


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
    listed = judged.evaluation.judges.cards()
    assert listed.cards[0] == done.card
    card = done.card
    assert status_of(card, card.checked_at) == CURRENT
    assert status_of(card, card.checked_at + timedelta(days=89)) == CURRENT
    assert status_of(card, card.checked_at + timedelta(days=90)) == ENDED
    assert status_of(replace(card, trusted=("rank",)), card.checked_at) == CHANGED
    (first, *_) = listed.rows()
    assert (first["card_id"], first["status"]) == (card.card_id, CURRENT)
    rows = open_reader(str(judged.lake)).rows("SELECT * FROM {judge_cards}", JudgeCard)
    assert card in rows


@pytest.mark.parametrize("form", ["table", "md", "csv", "json", "html"])
def test_a_check_renders_in_every_form(judged: Ward, form: str) -> None:
    text = judged.check(items=0).render(form)
    assert "order of models" in text
    assert ("INCONCLUSIVE" in text) is (form != "csv")


def test_the_command_writes_a_card_as_a_page_with_the_verdicts_first(
    judged: Ward, tmp_path: Path
) -> None:
    file = tmp_path / "card.html"
    flags = ["-o", str(judged.lake), "--local-path", str(judged.site), "--plugins", PLUGIN]
    entries = [f"{judged.entry},model={model}" for model in MODELS]
    request = ["--scenario", "ward", "--suite", "s", "--items", "0", "-r", *entries]
    more = ["--format", "html", "--output-file", str(file)]
    assert main(["judge", "check", *flags, *request, *more]) == INCONCLUSIVE
    page = file.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>Judge card: jury ward on ward</title>" in page
    assert page.index("rank: INCONCLUSIVE") < page.index("<table>") < page.index("counts until")


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
