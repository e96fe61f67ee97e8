"""Looks at a release of a model behind a server that moves, does not, fails and comes back."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.cli.exit_codes import INCONCLUSIVE, NO_GO, OUTAGE
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.errors import ConfigError, LakeError, UnknownNameError
from medhelm_spark.lake.session import is_started
from tests.unit.evidence.planted import plant_status, plant_suite_release
from tests.unit.watch.served import MODEL, RELEASE, SUITE, Served

Make = Callable[..., Served]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Served] = []

    def served(cases: int, **more: Any) -> Served:
        made.append(Served(tmp_path, cases, **more))
        return made[-1].released()

    yield served
    for each in made:
        each.close()
    assert not is_started()


def test_a_model_that_did_not_move(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    ward = make(200)
    before = ward.evaluation.board(SUITE).render("json"), ward.evaluation.board(release=RELEASE)
    for _ in range(2):
        assert ward.watch("--margin", "0.05", "--answers-margin", "0.05") == 0
    assert sorted(ward.calls) == sorted([*range(200)] * 2), "each look asks the model again"
    assert "NOT MOVED: look 2 at release r1" in capsys.readouterr().out
    (row,) = ward.results(2)
    assert (row["verdict"], row["n"], row["difference"], row["p_value"]) == ("not moved", 200, 0, 1)
    assert row["valid_low"] < row["low"] < 0 < row["high"] < row["valid_high"]
    after = ward.evaluation.board(SUITE).render("json"), ward.evaluation.board(release=RELEASE)
    assert after == before
    assert ward.evaluation.board().render("json") == before[0], "no look is the newest suite"


def test_a_model_that_lost(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    ward = make(200)
    assert ward.watch("--margin", "0.05") == 0
    ward.lost = lambda case: case % 5 == 0
    assert ward.watch("--margin", "0.05") == NO_GO
    assert "MOVED: look 2 at release r1: Cases: exact_match of ward/served" in (
        capsys.readouterr().out
    )
    (row,) = ward.results(2)
    assert (row["before"], row["now"]) == (1.0, 0.8)
    assert row["difference"] == pytest.approx(-0.2)
    assert row["p_value"] < 0.05
    assert row["high"] < -0.05
    (answers,) = ward.results(2, "answers")
    assert (answers["verdict"], answers["now"]) == ("shown", 0.2)
    assert json.loads(ward.evaluation.board(f"watch/{RELEASE}").render("json"))["cells"][0][
        "mean"
    ] == pytest.approx(0.8)
    ward.lost = lambda case: False
    assert ward.watch("--margin", "0.05") == 0, "it is as it was: nothing has moved now"
    looks = ward.evaluation.watch.looks(RELEASE)
    assert [look.verdict.value for look in looks.looks] == ["not moved", "moved", "not moved"]
    assert ward.command("looks", RELEASE, "--format", "csv") == 0


def test_few_instances_decide_nothing_and_are_the_same_each_time(make: Make) -> None:
    ward = make(200)
    for _ in range(2):
        assert ward.watch("--margin", "0.05", "--sample", "30") == INCONCLUSIVE
    first, second = ward.calls[:30], ward.calls[30:]
    assert sorted(first) == sorted(second)
    assert len(set(first)) == 30
    assert sorted(first) != list(range(30))
    assert ward.watch("--margin", "0.05", "--sample", "40") == INCONCLUSIVE
    assert set(first) < set(ward.calls[60:]), "a larger sample contains the smaller one"


def test_other_answers_of_the_same_mean_move_the_answers_alone(make: Make) -> None:
    ward = make(200)
    ward.lost = lambda case: case < 40
    ward.released("r2", "second", ask_again="2024-01-01")
    ward.lost = lambda case: case >= 160
    margins = ("--margin", "0.3", "--answers-margin", "0.1")
    assert ward.command("watch", "r2", *margins) == NO_GO
    (scores,), (answers,) = ward.results(1), ward.results(1, "answers")
    assert (scores["verdict"], scores["difference"]) == ("not moved", 0.0)
    assert (answers["verdict"], answers["now"], answers["valid_high"]) == ("moved", 0.4, 1.0)


def test_an_outage_ends_a_look_and_the_same_command_goes_on_with_it(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    ward = make(120)
    ward.healthy_for = 50
    assert ward.watch("--margin", "0.05") == OUTAGE
    assert "the same command" not in capsys.readouterr().out
    assert ward.rows("watch_results") == []
    num_calls = len(ward.calls)
    assert 0 < num_calls <= 50
    ward.healthy_for = 10**9
    assert ward.watch("--margin", "0.05") in (0, INCONCLUSIVE)
    assert "look 1 at r1 goes on" in capsys.readouterr().err
    assert sorted(ward.calls) == [*range(120)], "nothing is asked twice for one look"
    assert {row["look"] for row in ward.rows("watch_results")} == {1}


def test_a_look_that_asks_something_else_is_another_one(make: Make) -> None:
    ward = make(60)
    ward.healthy_for = 0
    assert ward.watch("--margin", "0.05") == OUTAGE
    ward.healthy_for = 10**9
    assert ward.watch("--margin", "0.05", "--sample", "20") == INCONCLUSIVE
    assert sorted(row["look"] for row in ward.rows("watch_looks")) == [1, 2]


def test_a_group_that_lost_alone_is_found_and_a_small_one_is_hidden(make: Make) -> None:
    ward = make(400, level="private", groups=["sex", "ward"])
    ward.lost = lambda case: case % 4 < 2 and case % 3 == 0
    assert ward.watch("--margin", "0.1") == NO_GO
    groups = {(row["group_column"], row["group_value"]): row for row in ward.results(1, "group")}
    assert groups["sex", "m"]["verdict"] == "moved"
    assert groups["sex", "f"]["verdict"] == "not moved"
    assert ("ward", "tiny") not in groups
    hidden_with_it = {"n", "s"} - {value for column, value in groups if column == "ward"}
    assert hidden_with_it, "or the small group could be computed from the others"


def test_another_setting_of_the_model_is_another_fingerprint(make: Make) -> None:
    ward = make(150)
    ward.deploy(model="other-weights")
    assert ward.watch("--margin", "0.05") == NO_GO
    found = {row["name"]: row for row in ward.results(1, "fingerprint")}
    assert found["settings"]["verdict"] == "moved"
    assert found["settings"]["reason"].startswith("was ")
    assert found["data"]["verdict"] == "not moved"


def test_newer_data_is_another_fingerprint_and_the_release_is_asked_by_its_own(make: Make) -> None:
    ward = make(150)
    ward.write_cases(" of today")
    ward.evaluation.run(ward.entry, suite="other", upto="plan")
    assert ward.watch("--margin", "0.05") == NO_GO
    found = {row["name"]: row["verdict"] for row in ward.results(1, "fingerprint")}
    assert found == {"settings": "not moved", "engine": "not moved", "data": "moved"}
    (row,) = ward.results(1)
    assert (row["verdict"], row["n"]) == ("not moved", 150)


def test_a_look_leaves_the_scores_of_the_release_as_they_were(make: Make) -> None:
    ward = make(60)
    before = [row for row in ward.rows("runs") if row["stage"] == SCORE.name]
    ward.lost = lambda case: True
    assert ward.watch("--margin", "0.05") == NO_GO
    units = {row["unit_id"] for row in before}
    after = [row for row in ward.rows("runs") if row["stage"] == SCORE.name]
    assert [row for row in after if row["unit_id"] in units] == before
    (looked,) = [row for row in after if row["unit_id"] not in units]
    assert looked["suite"] == f"watch/{RELEASE}"


def test_who_was_asked_is_on_record_as_for_a_run(make: Make) -> None:
    ward = make(30)
    assert ward.watch("--margin", "0.05") == INCONCLUSIVE
    decided = [row for row in ward.rows("policy_decisions") if row["suite"] == f"watch/{RELEASE}"]
    assert [(row["role"], row["model_deployment"]) for row in decided] == [("model", MODEL)]
    sent = ward.evaluation.governance.disclosures()
    assert sum(row["texts"] for row in sent.rows() if not row["is_bound"]) == 60


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("small"), 20).released()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({}, ConfigError, "give --margin"),
        ({"margin": 0.0}, ConfigError, "margin (--margin) is 0; allowed"),
        ({"margin": 1.0}, ConfigError, "above 0 and below 1"),
        ({"margin": 0.1, "answers_margin": 1.5}, ConfigError, "answers_margin (--answers-margin)"),
        ({"margin": 0.1, "sample": 0}, ConfigError, "sample (--sample) is 0"),
        ({"margin": 0.1, "models": "ward/other"}, UnknownNameError, "ward/other"),
        ({"margin": 0.1, "scenarios": "other"}, UnknownNameError, "other"),
        ({"margin": 0.1, "metric": "other"}, UnknownNameError, "other"),
        ({"margin": 0.1, "release": "r9"}, LakeError, "no release 'r9'"),
    ],
    ids=[
        *("no margin", "margin of nothing", "margin as wide as the scale", "share above one"),
        *("empty sample", "unknown model", "unknown scenario", "unknown metric", "no release"),
    ],
)
def test_what_means_nothing_is_refused_before_anybody_is_asked(
    small: Served, options: dict[str, Any], error: type[Exception], why: str
) -> None:
    arguments = {"release": RELEASE} | options
    with pytest.raises(error) as raised:
        small.evaluation.watch.look(**arguments)
    assert why in str(raised.value)
    assert small.calls == []


def test_a_release_that_was_withdrawn_is_not_watched(small: Served) -> None:
    written = plant_suite_release(small.lake, SUITE, "withdrawn", now())
    plant_status(small.lake, "withdrawn", written, ReleaseStatus.WITHDRAWN, "wrong key")
    with pytest.raises(ConfigError, match="is withdrawn"):
        small.evaluation.watch.look("withdrawn", margin=0.1)
    assert small.calls == []


def test_evidence_has_the_looks(make: Make, tmp_path: Path) -> None:
    ward = make(60)
    out = tmp_path / "without"
    ward.evaluation.evidence.make(RELEASE, "chai", out)
    assert "nobody has looked at the release again" in (out / "index.html").read_text()
    ward.lost = lambda case: True
    assert ward.watch("--margin", "0.05") == NO_GO
    out = tmp_path / "with"
    ward.evaluation.evidence.make(RELEASE, "chai", out)
    assert "-1.000 [" in (out / "index.html").read_text()
