"""Data that cannot be had: found before Spark starts, and what is done of it."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from medhelm_spark.cli import main
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.pipeline.skipped import absent_files
from medhelm_spark.stages.ingest.ingested import parse_hash
from medhelm_spark.workspace.entries import Entries
from medhelm_spark.workspace.workspace import Workspace
from tests.cards import NOTES
from tests.exports import instance, stored_import
from tests.unit.board.planted import ingested

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "prod_env"
    folder.mkdir()
    entries = [
        {"name": name, "engine": "canned", "locality": "local"} for name in ("acme/m", "acme/n")
    ]
    (folder / "model_deployments.yaml").write_text(yaml.safe_dump({"model_deployments": entries}))
    (folder / "scenarios").mkdir()
    for name in ("gone", "lost"):
        source = {"files": [{"path": f"{name}/notes.csv"}], "origin": f"the {name} clinic"}
        text = yaml.safe_dump({**NOTES, "name": name, "source": source})
        (folder / "scenarios" / f"{name}.yaml").write_text(text)
    return folder


def run(*arguments: str) -> int:
    return main(["run", *arguments, "--suite", "s", "-o", "lake", "--no-tracking"])


def only_line(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line]
    return line


GONE = "gone/notes.csv: no such file; it comes from the gone clinic; give the data with --source"


def test_without_any_data_a_run_ends_before_spark_starts(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("-r", "gone:model=acme/m") == 1
    assert only_line(capsys) == f"medhelm-spark: {GONE}."
    assert run("-r", "gone:model=acme/m", "gone:model=acme/n", "lost:model=acme/m") == 1
    assert only_line(capsys) == (
        f"medhelm-spark: none of 2 scenarios has its data: {GONE}; {GONE.replace('gone', 'lost')}."
    )
    assert run("-r", "ward@medhelm-0.8:model=acme/m") == 1
    assert "unknown scenario imported by import-scenario 'ward@medhelm-0.8'" in only_line(capsys)
    assert run("-r", "ehr_sql:model=acme/m") == 1
    assert "ehr_sql: there is no database to run queries on" in only_line(capsys)
    assert not Path("lake").exists()


def test_a_strict_run_ends_at_the_first_absence(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = ["-r", "pubmed_qa:model=acme/m", "gone:model=acme/m", "lost:model=acme/m"]
    assert run(*entries, "--strict") == 1
    assert only_line(capsys) == f"medhelm-spark: {GONE}."
    for entry, message in (("ehr_sql", "there is no database"), ("ward@medhelm-0.8", "unknown")):
        assert run(*entries, f"{entry}:model=acme/m", "--strict") == 1
        assert message in only_line(capsys)
    assert not Path("lake").exists()


def test_what_was_typed_wrong_ends_at_once(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for entry, message in (
        ("medecc:model=acme/m", "unknown scenario 'medecc'"),
        ("mmlu:topic=virology,model=acme/m", "unknown argument 'topic'"),
        ("mmlu:subject=sports,model=acme/m", "subject is 'sports'"),
        ("gone:model=acme/o", "acme/o"),
    ):
        assert run("-r", "pubmed_qa:model=acme/m", entry) == 1
        assert message in only_line(capsys)
    assert not Path("lake").exists()


def test_data_in_the_lake_needs_no_file(site: Path) -> None:
    workspace = Workspace("lake", site)
    cards = [workspace.registry.cards[name] for name in ("gone", "lost", "pubmed_qa")]
    assert list(absent_files(workspace, cards)) == ["gone", "lost"]
    ingested(Path("lake"), "gone", parse_hash(cards[0]))
    ingested(Path("lake"), "lost", "of another card")
    assert list(absent_files(workspace, cards)) == ["lost"]
    assert list(absent_files(Workspace("hive.medhelm", site), cards)) == []


def imported() -> list[ImportedScenario]:
    cards = load_site().cards
    return [
        stored_import(cards, [instance(0)], args={"subject": subject})
        for subject in ("heart", "lung")
    ]


def test_the_runs_of_what_was_never_imported(site: Path) -> None:
    workspace = Workspace("lake", site)
    registry = replace(workspace.registry, imported=tuple(imported()))
    loaded = Entries(
        run_entries=[
            "pubmed_qa:num_output_tokens=5",
            "ward@medhelm-0.8:subject=heart",
            "ward@medhelm-0.8:subject=skin",
            "other@medhelm-0.8:model=acme/n",
        ],
        models_to_run=["acme/m"],
    ).load(site)
    left, absent = loaded.without_absent(registry)
    assert [entry.args.get("subject") for entry in left.entries] == [None, "heart"]
    assert [row.name for row in absent] == ["ward@medhelm-0.8:subject=skin,model=acme_m"]
    assert absent[0].scenario_name == "ward@medhelm-0.8"
    assert "import it with these" in absent[0].reason
    assert absent[0].is_listed is None
    assert [run.card.name for run in left.resolve(registry)] == [
        "pubmed_qa",
        "ward@medhelm-0.8:subject=heart",
    ]
    grouped = replace(loaded, options=replace(loaded.options, groups_to_run=("pubmed_qa",)))
    assert grouped.without_absent(registry)[1] == ()


def test_a_suite_goes_on_without_its_primary_endpoint(site: Path) -> None:
    (site / "suites").mkdir()
    (site / "suites" / "own.yaml").write_text(
        "description: Ours.\nrun_entries: [pubmed_qa, ward@medhelm-0.8]\n"
        "models_to_run: [acme/m]\nprimary_endpoint: {scenario: ward@medhelm-0.8}\n"
    )
    registry = Workspace("lake", site).registry
    left, absent = Entries(suite_file="own").load(site).without_absent(registry)
    assert [row.is_listed for row in absent] == [True]
    assert [run.is_primary for run in left.resolve(registry)] == [False]
