"""Ratings from a file to the lake, and the agreement of raters, judges and metrics."""

import json
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Annotation, CriterionScore, VerdictStatus
from medhelm_spark.domain.run import AnnotatorSpec, MetricSpec
from medhelm_spark.domain.stats import PerInstanceStats, Score, ScoreStatus
from medhelm_spark.errors import ConfigError, DataError, MissingColumnError, UnknownNameError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.read_ratings import parse_names
from medhelm_spark.ratings.tables import Rating
from tests.unit.board.clinic import CAREFUL, SUITE, plant_clinic, spec_of
from tests.unit.board.planted import append, finish

NAMES = ("Dr. Ada Byron", "B. Blackwell", "C. Sims")
SECRET = "the letter of patient 0042"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    return plant_clinic(folder)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture(autouse=True)
def with_instances(lake: Path) -> None:
    plant_instances(lake)


def plant_instances(lake: Path) -> None:
    """The instances of Notes: the clinic's lake has scores alone."""
    from medhelm_spark.domain.scenario import Instance
    from medhelm_spark.domain.split import Split

    rows = [
        Instance(
            instance_id=f"notes-i{index}",
            scenario_name="notes",
            data_version="notes-v1",
            source_id=f"MRN-{index}",
            source_index=index,
            split=Split.TEST,
            input=SECRET,
            references=(),
            access_level=AccessLevel.PRIVATE,
        )
        for index in range(12)
    ]
    append(lake, "instances", rows, "notes-w")


def site(lake: Path) -> Evaluation:
    return Evaluation(str(lake), site=None, tracking=False, say=lambda line: None)


def values_of(rater: int, index: int) -> int:
    """Three raters who mostly agree on twelve answers."""
    return min(5, max(1, 1 + index % 5 + (1 if (index + rater) % 4 == 0 else 0)))


def csv_file(folder: Path, lines: list[str], name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def all_ratings(folder: Path, raters: int = 3, name: str = "ratings.csv") -> Path:
    lines = ["source_id,model,rater,accuracy,clarity,comment"]
    for rater in range(raters):
        for index in range(12):
            value = values_of(rater, index)
            lines.append(f"MRN-{index},{CAREFUL},{NAMES[rater]},{value},{6 - value},{SECRET}")
    return csv_file(folder, lines, name)


def imported(lake: Path, path: Path, **more: object):
    return site(lake).ratings.import_file(
        path,
        suite=SUITE,
        scenario="notes",
        criteria=("accuracy", "clarity"),
        scale=(1, 5),
        **more,
    )


def stored(lake: Path) -> list[Rating]:
    return open_reader(str(lake)).rows("SELECT * FROM {ratings}", Rating)


def test_the_same_file_twice_changes_nothing_and_a_changed_value_counts(
    lake: Path, home: Path, tmp_path: Path
) -> None:
    path = all_ratings(tmp_path)
    first = imported(lake, path)
    assert (first.values, first.stored, first.changed, first.raters, first.answers) == (
        72,
        72,
        0,
        3,
        12,
    )
    assert str(imported(lake, path)).endswith("72 known before), of 3 raters for 12 answers")
    assert len(stored(lake)) == 72
    text = path.read_text()
    one = f"MRN-0,{CAREFUL},{NAMES[1]},"
    line = next(line for line in text.splitlines() if line.startswith(one))
    value = line.split(",")[3]
    path.write_text(text.replace(line, line.replace(f",{value},", ",5,", 1)))
    again = imported(lake, path)
    assert (again.stored, again.changed) == (1, 1)
    assert len(stored(lake)) == 73


def test_names_are_pseudonyms_and_their_key_lies_outside_the_lake(
    lake: Path, home: Path, tmp_path: Path
) -> None:
    imported(lake, all_ratings(tmp_path))
    key = home / "medhelm_spark" / "raters.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    rows = stored(lake)
    raters = {row.rater for row in rows}
    assert len(raters) == 3
    assert all(len(rater) == 18 and rater.startswith("rater-") for rater in raters)
    for file in lake.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not any(name.encode() in content for name in NAMES)
            assert key.read_bytes() not in content
    assert {row.access_level for row in rows} == {AccessLevel.PRIVATE}
    with pytest.raises(ConfigError, match="may not lie in the lake"):
        imported(lake, all_ratings(tmp_path), key_file=lake / "key")
    (tmp_path / "short").write_bytes(b"x")
    with pytest.raises(ConfigError, match="1 bytes are no key"):
        imported(lake, all_ratings(tmp_path), key_file=tmp_path / "short")


HEAD = "source_id,model,rater,criterion,value"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["MRN-77,careful,a,accuracy,3"], "row 1: column 'source_id' names no instance"),
        (["MRN-1,careless,a,accuracy,3"], "row 1: column 'model' names no model"),
        (["MRN-1,careful,a,accuracy,3", "MRN-1,careful,,accuracy,3"], "row 2: column 'rater' is"),
        (["MRN-1,careful,a,,3"], "row 1: column 'criterion' is empty"),
        (["MRN-1,careful,a,accuracy,9"], "row 1: column 'value' is off its scale"),
        (["MRN-1,careful,a,accuracy,nan"], "row 1: column 'value' is no number"),
        (["MRN-1,careful,a,accuracy,good"], "row 1: column 'value' is no number"),
        (["MRN-1,careful,a,accuracy,3", "MRN-1,careful,a,accuracy,4"], "row 2: row 1 has a value"),
        ([",careful,a,accuracy,3"], "row 1: neither source_id nor instance_id"),
        ([], "has no value"),
    ],
)
def test_a_bad_row_is_named_by_its_number_and_nothing_is_stored(
    lake: Path, home: Path, tmp_path: Path, lines: list[str], message: str
) -> None:
    path = csv_file(tmp_path, [HEAD, *lines])
    with pytest.raises(DataError) as raised:
        site(lake).ratings.import_file(path, suite=SUITE, scenario="notes", scale=(1, 5))
    assert message in str(raised.value)
    assert "MRN" not in str(raised.value)
    assert not stored(lake)
    assert not home.exists()


def test_a_trial_that_no_run_has_is_refused(lake: Path, home: Path, tmp_path: Path) -> None:
    path = csv_file(tmp_path, [f"{HEAD},trial", "MRN-1,careful,a,accuracy,3,1"])
    with pytest.raises(DataError, match=r"row 1: column 'trial' names no trial .*; allowed: 0\."):
        site(lake).ratings.import_file(path, suite=SUITE, scenario="notes", scale=(1, 5))
    assert not stored(lake)


def test_what_is_missing_is_said(lake: Path, home: Path, tmp_path: Path) -> None:
    path = csv_file(tmp_path, ["id,model,rater,criterion,value", "1,careful,a,x,3"])
    with pytest.raises(MissingColumnError, match="--fields says what the columns are called"):
        site(lake).ratings.import_file(path, suite=SUITE, scenario="notes", scale=(1, 5))
    with pytest.raises(ConfigError, match="name the scale, as --scale 1-5"):
        site(lake).ratings.import_file(path, suite=SUITE, scenario="notes")
    with pytest.raises(UnknownNameError, match="Did you mean 'notes'"):
        site(lake).ratings.import_file(path, suite=SUITE, scenario="note", scale=(1, 5))
    with pytest.raises(ConfigError, match="no answer of these runs has a rating"):
        site(lake).ratings.agreement(suite=SUITE, scenario="notes")
    with pytest.raises(ConfigError, match="'pig' is not NAME=COLUMN"):
        parse_names("pig=dog")


def test_raters_agree_among_themselves_and_a_metric_with_them(
    lake: Path, home: Path, tmp_path: Path
) -> None:
    imported(lake, all_ratings(tmp_path))
    agreements = site(lake).ratings.agreement(suite=SUITE, scenario="notes")
    rows = {(row["criterion"], row["who"]): row for row in agreements.rows()}
    raters = rows["accuracy", "raters"]
    table = np.array(
        [[values_of(rater, index) for rater in range(3)] for index in range(12)], float
    )
    assert raters["num_items"] == raters["num_complete"] == 12
    assert raters["icc_c1"] == pytest.approx(_consistency(table))
    assert raters["icc_c1_low"] < raters["icc_c1"] < raters["icc_c1_high"]
    assert 0.8 < raters["alpha"] <= 1
    assert rows["clarity", "raters"]["icc_c1"] == pytest.approx(raters["icc_c1"])
    metric = rows["accuracy", "metric exact_match"]
    assert metric["icc_a1"] is None  # a share and a rating have no unit in common
    assert metric["spearman"] is not None
    assert rows["mean of criteria", "raters"]["alpha"] is None
    text = str(agreements)
    assert "3 raters" in text
    assert "mean of criteria, raters: all ratings are equal" in text
    assert "nan" not in text.lower()
    assert json.loads(agreements.render("json"))["scale"] == "interval"
    assert len(agreements.to_pandas()) == len(agreements.agreements)


def _consistency(table: np.ndarray) -> float:
    n, k = table.shape
    rows = k * table.mean(axis=1).var(ddof=1)
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    return (rows - error) / (rows + (k - 1) * error)


def test_one_rater_and_few_answers_give_values_with_their_caveat(
    lake: Path, home: Path, tmp_path: Path
) -> None:
    imported(lake, all_ratings(tmp_path, raters=1))
    agreements = site(lake).ratings.agreement(suite=SUITE, scenario="notes", by_model=True)
    raters = next(row for row in agreements.agreements if row.who == "raters")
    assert (raters.num_raters, raters.alpha, raters.spearman) == (1, None, None)
    assert "one rater: there is no ceiling" in str(agreements)
    assert {row.model for row in agreements.agreements} == {"", CAREFUL}
    assert "nan" not in str(agreements).lower()


def test_a_judge_is_compared_with_the_raters(lake: Path, home: Path, tmp_path: Path) -> None:
    spec = replace(
        spec_of(CAREFUL, "notes"),
        run_spec_id="judged",
        annotators=(AnnotatorSpec(name="jury", jury="two judges"),),
        metrics=(MetricSpec(name="exact_match"),),
    )
    plant_judged(lake, spec)
    imported_for(lake, all_ratings(tmp_path), "judged")
    agreements = site(lake).ratings.agreement(suite="judged", scenario="notes")
    rows = {(row.criterion, row.who): row for row in agreements.agreements}
    good, poor = rows["accuracy", "judge good"], rows["accuracy", "judge poor"]
    assert good.spearman > 0.9 > poor.spearman
    assert good.alt_test.is_passed
    assert not poor.alt_test.is_passed
    assert good.alt_test.is_small
    assert poor.bias.bias.value > good.bias.bias.value
    assert ("accuracy", "jury two judges") in rows, "the name of the jury, as a judge card has it"
    assert ("clarity", "judge good") not in rows
    small = [
        line for line in str(agreements).splitlines() if "has 12 answers, fewer than 30" in line
    ]
    assert len(small) == 1, "what is true of several rows is printed once"
    assert "accuracy, judge good; accuracy, judge poor" in small[0]


def test_two_rubrics_of_one_jury_are_told_apart(lake: Path, home: Path, tmp_path: Path) -> None:
    annotators = tuple(AnnotatorSpec(name=name, rubric=f"the {name}") for name in ("jury", "other"))
    spec = replace(spec_of(CAREFUL, "notes"), run_spec_id="judged", annotators=annotators)
    plant_judged(lake, spec)
    plant_verdicts(
        lake, spec.run_spec_id, "other", {"good": [3.0 + index % 2 for index in range(12)]}
    )
    imported_for(lake, all_ratings(tmp_path), "judged")
    agreements = site(lake).ratings.agreement(suite="judged", scenario="notes")
    by_who = {row.who: row.spearman for row in agreements.agreements if row.criterion == "accuracy"}
    assert by_who["judge good, rubric the jury"] > 0.9 > by_who["judge good, rubric the other"]


def imported_for(lake: Path, path: Path, suite: str) -> None:
    site(lake).ratings.import_file(
        path, suite=suite, scenario="notes", criteria=("accuracy", "clarity"), scale=(1, 5)
    )


def plant_judged(lake: Path, spec) -> None:
    """A run of twelve answers with two judges: one like the raters, one who likes everything."""
    from medhelm_spark.domain.run import SuiteRun
    from tests.unit.board.planted import START, stat

    planned = SuiteRun(
        suite="judged",
        name=spec.name,
        run_spec_id=spec.run_spec_id,
        planned_at=START,
        locality="local",
        engine="canned",
        is_jury_validated=None,
        run_spec=spec,
    )
    append(lake, "run_specs", [planned], "w-judged")
    scores = [
        PerInstanceStats(
            run_spec_id=spec.run_spec_id,
            instance_id=f"notes-i{index}",
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            split="test",
            stats=(Score(name="exact_match", value=1.0, status=ScoreStatus.OK),),
        )
        for index in range(12)
    ]
    append(lake, "per_instance_stats", scores, "w-judged")
    by_judge = {
        "good": [1.0 + index % 5 for index in range(12)],
        "poor": [5.0 - (index == 3) for index in range(12)],
    }
    plant_verdicts(lake, spec.run_spec_id, "jury", by_judge)
    append(lake, "stats", [stat(spec.run_spec_id, "exact_match", [1.0] * 12)], "w-judged")
    for stage in ("plan", "annotate", "score", "summarize"):
        finish(lake, stage, spec.run_spec_id, "w-judged")


def plant_verdicts(
    lake: Path, unit: str, annotator: str, by_judge: Mapping[str, Sequence[float]]
) -> None:
    """Store the score of each judge for the accuracy of the twelve answers."""
    verdicts = [
        Annotation(
            run_spec_id=unit,
            instance_id=f"notes-i{index}",
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            annotator=annotator,
            judge=judge,
            status=VerdictStatus.OK,
            access_level=AccessLevel.PRIVATE,
            scores=(CriterionScore(criterion="accuracy", score=score),),
        )
        for judge, scores in by_judge.items()
        for index, score in enumerate(scores)
    ]
    append(lake, "annotations", verdicts, "w-judged")


def test_the_commands_store_and_show(
    lake: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["-o", str(lake), "--suite", SUITE, "--scenario", "notes"]
    path = all_ratings(tmp_path)
    options = ["--file", str(path), "--criteria", "accuracy", "clarity", "--scale", "1-5"]
    assert main(["ratings", "import", *common, *options]) == 0
    assert "72 of 72 values stored" in capsys.readouterr().out
    assert main(["ratings", "agreement", *common, "--measured-as", "ordinal"]) == 0
    output = capsys.readouterr().out
    assert "Krippendorff's, ordinal" in output
    assert SECRET not in output
    for words, message in (
        (["agreement", "--epsilon", "2"], "epsilon is 2.0"),
        (["import"], "--file missing"),
        (["import", "--file", str(path), "--scale", "5"], "--scale is '5'"),
    ):
        assert main(["ratings", words[0], *common, *words[1:]]) == 1
        assert message in capsys.readouterr().err
