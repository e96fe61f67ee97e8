"""An export becomes a scenario of the lake: MedHELM's prompts, draw and order, and nothing else."""

import json
from pathlib import Path

import numpy as np
import pytest

from medhelm_spark.cli import main
from tests.exports import JUDGED, JURY, instance, write_export
from tests.spark.conftest import Site, calls

NAME = "ward@medhelm-0.8"


def take(site: Site, path: Path, *arguments: str) -> int:
    flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    return main(["import-scenario", "--file", str(path), *arguments, *flags])


def prompts(site: Site) -> list[str]:
    return sorted(row["text"] for row in site.rows("prompts"))


def test_a_run_asks_medhelms_prompts_and_draws_its_instances(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    model = site.deploy("acme/a", text="A", log_file=str(site.folder / "log"))
    instances = [instance(index) for index in range(30)]
    path = write_export(site.folder / "ward.jsonl", instances)
    assert take(site, path, "--access-level", "public") == 0
    assert f"run it by -r {NAME}:model=MODEL" in capsys.readouterr().err
    path.unlink()  # the lake has it now
    entry = f"{NAME}:model={model}"
    assert site.run("-r", entry, "-m", "4", "--sampling", "medhelm") == 0
    np.random.seed(0)
    drawn = np.random.choice(30, 4, replace=False)
    form = "Pick a letter.\n\nQ: Case {}?\nA. fever\nB. cough\nLetter:"
    assert prompts(site) == sorted(form.format(index) for index in drawn)
    (cell,) = site.board()
    assert (cell["count"], cell["mean"]) == (4, sum(index % 2 == 0 for index in drawn) / 4)
    (version,) = site.rows("scenarios")
    assert (version["source"], version["verified"]) == ("medhelm", "never")
    assert version["display_name"] == "Ward (MedHELM 0.8.0)"
    (imported,) = site.rows("imported_scenarios")
    assert imported["data_version"] == version["data_version"]
    adapter_spec = json.loads(imported["header"])["run_spec"]["adapter_spec"]
    assert adapter_spec["instructions"] == "Pick a letter."
    assert (imported["package"], imported["package_version"]) == ("medhelm", "0.8.0")


def test_importing_again_supersedes_and_going_back_asks_nobody(site: Site) -> None:
    log = site.folder / "log"
    model = site.deploy("acme/a", text="A", log_file=str(log))
    entry = f"{NAME}:model={model}"
    first = write_export(site.folder / "a.jsonl", [instance(index) for index in range(3)])
    more = write_export(site.folder / "b.jsonl", [instance(index) for index in range(5)])
    assert take(site, first, "--access-level", "public") == 0
    assert site.run("-r", entry) == 0
    assert take(site, more, "--access-level", "public") == 0
    assert site.run("-r", entry) == 0
    assert [cell["count"] for cell in site.board()] == [5]
    assert len(calls(log)) == 5, "three of the five were answered"
    assert take(site, first, "--access-level", "public") == 0
    assert site.run("-r", entry) == 0
    assert [cell["count"] for cell in site.board()] == [3]
    assert len(calls(log)) == 5
    other = {"instructions": "Choose a letter."}
    changed = write_export(
        site.folder / "c.jsonl", [instance(index) for index in range(3)], adapter_spec=other
    )
    assert take(site, changed, "--access-level", "public") == 0
    assert site.run("-r", entry) == 0
    assert len(calls(log)) == 8, "other words are other requests"


def test_a_jury_and_few_shot_examples_come_along(site: Site) -> None:
    model = site.deploy("acme/a", text="Rest.")
    judge = site.deploy("acme/judge", mode="judge", score=4)
    jury = site.folder / "jury.yaml"
    jury.write_text(f"judges: [{{name: j, model: {judge}, model_deployment: {judge}}}]\n")
    adapter = {"method": "generation", "max_train_instances": 1, "stop_sequences": []}
    instances = [instance(0, split="train"), instance(1), instance(2)]
    export_options = {"metric_specs": [JUDGED], "juries": [JURY], "adapter_spec": adapter}
    path = write_export(site.folder / "ward.jsonl", instances, **export_options, metadata=None)
    assert take(site, path, "--access-level", "public", "--name", "notes") == 0
    entry = f"notes@medhelm-0.8:jury_config_path={jury},model={model}"
    assert site.run("-r", entry) == 0
    (cell,) = site.board()
    assert (cell["main_metric"], cell["mean"], cell["count"]) == ("ward_accuracy", 4.0, 2)
    prompt_texts = prompts(site)
    assert "Pick a letter.\n\nQ: Case 0?\nLetter: fever\n\n\nQ: Case 1?\nLetter:" in prompt_texts
    judged = [text for text in prompt_texts if text.startswith("Theirs.")] or [
        message["content"] for row in site.rows("prompts") for message in row["messages"] or []
    ]
    assert any("Case 1? Rest. fever" in text for text in judged)


@pytest.mark.parametrize(
    ("export_options", "message"),
    [
        ({"without_reference": 2}, "2 instances of 3 without a right reference, which exact_match"),
        ({"adapter_spec": {"method": "ranking_binary"}}, "adapter method 'ranking_binary'"),
        ({"metadata": {"main_metric": "style"}}, "unknown main metric 'style'"),
        ({"instances": 4}, "cut off or changed: 3 instances of 4"),
    ],
)
def test_what_could_not_be_evaluated_leaves_nothing(
    export_options: dict[str, object], message: str, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_export(
        site.folder / "ward.jsonl", [instance(p) for p in range(3)], **export_options
    )
    assert take(site, path) == 1
    assert message in capsys.readouterr().err
    assert not site.rows("instances")
    assert not site.rows("imported_scenarios")


def test_an_imported_scenario_keeps_its_data(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    model = site.deploy("acme/a", text="A")
    path = write_export(site.folder / "ward.jsonl", [instance(0)])
    assert take(site, path) == 0
    entry = f"{NAME}:model={model}"
    assert site.run("-r", entry, "--source", str(path)) == 1
    assert "was imported and is evaluated on what was imported" in capsys.readouterr().err
    assert site.run("-r", "other@medhelm-0.8:model=acme/a") == 1
    assert "by import-scenario 'other@medhelm-0.8'. Did you mean 'ward@" in capsys.readouterr().err
