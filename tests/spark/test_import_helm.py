"""Results of HELM's into a lake: runs, verdicts, releases, and what local data they pair with."""

import json
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.cli import main
from medhelm_spark.errors import LakeError
from medhelm_spark.medhelm_results import import_stage
from tests.helm_folder import run_spec, stat, state, values, write_run
from tests.spark.conftest import Site

QUESTION = "Is {} a number?\nAnswer:"
JUDGED = {"bench": {"prompt_text": "p", "gpt": {"accuracy": {"score": 4, "explanation": "good"}}}}
TABLES = (
    "instances",
    "prompts",
    "requests",
    "request_results",
    "annotations",
    "per_instance_stats",
    "stats",
    "scenarios",
    "run_specs",
    "runs",
    "releases",
)


def spec_of(model: str) -> dict[str, Any]:
    adapter = {"method": "generation", "model": model, "model_deployment": model}
    name = f"bench:model={model.replace('/', '_')}"
    return run_spec(name, adapter_spec=adapter, groups=["bench"])


def request_state(i: int, answer: str) -> dict[str, Any]:
    return state(f"id{i}", text=QUESTION.format(i), answer=answer)


def write_results(output: Path) -> None:
    """Two whole runs, a redacted one, one with stats alone, and one whose file ends too early."""
    for model, answers in {"acme/a": "yes yes no", "acme/b": "no yes no"}.items():
        right = [float(answer == "yes") for answer in answers.split()]
        states = [request_state(i, answer) for i, answer in enumerate(answers.split())]
        states[0]["annotations"] = JUDGED
        spec = spec_of(model)
        write_run(
            output,
            name=spec["name"],
            spec=spec,
            states=states,
            per_instance_stats=[values(f"id{i}", exact_match=v) for i, v in enumerate(right)],
            stats=[stat("exact_match", sum(right) / 3), stat("num_instances", 3)],
        )
    redacted = spec_of("acme/r")
    write_run(
        output,
        name=redacted["name"],
        spec=redacted,
        states=[state(f"id{i}", text="[redacted]", answer="[redacted]") for i in range(3)],
        per_instance_stats=[values(f"id{i}", exact_match=1.0) for i in range(3)],
    )
    short = spec_of("acme/s")
    stats = [stat("exact_match", 0.25), stat("num_instances", 40)]
    write_run(output, name=short["name"], spec=short, stats=stats)
    cut = spec_of("acme/x")
    write_run(output, name=cut["name"], spec=cut, scenario_state='{"request_states": [{"inst')
    release = output / "releases" / "v7"
    release.mkdir(parents=True)
    names = {spec_of(f"acme/{model}")["name"]: "s" for model in "abrx"}
    (release / "runs_to_run_suites.json").write_text(json.dumps(names))
    group = {"name": "bench", "environment": {"main_name": "exact_match", "main_split": "test"}}
    (release / "schema.json").write_text(json.dumps({"metrics": [], "run_groups": [group]}))


def counts(site: Site) -> dict[str, int]:
    return {table: len(site.rows(table)) for table in TABLES}


@pytest.fixture
def results(site: Site) -> Path:
    write_results(site.folder / "helm")
    return site.folder / "helm"


def importing(site: Site, results: Path, *more: str) -> int:
    return site.run(str(results), *more, command="import-helm", suite="official")


def test_results_become_runs_verdicts_and_a_release(
    site: Site, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert importing(site, results) == 6
    stderr = capsys.readouterr().err
    cut = "left out s/bench:model=acme_x: scenario_state.json ends too early"
    assert cut in stderr
    assert "import-helm: read 5 runs = 4 imported + 1 left out" in stderr
    assert "release 'v7' lacks 1 run of its own, which was left out" in stderr
    cells = {cell["model_deployment"]: cell for cell in site.board("official")}
    assert {cell["main_metric"] for cell in cells.values()} == {"exact_match@medhelm-0.8"}
    means = {name: (cell["mean"], cell["count"]) for name, cell in cells.items()}
    assert means == {
        "acme/a": (pytest.approx(2 / 3), 3),
        "acme/b": (pytest.approx(1 / 3), 3),
        "acme/r": (1.0, 3),
        "acme/s": (0.25, 40),
    }
    assert not cells["acme/a"]["differs"]
    assert not cells["acme/b"]["differs"]
    assert cells["acme/s"]["differs"], "other instances, as far as is recorded"
    assert {row["access_level"] for row in site.rows("instances")} == {"private"}
    (one, other) = site.rows("annotations")
    assert one["judge"] == other["judge"] == "gpt"
    assert len(site.rows("request_results")) == 6, "what is redacted is no answer"
    before = counts(site)
    assert importing(site, results) == 6
    assert counts(site) == before, "the same folder again adds nothing"
    assert "3 there already" not in capsys.readouterr().err
    file = site.folder / "v7.json"
    flags = ["--format", "json", "--output-file", str(file), "-o", str(site.lake_path)]
    assert main(["leaderboard", "--release", "v7", *flags]) == 0
    assert len(json.loads(file.read_text())["cells"]) == 3
    assert {row["status"] for row in site.rows("releases")} == {"external"}
    verified = ["release", "verify", "--release", "v7", "-o", str(site.lake_path)]
    assert main(verified) == 0


def test_an_import_that_ended_too_early_stores_no_answer_twice(
    site: Site, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*_: object) -> None:
        raise LakeError("the process ends here")

    with monkeypatch.context() as patch:
        patch.setattr(import_stage, "_record_as_ours", ends)
        assert importing(site, results) == 1
    assert len(site.rows("request_results")) == 6
    assert not site.rows("run_specs")
    assert importing(site, results) == 6
    assert len(site.rows("request_results")) == 6
    assert len(site.rows("run_specs")) == 4


def test_equal_instances_pair_with_local_ones_and_text_is_scored_here(
    site: Site, results: Path
) -> None:
    local = [
        {"id": f"own{i}", "question": f"Is {i} a number?", "correct_answer": "yes"}
        for i in range(3)
    ]
    model = site.deploy("local/yes", text="yes")
    entry = f"{site.benchmark('bench', local)},model={model}"
    assert site.run("-r", entry, suite="own") == 0
    ids = {row["instance_id"] for row in site.rows("instances")}
    assert importing(site, results, "--rescore", "--access-level", "public") == 6
    imported = [row for row in site.rows("instances") if row["source_id"].startswith("id")]
    with_text = {row["instance_id"] for row in imported if row["input"]}
    assert with_text == ids
    flags = ["--release", "both", "-o", str(site.lake_path), "--no-tracking"]
    assert main(["publish", "--suites", "own", "official", *flags]) == 0
    file = site.folder / "both.json"
    flags = ["--format", "json", "--output-file", str(file), "-o", str(site.lake_path)]
    assert main(["leaderboard", "--release", "both", *flags]) == 0
    cells = [
        cell
        for cell in json.loads(file.read_text())["cells"]
        if cell["main_metric"] == "exact_match"
    ]
    means = {cell["model_deployment"]: cell["mean"] for cell in cells}
    assert means == {
        "local/yes": 1.0,
        "acme/a": pytest.approx(2 / 3),
        "acme/b": pytest.approx(1 / 3),
    }
    parts = {
        row["name"]: dict(row["comparability"])["data"]
        for row in site.rows("stats")
        if row["comparability"] and row["name"] == "exact_match"
    }
    assert len(set(parts.values())) == 1


def test_a_schema_file_says_what_the_board_shows(
    site: Site, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert importing(site, results) == 6
    schema = site.folder / "schema.yaml"
    text = (
        "metrics: [{name: num_instances, lower_is_better: true}]\n"
        "run_groups:\n  - {name: all, display_name: Everything, subgroups: [bench]}\n"
        "  - name: bench\n    display_name: The bench\n"
        "    environment: {main_name: num_instances, main_split: test}\n"
    )
    schema.write_text(text)
    file = site.folder / "shown.json"
    flags = ["--schema", str(schema), "--format", "json", "--output-file", str(file)]
    assert site.run(*flags, command="leaderboard", suite="official") == 0
    board = json.loads(file.read_text())
    means = {cell["model_deployment"]: cell["mean"] for cell in board["cells"]}
    assert means == {"acme/a": 3, "acme/b": 3, "acme/s": 40}
    for cell in board["cells"]:
        assert (cell["display_name"], cell["category"]) == ("The bench", "Everything")
        assert cell["main_metric"] == "num_instances@medhelm-0.8"
        assert cell["lower_is_better"] is True
    (note,) = [note for note in board["notes"] if "schema file" in note]
    assert "it has no num_instances@medhelm-0.8 on test" in note
    schema.write_text("run_groups: [{name: nothing}]\n")
    capsys.readouterr()
    assert site.run("--schema", str(schema), command="leaderboard", suite="official") == 0
    output = capsys.readouterr().out
    assert "no run has a summary" not in output
    assert "Not shown by the schema file (in no run group of the file): bench:model" in output


def test_what_is_exported_is_read_again_and_private_text_stays(site: Site, results: Path) -> None:
    assert importing(site, results) == 6
    assert site.run("closed", command="export-helm", suite="official") == 0
    private = ["--text-levels", "private"]
    assert site.run("open", *private, command="export-helm", suite="official") == 0
    folders = sorted((site.folder / "closed/runs/official").iterdir())
    assert [len(list(folder.iterdir())) for folder in folders] == [5, 5, 5, 3]
    for folder in folders[:3]:
        written = "".join(path.read_text() for path in folder.iterdir())
        assert "a number?" not in written
        assert "[redacted]" in written
    assert site.run("closed", command="export-helm", suite="official") == 0, "it is there"
    (folders[0] / "run_spec.json").write_text("{}")
    assert site.run("closed", command="export-helm", suite="official") == 1, "it is another one"
    assert (folders[0] / "run_spec.json").read_text() == "{}"
    state_file = site.folder / "open/runs/official/bench:model=acme_a/scenario_state.json"
    (first, *_) = json.loads(state_file.read_text())["request_states"]
    assert first["instance"]["id"] == "id0"
    assert first["request"]["prompt"] == "Case: " + QUESTION.format(0)
    assert first["annotations"]["bench"]["gpt"] == JUDGED["bench"]["gpt"]
    again = ["import-helm", "open", "--suite", "again", "--no-tracking", "-o", "second"]
    assert main(again) == 0
