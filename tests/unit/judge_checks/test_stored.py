"""The scores of a jury's stored verdicts, and of the ratings beside them."""

from pathlib import Path

import pytest

from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.judge_checks import check
from medhelm_spark.judge_checks.lines import EvidenceLine
from medhelm_spark.judge_checks.stored import score_of
from medhelm_spark.judge_checks.stored_lines import StoredEvidence, stored_lines
from tests.unit.judge_checks.judges import TWO_CRITERIA
from tests.unit.judge_checks.ward import Ward

SCALED = f"""---
criteria:
  - {{name: accuracy, minimum: 1, maximum: 5}}
  - {{name: clarity, minimum: 1, maximum: 5}}
---
{TWO_CRITERIA}"""
CRITERIA = (Criterion(name="accuracy"), Criterion(name="clarity"))
RUBRIC = Rubric(name="decision", template="", criteria=CRITERIA, version="1")
BAD, GOOD = {"accuracy": 1.0, "clarity": 5.0}, {"accuracy": 5.0, "clarity": 5.0}


def test_an_answer_that_most_judges_find_at_a_gates_worst_has_the_lowest_score() -> None:
    gate = {"hard_gate": "accuracy"}
    assert score_of(RUBRIC, [BAD], {}, gate) == 1.0
    assert score_of(RUBRIC, [BAD, BAD, GOOD], {}, gate) == 1.0
    assert score_of(RUBRIC, [BAD, GOOD], {}, gate) == 4.0
    assert score_of(RUBRIC, [BAD], {}, {"hard_gate": "clarity"}) == 3.0
    assert score_of(RUBRIC, [BAD], {}, {}) == 3.0


def test_a_check_reads_the_scores_of_the_board_and_ratings_by_the_same_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = {"hard_gate": "accuracy"}
    ward = Ward(tmp_path / "site", "inaccurate", prompt=TWO_CRITERIA, rubric=SCALED, args=args)
    ward.run().rate()
    seen: list[StoredEvidence] = []

    def watched(evidence: StoredEvidence) -> list[EvidenceLine]:
        seen.append(evidence)
        return stored_lines(evidence)

    monkeypatch.setattr(check, "stored_lines", watched)
    ward.check(items=0)
    (evidence,) = seen
    stored = {
        (row["run_spec_id"], row["instance_id"], row["trial_index"]): stat["value"]
        for row in ward.rows("per_instance_stats")
        for stat in row["stats"]
        if stat["name"] == "jury_score"
    }
    assert evidence.verdicts.of_jury == stored
    assert 1.0 in stored.values()
    assert evidence.people.means.keys() == stored.keys()


def test_answers_whose_ratings_lack_a_criterion_of_the_jury_have_no_mean(
    tmp_path: Path,
) -> None:
    ward = Ward(tmp_path / "site", prompt=TWO_CRITERIA).run().rate(criteria=["accuracy"])
    done = ward.check(items=0)
    order = next(line for line in done.lines if line.name == "order of models")
    assert "nobody rated an answer" in order.note
