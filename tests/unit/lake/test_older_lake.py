"""A lake written before tables had all their columns is read, and appended to, as it is."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from medhelm_spark.board import choose, load_runs
from medhelm_spark.domain.run import (
    AnswerExtraction,
    ExtractionMethod,
    PerturbationSpec,
    RunRecord,
    SuiteRun,
)
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.tables import TABLES, properties
from medhelm_spark.lake.views import CURRENT_RUN_SPECS, CURRENT_RUNS
from tests.unit.board.planted import ALPHA, BETA, planned, run_spec

CHOICE = AnswerExtraction(method=ExtractionMethod.CHOICE)
LATER = {"is_primary", "margin", "version", "comparability", "options"}


def older(kind: Any) -> Any:
    """An Arrow type or schema without the fields that came later."""
    if isinstance(kind, pa.Schema):
        return pa.schema([pa.field(f.name, older(f.type)) for f in kind if f.name not in LATER])
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, older(f.type)) for f in kind if f.name not in LATER])
    return pa.list_(older(kind.value_type)) if pa.types.is_list(kind) else kind


def table_of(row: SuiteRun) -> pa.Table:
    batch = pa.Table.from_batches([encode_batch(SuiteRun, [row])])
    return batch.append_column("write_id", pa.array(["w"]))


def test_run_specs_of_before_are_read_and_new_ones_stand_beside_them(tmp_path: Path) -> None:
    spec = replace(
        run_spec("r1", ALPHA, "triage_choice"),
        perturbations=(PerturbationSpec(name="lowercase"),),
        answer_extraction=CHOICE,
    )
    new = table_of(planned(spec))
    old = pa.Table.from_pylist(new.to_pylist(), schema=older(new.schema))
    assert old.num_columns == new.num_columns - 2
    folder = str(tmp_path / "run_specs")
    write_deltalake(folder, old, configuration=properties(TABLES["run_specs"]))
    (read,) = open_reader(str(tmp_path)).rows(CURRENT_RUN_SPECS, SuiteRun)
    assert read == planned(spec)
    assert (read.is_primary, read.margin) == (None, None)

    versioned = PerturbationSpec(name="capitals", version="1+abc")
    among = replace(CHOICE, options=("Y", "N"))
    other = replace(
        run_spec("r2", BETA, "triage_choice"), perturbations=(versioned,), answer_extraction=among
    )
    row = replace(planned(other), is_primary=True, margin=0.02)
    assert FileTables(str(tmp_path)).append("run_specs", table_of(row))
    reader = open_reader(str(tmp_path))
    found = {one.run_spec_id: one for one in reader.rows(CURRENT_RUN_SPECS, SuiteRun)}
    assert found == {"r1": planned(spec), "r2": row}
    assert [run.run_spec.perturbations for run in load_runs(reader, choose(reader, "s1"))] == [
        spec.perturbations,
        other.perturbations,
    ]


def test_records_of_before_do_not_say_what_their_scores_rest_on(tmp_path: Path) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    record = RunRecord(
        stage="score",
        unit_id="r1",
        write_id="w1",
        fingerprint="f",
        suite="s1",
        started_at=at,
        finished_at=at,
        counts={"requests": 1},
        code_version="0",
        spark_version="4",
    )
    new = pa.Table.from_batches([encode_batch(RunRecord, [record])])
    old = pa.Table.from_pylist(new.to_pylist(maps_as_pydicts="strict"), schema=older(new.schema))
    assert old.num_columns == new.num_columns - 1
    folder = str(tmp_path / "runs")
    write_deltalake(folder, old, configuration=properties(TABLES["runs"]))
    later = replace(record, unit_id="r2", comparability={"data": "n=3 0a"})
    rows = pa.Table.from_batches([encode_batch(RunRecord, [later])])
    assert FileTables(str(tmp_path)).append("runs", rows)
    read = {row.unit_id: row for row in open_reader(str(tmp_path)).rows(CURRENT_RUNS, RunRecord)}
    assert read == {"r1": record, "r2": later}
