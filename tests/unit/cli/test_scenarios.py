"""`scenarios` and `scenarios check`, suite files, and scenarios that are refused."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.domain.data_source import DataSource, Lookup, SourceFile
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.medhelm.suites import load_suite
from medhelm_spark.scenarios import Presence, presence
from tests.exports import instance, stored_import
from tests.unit.board.planted import append
from tests.unit.scenarios.cards import CONF, card

BROKEN = """\
name: own
display_name: Own
description: Own.
access_level: private
source: {format: cvs, files: [{path: own.csv}]}
shape: free_text
fields: {input: q, outptu: a}
adapter_spec: {method: generation}
metrics: [{name: jury_score, args: {annotator: other, stat_name: own_accuracy}}]
main_metric: own_score
annotators: [{name: own, rubric: absent, jury: nobody}]
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "prod_env"


def line_of(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    return next(line.split() for line in lines if line.startswith(f"{name} "))


def test_the_list_says_whether_the_data_is_at_hand(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert line_of("medec", capsys)[1:5] == ["public", "real", "download", "597"]
    assert line_of("ehrshot", capsys)[3] == "absent"
    row = " ".join(line_of("n2c2_ct_matching", capsys))
    assert "n2c2 2018 track 1 (portal.dbmi.hms.harvard.edu); by hand: put it at n2c2" in row
    row = " ".join(line_of("sct_bench", capsys))
    assert row.endswith(
        "/sct_cleaned_full.csv (pinned in the lake at its first fetch); by hand: put it at "
        "sct_bench/sct_cleaned_full.csv"
    )
    path = Path("medec") / "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv"
    path.parent.mkdir()
    path.write_text("")
    assert line_of("medec", capsys)[3] == "here"
    assert line_of("pubmed_qa", capsys)[3] == "download"
    assert line_of("medhallu", capsys)[3] == "hub"
    assert "not run: it drives a web browser" in " ".join(line_of("health_admin_bench", capsys))


def test_the_list_has_what_was_imported_into_the_lake(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cards, made = load_site().cards, [instance(index) for index in range(3)]
    rows = [
        stored_import(cards, made),
        stored_import(cards, made[:2], name="pubmed_qa", args={"subject": "x"}),
    ]
    append(Path("lake"), "imported_scenarios", rows, "w")
    append(Path("lake"), "imported_scenarios", [stored_import(cards, made[:1])], "x")
    assert main(["scenarios", "-o", "lake"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    names = [line[0] for line in lines]
    at = names.index("pubmed_qa@medhelm-0.8:subject=x")
    assert names[at - 1] == "pubmed_qa"
    assert lines[at][1:6] == ["public", "never", "imported", "2", "exact_match"]
    ward = lines[names.index("ward@medhelm-0.8")]
    assert ward[1:6] == ["private", "never", "imported", "1", "exact_match"]
    assert ward[6:] == ["medhelm", "0.8.0:", "ward_package.WardScenario"]
    for other in ([], ["-o", "absent"]):
        assert main(["scenarios", *other]) == 0
        assert "imported" not in capsys.readouterr().out


def test_shipped_cards_pass_the_check(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenarios", "check"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith(" cards checked, 0 problems\n")


def test_the_main_metric_may_be_one_of_the_whole_run(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "scenarios").mkdir(parents=True)
    whole = BROKEN.split("metrics:")[0].replace("cvs", "csv").replace("outptu", "reference")
    (site / "scenarios" / "own.yaml").write_text(
        f"{whole}metrics: [{{name: classification, args: {{labels: 'yes|no'}}}}]\n"
        "main_metric: classification_macro_f1\n"
    )
    assert main(["scenarios", "check"]) == 0, capsys.readouterr().out


def test_the_check_names_all_that_is_wrong(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "scenarios").mkdir(parents=True)
    (site / "scenarios" / "own.yaml").write_text(BROKEN)
    assert main(["scenarios", "check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    expected = (
        "unknown field 'outptu'",
        "unknown source format 'cvs'",
        "unknown main metric 'own_score'",
        "unknown rubric 'absent'",
        "unknown jury 'nobody'",
        "unknown annotator 'other'",
    )
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))
    assert all(line.startswith("scenario 'own': ") for line in lines)


def test_the_check_reads_the_history_of_a_card(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = (CONF / "scenarios" / "ehrshot.yaml").read_text(encoding="utf-8")
    (site / "scenarios").mkdir(parents=True)
    own = site / "scenarios" / "ehrshot.yaml"
    own.write_text(shipped.replace("unit: pieces", "unit: tokens"))
    assert main(["scenarios", "check"]) == 1
    assert "scenario 'ehrshot': history: unknown unit 'tokens'" in capsys.readouterr().out
    own.write_text(shipped.replace("    format: parquet", "    format: parket"))
    assert main(["scenarios", "check"]) == 1
    line = capsys.readouterr().out
    assert "unknown source format 'parket'. Did you mean 'parquet'?" in line


def test_presence_of_files_lookups_patterns_and_downloads(site: Path) -> None:
    cache = Path("cache")

    def presence_of(*files: SourceFile, **more: object) -> Presence:
        source = replace(DataSource(files=files), **more)
        return presence(card(source=source), cache)

    Path("a").mkdir()
    for name in ("one.txt", "two.csv"):
        (Path("a") / name).write_text("x")
    here, absent = SourceFile(path="a/two.csv"), SourceFile(path="a/three.csv")
    assert presence_of(here) is Presence.HERE
    assert presence_of(absent) is Presence.ABSENT
    assert presence_of(here, absent) is Presence.PART
    assert presence_of(SourceFile(path="a/*.txt")) is Presence.HERE
    assert presence_of(SourceFile(path="{subset}/two.csv")) is Presence.HERE
    assert presence_of(SourceFile(path="a/{subset.words}.md")) is Presence.ABSENT
    assert presence_of(here, texts={"schema": "a/x.sql"}) is Presence.PART
    lookup = Lookup(name="l", path="a/one.txt", key="k", columns=("c",))
    assert presence_of(here, lookups=(lookup,)) is Presence.HERE
    assert presence_of(table="a.b") is Presence.TABLE
    assert presence_of(dataset="org/name") is Presence.HUB
    assert presence_of(dataset="a") is Presence.HERE
    digest = hashlib.sha256(b"x").hexdigest()
    pinned = SourceFile(path="b.csv", url="https://host.example/b.csv?v=1", sha256=digest)
    assert presence_of(pinned) is Presence.DOWNLOAD
    (cache / digest).mkdir(parents=True)
    (cache / digest / "b.csv").write_text("x")
    assert presence_of(pinned) is Presence.HERE


def test_a_suite_file_brings_entries_models_and_size(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("weights.gguf").write_bytes(b"")
    monkeypatch.setenv("MEDHELM_SPARK_SMOLLM2", "weights.gguf")
    assert main(["run", "--suite-file", "smoke", "--suite", "s", "-d"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "pubmed_qa",
        "TRIAGE-CHOICE",
        "DISCHARGE-NOTE",
    ]
    assert all("\t10 instances\t" in line for line in lines)
    assert main(["run", "--suite-file", "smoke", "--suite", "s", "-d", "-m", "3"]) == 0
    assert "\t3 instances\t" in capsys.readouterr().out


def test_a_sites_own_suite_file(site: Path) -> None:
    (site / "suites").mkdir(parents=True)
    (site / "suites" / "own.conf").write_text('entries: [{description: "medec"}]')
    (site / "suites" / "own.yaml").write_text(
        'description: Ours.\nconf_paths: [own.conf]\nrun_entries: ["pubmed_qa:eval_split=test"]\n'
    )
    for name in ("own", "prod_env/suites/own.yaml"):
        suite, entries = load_suite(name, site)
        assert [entry.name for entry in entries] == ["pubmed_qa", "medec"]
        assert suite.max_eval_instances is None
    with pytest.raises(
        ConfigError, match="one of gated, own, private_example, public, robustness, smoke"
    ):
        load_suite("ours", site)
    (site / "suites" / "empty.yaml").write_text("description: Nothing.\n")
    with pytest.raises(ConfigError, match="names no run entry"):
        load_suite("empty", site)
    (site / "suites" / "empty.yaml").write_text("description: x\nconf_paths: [absent.conf]\n")
    with pytest.raises(ConfigError, match=r"conf_paths names 'absent\.conf'"):
        load_suite("empty", site)


def test_the_agentic_scenario_is_refused_in_a_sentence(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-r", "health_admin_bench:model=a/b", "--suite", "s"]) == 1
    assert "'health_admin_bench' is not supported: it drives a web browser" in (
        capsys.readouterr().err
    )
