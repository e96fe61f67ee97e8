"""EHRSHOT and MedAlign from folders of the form that their publishers hand out."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from medhelm_spark.config.loader import validate
from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.scenario import Instance, Quarantined, ScenarioCard, Verified
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios import Presence, check_card, presence, read_card, with_source
from tests.unit.scenarios.cards import CONF, instances, parsed
from tests.unit.scenarios.histories import ehrshot, medalign, write_parquet, write_rows
from tests.unit.scenarios.test_cards import answer, load
from tests.unit.scenarios.test_same_form import chosen


def of_folder(name: str, folder: Path, **args: str) -> ScenarioCard:
    return with_source(chosen(name, **args), [str(folder)])


def ending_of(one: Instance, mark: str) -> str:
    return one.input.split(mark, 1)[1]


def test_both_cards_say_that_only_the_form_was_read() -> None:
    assert {load(name).verified for name in ("ehrshot", "medalign")} == {Verified.SAME_FORM}


def test_ehrshot_from_its_folder(tmp_path: Path) -> None:
    ehrshot(tmp_path)
    found = instances(of_folder("ehrshot", tmp_path, subject="guo_los"))
    assert [one.source_id for one in sorted(found, key=lambda one: one.source_index)] == [
        f"{patient}:2021-05-0{patient} 10:30:00" for patient in (1, 2, 3, 4)
    ]
    by_patient = {one.source_id.split(":")[0]: one for one in found}
    # The two events of a visit have one time: the file has them the other way round.
    codes = "- LOINC/718-7\n- Visit/0\n- LOINC/718-7\n- Visit/1\n"
    assert {ending_of(one, "Patient EHR:\n") for one in found} == {codes}
    assert "seven days or more? A is yes, B is no." in by_patient["1"].input
    assert [answer(by_patient[each]) for each in "1234"] == ["yes", "no", "yes", "no"]


def test_ehrshot_drops_what_is_longer_than_max_length(tmp_path: Path) -> None:
    ehrshot(tmp_path)
    # Six pieces in `- LOINC/718-7` and four in `- Visit/0`, each twice, and three line breaks.
    for most, count in (("23", 4), ("22", 0)):
        found = parsed(of_folder("ehrshot", tmp_path, subject="guo_los", max_length=most))
        good = [one for one in found if isinstance(one, Instance)]
        bad = [one.reason for one in found if isinstance(one, Quarantined)]
        assert (len(good), bad) == (count, ["too_long"] * (4 - count))


def test_ehrshot_as_a_table_that_has_the_text_already(tmp_path: Path) -> None:
    row = {
        "subject_id": 1,
        "prediction_time": datetime.fromisoformat("2020-01-02 00:00"),
        "boolean_value": True,
    }
    write_parquet(tmp_path / "mine.parquet", [{**row, "timeline": "- A\n- B"}])
    scenario = with_source(chosen("ehrshot", subject="guo_los"), [str(tmp_path / "mine.parquet")])
    (found,) = instances(scenario)
    assert ending_of(found, "Patient EHR:\n") == "- A\n- B\n"
    assert found.source_id == "1:2020-01-02 00:00:00"


def test_medalign_from_its_folder(tmp_path: Path) -> None:
    medalign(tmp_path)
    found = sorted(instances(of_folder("medalign", tmp_path)), key=lambda one: one.source_id)
    assert [(one.source_id, answer(one)) for one in found] == [
        ("i1", "i1 1"),
        ("i2", "i2 1"),
        ("i3", "i3 1"),
    ]
    assert ending_of(found[2], "EHR: ") == (
        '<record><visit start="2020">Note of 123: ż.</visit>\n<visit>Last.</visit></record>'
        "\n\nQuestion: Żółć?\n\nAnswer:"
    )
    cut = of_folder("medalign", tmp_path, max_length="10")
    assert {ending_of(one, "EHR: ").split("\n")[0] for one in instances(cut)} == {
        "Last.</visit></record>"
    }


def test_medalign_as_a_table_that_has_the_text_already(tmp_path: Path) -> None:
    row = {"instruction_id": "i", "question": "Q?", "clinician_response": "R.", "ehr": "All."}
    write_parquet(tmp_path / "mine.parquet", [row])
    (found,) = instances(with_source(chosen("medalign"), [str(tmp_path / "mine.parquet")]))
    assert ending_of(found, "EHR: ") == "All.\n\nQuestion: Q?\n\nAnswer:"
    assert answer(found) == "R."


def test_what_lacks_a_partner_is_counted(tmp_path: Path) -> None:
    medalign(tmp_path)
    (tmp_path / "medalign_ehr_xml" / "123.xml").unlink()
    with (tmp_path / "clinician-instruction-responses.tsv").open("a") as stream:
        stream.write("i4\tAnnotator_1\tNo such instruction.\n")
    found = parsed(of_folder("medalign", tmp_path))
    bad = [(one.source_row, one.reason) for one in found if isinstance(one, Quarantined)]
    assert sorted(bad) == [(6, "no_history"), (7, "missing_field")]


def test_events_that_are_bad_are_counted_in_their_own_file(tmp_path: Path) -> None:
    ehrshot(tmp_path, 1)
    events = [{"subject_id": 1, "time": "2020-01-01", "code": code} for code in ("a", "", "b")]
    write_parquet(tmp_path / "data" / "data.parquet", [*events, {**events[0], "time": "no"}])
    found = parsed(of_folder("ehrshot", tmp_path, subject="guo_los"))
    (good,) = (one for one in found if isinstance(one, Instance))
    assert ending_of(good, "Patient EHR:\n") == "- a\n- b\n"
    bad = [one for one in found if isinstance(one, Quarantined)]
    path = str(tmp_path / "data" / "data.parquet")
    assert [(one.source_file, one.source_row, one.reason) for one in bad] == [
        (path, 2, "missing_field"),
        (path, 4, "unknown_time"),
    ]


def test_a_folder_without_the_events_says_where_they_are_had(tmp_path: Path) -> None:
    ehrshot(tmp_path)
    scenario = of_folder("ehrshot", tmp_path, subject="guo_los")
    assert presence(scenario, tmp_path / "cache") is Presence.HERE
    (tmp_path / "data" / "data.parquet").unlink()
    assert presence(scenario, tmp_path / "cache") is Presence.PART
    with pytest.raises(DataError, match=r"data\.parquet: cannot be read"):
        list(read_card(scenario))
    medalign(tmp_path)
    for each in (tmp_path / "medalign_ehr_xml").iterdir():
        each.unlink()
    with pytest.raises(DataError, match=r"\*\.xml: no such file; it comes from MedAlign"):
        list(read_card(of_folder("medalign", tmp_path)))


def test_the_card_of_the_page_reads_csv_files_with_values_and_visits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    event = {"patient_id": 1, "start": "2020-01-01 08:00:00", "code": "LOINC/718-7"}
    events = [
        {**event, "value": "11.5", "unit": "g/dL", "visit_id": "9"},
        {**event, "value": "", "unit": "", "visit_id": "9"},
        {**event, "value": "7", "unit": "", "visit_id": "", "start": "2019-12-31 23:59:59"},
    ]
    write_rows(Path("ehrshot_csv/data/ehrshot.csv"), events)
    label = {"patient_id": 1, "prediction_time": "2020-01-01T08:00:00", "value": "False"}
    write_rows(Path("ehrshot_csv/benchmark/guo_los/labeled_patients.csv"), [label])
    page = (CONF.parent / "docs" / "long-records.md").read_text(encoding="utf-8")
    written = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    fields = {"id": "patient_id", "id.time": "prediction_time", "answer": "value"}
    scenario = load("ehrshot")
    changed = replace(
        scenario,
        source=validate(written["source"], DataSource, "the page"),
        fields=fields,
        options={**scenario.options, "subject": "guo_los"},
    )
    own = bind(changed)
    (found,) = instances(own)
    assert ending_of(found, "Patient EHR:\n").splitlines() == [
        "LOINC/718-7: 7",
        "2020-01-01, visit 9",
        "LOINC/718-7: 11.5 g/dL",
        "LOINC/718-7",
    ]
    assert answer(found) == "no"


def test_a_history_is_not_made_for_a_data_set_of_the_hub() -> None:
    scenario = chosen("medalign")
    hub = replace(
        scenario, source=replace(scenario.source, files=(), dataset="org/name", revision="0" * 40)
    )
    with pytest.raises(ConfigError, match="made for records of files"):
        check_card(hub)
