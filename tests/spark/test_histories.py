"""Long records made by Spark: the texts of the pure part, however events and partitions lie."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyarrow import parquet

from medhelm_spark.cli import main
from medhelm_spark.domain.scenario import Instance, ScenarioCard
from medhelm_spark.scenarios import with_source
from medhelm_spark.stages.ingest.parts import Part, parts_of_events
from tests.spark.conftest import Site
from tests.spark.notes import card as own_card, ingest
from tests.unit.scenarios.cards import parsed
from tests.unit.scenarios.histories import ehrshot, medalign, write_parquet
from tests.unit.scenarios.test_same_form import chosen

MODEL = "local/yes"
PARTITIONS = "spark.sql.shuffle.partitions"


@pytest.fixture
def in_many_parts(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every file in stripes, and more partitions than patients."""
    before = str(site.spark.conf.get(PARTITIONS))
    site.spark.conf.set(PARTITIONS, "13")
    monkeypatch.setattr("medhelm_spark.stages.ingest.parts.PARTITION_BYTES", 1)
    yield
    site.spark.conf.set(PARTITIONS, before)


def pure(card: ScenarioCard, folder: Path, name: str) -> list[tuple[str, str, int]]:
    """What the pure part makes of a folder, in the form in which `written` returns Spark's rows."""
    records = parsed(with_source(replace(card, name=name), [str(folder)]))
    good = (one for one in records if isinstance(one, Instance))
    return sorted((one.instance_id, one.input, one.source_index) for one in good)


def written(site: Site, name: str) -> list[tuple[str, str, int]]:
    rows = [row for row in site.rows("instances") if row["scenario_name"] == name]
    return sorted((row["instance_id"], row["input"], row["source_index"]) for row in rows)


@pytest.mark.core
def test_folders_as_downloaded_from_entry_to_instances(site: Site, in_many_parts: None) -> None:
    ehrshot(site.folder / "ehrshot", 7)
    medalign(site.folder / "medalign")
    site.deploy(MODEL, mode="choice")
    entries = [
        f"ehrshot:subject=guo_los,data_path=ehrshot,max_length=100000,model={MODEL}",
        f"ehrshot:subject=guo_los,data_path=ehrshot,max_length=23,model={MODEL}",
        f"ehrshot:subject=lab_anemia,data_path=ehrshot,model={MODEL}",
        f"medalign:data_path=medalign,model={MODEL}",
    ]
    assert site.run("-r", *entries, command="plan") == 0
    short = "ehrshot:subject=guo_los,max_length=23"
    for name, card, folder in (
        ("ehrshot:subject=guo_los", chosen("ehrshot", subject="guo_los"), "ehrshot"),
        (short, chosen("ehrshot", subject="guo_los", max_length="23"), "ehrshot"),
        ("ehrshot:subject=lab_anemia", chosen("ehrshot", subject="lab_anemia"), "ehrshot"),
        ("medalign", chosen("medalign"), "medalign"),
    ):
        assert written(site, name) == pure(card, site.folder / folder, name)
        assert len(written(site, name)) == (3 if name == "medalign" else 7)
    versions = len(site.rows("scenarios"))
    assert site.run("-r", *entries, command="plan") == 0
    assert len(site.rows("scenarios")) == versions


@pytest.mark.long
def test_two_subjects_read_their_events_once_and_each_counts_a_bad_one(
    site: Site, in_many_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site.folder / "ehrshot"
    ehrshot(folder, 5)
    events = parquet.read_table(folder / "data" / "data.parquet").to_pylist()
    write_parquet(folder / "data" / "data.parquet", [*events, {**events[0], "code": None}])
    core_counts: list[int] = []

    def counted(card: ScenarioCard, cores: int) -> list[Part]:
        core_counts.append(cores)
        return parts_of_events(card, cores)

    monkeypatch.setattr("medhelm_spark.stages.ingest.histories.parts_of_events", counted)
    site.deploy(MODEL, mode="choice")
    subjects = ("guo_los", "lab_anemia")
    entries = [f"ehrshot:subject={one},data_path=ehrshot,model={MODEL}" for one in subjects]
    assert site.run("-r", *entries, command="plan") == 0
    assert len(core_counts) == 3, "keys, instances and quarantine, whatever the number of subjects"
    for subject in subjects:
        name = f"ehrshot:subject={subject}"
        assert written(site, name) == pure(chosen("ehrshot", subject=subject), folder, name)
    bad = sorted((one["scenario_name"], one["reason"]) for one in site.rows("quarantine"))
    assert bad == [(f"ehrshot:subject={one}", "missing_field") for one in subjects]


def test_one_patient_or_many_in_a_partition_with_labels_and_events_at_random(
    site: Site, in_many_parts: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three hundred patients; of the labels only those that pandas would draw, here forty."""
    frame = pd.DataFrame({"n": range(6000)}).sample(frac=1, random_state=7)
    first = datetime.fromisoformat("2020-01-01 00:00")
    events: list[dict[str, Any]] = [
        {
            "subject_id": n % 300,
            "time": None if n % 97 == 0 else first + timedelta(hours=n % 400),
            "code": f"C/{n}",
        }
        for n in frame["n"]
    ]
    labels = [
        {"subject_id": n, "prediction_time": first + timedelta(hours=200), "boolean_value": True}
        for n in range(300)
    ]
    folder = site.folder / "ehrshot"
    write_parquet(folder / "data" / "data.parquet", [*events, {**events[0], "code": None}], 500)
    write_parquet(folder / "labels" / "lab_anemia" / "labels.parquet", labels)
    card = site.folder / "prod_env" / "scenarios" / "ehrshot.yaml"
    card.parent.mkdir(parents=True)
    shipped = Path(__file__).parents[2] / "conf" / "scenarios" / "ehrshot.yaml"
    card.write_text(shipped.read_text().replace("10000\n", "40\n", 1))
    site.deploy(MODEL, mode="choice")
    entry = f"ehrshot:subject=lab_anemia,data_path=ehrshot,model={MODEL}"
    assert site.run("-r", entry, command="plan") == 0

    drawn = set(pd.DataFrame({"n": range(300)}).sample(n=40, random_state=1)["n"])
    name = "ehrshot:subject=lab_anemia"
    everything = pure(chosen("ehrshot", subject="lab_anemia"), folder, name)
    assert written(site, name) == [one for one in everything if one[2] in drawn]
    (bad,) = site.rows("quarantine")
    assert (bad["source_file"], bad["source_row"], bad["reason"]) == (
        str(folder / "data" / "data.parquet"),
        6001,
        "missing_field",
    )
    expected = "read 301 = 40 kept (40 test) + 1 quarantined (1 missing_field) + 260 not drawn"
    untimed = sum(event["time"] is None for event in events)
    assert f"{expected}; {untimed} events without a time, in no record\n" in capsys.readouterr().err
    (record,) = [row for row in site.rows("runs") if row["stage"] == "ingest"]
    assert dict(record["counts"])["events without a time"] == untimed


def test_a_table_that_has_the_text_already(site: Site) -> None:
    site.spark.sql("CREATE SCHEMA ward")
    try:
        site.spark.sql(
            "CREATE TABLE ward.records USING delta AS SELECT "
            "'i' AS instruction_id, 'Q?' AS question, "
            "'R.' AS clinician_response, 'All of it.' AS ehr"
        )
        flags = ["--source", "table:ward.records", "-o", str(site.lake_path)]
        assert main(["ingest", "--scenario", "medalign", *flags]) == 0
    finally:
        site.spark.sql("DROP SCHEMA ward CASCADE")
    ((_, text, _),) = written(site, "medalign")
    assert text.endswith("EHR: All of it.\n\nQuestion: Q?\n\nAnswer:")


@pytest.mark.core
def test_events_come_from_tables_in_the_form_of_meds_and_of_omop(site: Site) -> None:
    """Records and events from tables; a stricter event makes its patient's record as strict."""
    events = (
        "subject_id BIGINT, time TIMESTAMP, code STRING, numeric_value FLOAT, text_value STRING"
    )
    conditions = (
        "person_id BIGINT, condition_start_datetime TIMESTAMP, condition_source_value STRING"
    )
    tables = {
        "ward.labels": (
            "subject_id BIGINT, prediction_time TIMESTAMP, question STRING, answer STRING",
            "(1, '2024-01-02 00:00:00', 'Q?', 'yes'), (2, '2024-01-02 00:00:00', 'Q?', 'no')",
        ),
        "ward.events": (
            events,
            "(1, '2023-12-31 08:00:00.25', 'LOINC/718-7', 11.5, NULL), "
            "(1, '2024-01-03 00:00:00', 'LATE', NULL, NULL), (1, NULL, 'BIRTH', NULL, NULL), "
            "(2, '2024-01-01 00:00:00', 'NOTE', NULL, 'fine'), "
            "(2, '2024-01-01 10:00:00', NULL, NULL, NULL)",
        ),
        "ward.condition_occurrence": (
            f"{conditions}, access_level STRING",
            "(2, '2024-01-01 09:00:00', 'E11', 'private'), (1, '2023-01-01', 'I10', 'public')",
        ),
    }
    omop = {
        "subject_id": "person_id",
        "time": "condition_start_datetime",
        "code": "condition_source_value",
    }
    history = {
        "column": "timeline",
        "tables": [
            {"table": "ward.events"},
            {"table": "ward.condition_occurrence", "columns": omop},
        ],
        "patient": "subject_id",
        "until": "prediction_time",
        "time": "time",
        "line": ["- {code}", ": {numeric_value}", ": {text_value}"],
    }
    fields = {"id": "subject_id", "context": "timeline", "question": "question"}
    own_card(
        site,
        source={"table": "ward.labels", "history": history},
        fields={**fields, "reference": "answer"},
    )
    site.spark.sql("CREATE SCHEMA ward")
    try:
        for name, (ddl, rows) in tables.items():
            site.spark.sql(f"CREATE TABLE {name} ({ddl}) USING delta")
            site.spark.sql(f"INSERT INTO {name} VALUES {rows}")
        assert ingest(site) == 0
        assert ingest(site) == 0, "the same rows are the same data version"
    finally:
        site.spark.sql("DROP SCHEMA ward CASCADE")
    instances = {
        row["source_id"]: (row["input"], row["access_level"]) for row in site.rows("instances")
    }
    assert instances == {
        "1": ("- I10\n- LOINC/718-7: 11.5\n\nQuestion: Q?\n", "public"),
        "2": ("- NOTE: fine\n- E11\n\nQuestion: Q?\n", "private"),
    }
    (bad,) = site.rows("quarantine")
    assert (bad["source_file"], bad["reason"]) == ("ward.events", "missing_field")
