"""Shipped cards whose data is more than one table: a folder of files, joins, variants, rules."""

import gzip
from pathlib import Path

import pytest

from tests.spark.conftest import Site

MODEL = "local/yes"
BORDER = "*" * 100


def patients(folder: Path, count: int) -> None:
    """n2c2's XML files, every second patient without the criterion."""
    (folder / "test").mkdir(parents=True)
    for number in range(count):
        notes = f"Record date: 2067-05-0{number + 1}\nNote of {number}.\n{BORDER}\nMore."
        met = "met" if number % 2 else "not met"
        (folder / "test" / f"{number}.xml").write_text(
            f'<?xml version="1.0"?><PatientMatching><TEXT><![CDATA[{notes}]]></TEXT>'
            f'<TAGS><ENGLISH met="{met}"/><CREATININE met="met"/></TAGS></PatientMatching>'
        )


def stays(folder: Path, count: int) -> None:
    """The three tables of DischargeMe, as its publisher compresses them."""
    inside = folder / "files" / "discharge-me" / "1.3" / "test_phase_1"
    inside.mkdir(parents=True)
    ids = range(count)
    tables = {
        "discharge": ["hadm_id,text", *(f"{n},all COURSE{n}. and TELL{n}." for n in ids)],
        "radiology": ["hadm_id,text", *(f"{n},film {n}\n{n},second" for n in ids)],
        "discharge_target": [
            "hadm_id,brief_hospital_course,discharge_instructions",
            *(f"{n},COURSE{n}.,TELL{n}." for n in ids),
        ],
    }
    for name, lines in tables.items():
        (inside / f"{name}.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def test_folders_joins_variants_and_arguments_from_entry_to_board(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    patients(site.folder / "n2c2", 6)
    stays(site.folder / "physionet", 5)
    site.deploy(MODEL, mode="choice")
    entries = [
        f"n2c2_ct_matching:subject=ENGLISH,data_path=n2c2,model={MODEL}",
        f"n2c2_ct_matching:subject=CREATININE,data_path=n2c2,model={MODEL}",
        f"dischargeme:data_path=physionet,model={MODEL}",
    ]
    assert site.run("-r", *entries, command="plan") == 0
    rows = site.rows("instances")
    by_name = {name: [row for row in rows if row["scenario_name"] == name] for name in names(rows)}
    assert {name: len(instances) for name, instances in by_name.items()} == {
        "n2c2_ct_matching:subject=ENGLISH": 6,
        "n2c2_ct_matching:subject=CREATININE": 6,
        "dischargeme": 10,
    }
    right = {
        row["source_id"]: next(one["text"] for one in row["references"] if one["tags"])
        for row in by_name["n2c2_ct_matching:subject=ENGLISH"]
    }
    assert right == {str(n): "yes" if n % 2 else "no" for n in range(6)}
    assert {row["access_level"] for row in rows} == {"gated"}
    stay = {row["source_id"]: row for row in by_name["dischargeme"]}
    assert stay["3:discharge_instructions"]["references"][0]["text"] == "TELL3."
    assert (
        "all COURSE3. and \n\nRadiology Report:\nfilm 3\n"
        in (stay["3:discharge_instructions"]["input"])
    )
    assert len({row["instance_id"] for row in rows}) == 22
    assert len({row["source_index"] for row in by_name["dischargeme"]}) == 10
    assert sorted(row["run_spec"]["name"].split(",model")[0] for row in site.rows("run_specs")) == [
        f"dischargeme:model={MODEL.replace('/', '_')}",
        "n2c2_ct_matching:subject=CREATININE",
        "n2c2_ct_matching:subject=ENGLISH",
    ]
    versions = len(site.rows("scenarios"))
    assert site.run("-r", *entries, command="plan") == 0
    assert len(site.rows("scenarios")) == versions


def names(rows: list[dict[str, object]]) -> set[str]:
    return {str(row["scenario_name"]) for row in rows}
