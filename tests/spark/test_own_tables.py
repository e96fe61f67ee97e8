"""One's own notes and one's own answers, both from tables."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from medhelm_spark.cli import main
from medhelm_spark.lake.example_queries import QUERIES, VIEWS, without_views
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.tables import TABLES
from tests.meta.tree import ROOT
from tests.spark.conftest import Site

ATTESTED = ("--access-level", "private", "--attest-locality", "local")


@pytest.fixture
def answered(spark: SparkSession) -> Iterator[str]:
    """A schema for answers."""
    spark.sql("CREATE SCHEMA answered")
    yield "answered"
    spark.sql("DROP SCHEMA answered CASCADE")


def letters(folder: Path, *, level: str = "private") -> str:
    """A benchmark on a Delta folder beside it, which is referred to; returns its run entry."""
    rows = {
        "letter_id": [11, 12, 13],
        "note": [f"Note {number}." for number in range(3)],
        "urgent": [True, False, True],
    }
    write_deltalake(folder / "bench" / "letters", pa.table(rows))
    (folder / "bench" / "prompt.txt").write_text("{note}\nUrgent?")
    config = {
        "name": "LETTERS",
        "description": "Made for a test.",
        "prompt_file": "prompt.txt",
        "dataset_file": "table:./letters",
        "columns": {"id": "letter_id", "correct_answer": "urgent"},
        "access_level": level,
        "metrics": [{"name": "exact_match"}],
    }
    path = folder / "bench" / "benchmark.yaml"
    path.write_text(yaml.safe_dump(config))
    return f"medhelm_configurable_benchmark:config_path={path}"


def answer(site: Site, values: str, *, kind: str = "TABLE") -> None:
    """A table or view `answered.pilot` of rows as `ai_query` returns them."""
    site.spark.sql(f"DROP {kind} IF EXISTS answered.pilot")
    using = "USING delta " if kind == "TABLE" else ""
    site.spark.sql(
        f"CREATE {kind} answered.pilot {using}AS SELECT letter, attempt, "
        f"named_struct('result', said, 'errorMessage', CAST(NULL AS STRING)) AS answer "
        f"FROM VALUES {values} AS t(letter, attempt, said)"
    )


FIELDS = ("--fields", "source_id=letter,completion=answer.result,trial=attempt")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_notes_and_answers_come_from_tables_and_every_trial_is_taken(
    site: Site, answered: str, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    entry = f"{letters(site.folder)},model=ward/pilot,num_trials=2"
    arguments = ["-r", entry, "--file", "table:answered.pilot", *FIELDS, *ATTESTED]
    first = "(11, 0, 'true'), (12, 0, 'true'), (13, 0, 'true')"
    answer(
        site,
        f"{first}, (11, 1, 'true'), (12, 1, 'false'), (13, 1, 'true'), (99, 0, 'x'), (11, 7, 'x')",
        kind=kind,
    )
    assert site.run(*arguments, command="import-responses") == 0
    assert (
        "6 new answers; 1 row of the table named no instance that is evaluated; 1 row of the "
        "table named a trial that is not planned (planned: 0 to 1)\n" in capsys.readouterr().err
    )
    (cell,) = site.board()
    assert cell["mean"] == pytest.approx(5 / 6)
    assert {row["input"] for row in site.rows("instances")} == {
        f"Note {number}.\nUrgent?" for number in range(3)
    }
    before = len(site.rows("request_results"))
    assert site.run(*arguments, command="import-responses") == 0
    assert len(site.rows("request_results")) == before, "the same rows again change nothing"
    answer(site, first.replace("(12, 0, 'true')", "(12, 0, 'false')"), kind=kind)
    assert site.run(*arguments, command="import-responses") == 0
    (cell,) = site.board()
    assert cell["mean"] == 1.0, "other rows under the same name are other answers"


def test_a_table_of_answers_that_is_no_use_leaves_no_run(
    site: Site, answered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["-r", f"{letters(site.folder)},model=ward/pilot", "--file", "table:answered.pilot"]
    arguments += ATTESTED
    for values, fields, message in (
        ("(11, 0, 'yes'), (11, 0, 'no')", FIELDS, "1 row with an id that is in another row"),
        ("(11, 0, NULL), (12, 0, 'no')", FIELDS, "1 row: no completion."),
        ("(11, 0, 'yes')", (), "needs column 'source_id' or 'instance_id', 'completion'; columns"),
    ):
        answer(site, values)
        assert site.run(*arguments, *fields, command="import-responses") == 1
        assert f"table 'answered.pilot': {message}" in capsys.readouterr().err
    assert not site.rows("run_specs")


def test_a_table_is_not_public_because_a_file_says_so(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = f"{letters(site.folder, level='public')},model={site.deploy('acme/yes', text='true')}"
    assert site.run("-r", entry) == 1
    assert "say who may have it and add --access-level" in capsys.readouterr().err
    assert not site.lake_path.exists()
    assert site.run("-r", entry, "--access-level", "public") == 0
    (cell,) = site.board()
    assert (cell["count"], cell["mean"]) == (3, pytest.approx(2 / 3))


FENCE = re.compile(r"```(python|sql)\n(.*?)```", re.DOTALL)


@pytest.mark.long
def test_the_queries_of_the_page_of_tables_answer_over_a_lake(site: Site) -> None:
    site.spark.sql("CREATE SCHEMA clinic")
    spark, lake = site.spark, str(site.lake_path)
    try:
        spark.sql(
            "CREATE TABLE clinic.letters USING delta AS SELECT * FROM VALUES (11, 'Note 0.'), "
            "(12, 'Note 1.'), (13, 'Note 2.') AS t(letter_id, note)"
        )
        entry = letters(site.folder)
        for name in ("true", "false"):
            model = site.deploy(f"acme/{name}", text=name)
            assert site.run("-r", f"{entry},model={model}", suite="letters") == 0
        page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
        answers = []
        for language, block in FENCE.findall(page):
            if language == "python":
                exec(block, {"spark": spark, "lake": lake})
                continue
            for statement in filter(str.strip, block.split(";\n")):
                answers.append([row.asDict() for row in spark.sql(statement).collect()])
        means, worst, disagreement = (rows for rows in answers if rows)
        assert [(row["model"], round(row["mean"], 3)) for row in means] == [
            ("acme/true", 0.667),
            ("acme/false", 0.333),
        ]
        assert all(row["ci_low"] < row["mean"] < row["ci_high"] for row in means)
        reader = open_reader(lake)
        assert reader.query(without_views(QUERIES["The mean of each model, with its interval"]))
        assert [(row["note"], row["model_deployment"], row["value"]) for row in worst] == [
            ("Note 0.", "acme/false", 0.0),
            ("Note 2.", "acme/false", 0.0),
            ("Note 1.", "acme/true", 0.0),
            ("Note 1.", "acme/false", 1.0),
            ("Note 0.", "acme/true", 1.0),
            ("Note 2.", "acme/true", 1.0),
        ]
        assert len(disagreement) == 3
        assert {(row["first"], row["second"]) for row in disagreement} == {
            ("acme/false", "acme/true")
        }
    finally:
        for view in (*TABLES, *VIEWS):
            spark.catalog.dropTempView(view)
        spark.sql("DROP SCHEMA clinic CASCADE")


def test_a_benchmark_folder_is_made_on_a_table_and_runs(
    site: Site, answered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.spark.sql(
        "CREATE TABLE answered.letters USING delta AS SELECT id AS letter_id, "
        "concat('Jane Roe, note ', id) AS note, "
        "CASE WHEN id < 6 THEN concat(id % 2 = 0, ' ') ELSE ' ' END AS urgent FROM range(7)"
    )
    flags = ["--text", "note", "--label", "urgent", "--id", "letter_id"]
    location_flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    assert main(["init", "--table", "answered.letters", *flags, *location_flags]) == 0
    output = capsys.readouterr()
    assert "Roe" not in output.out + output.err, "a filled prompt is for a terminal alone"
    assert "init: wrote letters, on 7 rows\n" in output.err
    assert not [path for path in Path("letters").iterdir() if "Roe" in path.read_text()]
    assert "options:\n  - 'false'\n  - 'true'\n" in Path("letters/benchmark.yaml").read_text()
    assert not site.lake_path.exists()
    site.spark.sql(
        "CREATE TABLE answered.twice USING delta AS SELECT least(id, 4) AS letter_id, 'Roe' AS "
        "note, if(id < 2, ' ', 'yes') AS urgent FROM range(6)"
    )
    assert main(["init", "--table", "answered.twice", *flags, *location_flags]) == 1
    stderr = capsys.readouterr().err
    assert "table answered.twice: 2 of 6 rows have no urgent and would be left out\n" in stderr
    assert "table answered.twice: 1 id in more than one of 6 rows; each row needs an id" in stderr
    model = site.deploy("acme/yes", text="true")
    entry = f"medhelm_configurable_benchmark:config_path=letters/benchmark.yaml,model={model}"
    assert site.run("-r", entry) == 0
    (cell,) = site.board()
    assert (cell["count"], cell["mean"]) == (6, 0.5)
    assert {row["access_level"] for row in site.rows("instances")} == {"private"}


def test_rows_of_a_table_without_an_id_are_no_repeated_id(
    site: Site, answered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.spark.sql(
        "CREATE TABLE answered.nameless USING delta AS SELECT if(id < 2, NULL, id) AS letter_id, "
        "'Roe' AS note, if(id % 2 = 0, 'yes', 'no') AS urgent FROM range(6)"
    )
    flags = ["--text", "note", "--label", "urgent", "--id", "letter_id"]
    location_flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    assert main(["init", "--table", "answered.nameless", *flags, *location_flags]) == 0
    model = site.deploy("acme/yes", text="yes")
    entry = f"medhelm_configurable_benchmark:config_path=nameless/benchmark.yaml,model={model}"
    assert site.run("-r", entry) == 0
    assert "4 kept (4 test) + 2 quarantined (2 empty_id)" in capsys.readouterr().err
