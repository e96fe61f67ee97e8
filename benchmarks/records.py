"""Long records: how fast Spark makes them of events, and what the driver needs meanwhile.

Generated patients in the form of EHRSHOT's folder, a label each, and one `medhelm-spark ingest` in
a process of its own: Spark's start, both passes (each reads, sorts and serialises all events) and
the write. The executor is a JVM of its own, so that the driver's memory is the driver's alone.

    python -m benchmarks.records [--patients 20000] [--events 500]
"""

import argparse
import os
import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from pyarrow import parquet

from benchmarks.driver_memory import APART, set_environment
from benchmarks.processes import measured

FIRST = datetime.fromisoformat("2015-01-01 00:00")
PATIENTS_AT_ONCE = 500
VOCABULARIES = ("SNOMED", "LOINC", "RxNorm", "ICD10CM", "CPT4")
PASSES = 2
CARD: dict[str, Any] = {
    "name": "records",
    "display_name": "Records",
    "description": "Made for a measurement.",
    "access_level": "public",
    "source": {
        "format": "parquet",
        "files": [{"path": "records/labels/labels.parquet", "split": "test"}],
        "history": {
            "column": "timeline",
            "files": ["records/data/data.parquet"],
            "format": "parquet",
            "patient": "subject_id",
            "until": "prediction_time",
            "time": "time",
            "line": ["{code}", ": {numeric_value}"],
            "heading": "{day}",
            "most": "100000",
            "unit": "pieces",
        },
    },
    "shape": "multiple_choice",
    "fields": {"id": "subject_id", "answer": "boolean_value"},
    "options": {"template": "{timeline}", "choices": "yes|no", "answers": "True=yes|False=no"},
    "adapter_spec": {"method": "multiple_choice_joint"},
    "metrics": [{"name": "exact_match"}],
    "main_metric": "exact_match",
    "category": "Clinical Decision Support",
    "subcategory": "Predicting Patient Risks and Outcomes",
}


def make_folder(folder: Path, patients: int, events: int) -> None:
    """Events of every patient over ten years, in no order, and a label in the last of them."""
    draw = random.Random(0)
    codes = [f"{draw.choice(VOCABULARIES)}/{draw.randrange(10**8)}" for _ in range(20_000)]
    (folder / "data").mkdir(parents=True)
    (folder / "labels").mkdir()
    writer = None
    for first in range(0, patients, PATIENTS_AT_ONCE):
        patient_ids = [
            n for n in range(first, min(first + PATIENTS_AT_ONCE, patients)) for _ in range(events)
        ]
        draw.shuffle(patient_ids)
        table = pa.table(
            {
                "subject_id": patient_ids,
                "time": [FIRST + timedelta(minutes=draw.randrange(5_256_000)) for _ in patient_ids],
                "code": draw.choices(codes, k=len(patient_ids)),
                "numeric_value": [draw.choice((None, 1.5, 37.0)) for _ in patient_ids],
            }
        )
        writer = writer or parquet.ParquetWriter(folder / "data" / "data.parquet", table.schema)
        writer.write_table(table)
    if writer:
        writer.close()
    labels = {
        "subject_id": list(range(patients)),
        "prediction_time": [FIRST + timedelta(days=3600)] * patients,
        "boolean_value": [n % 2 == 0 for n in range(patients)],
    }
    parquet.write_table(pa.table(labels), folder / "labels" / "labels.parquet")


def measure(patients: int, events: int) -> dict[str, float]:
    """One ingest: seconds, and the largest resident sizes in GB by part of the job."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder / "records", patients, events)
        site = folder / "prod_env"
        (site / "scenarios").mkdir(parents=True)
        (site / "scenarios" / "records.yaml").write_text(yaml.safe_dump(CARD))
        (site / "settings.yaml").write_text(yaml.safe_dump({"spark": APART}))
        command = [
            sys.executable, "-m", "medhelm_spark.cli", "ingest", "--scenario", "records",
            "--source", str(folder / "records"), "--access-level", "public",
            "-o", str(folder / "lake"), "--local-path", str(site),
        ]  # fmt: skip
        usage = measured(command)
    return {"seconds": usage.seconds, **usage.gigabytes}


def report(patients: int, events: int, measurement: dict[str, float]) -> str:
    """The numbers as markdown."""
    rows = patients * events
    return (
        "# Long records made of events\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, of which the executor had two. "
        f"{patients:,} patients with {events:,} events each, {PASSES} passes. "
        "Seconds are of the whole command with Spark's start.\n\n"
        "| events | seconds | events/s, each pass | driver JVM GB | driver Python GB | "
        "executor JVM GB | workers GB |\n|---|---|---|---|---|---|---|\n"
        f"| {rows:,} | {measurement['seconds']:.0f} | "
        f"{PASSES * rows / measurement['seconds']:,.0f} | "
        f"{measurement['jvm']:.2f} | {measurement['python']:.2f} | {measurement['executor']:.2f} | "
        f"{measurement['workers']:.2f} |\n"
    )


def main() -> None:
    """Measure one size and keep the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=20_000)
    parser.add_argument("--events", type=int, default=500)
    default = Path(__file__).parent / "results" / "records.md"
    parser.add_argument("--output", type=Path, default=default)
    args = parser.parse_args()
    set_environment()
    text = report(args.patients, args.events, measure(args.patients, args.events))
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
