"""Reading Delta files without Spark: tables, missing parts, and lakes that cannot be read."""

import dataclasses
import json
import shutil
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.request import Completion, FinishReason, RequestResult, TokenLogprob
from medhelm_spark.domain.run import RunRecord, RunSpec, SuiteRun
from medhelm_spark.domain.stages import INGEST, SUMMARIZE
from medhelm_spark.errors import LakeError, SetupError
from medhelm_spark.lake.columnar import codec_of, encode_batch
from medhelm_spark.lake.example_queries import QUERIES, without_views
from medhelm_spark.lake.reader import Reader, decode, named_tables, open_reader, table_schema
from medhelm_spark.lake.tables import SCHEMA_VERSION, TABLES
from medhelm_spark.lake.views import CURRENT_RESULTS, CURRENT_RUN_SPECS, CURRENT_RUNS, output_of
from medhelm_spark.releases.pinned import CURRENT_RELEASES
from tests.rewriting import rewritable
from tests.unit.board.planted import ALPHA, START, append, finish, planned, run_spec

VIEWS = (
    CURRENT_RELEASES,
    CURRENT_RESULTS,
    CURRENT_RUN_SPECS,
    CURRENT_RUNS,
    output_of("stats", SUMMARIZE),
    output_of("instances", INGEST, "data_version"),
)


@pytest.fixture
def empty(tmp_path: Path) -> Reader:
    return open_reader(str(tmp_path))


def result(text: str, seconds: int = 0, **changes: object) -> RequestResult:
    tokens = (TokenLogprob(text="t", logprob=-0.5),)
    answer = Completion(text=text, finish_reason=FinishReason.STOP, tokens=tokens)
    result = RequestResult(
        request_id="q",
        model_deployment="m",
        access_level=AccessLevel.GATED,
        completed_at=START + timedelta(seconds=seconds),
        engine_fingerprint="e",
        completions=(answer, answer),
    )
    return dataclasses.replace(result, **changes)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_does_not_exist_has_its_columns_and_no_rows(empty: Reader, name: str) -> None:
    found = empty.query(f"SELECT * FROM {{{name}}}")
    assert found.num_rows == 0
    assert found.column_names == table_schema(name).names
    assert empty.rows(f"SELECT * FROM {{{name}}}", TABLES[name].row) == []


@pytest.mark.parametrize("view", VIEWS)
def test_every_current_view_is_understood(empty: Reader, reader: Reader, view: str) -> None:
    assert empty.query(view).num_rows == 0
    assert reader.query(view).num_rows > 0


def test_rows_come_back_as_they_were_written(tmp_path: Path, empty: Reader) -> None:
    written = [result("first\0 \U0001f600 \u202ex"), result("", request_id="r", attempts=3)]
    append(tmp_path, "request_results", written, "w")
    found = empty.rows("SELECT * FROM {request_results} ORDER BY request_id", RequestResult)
    assert found == written


def test_structs_and_maps_come_back_as_they_were_written(tmp_path: Path, empty: Reader) -> None:
    row = planned(run_spec("r", ALPHA, "discharge_note"))
    append(tmp_path, "run_specs", [row], "w")
    assert empty.rows(CURRENT_RUN_SPECS, SuiteRun) == [row]


def test_an_answer_beats_a_failure_and_then_the_earliest_stands(
    tmp_path: Path, empty: Reader
) -> None:
    rows = [result("late", 9), result("early", 5), result("", 1, completions=(), failure="timeout")]
    append(tmp_path, "request_results", rows, "w")
    (found,) = empty.rows(CURRENT_RESULTS, RequestResult)
    assert found.completions[0].text == "early"


def test_a_column_that_an_older_lake_lacks_is_null(tmp_path: Path, empty: Reader) -> None:
    finish(tmp_path, "score", "u", "w")
    older = pa.table(DeltaTable(str(tmp_path / "runs")).to_pyarrow_table()).drop_columns(["counts"])
    write_deltalake(rewritable(tmp_path / "runs"), older, mode="overwrite", schema_mode="overwrite")
    (found,) = empty.rows(CURRENT_RUNS, RunRecord)
    assert (found.unit_id, found.counts) == ("u", None)


def test_a_field_of_a_struct_that_an_older_lake_lacks_is_none(
    tmp_path: Path, empty: Reader
) -> None:
    row = planned(run_spec("r", ALPHA, "discharge_note"))
    table = pa.Table.from_batches([encode_batch(SuiteRun, [row])])
    table = table.append_column("write_id", pa.array(["w"]))
    older = [field for field in table.schema.field("run_spec").type if field.name[:4] != "pert"]
    at = table.schema.get_field_index("run_spec")
    columns = [pc.struct_field(table.column(at), field.name).combine_chunks() for field in older]
    struct = pa.StructArray.from_arrays(columns, fields=older)
    table = table.set_column(at, "run_spec", struct)
    assert codec_of(RunSpec).decode(struct) == [row.run_spec]
    write_deltalake(str(tmp_path / "run_specs"), table)
    (found,) = empty.rows(CURRENT_RUN_SPECS, SuiteRun)
    assert found == row
    assert found.run_spec.perturbations is None


def test_only_named_tables_are_opened(tmp_path: Path, empty: Reader) -> None:
    (tmp_path / "prompts" / "_delta_log").mkdir(parents=True)
    (tmp_path / "prompts" / "_delta_log" / f"{0:020}.json").write_text("{", encoding="utf-8")
    assert empty.query("SELECT * FROM {runs}").num_rows == 0
    with pytest.raises(LakeError, match="Delta log of table 'prompts' cannot be read"):
        empty.query("SELECT * FROM {prompts}")


def test_a_reader_that_was_asked_before_has_the_rows_appended_since(
    tmp_path: Path, empty: Reader
) -> None:
    query = "SELECT request_id FROM {request_results} ORDER BY request_id"
    found = [empty.query(query).num_rows]
    for name in ("a", "b"):
        append(tmp_path, "request_results", [result("", request_id=name)], name)
        found.append(empty.query(query).num_rows)
    assert found == [0, 1, 2]


def test_a_reader_that_was_asked_before_reads_a_table_that_was_made_anew(
    tmp_path: Path, empty: Reader
) -> None:
    query = "SELECT request_id FROM {request_results}"
    for name in ("before", "after"):
        append(tmp_path, "request_results", [result("", request_id=name)], "w")
        assert empty.query(query)["request_id"].to_pylist() == [name]
        shutil.rmtree(tmp_path / "request_results")


def test_a_lost_data_file_is_one_sentence_without_its_contents(
    tmp_path: Path, empty: Reader
) -> None:
    append(tmp_path, "request_results", [result("SECRET")], "w")
    for file in (tmp_path / "request_results").glob("*.parquet"):
        file.unlink()
    with pytest.raises(LakeError, match="request_results cannot be read") as caught:
        empty.query("SELECT * FROM {request_results}")
    assert "SECRET" not in str(caught.value)


def test_a_table_whose_creation_was_interrupted_is_empty(tmp_path: Path, empty: Reader) -> None:
    (tmp_path / "stats" / "_delta_log").mkdir(parents=True)
    assert empty.query("SELECT * FROM {stats}").num_rows == 0


def test_a_lake_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    record = RunRecord(
        stage="score",
        unit_id="u",
        write_id="w",
        fingerprint="f",
        suite="s",
        started_at=START,
        finished_at=START,
        counts={},
        code_version="9",
        spark_version="9",
        schema_version=SCHEMA_VERSION + 1,
    )
    append(tmp_path, "runs", [record], "w")
    with pytest.raises(LakeError, match=f"schema version {SCHEMA_VERSION + 1}.*newer medhelm"):
        open_reader(str(tmp_path))


def test_no_lake_is_one_sentence_that_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match=r"no lake at .*medhelm-spark run --output-path"):
        open_reader(str(tmp_path / "nothing"))


def test_a_catalog_is_read_through_spark() -> None:
    with pytest.raises(SetupError, match=r"'main\.evaluation' names a catalog"):
        open_reader("main.evaluation")


def test_named_tables_are_the_placeholders() -> None:
    assert named_tables("SELECT '{{x}}' FROM {stats} JOIN {runs} JOIN {stats}") == ["runs", "stats"]


def test_decode_accepts_what_another_engine_calls_a_string() -> None:
    batch = pa.Table.from_batches([encode_batch(Criterion, [Criterion(name="a")])])
    large = batch.set_column(0, "name", batch.column("name").cast(pa.large_string()))
    assert decode(large, Criterion) == [Criterion(name="a")]


def test_the_log_holds_no_text(tmp_path: Path) -> None:
    append(tmp_path, "request_results", [result("SECRET")], "w")
    (log,) = (tmp_path / "request_results" / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert any("add" in line for line in lines)
    assert "SECRET" not in log.read_text(encoding="utf-8")


def test_the_means_that_the_page_of_tables_shows_are_had_without_spark(reader: Reader) -> None:
    sql = QUERIES["The mean of each model, with its interval"].replace("'letters'", "'s1'")
    rows = reader.query(without_views(sql)).to_pylist()
    assert [(row["scenario"], row["model"], row["mean"], row["count"]) for row in rows] == [
        ("discharge_note", "alpha/large", 3.25, 2),
        ("medcalc_bench", "beta/medium", 1.0, 3),
        ("medcalc_bench", "alpha/large", 0.5, 2),
        ("triage_choice", "alpha/large", 0.75, 4),
        ("triage_choice", "beta/medium", 0.75, 4),
        ("triage_choice", "gamma/small", 0.25, 4),
    ]
    assert all(row["ci_low"] < row["mean"] < row["ci_high"] for row in rows if row["count"] > 3)
