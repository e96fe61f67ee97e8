"""The shipped cards on the real data sets, and the shipped demos."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.config.cards import expand_short_forms
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.rubrics import Scale, load_judge_prompt, load_rubric
from medhelm_spark.domain.run import AdapterMethod
from medhelm_spark.domain.scenario import Instance, ScenarioCard, Verified
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import check_card, fingerprint_records, read_card, with_source
from tests.unit.scenarios.cards import CONF, card, instances, source

CARDS = ("pubmed_qa", "medcalc_bench", "aci_bench")
DEMOS = CONF / "demos"


def load(name: str) -> ScenarioCard:
    return load_yaml(CONF / "scenarios" / f"{name}.yaml", ScenarioCard, expand_short_forms)


def pinned(real_data: Path, name: str) -> ScenarioCard:
    """The card with its own files and hashes, found in the folder of real data."""
    scenario = load(name)
    files = tuple(replace(file, path=str(real_data / file.path)) for file in scenario.source.files)
    return replace(scenario, source=replace(scenario.source, files=files))


def answer(instance: Instance) -> str:
    return next(each.text for each in instance.references if each.is_correct)


@pytest.mark.parametrize("name", CARDS)
def test_cards_fit_their_shapes(name: str) -> None:
    scenario = load(name)
    check_card(scenario)
    assert scenario.name == name
    assert scenario.verified is Verified.REAL
    assert scenario.adapter_spec.max_train_instances == 0
    assert scenario.adapter_spec.instructions.endswith(".\n")


def test_adapter_values_are_medhelms() -> None:
    choice, calc, note = (load(name).adapter_spec for name in CARDS)
    assert choice.method is AdapterMethod.MULTIPLE_CHOICE_JOINT
    assert (choice.max_tokens, choice.num_outputs, choice.stop_sequences) == (1, 5, ("\n",))
    assert (calc.max_tokens, calc.num_outputs, calc.stop_sequences) == (10, 1, ())
    assert (note.max_tokens, note.input_prefix, note.output_prefix) == (
        768,
        "Conversation: ",
        "Clinical Note: ",
    )


def test_pubmed_qa(real_data: Path) -> None:
    found = instances(pinned(real_data, "pubmed_qa"))
    assert Counter(answer(each) for each in found) == {"yes": 552, "no": 338, "maybe": 110}
    assert {each.split for each in found} == {Split.TEST}
    assert (found[0].source_id, found[-1].source_id) == ("21645374", "17559449")
    assert found[0].input.startswith("Context: Background. Programmed cell death (PCD) is the")
    assert "\nResults. The following paper elucidates the role of mitochondrial" in found[0].input
    assert found[0].input.endswith(
        "\n\nQuestion: Do mitochondria play a role in remodelling lace plant leaves during "
        "programmed cell death?\n"
    )
    assert [each.text for each in found[0].references] == ["yes", "no", "maybe"]
    assert len({each.instance_id for each in found}) == 1000


def test_medcalc_bench(real_data: Path) -> None:
    found = instances(pinned(real_data, "medcalc_bench"))
    assert Counter(each.extra_data["category"] for each in found) == {
        "lab": 327,
        "risk": 240,
        "physical": 240,
        "severity": 80,
        "diagnosis": 60,
        "date": 60,
        "dosage": 40,
    }
    first, last = found[0], found[-1]
    assert (first.source_id, answer(first), last.source_id) == ("1", "25.238", "1047")
    assert answer(last) == "('14 weeks', '2 days')"
    assert first.extra_data == {
        "category": "lab",
        "output_type": "decimal",
        "lower_limit": "23.9761",
        "upper_limit": "26.4999",
        "calculator_id": "2",
    }
    assert last.input.startswith(
        "Patient note: The patient's last menstrual period was on 10/16/2007. Today's date is "
        "01/24/2008.\n\nQuestion: Based on"
    )


def test_aci_bench_from_json_and_csv(real_data: Path) -> None:
    by_json = instances(pinned(real_data, "aci_bench"))
    assert Counter(each.split for each in by_json) == {Split.TRAIN: 67, Split.TEST: 120}
    assert Counter(each.split for each in by_json[67:107]) == {Split.TEST: 40}
    assert (by_json[0].source_id, by_json[-1].source_id) == ("D2N001-virtassist", "D2N167-aci")
    assert by_json[0].input.startswith("Doctor-patient dialogue:\n\n[doctor] hi , martha . how")
    names = ("train", "clinicalnlp_taskB_test1", "clef_taskC_test3", "clinicalnlp_taskC_test2")
    folder = real_data / "aci_bench"
    by_csv = instances(
        with_source(load("aci_bench"), [str(folder / f"{name}.csv") for name in names])
    )
    assert [(each.split, each.input) for each in by_csv] == [
        (each.split, each.input) for each in by_json
    ]
    assert by_csv[0].source_id == "D2N001"


def test_wrong_source_for_a_card(real_data: Path) -> None:
    wrong = with_source(load("medcalc_bench"), [str(real_data / "aci_bench" / "train.csv")])
    with pytest.raises(DataError, match="needs column 'Row Number'"):
        next(read_card(wrong))
    other = with_source(load("aci_bench"), [str(real_data / "pubmedqa" / "ori_pqal.json")])
    with pytest.raises(DataError, match="nothing is at record_path 'data'"):
        next(read_card(other))


def test_rubric_asks_for_three_criteria_with_patient_text_last() -> None:
    rubric = load_rubric(CONF / "rubrics" / "aci_bench.md")
    assert [each.name for each in rubric.criteria] == ["accuracy", "completeness", "clarity"]
    assert {(each.minimum, each.maximum) for each in rubric.criteria} == {(1, 5)}
    starts = [rubric.template.index(mark) for mark in ("clarity", "{QUESTION}", "{RESPONSE}")]
    assert starts == sorted(starts)
    assert "{GOLD_RESPONSE}" in rubric.template


@pytest.mark.parametrize(("demo", "count"), [("triage_choice", 24), ("discharge_note", 8)])
def test_demos_parse(demo: str, count: int) -> None:
    folder = DEMOS / demo
    scenario = card(
        source=source(folder / "data.csv"),
        options={"template": (folder / "prompt.txt").read_text(encoding="utf-8")},
    )
    found = instances(scenario)
    assert len({each.source_id for each in found}) == len(found) == count
    assert all(len(each.input) < 600 for each in found)
    assert {path.name for path in folder.iterdir()} >= {
        "prompt.txt",
        "data.csv",
        "benchmark.yaml",
        "run_entries.conf",
        "run.sh",
        "README.md",
    }


def test_triage_demo_is_balanced() -> None:
    folder = DEMOS / "triage_choice"
    scenario = card(source=source(folder / "data.csv"), options={"template": "{problem}"})
    found = instances(scenario)
    assert set(Counter(answer(each) for each in found).values()) == {6}
    assert all(len({each.text for each in one.references}) == 4 for one in found)


def test_judge_prompt_of_the_note_demo() -> None:
    path = DEMOS / "discharge_note" / "judge_prompt.txt"
    rubric = load_judge_prompt(path, "DISCHARGE-NOTE", Scale())
    assert [each.name for each in rubric.criteria] == ["accuracy", "plain_language"]


def test_pubmed_style_demo_has_the_upstream_form(real_data: Path) -> None:
    path = DEMOS / "pubmed_style" / "ori_pqal_demo.json"
    own = json.loads(path.read_text(encoding="utf-8"))
    upstream = json.loads((real_data / "pubmedqa" / "ori_pqal.json").read_text(encoding="utf-8"))
    assert {tuple(each) for each in own.values()} == {tuple(next(iter(upstream.values())))}
    assert not own.keys() & upstream.keys()


def test_pubmed_style_demo_is_balanced() -> None:
    scenario = with_source(load("pubmed_qa"), [str(DEMOS / "pubmed_style" / "ori_pqal_demo.json")])
    found = instances(scenario)
    assert Counter(answer(each) for each in found) == {"yes": 7, "no": 7, "maybe": 6}
    assert {each.split for each in found} == {Split.TEST}
    assert (
        len({key.content_hash for key in fingerprint_records(read_card(scenario), scenario)}) == 20
    )
