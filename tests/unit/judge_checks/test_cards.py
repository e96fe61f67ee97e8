"""What a judge card does to boards and to the gate of releases, and when it stops."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from medhelm_spark.board import choose, load_runs
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.judge_checks import cards
from medhelm_spark.judge_checks.cards import hash_of, trusted_runs
from medhelm_spark.lake.reader import open_reader
from tests.unit.board.planted import append
from tests.unit.judge_checks.ward import Ward


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Ward:
    return Ward(tmp_path_factory.mktemp("ward") / "site").run().rate()


def evidence(ward: Ward) -> set[str]:
    return {row["jury_evidence"] for row in ward.evaluation.board("s").rows()}


def test_a_trusted_jury_is_validated_until_its_card_ends_or_another_says_no(
    rated: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evidence(rated) == {"not validated"}
    rated.check(items=0)
    assert evidence(rated) == {"not validated"}, "nothing was planted: no card trusts it"
    done = rated.check()
    assert set(done.card.trusted) == {"rank", "absolute", "screen"}
    assert evidence(rated) == {"validated"}
    assert "*" not in rated.evaluation.board("s").render("csv")
    rated.check(items=0)
    assert evidence(rated) == {"validated"}, "a card that decides nothing takes nothing away"

    later = datetime.now(UTC) + timedelta(days=91)
    with monkeypatch.context() as patch:
        patch.setattr(cards, "now", lambda: later)
        assert evidence(rated) == {"not validated"}

    forged = replace(done.card, ends_at=later + timedelta(days=900))
    append(rated.lake, "judge_cards", [forged], "forged")
    with monkeypatch.context() as patch:
        patch.setattr(cards, "now", lambda: later)
        assert evidence(rated) == {"not validated"}, "a card that was changed counts for nothing"

    reader = open_reader(str(rated.lake))
    runs = load_runs(reader, choose(reader, "s"))
    assert trusted_runs(reader, runs) == {run.run_spec.run_spec_id for run in runs}

    (rated.site / "policy.yaml").write_text("judge_checks: {agreement: 0.999}\n")
    rated.check(items=0)
    assert evidence(rated) == {"untrusted"}, "the newest card that decides counts"
    text = str(rated.evaluation.board("s"))
    assert "a jury that a judge card calls UNTRUSTED" in text


def test_the_gate_names_the_card_that_calls_a_jury_untrusted(tmp_path: Path) -> None:
    ward = Ward(tmp_path / "site", "top").run().rate()
    policy = "release: {require: {validated_judges: true, no_demo_juries: true}}\n"
    (ward.site / "policy.yaml").write_text(policy)
    ward.evaluation.releases.publish("r", "s")

    def found() -> dict[str, set[tuple[str, str]]]:
        rows = list(ward.evaluation.releases.gate("r").rows())
        return {
            name: {(row["outcome"], row["reason"]) for row in rows if row["requirement"] == name}
            for name in ("validated_judges", "no_demo_juries")
        }

    before = found()
    assert {outcome for outcome, _ in before["no_demo_juries"]} == {"passed"}
    ((outcome, reason),) = before["validated_judges"]
    assert outcome == "failed"
    assert "medhelm-spark judge check --suite s --scenario ward (with -r" in reason
    card = ward.check().card
    assert "rank" in card.untrusted
    named = f"judge card {card.card_id[:8]} of {card.checked_at:%Y-%m-%d} calls its jury UNTRUSTED"
    ((_, reason),) = found()["validated_judges"]
    assert reason.startswith(named)


def test_a_lake_that_recorded_demo_judges_alone_is_completed_by_the_next_run(
    tmp_path: Path,
) -> None:
    ward = Ward(tmp_path / "site").run()
    num_asked = len(ward.asked)

    def rows() -> list[SuiteRun]:
        found = open_reader(str(ward.lake)).rows("SELECT * FROM {run_specs}", SuiteRun)
        return sorted(found, key=lambda row: row.planned_at)

    second = timedelta(seconds=1)
    older = [replace(row, is_jury_demo=None, planned_at=row.planned_at + second) for row in rows()]
    append(ward.lake, "run_specs", older, "older")
    ward.run()
    newest = {row.name: row for row in rows()}
    assert [row.is_jury_demo for row in newest.values()] == [False, False]
    assert len(rows()) == 6
    ward.run()
    assert len(rows()) == 6, "it is recorded once"
    assert len(ward.asked) == num_asked


def test_a_card_is_of_its_jury_alone(rated: Ward) -> None:
    reader = open_reader(str(rated.lake))
    runs = load_runs(reader, choose(reader, "s"))
    own = replace(
        rated.check(items=0).card,
        trusted=("rank", "absolute"),
        untrusted=(),
        jury_part="another by x 1",
    )
    own = replace(own, checked_at=datetime.now(UTC), card_id="")
    append(rated.lake, "judge_cards", [replace(own, card_id=hash_of(own))], "other")
    assert trusted_runs(open_reader(str(rated.lake)), runs) == frozenset()
