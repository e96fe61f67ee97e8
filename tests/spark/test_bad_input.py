"""What a user can get wrong is one sentence, before a model is asked and with nothing written."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from medhelm_spark.stages.ingest import stage as ingesting
from tests.spark.conftest import Site, questions
from tests.spark.notes import card, ingest, notes, only_line, read

Break = Callable[[Site, Path], list[str]]


def entry(site: Site, **keys: object) -> str:
    model = site.deploy("acme/yes", text="yes")
    return f"{site.benchmark('bench', questions(3), **keys)},model={model}"  # type: ignore[arg-type]


def missing_column(site: Site, folder: Path) -> list[str]:
    run_entry = entry(site)
    (folder / "bench" / "prompt.txt").write_text("{question} {history}")
    return ["-r", run_entry]


def broken_yaml(site: Site, folder: Path) -> list[str]:
    run_entry = entry(site)
    (folder / "bench" / "benchmark.yaml").write_text("name: [unclosed")
    return ["-r", run_entry]


def broken_hocon(site: Site, folder: Path) -> list[str]:
    (folder / "entries.conf").write_text('entries: [{description: "pubmed_qa"')
    return ["-c", "entries.conf"]


def unknown_metric(site: Site, folder: Path) -> list[str]:
    return ["-r", entry(site, metrics=["exact_mach"])]


def unknown_scenario(site: Site, folder: Path) -> list[str]:
    return ["-r", f"pubmed_qq:model={site.deploy('acme/yes')}"]


def unknown_deployment(site: Site, folder: Path) -> list[str]:
    site.deploy("acme/yes")
    return ["-r", "pubmed_qa:model=acme/yess"]


def duplicate_ids(site: Site, folder: Path) -> list[str]:
    model = site.deploy("acme/yes")
    rows = [*questions(3), *questions(1)]
    return ["-r", f"{site.benchmark('bench', rows)},model={model}"]


def empty_data(site: Site, folder: Path) -> list[str]:
    run_entry = entry(site)
    (folder / "bench" / "data.csv").write_text("id,question,correct_answer\n")
    return ["-r", run_entry]


def unknown_judge(site: Site, folder: Path) -> list[str]:
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/yess", "model_name": "acme/yess"}],
    }
    prompt = '<rubric_criteria>\n{"accuracy": ["score"]}\n</rubric_criteria>\n{RESPONSE}'
    return ["-r", entry(site, metrics=[jury], judge_prompt=prompt)]


def rubric_without_criteria(site: Site, folder: Path) -> list[str]:
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/yes", "model_name": "acme/yes"}],
    }
    prompt = "<rubric_criteria>\n{}\n</rubric_criteria>\n{RESPONSE}"
    return ["-r", entry(site, metrics=[jury], judge_prompt=prompt)]


CASES: list[tuple[Break, tuple[str, ...]]] = [
    (missing_column, ("history", "question")),
    (broken_yaml, ("benchmark.yaml", "line")),
    (broken_hocon, ("entries.conf",)),
    (unknown_metric, ("exact_mach", "Did you mean 'exact_match'?")),
    (unknown_scenario, ("pubmed_qq", "Did you mean 'pubmed_qa'?")),
    (unknown_deployment, ("acme/yess", "Did you mean 'acme/yes'?")),
    (unknown_judge, ("jury 'bench'", "acme/yess", "Did you mean 'acme/yes'?")),
    (duplicate_ids, ("data.csv", "more than one record", "row 1")),
    (empty_data, ("data.csv",)),
    (rubric_without_criteria, ("judge.txt", "criteria")),
]


@pytest.mark.parametrize(
    ("broken", "fragments"), CASES, ids=lambda case: getattr(case, "__name__", "")
)
def test_bad_input_is_one_sentence(
    broken: Break, fragments: tuple[str, ...], site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = broken(site, site.folder)
    assert site.run(*arguments) == 1
    stderr_lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert stderr_lines[-1].startswith("medhelm-spark: ")
    assert len(stderr_lines) == 1
    assert all(part in stderr_lines[0] for part in fragments), stderr_lines[0]
    for table in ("instances", "run_specs", "requests", "request_results"):
        assert not site.rows(table)


def test_bad_rows_are_quarantined_and_the_rest_runs(site: Site) -> None:
    rows = [{**row, "incorrect_answers": '["no"]'} for row in questions(4)]
    rows[1]["incorrect_answers"] = '["no"'
    model = site.deploy("acme/yes", text="yes")
    assert site.run("-r", f"{site.benchmark('bench', rows)},model={model}") == 0
    (cell,) = site.board()
    assert cell["count"] == 3
    (refused,) = site.rows("quarantine")
    assert (refused["reason"], refused["source_row"]) == ("broken_incorrect_answers", 2)


def test_a_data_set_of_bad_rows_only_is_refused(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "incorrect_answers": "{"} for row in questions(2)]
    model = site.deploy("acme/yes")
    assert site.run("-r", f"{site.benchmark('bench', rows)},model={model}") == 1
    assert "broken_incorrect_answers" in capsys.readouterr().err
    assert not site.rows("instances")


@pytest.fixture
def clinic(site: Site) -> Iterator[str]:
    """An empty schema of the session's catalog."""
    site.spark.sql("CREATE SCHEMA clinic")
    yield "clinic"
    site.spark.sql("DROP SCHEMA clinic CASCADE")


def save(site: Site, rows: list[dict[str, str]]) -> None:
    frame = site.spark.createDataFrame(rows)
    frame.write.format("delta").mode("overwrite").saveAsTable("clinic.notes")


def as_csv(rows: list[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_notes(site: Site, rows: list[dict[str, str]]) -> None:
    (site.folder / "notes.csv").write_text(as_csv(rows), encoding="utf-8", newline="")


def meanwhile(monkeypatch: pytest.MonkeyPatch, step: str, change: Callable[[], object]) -> None:
    """Let something happen before a step of ingest, as another program's write would."""
    do = getattr(ingesting, step)

    def changed_first(*args: object) -> object:
        monkeypatch.setattr(ingesting, step, do)
        change()
        return do(*args)

    monkeypatch.setattr(ingesting, step, changed_first)


@pytest.mark.parametrize("step", ["_first_pass", "_write"])
def test_a_file_that_changes_between_two_readings_is_refused(
    step: str, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    card(site)
    write_notes(site, notes(3))
    meanwhile(monkeypatch, step, lambda: write_notes(site, notes(4)))
    assert ingest(site) == 1
    line = only_line(capsys)
    assert "notes.csv: the data changed while it was read, and nothing of it counts" in line
    assert not site.rows("scenarios")
    assert not site.rows("runs")
    assert ingest(site) == 0
    (version,) = site.rows("scenarios")
    assert version["num_instances"] == 4


def test_a_delta_table_is_read_at_one_version(
    site: Site, clinic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card(site)
    save(site, notes(3))
    meanwhile(monkeypatch, "_write", lambda: save(site, notes(4)))
    assert ingest(site, "table:clinic.notes") == 0
    assert len(read(site)) == 3
    assert ingest(site, "table:clinic.notes") == 0
    assert sorted(row["num_instances"] for row in site.rows("scenarios")) == [3, 4]


def test_a_view_that_changes_between_two_readings_is_refused(
    site: Site, clinic: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    card(site)
    save(site, notes(3))
    site.spark.sql("CREATE VIEW clinic.seen AS SELECT * FROM clinic.notes")
    meanwhile(monkeypatch, "_write", lambda: save(site, notes(4)))
    assert ingest(site, "table:clinic.seen") == 1
    assert "table 'clinic.seen': the data changed while it was read" in only_line(capsys)
    assert not site.rows("scenarios")
    assert ingest(site, "table:clinic.seen") == 0
    assert len(site.rows("scenarios")) == 1


def truncated_zip(folder: Path) -> str:
    with zipfile.ZipFile(folder / "notes.zip", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("notes.csv", as_csv(notes(500)))
    archive_bytes = (folder / "notes.zip").read_bytes()
    (folder / "notes.zip").write_bytes(archive_bytes[: len(archive_bytes) // 2])
    return "notes.zip"


def unsafe_zip(folder: Path) -> str:
    with zipfile.ZipFile(folder / "notes.zip", "w") as out:
        out.writestr("../notes.csv", as_csv(notes(3)))
    return "notes.zip"


def one_encoding_in_another(folder: Path) -> str:
    rows = notes(20_000)
    rows[10]["note"] = rows[19_990]["note"] = "niño"
    first, last = as_csv(rows).rsplit("niño", 1)
    (folder / "notes.csv").write_bytes(first.encode() + "niño".encode("latin-1") + last.encode())
    return "notes.csv"


def unclosed_quote(folder: Path) -> str:
    lines = as_csv(notes(20_000)).splitlines()
    lines[10_001] = 'c10000,"Jane Roe,Is it?,no'
    (folder / "notes.csv").write_text("\n".join(lines))
    return "notes.csv"


BAD_FILES: list[tuple[Callable[[Path], str], tuple[str, ...]]] = [
    (truncated_zip, ("notes.zip!notes.csv", "cut off or damaged")),
    (unsafe_zip, ("notes.zip", "0 of its 0 files are called 'notes.csv'")),
    (one_encoding_in_another, ("notes.csv", "not UTF-8 at byte")),
    (unclosed_quote, ("notes.csv", "data row 10001, at lines 10002 to 20001")),
]


@pytest.mark.parametrize(
    ("make", "fragments"), BAD_FILES, ids=lambda one: getattr(one, "__name__", "")
)
def test_a_bad_file_is_one_sentence_and_nothing_is_written(
    make: Callable[[Path], str],
    fragments: tuple[str, ...],
    site: Site,
    capsys: pytest.CaptureFixture[str],
) -> None:
    card(site)
    assert ingest(site, make(site.folder)) == 1
    line = only_line(capsys)
    assert all(part in line for part in fragments), line
    assert "Jane" not in line
    for table in ("instances", "quarantine", "scenarios", "runs"):
        assert not site.rows(table)


def test_of_broken_lines_none_is_lost_or_counted_twice(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    card(site)
    lines = [json.dumps(row) for row in notes(3000)]
    lines[1] = lines[1][:-5]
    lines[2999] = "[]"
    (site.folder / "notes.jsonl").write_text("\n".join(lines))
    assert ingest(site, "notes.jsonl") == 0
    refused = "2 quarantined (1 broken_json, 1 not_an_object)"
    expected = f"ingest: notes read 3,000 = 2,998 kept (2,998 test) + {refused}\n"
    assert expected in capsys.readouterr().err
    assert {row["source_id"] for row in site.rows("instances")} == {
        f"c{n}" for n in range(3000) if n not in (1, 2999)
    }
    assert sorted((row["source_row"], row["reason"]) for row in site.rows("quarantine")) == [
        (2, "broken_json"),
        (3000, "not_an_object"),
    ]
