"""The cards of public sets on the real files: counts, first and last rows, balance of labels."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.split import Split
from medhelm_spark.scenarios import read_records, with_source
from tests.unit.scenarios.cards import card, instances
from tests.unit.scenarios.test_cards import answer, load


def position(instance: Instance) -> int:
    """The index of the right option, from 0."""
    return [each.is_correct for each in instance.references].index(True)


def test_medec(real_data: Path) -> None:
    found = instances(with_source(load("medec"), [str(real_data / "medec")]))
    assert len(found) == 597
    assert sum(answer(each) == "CORRECT" for each in found) == 286
    first, last = found[0], found[-1]
    assert (first.source_id, last.source_id) == ("ms-test-0", "ms-test-596")
    assert first.input.startswith("0 A 29-year-old internal medicine resident presents")
    assert answer(first) == "10 Patient's symptoms are suspected to be due to Schistosoma mansoni."
    assert all(int(answer(each).split()[0]) >= 0 for each in found if answer(each) != "CORRECT")


def test_medec_validation_file_has_no_lines_of_empty_cells(real_data: Path) -> None:
    path = real_data / "medec" / "MEDEC-MS-ValidationSet-with-GroundTruth-and-ErrorType.csv"
    found = instances(with_source(load("medec"), [str(path)]))
    assert (len(found), sum(answer(each) == "CORRECT" for each in found)) == (574, 255)


def test_med_qa(real_data: Path) -> None:
    path = real_data / "medqa" / "phrases_no_exclude_test.jsonl"
    found = instances(with_source(load("med_qa"), [str(path)]))
    assert Counter(map(position, found)) == {0: 353, 1: 309, 2: 346, 3: 265}
    assert {each.split for each in found} == {Split.TEST}
    assert found[0].input.startswith("A junior orthopaedic surgery resident is completing")
    assert answer(found[0]) == "Tell the attending that he cannot fail to disclose this mistake"
    assert not [one for each in found for one in each.references if one.text.endswith(('"', "\n"))]
    assert len(found[-1].references) == 4


def test_medhallu_makes_two_instances_of_a_row_truth_first(real_data: Path) -> None:
    path = real_data / "medhallu" / "medhallu_dataset_labeled.csv"
    found = instances(with_source(load("medhallu"), [str(path)]))
    assert Counter(map(answer, found)) == {"0": 1000, "1": 1000}
    assert [answer(each) for each in found[:4]] == ["0", "1", "0", "1"]
    assert [each.source_index for each in found] == list(range(2000))
    assert (found[0].source_id, found[-1].source_id) == ("1:0", "1000:1")
    assert len({each.instance_id for each in found}) == 2000
    question = (
        "\n\nQuestion: Are sugars-free medicines more erosive than sugars-containing medicines?"
        "\n\nAnswer: Sugars-free (SF) medicines are more erosive"
    )
    assert found[-1].input.startswith("World Knowledge: ['The reduced use of sugars-containing")
    assert question in found[-1].input


def head_qa(real_data: Path, name: str, **options: str) -> list[Instance]:
    scenario = load("head_qa")
    scenario = replace(scenario, options={**scenario.options, **options})
    return instances(with_source(scenario, [str(real_data / "headqa" / name)]))


def test_head_qa_without_the_questions_about_images(real_data: Path) -> None:
    found = head_qa(real_data, "test_HEAD_EN.json")
    assert len(found) == 2675
    assert (found[0].source_id, found[-1].source_id) == (
        "Cuaderno_2016_1_B:1",
        "Cuaderno_2017_1_Q:235",
    )
    assert found[0].input == "Form extracellular fibers with high tensile strength:"
    assert answer(found[0]) == "Collagen"
    assert found[0].extra_data["category"] == "biology"
    assert {len(each.references) for each in found} == {4}


def test_head_qa_in_spanish_and_of_one_category(real_data: Path) -> None:
    assert len(head_qa(real_data, "test_HEAD.json", language="es")) == 2675
    by_category = {
        category: len(head_qa(real_data, "test_HEAD_EN.json", category=category))
        for category in ("medicine", "biology")
    }
    assert by_category == {"medicine": 396, "biology": 454}


def test_medxpert_qa_rows_in_the_form_of_the_hub(real_data: Path, tmp_path: Path) -> None:
    """The published sample has lists where the hub has an object of options and one letter."""
    lines = (real_data / "medxpertqa" / "medxpertqa_sampled_text_input.jsonl").read_text("utf-8")
    path = tmp_path / "test.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for row in map(json.loads, lines.splitlines()):
            options = {one["letter"]: one["content"] for one in row["options"]}
            out.write(json.dumps({**row, "options": options, "label": row["label"][0]}) + "\n")
    found = instances(with_source(load("medxpert_qa_text"), [str(path)]))
    assert len(found) == 244
    assert {len(each.references) for each in found} == {10}
    assert (found[0].source_id, position(found[0])) == ("Text-20", 9)


def test_ehr_sql_leaves_out_what_the_database_cannot_answer(
    real_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "eicu.sql").write_text("DROP TABLE IF EXISTS a;\nCREATE TABLE a\n(\n  b INT\n) ;\n")
    scenario = with_source(load("ehr_sql"), [str(real_data / "ehrsql2024" / "annotated.json")])
    texts = {"schema": str(tmp_path / "eicu.sql")}
    found = instances(replace(scenario, source=replace(scenario.source, texts=texts)))
    assert len(found) == 934
    assert found[0].input == (
        "-- Tables of the database\nCREATE TABLE a\n(\n  b INT\n) ;\n\n-- Question\n"
        "Has the prescription of sodium chloride 0.9%, nicardipine iv, or ondansetron been given "
        "to patient 10039997 in 2100?\n"
    )
    assert answer(found[0]).startswith("SELECT COUNT(*)>0 FROM prescriptions WHERE")
    assert found[0].extra_data == {"is_impossible": "false"}


def test_a_real_workbook_is_read_by_its_header(real_data: Path) -> None:
    path = real_data / "meqsum" / "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx"
    data_source = DataSource(format="xlsx", files=(SourceFile(path=str(path)),))
    found = [
        record.fields
        for record in read_records(data_source.files[0], data_source, required=("CHQ",))
    ]
    assert len(found) == 1000
    assert list(found[0]) == ["File", "CHQ", "Summary"]
    assert found[0]["File"] == "1-131188152.xml.txt"
    assert found[1]["Summary"] == "Who manufactures bromocriptine?"


def test_a_users_own_summaries_from_a_real_workbook(real_data: Path) -> None:
    path = real_data / "meqsum" / "MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx"
    scenario = card(
        "free_text",
        source=DataSource(format="xlsx", files=(SourceFile(path=str(path)),)),
        fields={"input": "CHQ", "reference": "Summary", "id": "File"},
        metric="rouge_l",
    )
    found = instances(scenario)
    assert len(found) == 1000
    assert answer(found[0]) == "Who manufactures cetirizine?"
