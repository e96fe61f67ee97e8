"""A candidate against a baseline: planted differences, gaps and failures, and what each decides."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from medhelm_spark import Evaluation
from medhelm_spark.candidate_gate.results import CandidateGate
from medhelm_spark.candidate_gate.verdict import GateVerdict
from medhelm_spark.cli import main
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.errors import ConfigError, LakeError, UnknownNameError
from medhelm_spark.lake import reader as lake_reader
from tests.unit.candidate_gate.planted import (
    NAME,
    NEW,
    OLD,
    ROUTINE,
    URGENT,
    Answered,
    alternating,
    instance,
    plant,
    plant_run,
    wrong_at,
)

GO, NO_GO, INCONCLUSIVE = GateVerdict
NO_WORSE = {"no_worse": {"margin": 0.05}}
MISSED = {"no_more_critical_failures": {"critical": {"missed_positives": True}, "margin": 0.05}}
GAP = {"no_wider_gap": {"by": ["site"], "margin": 0.1}}
COVERED = {"coverage": {"floor": 0.9}}


def write_gate(folder: Path, critical: Sequence[Any] = (), **keys: Any) -> Path:
    path = folder / "gate.yaml"
    path.write_text(yaml.safe_dump({"critical": list(critical), **keys}))
    return path


def site(lake: Path) -> Evaluation:
    return Evaluation(str(lake), site=None, tracking=False, say=lambda line: None)


def checked(folder: Path, answered: Answered, *critical: Any, **keys: Any) -> CandidateGate:
    lake = folder / "lake"
    if not lake.exists():
        plant(lake, answered)
    gate = write_gate(folder, critical, **keys)
    return site(lake).candidate_gate.check(gate, against="today", candidate=NEW, suite="new")


def of_1000(new_wrong: int, old_wrong: int = 200) -> Answered:
    """The models are wrong on different cases as far as they are not on the same."""
    right = alternating(1000)
    return Answered(
        right=right, old=wrong_at(right, range(old_wrong)), new=wrong_at(right, range(new_wrong))
    )


def test_an_equal_candidate_is_go_and_one_that_is_ten_points_worse_is_no_go(
    tmp_path: Path,
) -> None:
    for number, (wrong, verdict) in enumerate(((200, GO), (300, NO_GO))):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = checked(folder, of_1000(wrong), NO_WORSE)
        assert made.verdict is verdict
        (line,) = made.lines
        assert (line.scenario_name, line.measure, line.n) == (NAME, "exact_match", 1000)
        assert line.value == pytest.approx(0.2 - wrong / 1000)
        assert line.needed is None
        same = site(folder / "lake").compare  # the numbers are those of `compare`
        plant_run(folder / "lake", OLD, "new", of_1000(wrong), of_1000(wrong).old)
        (row,) = same(NEW, OLD, suite="new", margin=0.05).rows()
        assert (row["ci_low"], row["ci_high"]) == (line.low, line.high)


def test_twenty_questions_decide_nothing_and_the_gate_says_how_many_would(tmp_path: Path) -> None:
    right = alternating(20)
    answered = Answered(right=right, old=wrong_at(right, [1, 2, 3]), new=wrong_at(right, [2, 3, 4]))
    made = checked(tmp_path, answered, NO_WORSE)
    assert made.verdict is INCONCLUSIVE
    (line,) = made.lines
    assert line.needed is not None
    assert 200 < line.needed < 1000
    assert str(line.needed) in made.render().split()


def test_no_number_of_instances_decides_where_the_loss_is_the_margin(tmp_path: Path) -> None:
    right = alternating(100)
    answered = Answered(right=right, old=right, new=wrong_at(right, range(5)))
    (line,) = checked(tmp_path, answered, NO_WORSE).lines
    assert (line.verdict, line.needed) == (INCONCLUSIVE, None)
    assert "none" in str(checked(tmp_path, answered, NO_WORSE))


def test_a_gap_that_widens_is_no_go_by_its_line_alone(tmp_path: Path) -> None:
    right = alternating(1000)
    sites = ["south" if index < 300 else "north" for index in range(1000)]
    old = wrong_at(right, [*range(60), *range(300, 440)])
    new = wrong_at(right, [*range(140), *range(300, 360)])
    answered = Answered(right=right, old=old, new=new, groups={"site": sites})
    made = checked(tmp_path, answered, NO_WORSE, GAP, MISSED)
    assert [line.verdict for line in made.lines] == [GO, NO_GO, GO]
    assert made.verdict is NO_GO
    gap = made.lines[1]
    assert (gap.group_column, gap.group_value, gap.n) == ("site", "south", 300)
    assert gap.value == pytest.approx(-80 / 300 - 80 / 700)
    assert "no_wider_gap Referral: exact_match by site" in made.banner
    assert "no_worse" not in made.banner
    assert "NO-GO: south: -0.381 [" in made.junit()
    groups = {count.group_value: (count.worse, count.better) for count in made.flips.counts}
    assert groups == {None: (80, 80), "south": (80, 0), "north": (0, 80)}
    assert [count.group_value for count in made.flips.counts] == [None, "south", "north"]


def test_a_small_group_of_private_rows_is_hidden_in_lines_and_flips(tmp_path: Path) -> None:
    right = alternating(400)
    sites = [
        "tiny" if index < 4 else "small" if index < 40 else ("south", "north")[index % 2]
        for index in range(400)
    ]
    answered = Answered(
        right=right,
        old=right,
        new=wrong_at(right, range(6)),
        groups={"site": sites},
        level=AccessLevel.PRIVATE,
    )
    made = checked(tmp_path, answered, {"no_wider_gap": {"by": ["site"], "margin": 0.3}})
    (line,) = made.lines
    assert line.verdict is GO
    assert line.group_value in ("south", "north")
    assert line.reason == "2 groups hidden and not judged"
    hidden = {count.group_value: count for count in made.flips.counts if count.is_hidden}
    assert set(hidden) == {"tiny", "small"}
    assert {(each.n, each.worse, each.better) for each in hidden.values()} == {(None, None, None)}
    for form in ("json", "md", "html", "table"):
        assert "site: tiny" in made.render(form) or '"tiny"' in made.render(form)


@pytest.mark.parametrize("is_in_benchmark", [True, False])
def test_more_missed_positives_at_equal_accuracy_are_no_go_by_that_line_alone(
    tmp_path: Path, is_in_benchmark: bool
) -> None:
    right = alternating(1000)
    urgent = [index for index, label in enumerate(right) if label == URGENT]
    routine = [index for index, label in enumerate(right) if label == ROUTINE]
    critical = CriticalFailure(missed_class="urgent") if is_in_benchmark else None
    answered = Answered(
        right=right,
        old=wrong_at(right, routine[:100]),
        new=wrong_at(right, urgent[:100]),
        critical=critical,
    )
    stated = {"no_more_critical_failures": {"margin": 0.05}} if is_in_benchmark else MISSED
    made = checked(tmp_path, answered, {"no_worse": {"margin": 0.1}}, stated)
    assert [line.verdict for line in made.lines] == [GO, NO_GO]
    line = made.lines[1]
    assert (line.n, line.value) == (500, pytest.approx(0.2))
    assert line.measure == ("missed urgent" if is_in_benchmark else "missed positives")
    low_scores = {"no_more_critical_failures": {"critical": {"score_at_most": 0}, "margin": 0.1}}
    (of_scores,) = checked(tmp_path, answered, low_scores).lines
    assert (of_scores.verdict, of_scores.value, of_scores.n) == (GO, 0.0, 1000)


def test_answers_without_a_score_fall_below_the_floor(tmp_path: Path) -> None:
    right = alternating(200)
    new: list[int | None] = [None if index < 30 else label for index, label in enumerate(right)]
    answered = Answered(right=right, old=right, new=new)
    made = checked(tmp_path, answered, COVERED, NO_WORSE)
    coverage, worse = made.lines
    assert (coverage.verdict, coverage.value, coverage.n) == (NO_GO, 0.85, 200)
    # Nor are means of so few answers compared, by the policy's own floor.
    assert worse.verdict is INCONCLUSIVE
    assert "fewer answers of ward/new have a score" in worse.reason
    reached = checked(tmp_path, answered, {"coverage": {"floor": 0.85}})
    assert reached.verdict is GO


def test_supporting_lines_decide_beyond_what_is_allowed_and_advisory_ones_never(
    tmp_path: Path,
) -> None:
    answered = of_1000(300)
    broken = [NO_WORSE, {"no_worse": {"margin": 0.01}}]
    for allowed, verdict in ((0, NO_GO), (1, NO_GO), (2, GO)):
        made = checked(
            tmp_path,
            answered,
            COVERED,
            supporting=broken,
            advisory=broken,
            supporting_failures_allowed=allowed,
        )
        assert made.verdict is verdict
        root = ElementTree.fromstring(made.junit().encode())
        cases = root.findall("testsuite/testcase")
        assert len(cases) == int(root.attrib["tests"]) == 5
        failures = 2 if verdict is NO_GO else 0
        assert len(root.findall(".//failure")) == int(root.attrib["failures"]) == failures
        assert len(root.findall(".//skipped")) == int(root.attrib["skipped"]) == 4 - failures
        assert root.attrib["errors"] == "0"


def test_an_open_critical_line_is_an_error_of_junit_and_an_open_advisory_one_is_skipped(
    tmp_path: Path,
) -> None:
    right = alternating(20)
    answered = Answered(right=right, old=right, new=right)
    made = checked(tmp_path, answered, NO_WORSE, advisory=[NO_WORSE], supporting=[NO_WORSE])
    assert made.verdict is INCONCLUSIVE
    root = ElementTree.fromstring(made.junit().encode())
    tags = [[child.tag for child in case] for case in root.findall("testsuite/testcase")]
    assert tags == [["error"], ["skipped"], ["skipped"]]
    names = [case.attrib["classname"] for case in root.findall("testsuite/testcase")]
    tiers = ("critical", "supporting", "advisory")
    assert names == [f"candidate_gate.{tier}" for tier in tiers]


def test_flips_are_the_planted_instances_the_losses_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = alternating(300)
    answered = Answered(
        right=right, old=wrong_at(right, [1, 5, 9]), new=wrong_at(right, [5, 20, 7, 30])
    )
    made = checked(tmp_path, answered, NO_WORSE)
    found = [(flip.instance_id, flip.change) for flip in made.flips.instances]
    assert found == [
        *((instance(index), "worse") for index in (7, 20, 30)),
        *((instance(index), "better") for index in (1, 9)),
    ]
    lake = tmp_path / "lake"
    plant_run(lake, OLD, "new", answered, answered.old)
    here = site(lake).candidate_gate
    assert here.flips(NEW, OLD, suite="new").instances == made.flips.instances
    turned = here.flips(OLD, NEW, suite="new").instances
    assert {(flip.instance_id, flip.change) for flip in turned} == {
        (name, "better" if change == "worse" else "worse") for name, change in found
    }
    command = ["compare", "--suite", "new", "-o", str(lake), "--flips", "--format", "json"]
    assert main([*command, "--models", NEW, OLD]) == 0
    listed = json.loads(capsys.readouterr().out)["instances"]
    assert [each["instance_id"] for each in listed] == [name for name, _ in found]
    assert main([*command, "--models", NEW]) == 1
    assert main([*command, "--models", NEW, OLD, "--margin", "0.1"]) == 1


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ({"critical": [{"no_worst": {"margin": 1}}]}, "unknown key critical[0].no_worst; did you"),
        ({"critical": [{"no_worse": {"marging": 1}}]}, "did you mean 'margin'?"),
        ({"criticle": []}, "unknown key criticle; did you mean 'critical'?"),
        ({"critical": [{"no_worse": {}}]}, "critical[0].no_worse.margin is missing"),
        ({"critical": [{"no_worse": {"margin": 0}}]}, "critical[0].no_worse.margin is 0"),
        ({"supporting": [{"coverage": {"floor": 2}}]}, "supporting[0].coverage.floor is 2"),
        ({"critical": [{}]}, "critical[0] has none; allowed: exactly one of no_worse"),
        ({"critical": [{**NO_WORSE, **COVERED}]}, "critical[0] has no_worse, coverage"),
        ({"advisory": [NO_WORSE]}, "no line decides; allowed: one or more critical or supporting"),
        ({**{"critical": [NO_WORSE]}, "supporting_failures_allowed": -1}, "allowed is -1"),
        ({"critical": [{"no_wider_gap": {"by": [], "margin": 1}}]}, "no_wider_gap.by is empty"),
        (
            {"critical": [{"no_more_critical_failures": {"critical": {}, "margin": 1}}]},
            "critical[0].no_more_critical_failures.critical is wrong; allowed: one of",
        ),
    ],
)
def test_a_wrong_file_is_refused_before_the_lake_is_opened(
    tmp_path: Path, gate: dict[str, Any], message: str
) -> None:
    path = tmp_path / "gate.yaml"
    path.write_text(yaml.safe_dump(gate))
    with pytest.raises(ConfigError) as refused:
        site(tmp_path / "absent").candidate_gate.check(path, against="today", candidate=NEW)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"no_worse": {"margin": 0.1, "benchmark": "referal"}},
            "critical[0].no_worse.benchmark: unknown benchmark 'referal'. Did you mean 'referral'?",
        ),
        (
            {"no_worse": {"margin": 0.1, "metric": "exact"}},
            "[0].no_worse.metric: unknown metric 'exact'",
        ),
        (
            {"no_wider_gap": {"margin": 0.1, "by": ["ward"]}},
            "critical[0].no_wider_gap.by: unknown group column 'ward'. Known: site.",
        ),
        (
            {"no_more_critical_failures": {"margin": 0.1, "critical": {"missed_class": "later"}}},
            "no benchmark has such failures: referral (its classes are urgent, routine)",
        ),
        (
            {"no_more_critical_failures": {"margin": 0.1}},
            "no benchmark has such failures: referral (its file has no key critical)",
        ),
    ],
)
def test_an_unknown_name_is_refused_before_a_score_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: dict[str, Any], message: str
) -> None:
    right = alternating(20)
    sites = ["south", "north"] * 10
    plant(tmp_path / "lake", Answered(right=right, old=right, new=right, groups={"site": sites}))
    queries: list[str] = []
    query = lake_reader.FileReader.query

    def watched(self: Any, sql: str, **more: Any) -> Any:
        queries.append(sql)
        return query(self, sql, **more)

    monkeypatch.setattr(lake_reader.FileReader, "query", watched)
    gate = write_gate(tmp_path, [line])
    with pytest.raises(ConfigError) as refused:
        site(tmp_path / "lake").candidate_gate.check(
            gate, against="today", candidate=NEW, suite="new"
        )
    assert message in str(refused.value)
    assert queries
    assert not [sql for sql in queries if "per_instance_stats" in sql]


def test_the_baseline_is_the_only_other_model_or_is_named(tmp_path: Path) -> None:
    right = alternating(40)
    answered = Answered(right=right, old=right, new=right)
    lake = plant(tmp_path / "lake", answered)
    gate = write_gate(tmp_path, [COVERED])
    check = site(lake).candidate_gate.check
    runs: dict[str, Any] = {"candidate": NEW, "suite": "new"}
    with pytest.raises(
        LakeError, match=r"no release or suite 'gone'; .* the suites 'new', 'today'"
    ):
        check(gate, against="gone", **runs)
    with pytest.raises(UnknownNameError, match="ward/newer"):
        check(gate, against="today", candidate="ward/newer", suite="new")
    with pytest.raises(ConfigError, match="suite 'new' has no other model than ward/new"):
        check(gate, against="new", **runs)
    with pytest.raises(ConfigError, match="are both 'ward/new'"):
        check(gate, against="new", baseline=NEW, **runs)
    plant_run(lake, "ward/third", "today", answered, answered.old)
    with pytest.raises(ConfigError, match=r"has ward/old, ward/third; name one of them"):
        check(gate, against="today", **runs)
    assert check(gate, against="today", baseline=OLD, **runs).compared.baseline == OLD


def test_a_benchmark_that_the_candidate_lacks_is_open_and_says_why(tmp_path: Path) -> None:
    right = alternating(40)
    sites = ["south", "north"] * 20
    answered = Answered(right=right, old=right, new=right, groups={"site": sites})
    lake = plant(tmp_path / "lake", answered)
    plant_run(lake, "ward/other", "pilot", answered, answered.old)
    gate = write_gate(tmp_path, [NO_WORSE, COVERED, GAP])
    # A suite whose only run is of another scenario.
    from tests.unit.board.planted import ALPHA, SCENARIOS, append, planned, run_spec

    assert "triage_choice" in SCENARIOS
    append(lake, "run_specs", [planned(run_spec("a", ALPHA, "triage_choice"), "s9")], "p9")
    made = site(lake).candidate_gate.check(gate, against="today", candidate=ALPHA, suite="s9")
    assert made.verdict is INCONCLUSIVE
    assert [line.kind for line in made.lines] == ["no_worse", "coverage", "no_wider_gap"]
    assert {line.reason for line in made.lines} == {
        f"suite 's9' has no run of {ALPHA} on it",
    }


@pytest.mark.parametrize(("wrong", "count", "code"), [(200, 1000, 0), (400, 1000, 8), (4, 20, 9)])
def test_the_command_ends_with_the_code_of_its_verdict_and_writes_junit(
    tmp_path: Path, wrong: int, count: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    right = alternating(count)
    old = wrong_at(right, range(count // 5))
    plant(tmp_path / "lake", Answered(right=right, old=old, new=wrong_at(right, range(wrong))))
    gate, junit = write_gate(tmp_path, [NO_WORSE]), tmp_path / "out" / "junit.xml"
    command = ["compare", "-o", str(tmp_path / "lake"), "--against", "today", "--candidate", NEW]
    command += ["--suite", "new", "--gate", str(gate)]
    assert main([*command, "--junit", str(junit), "--format", "md"]) == code
    lines = capsys.readouterr().out.splitlines()
    verdict = {0: "GO", 8: "NO-GO", 9: "INCONCLUSIVE"}[code]
    assert lines[0].startswith(f"{verdict}: {NEW} ")
    assert any("no\\_worse" in line or "no_worse" in line for line in lines)
    root = ElementTree.parse(junit).getroot()
    assert len(root.findall("testsuite/testcase")) == 1
    assert (root.attrib["failures"], root.attrib["errors"]) == (
        str(int(code == 8)),
        str(int(code == 9)),
    )
    assert main([*command, "--margin", "0.1"]) == 1
    assert main(command[:-2]) == 1, "without --gate"


def test_every_form_has_the_verdict_and_every_line(tmp_path: Path) -> None:
    made = checked(tmp_path, of_1000(300), NO_WORSE, advisory=[COVERED])
    document = json.loads(made.render("json"))
    assert (document["verdict"], document["candidate"], document["baseline"]) == ("NO-GO", NEW, OLD)
    assert [line["verdict"] for line in document["lines"]] == ["NO-GO", "GO"]
    assert document["flips"]["counts"][0]["worse"] == 100
    assert len(document["flips"]["instances"]) == 100
    for form in ("table", "csv", "md", "html"):
        text = made.render(form)
        assert "NO-GO" in text
        assert "coverage" in text
    assert made.render("md").startswith("NO-GO: ")
    assert made.flips.instances[0].instance_id in made.render("html")
    assert made.flips.instances[0].instance_id not in made.render("md"), "a summary"
    assert "80 more instances" in made.render()
    assert "Instances on which the candidate is worse" in made.render()
    assert "first model" not in made.render(), "the reader named a candidate and a baseline"
    assert len(list(made.rows())) == 2
    assert replace(made, supporting_failures_allowed=9).verdict is NO_GO


def test_the_file_that_ships_is_a_gate(tmp_path: Path) -> None:
    plant(tmp_path / "lake", of_1000(200))
    made = site(tmp_path / "lake").candidate_gate.check(
        conf_path("gates/candidate.yaml"), against="today", candidate=NEW, suite="new"
    )
    assert made.verdict is GO
    assert len(made.lines) == 4
