"""Small events and records of our own making, in the forms that EHRSHOT and MedAlign have."""

import csv
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.history import History
from medhelm_spark.domain.split import Split
from medhelm_spark.scenarios.histories import (
    ORDER,
    Entry,
    event_entries,
    record_entries,
    serialised,
)
from medhelm_spark.scenarios.records import Record


def records_of(rows: Sequence[dict[str, Any]], name: str) -> list[Record]:
    return [Record(source_file=name, row=n, fields=row) for n, row in enumerate(rows, 1)]


def texts(
    events: Sequence[dict[str, Any]], records: Sequence[dict[str, Any]], **changes: Any
) -> list[Record]:
    """The records with their texts, by the pure part alone, in the order of their rows."""
    fields: dict[str, Any] = {"column": "text", "files": ("events",), "patient": "patient_id"}
    fields |= {"until": "prediction_time", "time": "start", "line": ("- {code}",)}
    history = History(**{**fields, **changes})
    entries: list[Entry] = [
        *event_entries(records_of(events, "events"), history, 0),
        *record_entries(records_of(records, "asked"), history, 0),
    ]
    entries.sort(key=lambda one: tuple(getattr(one, name) for name in ORDER))
    source = DataSource(files=(SourceFile(path="asked", split=Split.TEST),), history=history)
    return sorted((one for _, one in serialised(entries, source)), key=lambda one: one.row)


def event(code: str | None, start: Any, patient: object = 1, **more: Any) -> dict[str, Any]:
    return {"patient_id": patient, "start": start, "code": code, **more}


def record(prediction_time: Any, patient: object = 1) -> dict[str, Any]:
    return {"patient_id": patient, "prediction_time": prediction_time}


def write_parquet(path: Path, rows: Sequence[dict[str, Any]], row_group_size: int = 3) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=row_group_size)


def write_rows(path: Path, rows: Sequence[dict[str, Any]], delimiter: str = ",") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def ehrshot(folder: Path, patients: int = 4) -> None:
    """A folder as EHRSHOT has it in MEDS form: patient n has n + 1 visits, a label in the midst."""
    events: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    for patient in range(1, patients + 1):
        row = {"subject_id": patient, "numeric_value": None, "unit": None}
        events.append({**row, "time": None, "code": "Gender/F"})
        for visit in range(patient + 1):
            at = datetime.fromisoformat(f"{2020 + visit}-05-{patient:02} 10:30")
            events.append({**row, "time": at, "code": f"Visit/{visit}"})
            events.append({**row, "time": at, "code": "LOINC/718-7", "numeric_value": 11.5})
        when = datetime.fromisoformat(f"2021-05-{patient:02} 10:30")
        labels.append(
            {"subject_id": patient, "prediction_time": when, "boolean_value": patient % 2 == 1}
        )
    write_parquet(folder / "data" / "data.parquet", events[::-1], 3)
    for task in ("guo_los", "lab_anemia"):
        write_parquet(folder / "labels" / task / "labels.parquet", labels)


def medalign(folder: Path) -> None:
    """A folder as MedAlign has it: two instructions over one record, one over another."""
    record = [("i1", 7, "What was given?"), ("i2", 7, "What for?"), ("i3", 123, "Żółć?")]
    rows = [
        {"instruction_id": one, "question": question, "person_id": patient, "model": model}
        for one, patient, question in record
        for model in ("first", "second")
    ]
    write_rows(folder / "clinician-reviewed-model-responses.tsv", rows, "\t")
    answers = [
        {
            "instruction_id": one,
            "annotator_num": f"Annotator_{n}",
            "clinician_response": f"{one} {n}",
        }
        for one, _, _ in record
        for n in (2, 1)
    ]
    write_rows(folder / "clinician-instruction-responses.tsv", answers, "\t")
    (folder / "medalign_ehr_xml").mkdir()
    for patient in (7, 123, 9):
        first = f'<record><visit start="2020">Note of {patient}: ż.</visit>'
        text = f"{first}\n<visit>Last.</visit></record>"
        (folder / "medalign_ehr_xml" / f"{patient}.xml").write_text(text, encoding="utf-8")
