"""Cards whose data cannot be had here, on small files of our own making that have its form."""

import gzip
import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.scenario import Instance, Quarantined, ScenarioCard, Verified
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios import required_columns, with_source
from tests.unit.scenarios.cards import CONF, instances, parsed, write_csv
from tests.unit.scenarios.test_cards import answer, load

TESTED_ELSEWHERE = {
    "medxpert_qa_text",
    "ehr_sql",
    "health_bench_consensus",
    "health_bench_professional",
} | {
    "ehrshot",
    "medalign",
}
TESTED_HERE = {
    "medbullets",
    "med_mcqa",
    "mmlu",
    "mmlu_pro",
    "healthqa_br",
    "race_based_med",
    "sct_bench",
    "mtsamples_replicate",
    "mtsamples_procedures",
    "medication_qa",
    "medi_qa",
    "med_dialog",
    "dischargeme",
    "mimic_rrs",
    "mimic_bhc",
    "mimiciv_billing_code",
    "n2c2_ct_matching",
}


def chosen(name: str, **args: str) -> ScenarioCard:
    """The card with arguments of a run entry."""
    scenario = load(name)
    return bind(replace(scenario, options={**scenario.options, **args}))


def read(name: str, path: Path, **args: str) -> list[Instance]:
    return instances(with_source(chosen(name, **args), [str(path)]))


def write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(list(rows)), path)


def options(instance: Instance) -> list[str]:
    return [each.text for each in instance.references]


def test_what_is_tested_here_is_what_the_cards_say() -> None:
    cards = [load(path.stem) for path in (CONF / "scenarios").glob("*.yaml")]
    same_form = {card.name for card in cards if card.verified is Verified.SAME_FORM}
    assert same_form - TESTED_ELSEWHERE == TESTED_HERE


def test_medbullets_with_the_empty_cells_of_an_older_file(tmp_path: Path) -> None:
    names = ["opa", "opb", "opc", "opd", "ope", "answer_idx", "answer", "explanation"]
    header = ["link", "question", *names]
    row = ["u", "Which?", "one", "two", "three", "four", "five", "E", "five", "a\nb", "", ""]
    found = read("medbullets", write_csv(tmp_path / "medbullets_op5.csv", [header, row]))
    assert options(found[0]) == ["one", "two", "three", "four", "five"]
    assert answer(found[0]) == "five"


def test_med_mcqa_counts_its_answers_from_one(tmp_path: Path) -> None:
    row = {"question": "Q", "opa": "a", "opb": "b", "opc": "c", "opd": "d", "id": "x", "exp": None}
    (tmp_path / "dev.json").write_text(json.dumps({**row, "cop": 4}) + "\n")
    (tmp_path / "train.json").write_text(json.dumps({**row, "cop": 1}) + "\n")
    train, valid = read("med_mcqa", tmp_path)
    assert (train.split, answer(train)) == (Split.TRAIN, "a")
    assert (valid.split, answer(valid)) == (Split.VALID, "d")
    assert [answer(one) for one in read("med_mcqa", tmp_path / "dev.json")] == ["d"]


def test_mmlu_takes_few_shot_examples_from_dev(tmp_path: Path) -> None:
    for split, right in (("dev", 0), ("validation", 1), ("test", 3)):
        row = {"question": "Q", "subject": "virology", "choices": list("wxyz"), "answer": right}
        write_parquet(tmp_path / "virology" / f"{split}-00000-of-00001.parquet", [row])
    scenario = chosen("mmlu", subject="virology")
    assert scenario.source.dataset == "cais/mmlu:virology"
    assert "exam questions on virology" in scenario.adapter_spec.instructions
    found = instances(replace(scenario, source=replace(scenario.source, dataset=str(tmp_path))))
    assert {one.split: answer(one) for one in found} == {
        Split.TRAIN: "w",
        Split.VALID: "x",
        Split.TEST: "z",
    }
    own = {one.split: answer(one) for one in read("mmlu", tmp_path, subject="virology")}
    assert own == {one.split: answer(one) for one in found}
    with pytest.raises(ConfigError, match=r"mmlu' needs subject=VALUE; allowed: anatomy, clinical"):
        bind(load("mmlu"))
    with pytest.raises(ConfigError, match="subject is 'law'; allowed: anatomy"):
        chosen("mmlu", subject="law")


def test_a_folder_without_a_file_of_a_data_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the folder has no file of data: \.csv"):
        read("mmlu_pro", tmp_path)


def test_mmlu_pro_keeps_a_subject(tmp_path: Path) -> None:
    rows = [
        {"question_id": n, "question": "Q", "options": list("abcdefghij"), "answer": "J"}
        | {"category": category, "answer_index": 9}
        for n, category in enumerate(["law", "health", "health"])
    ]
    write_parquet(tmp_path / "test-00000-of-00001.parquet", rows)
    found = read("mmlu_pro", tmp_path, subject="health")
    assert [(one.source_id, answer(one)) for one in found] == [("1", "j"), ("2", "j")]
    assert len(read("mmlu_pro", tmp_path)) == 3


def test_healthqa_br_finds_the_options_in_the_question(tmp_path: Path) -> None:
    plain = "Qual?\nEscolha.\n'A': 'um', 'B': 'copo d'água', 'C': 'três'"
    in_braces = "Qual?\n{'A': 'um', 'B': \"d'água\"}"
    rows = [
        {"question": plain, "answer": "B"},
        {"question": in_braces, "answer": "A"},
        {"question": plain, "answer": "E"},
        {"question": "Qual?", "answer": "A"},
    ]
    write_parquet(tmp_path / "healthqa-br.parquet", rows)
    found = parsed(with_source(load("healthqa_br"), [str(tmp_path / "healthqa-br.parquet")]))
    first, second = [one for one in found if isinstance(one, Instance)]
    assert (first.input, options(first)) == ("Qual?\nEscolha.", ["um", "copo d'água", "três"])
    assert (second.input, options(second)) == ("Qual?", ["um", "d'água"])
    assert [one.reason for one in found if isinstance(one, Quarantined)] == [
        "unknown_answer",
        "not_a_list",
    ]


def test_race_based_med(tmp_path: Path) -> None:
    rows = [["Question", "Response", "True/False"], ["q", "r", "True"], ["q", "s", "False"]]
    found = read("race_based_med", write_csv(tmp_path / "race_based.csv", rows))
    assert [answer(one) for one in found] == ["yes", "no"]
    assert found[1].input.endswith("\n\nQuestion: q\nResponse: s\n")


def test_race_based_med_from_the_word_file_whose_red_is_wrong(tmp_path: Path) -> None:
    def paragraph(*runs: tuple[str, str]) -> str:
        parts = (
            f'<w:r><w:rPr><w:color w:val="{color}"/></w:rPr><w:t>{text}</w:t></w:r>'
            for text, color in runs
        )
        return f"<w:p>{''.join(parts)}</w:p>"

    black = "000000"
    body = [
        paragraph(("ChatGPT", "FF0000")),
        paragraph(("Run 1: Is it ", black), ("so: or not?", black)),
        paragraph(("Yes, ", black), ("always", "ff0000"), (".", black)),
        paragraph(("And more.", black)),
        paragraph(("Run 2: Why?", black)),
        paragraph(("Nobody knows.", "FF0001"), (" ", "FF0000")),
    ]
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    path = tmp_path / "41746_2023_939_MOESM1_ESM.docx"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("word/document.xml", f'<w:d xmlns:w="{space}">{"".join(body)}</w:d>')
    found = read("race_based_med", path)
    assert [answer(one) for one in found] == ["yes", "no"]
    question = "Question: Is it so: or not?\nResponse: Yes, always.\nAnd more.\n"
    assert found[0].input.endswith(question)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="not a readable Word document"):
        read("race_based_med", path)


def test_race_based_med_takes_any_white_space_and_identical_runs_once(tmp_path: Path) -> None:
    starts = ["Run 1: ", "Run\u00a02: ", " Run 3:\u00a0", "\tRun\u00a04: ", "Run 5: "]
    runs = [(start, f"Question {n % 4}?", "An answer.") for n, start in enumerate(starts)]
    path = word_file(tmp_path / "runs.docx", [t for s, q, a in runs for t in (s + q, a)])
    found = read("race_based_med", path)
    assert [one.input.split("Question: ")[1] for one in found] == [
        f"Question {n % 4}?\nResponse: An answer.\n" for n in range(5)
    ]
    assert len({one.instance_id for one in found}) == 4, "which ingest merges"


def word_file(path: Path, paragraphs: Sequence[str]) -> Path:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("word/document.xml", f'<w:d xmlns:w="{space}">{body}</w:d>')
    return path


SCT = ["question_id", "sct_stem", "question", "additional_info", "-2", "-1", "0", "1", "2"]


def test_sct_bench_takes_the_first_of_the_heaviest_points(tmp_path: Path) -> None:
    rows = [
        SCT,
        ["7", "s", "h", "i", "0", "0.2", "0", "0.4", "0.4"],
        ["8", "s", "h", "", "1", "0", "0", "0", "0"],
        ["9", "s", "h", "i", "1", "", "0", "0", "0"],
        ["10", "s", "h", "i", "0", "0", "0", "0", "0"],
    ]
    path = write_csv(tmp_path / "sct_cleaned_full.csv", rows)
    found = parsed(with_source(chosen("sct_bench"), [str(path)]))
    good = [one for one in found if isinstance(one, Instance)]
    assert [(one.source_id, answer(one)) for one in good] == [("7", "+1"), ("9", "-2")]
    assert good[0].extra_data == {"expert_distribution": "[0.0, 0.2, 0.0, 0.4, 0.4]"}
    assert [one.reason for one in found if isinstance(one, Quarantined)] == ["empty_answer"]
    text = good[0].input
    assert "with its sign.\n\nScenario: s\n\nHypothesis: h\n\nAdditional Information: i" in text
    template = chosen("sct_bench", reason="true", few_shot="true").options["template"]
    assert template.count("Example. ") == 5
    assert "one sentence that says why" in template


def test_mtsamples_cut_where_medhelm_cuts(tmp_path: Path) -> None:
    texts = {
        "A": "HISTORY: pain.\nPLAN: \nSUMMARY: rest\nend",
        "B": "HISTORY: pain.FINDINGS: none\nKeywords: x",
        "C": "HISTORY: pain.\nPLAN: operate\nand wait",
        "D": "HISTORY only",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    found = parsed(with_source(load("mtsamples_replicate"), [str(tmp_path)]))
    good = [one for one in found if isinstance(one, Instance)]
    assert [(one.source_id, one.input, answer(one)) for one in good] == [
        ("A", "HISTORY: pain.\n", "rest"),
        ("B", texts["B"], "none"),
        ("C", "HISTORY: pain.\n", "operate"),
    ]
    assert [one.reason for one in found if isinstance(one, Quarantined)] == ["empty_answer"]
    short = parsed(with_source(load("mtsamples_procedures"), [str(tmp_path)]))
    assert [one.input for one in short if isinstance(one, Instance)] == [
        "HISTORY: pain.\n",
        "HISTORY: pain.",
        "HISTORY: pain.\n",
    ]


def test_medication_qa_from_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Question", "Focus (Drug)", "Answer"], ["q", "d", "a"], ["r", "d", None]):
        book.active.append(row)
    book.save(tmp_path / "MedInfo2019-QA-Medications.xlsx")
    found = read("medication_qa", tmp_path / "MedInfo2019-QA-Medications.xlsx")
    assert [(one.input, answer(one)) for one in found] == [("q", "a")]


def test_medi_qa_takes_the_answer_ranked_first(tmp_path: Path) -> None:
    def ranked(rank: int, text: str) -> str:
        return (
            f'<Answer AID="{rank}" SystemRank="1" ReferenceRank="{rank}" ReferenceScore="3">'
            f"<AnswerURL>u</AnswerURL><AnswerText>{text}</AnswerText></Answer>"
        )

    def question(number: int, answers: str) -> str:
        text = f"<QuestionText>q{number} &amp; more</QuestionText>"
        return f'<Question QID="{number}">{text}<AnswerList>{answers}</AnswerList></Question>'

    body = question(1, ranked(2, "b") + ranked(1, "best")) + question(2, ranked(3, "c"))
    path = tmp_path / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml"
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?><set>{body}</set>')
    first, second = parsed(with_source(load("medi_qa"), [str(path)]))
    assert isinstance(first, Instance)
    assert (first.source_id, first.input, answer(first)) == ("1", "q1 & more", "best")
    assert isinstance(second, Quarantined)
    assert second.reason == "missing_field"


def test_med_dialog_reads_the_subset_that_is_asked_for(tmp_path: Path) -> None:
    for subset in ("icliniq", "healthcaremagic"):
        (tmp_path / subset).mkdir()
        content = json.dumps({"data": [{"src": f"talk on {subset}", "tgt": "short"}]})
        (tmp_path / subset / "test.json").write_text(content)
    found = read("med_dialog", tmp_path, subset="icliniq")
    assert [(one.input, answer(one)) for one in found] == [("talk on icliniq", "short")]


def test_dischargeme_joins_its_tables_and_cuts_the_section_out(tmp_path: Path) -> None:
    folder = tmp_path / "files" / "discharge-me" / "1.3" / "test_phase_1"
    folder.mkdir(parents=True)
    tables = {
        "discharge": 'note_id,hadm_id,text\nn,20,"Intro. COURSE. Middle. INSTR. End"\nn,21,x\n',
        "radiology": "note_id,hadm_id,text\nr,20,first report\nr,20,second report\nr,21,z\n",
        "discharge_target": "hadm_id,discharge_instructions,brief_hospital_course\n"
        "20,INSTR.,COURSE.\n",
    }
    for name, content in tables.items():
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(content.encode()))
    found = parsed(with_source(load("dischargeme"), [str(tmp_path)]))
    course, instructions = [one for one in found if isinstance(one, Instance)]
    assert (course.source_id, answer(course)) == ("20:brief_hospital_course", "COURSE.")
    assert course.input == (
        "Write the Brief Hospital Course of this stay.\n\nDischarge Text:\nIntro.  Middle. INSTR. "
        "End\n\nRadiology Report:\nfirst report\n\nBrief Hospital Course:"
    )
    assert (instructions.source_id, answer(instructions)) == ("20:discharge_instructions", "INSTR.")
    assert "Intro. COURSE. Middle.  End" in instructions.input
    reasons = [one.reason for one in found if isinstance(one, Quarantined)]
    assert reasons == ["missing_field"] * 2


def test_dischargeme_whose_table_is_cut_off(tmp_path: Path) -> None:
    scenario = with_source(load("dischargeme"), [str(tmp_path / "discharge.csv.gz")])
    (tmp_path / "discharge.csv.gz").write_bytes(gzip.compress(b"hadm_id,text\n1,x\n")[:-4])
    with pytest.raises(DataError, match=r"radiology\.csv\.gz: cannot be read"):
        parsed(scenario)
    for name in ("radiology", "discharge_target"):
        content = b"hadm_id,text,discharge_instructions,brief_hospital_course\n1,a,b,c\n"
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(content))
    scenario = with_source(load("dischargeme"), [str(tmp_path)])
    with pytest.raises(DataError, match=r"discharge\.csv\.gz: cut off or damaged"):
        parsed(scenario)


def test_mimic_rrs_pairs_the_lines_of_two_files(tmp_path: Path) -> None:
    (tmp_path / "test.findings.tok").write_text("heart is big .\nlungs are clear .\n")
    (tmp_path / "test.impression.tok").write_text("cardiomegaly .\n\n")
    found = parsed(with_source(load("mimic_rrs"), [str(tmp_path)]))
    assert isinstance(found[0], Instance)
    assert (found[0].input, answer(found[0])) == ("heart is big .", "cardiomegaly .")
    assert [one.reason for one in found if isinstance(one, Quarantined)] == ["empty_answer"]


def test_mimic_bhc_under_any_name(tmp_path: Path) -> None:
    path = tmp_path / "notes-v1.jsonl"
    path.write_text('{"input": "long note", "target": "short course", "id": 3}\n')
    assert [answer(one) for one in read("mimic_bhc", path)] == ["short course"]


def test_billing_codes_are_one_reference(tmp_path: Path) -> None:
    table = pa.table({"text": ["note", "other"], "target": [["I10", "S72.001A"], ["Z00.0"]]})
    feather.write_feather(table, tmp_path / "mimiciv_icd10.feather")
    found = read("mimiciv_billing_code", tmp_path / "mimiciv_icd10.feather")
    assert [answer(one) for one in found] == ["I10,S72.001A", "Z00.0"]


def patient(path: Path, text: str, **tags: str) -> None:
    marks = "".join(f'<{name} met="{met}" />' for name, met in tags.items())
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'<?xml version="1.0" encoding="UTF-8" ?>\n<PatientMatching><TEXT><![CDATA[{text}]]></TEXT>'
        f"<TAGS>{marks}</TAGS></PatientMatching>"
    )


def test_n2c2_numbers_the_notes_and_asks_for_one_criterion(tmp_path: Path) -> None:
    border = "*" * 100
    notes = f"\n\n\nRecord date: 2067-05-03\n\n\n\nWell.\n\n{border}\n\nNo date here.\n{border}\n"
    patient(tmp_path / "test" / "100.xml", notes, ENGLISH="met", CREATININE="not met")
    patient(tmp_path / "test" / "101.xml", "  ", ENGLISH="met", CREATININE="met")
    scenario = with_source(chosen("n2c2_ct_matching", subject="CREATININE"), [str(tmp_path)])
    first, second = parsed(scenario)
    assert isinstance(first, Instance)
    assert (first.source_id, answer(first), options(first)) == ("100", "no", ["yes", "no"])
    assert "Criterion: CREATININE. A serum creatinine was" in first.input
    assert "The patient has 2 notes" in first.input
    assert f"Note 1\nRecord date: 2067-05-03\nWell.\n{'*' * 50}\n" in (first.input)
    assert "Note 2\nRecord date: unknown\nNo date here.\n" in first.input
    assert "Current date: 2067-05-03\n" in first.input
    assert isinstance(second, Quarantined)
    assert second.reason == "empty_input"


PRIVATE = sorted(
    path.stem
    for path in (CONF / "scenarios").glob("*.yaml")
    if "access_level: private" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_card_reads_a_table_of_its_columns(name: str, tmp_path: Path) -> None:
    """Nothing is known of these sets but their columns, so the cards say `verified: never`."""
    scenario = load(name)
    assert scenario.verified is Verified.NEVER
    chosen_first = {arg: next(iter(values)) for arg, values in scenario.choices.items()}
    scenario = bind(replace(scenario, options={**scenario.options, **chosen_first}))
    columns = required_columns(scenario)
    right = {"label": "A", "result_human": "1", "QC": "true"}
    rows = [columns, [right.get(column, f"some {column}") for column in columns]]
    found = instances(with_source(scenario, [str(write_csv(tmp_path / "own.csv", rows))]))
    assert len(found) == 1
    text_columns = {"context", "text", "MO Note", "OperativeNoteText"} & set(columns)
    assert len(text_columns) == 1
    assert f"some {text_columns.pop()}" in found[0].input
