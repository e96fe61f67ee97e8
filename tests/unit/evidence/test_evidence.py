"""Evidence of planted releases: items, numbers, hidden groups, blanks, and texts in no file."""

import csv
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import CHANGED, FAILED
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.errors import ConfigError
from medhelm_spark.evidence.fills import FILLS
from medhelm_spark.evidence.page import BLANK, WHAT_IT_IS
from medhelm_spark.evidence.scheme import UNCHECKED, load_scheme, shipped_schemes
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.ratings.tables import Rating
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash
from medhelm_spark.whole_files import whole_folder
from tests.rewriting import rewritable
from tests.unit.board.clinic import CAREFUL, SUITE, plant_clinic, unit
from tests.unit.board.planted import ALPHA, SOURCE_ID, START, append, plant, unit as unit_of
from tests.unit.evidence.planted import SMALL, plant_groups, plant_status, plant_suite_release
from tests.unit.subgroups.cases import evaluated

SHIPPED = ("chai", "tripod-llm")
RELEASE = "2026-q1"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = plant_clinic(tmp_path_factory.mktemp("clinic"))
    plant_groups(lake, unit(CAREFUL, "referral"), "sensitivity")
    plant_suite_release(lake, SUITE)
    return lake


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The lake of three benchmarks, one private, with hostile texts."""
    (tmp_path / "lake").mkdir()
    return plant(tmp_path / "lake")


def here(lake: Path) -> Evaluation:
    return Evaluation(lake, site=None, tracking=False, say=lambda line: None)


def made(lake: Path, out: Path, scheme: str | Path = "chai") -> Path:
    return here(lake).evidence.make(RELEASE, scheme, out).folder


def data_of(folder: Path, name: str = "evidence.json"):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def sheet(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Sections(HTMLParser):
    """The text of each section of a page, by the section's id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.inside = dict(attrs)["id"] or ""
            self.texts[self.inside] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts[self.inside] += data


def test_the_schemes_that_ship_are_these(clinic: Path) -> None:
    assert tuple(shipped_schemes()) == SHIPPED
    assert tuple(here(clinic).evidence.schemes()) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_every_item_is_filled_or_a_blank_and_names_its_source(
    clinic: Path, tmp_path: Path, name: str
) -> None:
    folder = made(clinic, tmp_path / "out", name)
    scheme = load_scheme(name, FILLS).scheme
    sections = Sections((folder / "index.html").read_text(encoding="utf-8")).texts
    assert list(sections) == [item.id for item in scheme.items]
    data = data_of(folder)
    states = {item["id"]: item["state"] for item in data["items"]}
    for item in scheme.items:
        text = sections[item.id]
        assert item.title in text
        assert f"{scheme.document}, {item.source.item}" in text
        assert (UNCHECKED in text) is not item.source.checked
        assert (f"{BLANK}: {item.write}" in text) is item.human
        for fill in item.fill:
            nothing = data["fills"][fill].get("nothing")
            assert nothing is None or nothing in text or f"{fill}: see" in text
        if not item.human:
            assert states[item.id] in ("filled", "not available")
    assert set(states.values()) >= {"filled", "to be written by the site"}
    assert all(item["written"] is None for item in data["items"])


def test_numbers_are_the_boards_in_every_file(clinic: Path, tmp_path: Path) -> None:
    folder = made(clinic, tmp_path / "out")
    board = json.loads(here(clinic).board(release=RELEASE).render("json"))
    cells = {(cell["model_deployment"], cell["display_name"]): cell for cell in board["cells"]}
    assert len(cells) == 7
    data = data_of(folder)
    results = data["fills"]["results"]["results"]
    assert {(row["model_deployment"], row["display_name"]) for row in results} == set(cells)
    for row in results:
        cell = cells[row["model_deployment"], row["display_name"]]
        assert row == {name: cell[name] for name in row}
    for row in sheet(folder, "results.csv"):
        cell = cells[row["model_deployment"], row["display_name"]]
        for name in ("mean", "ci_low", "ci_high", "count", "denominator", "mean_win_rate"):
            assert row[name] == ("" if cell[name] is None else str(cell[name]))
    assert data["fills"]["comparisons"]["pairs"] == board["pairs"]
    page = Sections((folder / "index.html").read_text(encoding="utf-8")).texts["usefulness"]
    referral = cells[CAREFUL, "Referral"]
    assert (referral["mean"], referral["denominator"]) == (0.85, 40)
    assert f"0.850 [{referral['ci_low']:.2f}, {referral['ci_high']:.2f}]" in page
    assert "n=40 of 200" in page


def test_each_model_has_a_card_with_its_own_numbers_alone(clinic: Path, tmp_path: Path) -> None:
    folder = made(clinic, tmp_path / "out")
    cards = sorted(path.name for path in folder.glob("model-card-*.json"))
    assert cards == [f"model-card-{name}.json" for name in ("alarmist", "careful", "quiet")]
    whole = data_of(folder)["fills"]["results"]["results"]
    card = data_of(folder, "model-card-alarmist.json")
    assert card["title"] == "Model card: alarmist"
    assert card["fills"]["results"]["results"] == [
        row for row in whole if row["model_deployment"] == "alarmist"
    ]
    risks = card["fills"]["risk"]["metrics"]
    assert [row["true_positives"] for row in risks if row["model_deployment"]] == [40]
    page = (folder / "model-card-alarmist.html").read_text(encoding="utf-8")
    assert f"{BLANK}:" in page
    other = made(clinic, tmp_path / "other", "tripod-llm")
    assert not list(other.glob("model-card*"))


def test_the_flow_counts_every_row_and_every_answer(lake: Path, tmp_path: Path) -> None:
    """Of 8 records 2 are left out and 3 not drawn; of 3 requests one timed out."""
    record = RunRecord(
        stage="ingest",
        unit_id="medcalc_bench-v1",
        write_id="medcalc_bench-w",
        fingerprint="f",
        suite="s1",
        started_at=START,
        finished_at=START,
        counts={"test": 3, "read": 8, "left out": 2, "not drawn": 3, "events without a time": 4},
        code_version="0",
        spark_version="4",
    )
    append(lake, "runs", [record], "medcalc_bench-w")
    plant_suite_release(lake, "s1")
    folder = made(lake, tmp_path / "out")
    rows = sheet(folder, "flow.csv")
    (data,) = (r for r in rows if r["record"] == "data" and r["scenario_name"] == "medcalc_bench")
    names = ("read", "left_out", "not_drawn", "quarantined", "identical_merged", "instances")
    assert [data[name] for name in names] == ["8", "2", "3", "0", "0", "3"]
    assert data["untimed_events"] == "4"
    (run,) = (
        row
        for row in rows
        if (row["scenario_name"], row["model_deployment"]) == ("medcalc_bench", ALPHA)
    )
    names = ("instances_asked", "asked", "answered", "failed", "scored", "unscored")
    assert [run[name] for name in names] == ["3", "3", "2", "1", "2", "1"]
    page = (folder / "index.html").read_text(encoding="utf-8")
    svg = page[page.index("<svg") : page.index("</svg>")]
    assert "2 left out; 3 not drawn" in svg
    assert "1 failed" in svg


def test_the_flow_of_perturbed_data_counts_the_rows_of_its_source(tmp_path: Path) -> None:
    evaluation = evaluated(tmp_path, perturbations=["lower"])
    evaluation.releases.publish("r", "s")
    evaluation.evidence.make("r", "chai", tmp_path / "out")
    (data, _) = sheet(tmp_path / "out", "flow.csv")
    assert [data[name] for name in ("read", "left_out", "instances")] == ["60", "0", "60"]


def test_weights_are_those_that_the_engine_recorded_with_the_answers(
    lake: Path, tmp_path: Path
) -> None:
    plant_suite_release(lake, "s1")
    recorded = {
        "engine": "llama_cpp",
        "version": "0.3",
        "weights_sha256": "ab12",
        "key": "hidden-key",
    }
    made_by = f"'{json.dumps(recorded)}'"
    rewritable(lake / "request_results").update(
        predicate=f"model_deployment = '{ALPHA}'", updates={"engine_fingerprint": made_by}
    )
    folder = made(lake, tmp_path / "out")
    models = {m["model_deployment"]: m for m in data_of(folder)["fills"]["models"]["records"]}
    alpha = models.pop(ALPHA)
    assert (alpha["engine_version"], alpha["weights_sha256"]) == (["0.3"], ["ab12"])
    assert alpha["weights_known_from"] == "answers"
    assert {(m["weights_known_from"], *m["weights_sha256"]) for m in models.values()} == {("",)}
    assert not [path for path in folder.iterdir() if b"hidden-key" in path.read_bytes()]


def test_hidden_groups_stay_hidden(clinic: Path, tmp_path: Path) -> None:
    folder = made(clinic, tmp_path / "out")
    rows = {row["group_value"]: row for row in sheet(folder, "subgroups.csv")}
    names = ("scenario_name", "display_name", "model_deployment", "metric", "lower_is_better")
    of_all = {*names, "overall", "run_spec_id", "split", "group_column", "group_value", "minimum"}
    of_all |= {"is_hidden", *(name for name in rows[SMALL] if name.startswith(("gap", "best")))}
    of_all |= {"worst_group", "verdict", "num_adjusted"}
    assert rows[SMALL]["verdict"] == "hidden"
    assert rows["south"]["mean"] == "0.6"
    for ward in (SMALL, "west"):
        assert not [name for name, value in rows[ward].items() if value and name not in of_all]
    for name in ("index.html", "model-card-careful.html"):
        section = Sections((folder / name).read_text(encoding="utf-8")).texts["biases"]
        assert re.search(rf"{SMALL}\s*hidden\s*hidden", section)
        assert "0.300 [" in section
    groups = data_of(folder)["fills"]["subgroups"]["groups"]
    assert [row["count"] for row in groups if row["group_value"] == SMALL] == [None]


@pytest.mark.parametrize("scheme", SHIPPED)
def test_no_file_has_text_ids_or_explanations(lake: Path, tmp_path: Path, scheme: str) -> None:
    plant_suite_release(lake, "s1")
    folder = made(lake, tmp_path / "out", scheme)
    reader = open_reader(str(lake))
    ids = reader.query("SELECT instance_id FROM {instances}").to_pylist()
    prompts = reader.query("SELECT prompt_id FROM {prompts}").to_pylist()
    forbidden = {row["instance_id"] for row in ids} | {row["prompt_id"] for row in prompts}
    forbidden |= {"evil.test", SOURCE_ID, "Case 0", "says 0", "Because", "ward 1", "answer 0"}
    forbidden |= {"Be brief"}
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not [word for word in forbidden if word in text], path.name


@pytest.mark.parametrize("scheme", SHIPPED)
def test_it_makes_no_claim_and_fetches_nothing(clinic: Path, tmp_path: Path, scheme: str) -> None:
    folder = made(clinic, tmp_path / "out", scheme)
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".csv":
            assert WHAT_IT_IS in text
        assert "complian" not in text.replace(WHAT_IT_IS, "").lower()
        if path.suffix == ".html":
            assert not re.search(r"<script|https?://|url\(|<img|<link", text)


def test_judges_and_raters_are_counted_and_compared(lake: Path, tmp_path: Path) -> None:
    """Two answers were judged by two judges; one verdict cannot be read. Two people rated both."""
    run = unit_of(ALPHA, "discharge_note")
    one = Rating(
        run_spec_id=run,
        instance_id="discharge_note-i0",
        trial_index=0,
        rater="rater-00",
        criterion="accuracy",
        value=4.0,
        comment="a comment that nobody may read",
        access_level=AccessLevel.PRIVATE,
        rated_at=START,
        source="s",
    )
    append(lake, "ratings", _ratings(one), "r")
    plant_suite_release(lake, "s1")
    folder = made(lake, tmp_path / "out")
    fills = data_of(folder)["fills"]
    counted = [(row["judge"], row["usable"], row["unusable"]) for row in fills["judges"]["records"]]
    assert counted == [("j1", 2, 0), ("j2", 1, 1)]
    assert {row["evidence"] for row in fills["judges"]["records"]} == {"not validated"}
    (raters,) = (row for row in fills["agreement"]["agreement"] if row["who"] == "raters")
    assert (raters["num_raters"], raters["num_items"]) == (2, 2)
    assert not [path for path in folder.iterdir() if b"nobody may read" in path.read_bytes()]


def _ratings(one: Rating) -> list[Rating]:
    return [
        replace(one, rater=rater, instance_id=f"discharge_note-i{index}", value=value)
        for rater, values in {"rater-00": (4.0, 2.0), "rater-01": (5.0, 1.0)}.items()
        for index, value in enumerate(values)
    ]


def test_the_same_release_gives_the_same_bytes_and_the_manifest_their_hashes(
    clinic: Path, tmp_path: Path
) -> None:
    first, second = made(clinic, tmp_path / "a"), made(clinic, tmp_path / "b")
    contents = {path.name: path.read_bytes() for path in first.iterdir()}
    assert contents == {path.name: path.read_bytes() for path in second.iterdir()}
    manifest = json.loads(contents.pop("manifest.json"))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    assert {file["name"]: file["sha256"] for file in manifest["files"]} == digests
    assert manifest["release_manifest"] == data_of(first)["release"]["Manifest"]
    stored = load_scheme("chai", FILLS)
    assert manifest["scheme"] == {"name": "chai", "sha256": stored.sha256}


ITEM = {"id": "a", "title": "A", "source": {"item": "1"}, "fill": ["release"]}


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ({"items": [{**ITEM, "fil": ["release"]}]}, r"unknown key items\[0\].fil; did you mean"),
        ({"items": [{**ITEM, "fill": ["relese"]}]}, r"items\[0\].fill\[0\]: unknown fill 'relese'"),
        ({"items": [ITEM, ITEM]}, r"items\[1\].id is 'a', the id of items\[0\] too"),
        ({"items": [{**ITEM, "fill": []}]}, r"items\[0\] has neither fill nor human: true"),
        ({"items": [{**ITEM, "human": True}]}, r"items\[0\].human is true and items\[0\].write is"),
        ({"items": [{**ITEM, "write": "x"}]}, r"items\[0\].human is false and items\[0\].write is"),
        ({"items": [{**ITEM, "id": "A b"}]}, r"items\[0\].id is 'A b'; allowed: lower-case"),
        ({"items": []}, "items is empty"),
    ],
    ids=["key", "fill", "twice", "neither", "no text", "text alone", "id", "empty"],
)
def test_a_wrong_scheme_is_refused_before_anything_is_written(
    clinic: Path, tmp_path: Path, scheme: dict[str, object], message: str, capsys
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({"title": "t", "document": "d", **scheme}))
    typed = ["--for", str(path), "--out", str(tmp_path / "out"), "-o", str(clinic)]
    assert main(["release", "evidence", RELEASE, *typed, "--no-tracking"]) == FAILED
    assert re.search(f"own.yaml: {message}", capsys.readouterr().err)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["own.yaml"]


def test_a_sites_own_scheme(clinic: Path, tmp_path: Path, capsys) -> None:
    path = tmp_path / "board.yaml"
    items = [
        {**ITEM, "id": "numbers", "fill": ["results"], "source": {"item": "2", "checked": True}},
        {
            "id": "owner",
            "title": "Who answers <for> it",
            "source": {"document": "Our bylaws", "item": "§ 7"},
            "human": True,
            "write": "a name & a date.",
        },
    ]
    path.write_text(yaml.safe_dump({"title": "Our board", "document": "Our form", "items": items}))
    typed = ["--for", str(path), "--out", str(tmp_path / "out"), "-o", str(clinic)]
    assert main(["release", "evidence", RELEASE, *typed, "--no-tracking"]) == 0
    assert "by scheme board: 1 of 2 items filled" in capsys.readouterr().out
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "Who answers &lt;for&gt; it" in page
    assert "Our bylaws, § 7 (to be checked against the source)." in page
    assert "Our form, 2. Filled by: results." in page
    files = sorted(each.name for each in (tmp_path / "out").iterdir())
    sheets = ["flow.csv", "index.html", "manifest.json", "results.csv", "subgroups.csv"]
    assert files == ["evidence.json", *sheets]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--for", "chia"], "unknown scheme 'chia'. Did you mean 'chai'?"),
        (["--for", "absent.yaml"], "absent.yaml"),
        ([], "name --for SCHEME and --out FOLDER"),
    ],
    ids=["name", "file", "none"],
)
def test_a_scheme_that_is_not_there_is_refused(
    clinic: Path, tmp_path: Path, typed: list[str], message: str, capsys
) -> None:
    words = [*typed, "--out", str(tmp_path / "out"), "-o", str(clinic), "--no-tracking"]
    assert main(["release", "evidence", RELEASE, *words]) == FAILED
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_there_is_left_alone(clinic: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "out").mkdir()
    typed = ["--for", "chai", "--out", str(tmp_path / "out"), "-o", str(clinic), "--no-tracking"]
    assert main(["release", "evidence", RELEASE, *typed]) == FAILED
    assert "is there already" in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


def test_what_is_withdrawn_says_so_in_every_file(lake: Path, tmp_path: Path) -> None:
    plant_groups(lake, unit_of(ALPHA, "triage_choice"), "exact_match")
    manifest = plant_suite_release(lake, "s1")
    plant_status(lake, RELEASE, manifest, ReleaseStatus.WITHDRAWN, "wrong key")
    folder = made(lake, tmp_path / "out")
    for path in folder.iterdir():
        notice = (
            "withdrawn" if path.name == "manifest.json" else "WITHDRAWN: do not use the numbers"
        )
        assert notice in path.read_text(encoding="utf-8"), path.name


def test_releases_of_earlier_versions_and_made_elsewhere_are_shown(
    lake: Path, tmp_path: Path
) -> None:
    """They have no manifest, and of what was made elsewhere no requirement can be checked."""
    (member,) = open_reader(str(lake)).rows("SELECT * FROM {releases}", ReleaseMember)
    member = replace(member, release="medhelm", status="external", manifest_hash="")
    append(lake, "releases", [replace(member, manifest_hash=manifest_hash([member]))], "e")
    for release, word in (("R1", "records"), ("medhelm", "not_available")):
        done = here(lake).evidence.make(release, "chai", tmp_path / release)
        fills = data_of(done.folder)["fills"]
        assert fills["release"]["facts"]["Made by"] == "nobody on record"
        assert [row["mean"] for row in fills["results"]["results"]] == [0.5]
        assert word in fills["requirements"]


def test_who_gave_which_status_is_on_record(lake: Path, tmp_path: Path) -> None:
    manifest = plant_suite_release(lake, "s1")
    plant_status(lake, RELEASE, manifest, ReleaseStatus.IN_REVIEW)
    folder = made(lake, tmp_path / "out")
    assert "Working results, not approved." in data_of(folder)["standing"]
    (change,) = data_of(folder)["fills"]["approvals"]["records"]
    assert (change["status"], change["by"], change["is_verified"]) == ("in review", "bob", False)


def test_a_changed_release_is_refused_and_no_folder_is_left(
    lake: Path, tmp_path: Path, capsys
) -> None:
    plant_suite_release(lake, "s1")
    rewritable(lake / "stats").update(updates={"mean": "0.9"})
    typed = ["--for", "chai", "--out", str(tmp_path / "out"), "-o", str(lake), "--no-tracking"]
    assert main(["release", "evidence", RELEASE, *typed]) == CHANGED
    assert "is not what was published" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["lake"]


def test_it_starts_no_spark(clinic: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from medhelm_spark import Evaluation\n"
        "here = Evaluation(sys.argv[1], site=None, tracking=False)\n"
        f"print(here.evidence.make('{RELEASE}', 'chai', sys.argv[2]))\n"
        "from pyspark import SparkContext; assert SparkContext._gateway is None"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(clinic), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no claim of compliance" in done.stdout


def test_a_folder_that_another_command_makes_is_left_to_it(clinic: Path, tmp_path: Path) -> None:
    out = tmp_path / "evidence"
    with whole_folder(out) as begun:
        (begun / "file").touch()
        with pytest.raises(ConfigError, match=r"another command makes .*evidence now"):
            made(clinic, out)
    assert [path.name for path in out.iterdir()] == ["file"]
