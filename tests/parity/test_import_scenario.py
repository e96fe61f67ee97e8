"""Imported from the real MedHELM: its instances, order, draw and prompts, to the letter.

`MEDHELM_PYTHON` names the python of an environment with medhelm 0.8.0. MedHELM reads files of our
own making where it would keep its downloads, and is then run itself on the same files.
"""

import csv
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.cli import main
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.medhelm.site import load_site

PYTHON = os.environ.get("MEDHELM_PYTHON") or os.environ["MEDHELM_SPARK_PARITY_PYTHON"]
DRAWN = 9
LETTERS = "ABCD"
PROMPTS_SQL = """
SELECT r.run_spec_id, i.source_id, p.text
FROM {requests} r
JOIN {instances} i ON i.instance_id = r.instance_id
JOIN {prompts} p ON p.prompt_id = r.prompt_id
"""
RUN = "import sys; from helm.benchmark.run import main; sys.argv[0] = 'medhelm-run'; main()"
SITE = """
model_deployments:
  - name: acme/canned
    model_name: acme/canned
    engine: canned
    locality: local
    client_spec: {args: {text: A}}
"""


def question(split: str, index: int) -> dict[str, Any]:
    """A made-up question of MedQA's form; the answers' tails are what MedHELM cuts off."""
    options = {letter: f"drug {letter}{index % 7}" + '\n"' * (index % 3 == 0) for letter in LETTERS}
    answer = LETTERS[index % 4]
    text = f"In {split} case {index}, é $5 {{x}}: which drug?"
    return {"question": text, "options": options, "answer_idx": answer}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with MedHELM's downloads, two csv files, and MedHELM's own run over all of it."""
    folder = tmp_path_factory.mktemp("medhelm")
    files = folder / "out/scenarios/med_qa/data/data_clean/questions/US/4_options"
    files.mkdir(parents=True)
    for split, size in (("train", 11), ("dev", 8), ("test", 23)):
        lines = (json.dumps(question(split, index)) + "\n" for index in range(size))
        (files / f"phrases_no_exclude_{split}.jsonl").write_text("".join(lines))
    write_csv(
        folder / "cdi.csv",
        [
            {"prompt": f"Is sign {i} there?", "context": f"Note, {i} words", "label": "AB"[i % 2]}
            for i in range(31)
        ],
    )
    write_csv(
        folder / "fever.csv",
        [{"case": f"{36 + i / 10} degrees", "correct_answer": "no"} for i in range(25)],
    )
    (folder / "fever.txt").write_text("Case: {case}\nIs it fever?")
    (folder / "fever.yaml").write_text(
        "name: FEVER\ndescription: Made up.\nprompt_file: fever.txt\ndataset_file: fever.csv\n"
        "max_tokens: 5\nmetrics: [{name: exact_match}]\n"
    )
    (folder / "prod_env").mkdir()
    (folder / "prod_env" / "model_deployments.yaml").write_text(SITE)
    previous_folder = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(previous_folder)


def write_csv(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def theirs(folder: Path) -> dict[str, dict[str, str]]:
    """The prompts that MedHELM's own run asks, by instance id, of each run."""
    entries = [
        "med_qa:model=simple/model1",
        "shc_cdi_med:data_path=cdi.csv,model=simple/model1",
        "medhelm_configurable_benchmark:config_path=fever.yaml,model=simple/model1",
    ]
    flags = ["--suite", "s", "-m", str(DRAWN), "-o", "out", "--local-path", "empty"]
    (folder / "empty").mkdir(exist_ok=True)
    command = [PYTHON, "-c", RUN, "--run-entries", *entries, *flags, "--disable-cache", "-n", "1"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": ""})
    prompts = {}
    for path in (folder / "out/runs/s").glob("*/scenario_state.json"):
        states = json.loads(path.read_text())["request_states"]
        name = path.parent.name.partition(":")[0]
        prompts[name] = {
            request_state["instance"]["id"]: request_state["request"]["prompt"]
            for request_state in states
        }
    return prompts


def import_exit_code(folder: Path, name: str, *arguments: str) -> int:
    card = load_site(None).cards.get(name)
    level = card.access_level if card else "public"
    flags = ["--medhelm-output", "out", "-o", "lake", "--access-level", level]
    scenario_flags = ["--from-medhelm", name, "--medhelm-python", PYTHON, *flags]
    return main(["import-scenario", *scenario_flags, *arguments])


@pytest.mark.parametrize(
    ("name", "arguments", "entry", "run"),
    [
        ("med_qa", [], "med_qa@medhelm-0.8", "med_qa"),
        ("shc_cdi_med", ["--args", "data_path=cdi.csv"], "shc_cdi_med@medhelm-0.8", "shc_cdi_med"),
        (
            "medhelm_configurable_benchmark",
            ["--args", "config_path=fever.yaml"],
            "FEVER@medhelm-0.8",
            "FEVER",
        ),
    ],
)
def test_we_ask_what_medhelm_asks(
    folder: Path,
    theirs: dict[str, dict[str, str]],
    name: str,
    arguments: list[str],
    entry: str,
    run: str,
) -> None:
    assert import_exit_code(folder, name, *arguments) == 0
    flags = ["--suite", run, "-m", str(DRAWN), "--sampling", "medhelm", "-o", "lake"]
    assert main(["plan", "-r", f"{entry}:model=acme/canned", *flags]) == 0
    reader = open_reader(str(folder / "lake"))
    specs = reader.query("SELECT run_spec_id FROM {run_specs} WHERE suite = '" + run + "'")
    (spec,) = specs["run_spec_id"].to_pylist()
    rows = reader.query(PROMPTS_SQL + f"WHERE r.run_spec_id = '{spec}'").to_pylist()
    ours = {row["source_id"]: row["text"] for row in rows}
    assert len(theirs[run]) == DRAWN
    assert ours == theirs[run]


def test_a_jury_scenario_brings_its_judges_prompt(folder: Path) -> None:
    write_csv(
        folder / "talk.csv",
        [
            {
                "topic": "sleep",
                "dialogue_type": str(i),
                "context": f"Client: I wake at {i}.",
                "gold_counselor_response": "That sounds hard.",
            }
            for i in range(3)
        ],
    )
    assert import_exit_code(folder, "mental_health", "--args", "data_path=talk.csv") == 0
    reader = open_reader(str(folder / "lake"))
    query = "SELECT header FROM {imported_scenarios} WHERE name = 'mental_health@medhelm-0.8'"
    header = json.loads(reader.query(query)["header"].to_pylist()[0])
    (jury,) = header["juries"]
    assert set(jury["annotation_criteria"]) == {"accuracy", "completeness", "clarity"}
    assert "{RESPONSE}" in jury["prompt_template"]
    entry = "mental_health@medhelm-0.8:model=acme/canned"
    assert main(["plan", "-r", entry, "--suite", "jury", "-o", "lake"]) == 0


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("pubmed", [], "unknown scenario of MedHELM's 'pubmed'. Did you mean 'pubmed_qa'?"),
        ("shc_cdi_med", [], "--args: missing a required argument: 'data_path'; allowed: data_path"),
        ("shc_cdi_med", ["--args", "data_path=no.csv"], "MedHELM failed at the instances with "),
        ("health_admin_bench", [], "'health_admin_bench' is not supported"),
        ("vqa_rad", [], "asks by the adapter method 'generation_multimodal'"),
    ],
)
def test_what_medhelm_cannot_give_is_one_sentence(
    folder: Path,
    name: str,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert import_exit_code(folder, name, *arguments) == 1
    assert message in capsys.readouterr().err
