"""A release is shared as HELM's folder: what its files have, and what the scan reads in them."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from medhelm_spark import Evaluation
from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.sharing.scan import scan
from tests.helm_folder import run_spec, stat, state, values, write_run
from tests.spark.conftest import Site

CANARY = "zebra canary stands in the ward and nobody may ever carry it outside again"
AUDIENCES = {
    "board": {"content": "aggregates"},
    "research": {"content": "scores", "decimals": 1},
    "public": {"content": "texts"},
}
MODELS = {"acme/yes": "yes", "acme/no": "no"}


def left_fields(text: str) -> dict[str, Any]:
    """The six fields that MedHELM's redaction scripts leave as they are, each with a text."""
    return {
        "instance": {
            "id": text,
            "contrast_inputs": [{"text": text}],
            "contrast_references": [[{"output": {"text": text}, "tags": ["correct"]}]],
            "extra_data": {"note": text},
        },
        "request": {"stop_sequences": [text]},
        "result": {"error": text},
    }


def with_fields(request_state: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        **request_state,
        **{name: {**request_state[name], **more} for name, more in left_fields(text).items()},
    }


def write_benchmark(output: Path, name: str, texts: list[str], *, canary: bool) -> None:
    """Runs of two models as MedHELM leaves them; an answer is right where it is `yes`."""
    for model, answer in MODELS.items():
        states = [
            state(f"{name}{index}", text=text, answer=answer) for index, text in enumerate(texts)
        ]
        if canary:
            states = [with_fields(each, f"{CANARY} {index}") for index, each in enumerate(states)]
        ids = [each["instance"]["id"] for each in states]
        right = float(answer == "yes")
        adapter = {
            "method": "generation",
            "model": model,
            "model_deployment": model,
            "instructions": CANARY if canary else "Answer.",
            "stop_sequences": [CANARY if canary else "\n"],
        }
        run = f"{name}:model={model.replace('/', '_')}"
        write_run(
            output,
            name=run,
            spec=run_spec(run, adapter_spec=adapter, groups=[name]),
            states=states,
            per_instance_stats=[values(each, exact_match=right) for each in ids],
            stats=[stat("exact_match", right), stat("num_instances", len(texts))],
        )


@pytest.fixture(scope="module")
def helm_site(tmp_path_factory: pytest.TempPathFactory, spark) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("shared_helm"), spark)
    ward = [f"{CANARY} {index}?" for index in range(30)]
    write_benchmark(site.folder / "ward", "ward", ward, canary=True)
    opened = [f"Is {index} a number, ann@example.org?" for index in range(12)]
    write_benchmark(site.folder / "open", "open", opened, canary=False)
    for name, level in (("ward", "private"), ("open", "public")):
        open_evaluation(site).medhelm.import_results(
            site.folder / name, suite="s", access_level=level
        )
    policy = {"audiences": [{"name": name, **rules} for name, rules in AUDIENCES.items()]}
    (site.folder / "prod_env").mkdir(exist_ok=True)
    (site.folder / "prod_env" / "policy.yaml").write_text(yaml.safe_dump(policy))
    waiver = {
        "table": "scenario_state",
        "column": "request_states.instance.input.text",
        "pattern": "email address",
        "match": "*",
        "approver": "ann",
        "reason": "made up",
    }
    (site.folder / "waivers.yaml").write_text(yaml.safe_dump({"waivers": [waiver]}))
    open_evaluation(site).releases.publish("r1", "s")
    yield site


def open_evaluation(site: Site) -> Evaluation:
    return Evaluation(
        site.lake_path, site=site.folder / "prod_env", tracking=False, say=lambda line: None
    )


def shared(site: Site, out: Path, audience: str = "public") -> Path:
    open_evaluation(site).sharing.share(
        "r1", audience, out, waivers=site.folder / "waivers.yaml", helm=True
    )
    return out


def run_folders(folder: Path) -> dict[str, Path]:
    (suite,) = (folder / "runs").iterdir()
    assert suite.name.startswith("share-")
    return {path.name: path for path in suite.iterdir() if path.is_dir()}


@pytest.mark.parametrize(
    ("audience", "files"),
    [
        ("board", {"run_spec.json", "scenario.json", "stats.json"}),
        ("research", {"run_spec.json", "scenario.json", "stats.json", "per_instance_stats.json"}),
    ],
)
def test_runs_have_the_files_of_the_audience(
    helm_site: Site, tmp_path: Path, audience: str, files: set[str]
) -> None:
    runs = run_folders(shared(helm_site, tmp_path / "out", audience))
    assert set(runs) == {
        f"{name}:model=acme_{answer}" for name in ("ward", "open") for answer in ("yes", "no")
    }
    assert all(
        {path.name for path in run_folder.iterdir()} == files for run_folder in runs.values()
    )
    means = {
        name: [
            row["mean"]
            for row in json.loads((run_folder / "stats.json").read_text())
            if row["name"]["name"] == "exact_match"
        ]
        for name, run_folder in runs.items()
    }
    assert means == {name: [float(name.endswith("yes"))] for name in runs}


def test_text_of_public_runs_alone_is_in_it_and_no_canary_anywhere(
    helm_site: Site, tmp_path: Path
) -> None:
    folder = shared(helm_site, tmp_path / "out")
    runs = run_folders(folder)
    has_states = {
        name: (run_folder / "scenario_state.json").is_file() for name, run_folder in runs.items()
    }
    assert has_states == {name: name.startswith("open") for name in runs}
    states = json.loads((runs["open:model=acme_yes"] / "scenario_state.json").read_text())
    first = states["request_states"][0]
    assert first["instance"]["input"]["text"].startswith("Is ")
    assert first["result"]["completions"][0]["text"] == "yes"
    assert first["instance"]["references"][0]["output"]["text"] == "yes"
    of_scores = json.loads((runs["open:model=acme_yes"] / "per_instance_stats.json").read_text())
    ids = {each["instance_id"] for each in of_scores}
    assert {each["instance"]["id"] for each in states["request_states"]} == ids
    assert not [each for each in ids if each.startswith("open")]
    texts = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    assert not [text for text in texts if "zebra" in text or "Answer." in text]
    assert open_evaluation(helm_site).sharing.verify(folder).audience == "public"


def test_a_pattern_in_a_text_of_helms_files_blocks(helm_site: Site, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"request_states\.instance\.input\.text, row 1: email"):
        open_evaluation(helm_site).sharing.share("r1", "public", tmp_path / "out", helm=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out-matches.yaml"]


def test_two_shares_have_no_file_hash_id_or_path_in_common(helm_site: Site, tmp_path: Path) -> None:
    hashes, ids, paths = [], [], []
    for name in ("one", "two"):
        folder = shared(helm_site, tmp_path / name)
        files = [path for path in folder.rglob("*") if path.is_file()]
        files.remove(folder / "manifest.json")
        paths.append({str(path.relative_to(folder)) for path in files})
        hashes.append({sha256(path.read_bytes()).hexdigest() for path in files})
        rows = [
            json.loads((run_folder / "per_instance_stats.json").read_text())
            for run_folder in run_folders(folder).values()
        ]
        ids.append({row["instance_id"] for of_run in rows for row in of_run})
    assert len(paths[0]) > 8
    for kind in (hashes, ids, paths):
        assert not kind[0] & kind[1]


@pytest.mark.parametrize(
    "field_path",
    [
        "instance.id",
        "instance.contrast_inputs",
        "instance.contrast_references",
        "instance.extra_data",
        "request.stop_sequences",
        "result.error",
    ],
)
def test_a_canary_in_a_field_that_medhelms_scripts_leave_is_found(
    helm_site: Site, tmp_path: Path, field_path: str
) -> None:
    section, field = field_path.split(".")
    planted = state("i1", text="Is it a number?")
    planted[section] = {**planted[section], field: left_fields(f"{CANARY} 7")[section][field]}
    clean = state("i2", text="Is it a number?")
    write_run(tmp_path, states=[clean, planted])
    scan_result = scan(tmp_path, open_reader(str(helm_site.lake_path)))
    texts = [leak for leak in scan_result.leaks if leak.is_text]
    assert texts
    assert all(leak.file.endswith("scenario_state.json") for leak in texts)
    assert all(leak.column.startswith(f"request_states.{field_path}") for leak in texts)
    assert "zebra" not in " ".join(map(str, texts))


def test_a_shared_folder_is_imported_with_the_same_board(helm_site: Site, tmp_path: Path) -> None:
    folder = shared(helm_site, tmp_path / "out", "research")
    other = Evaluation(tmp_path / "lake", site=None, tracking=False, say=lambda line: None)
    import_result = other.medhelm.import_results(folder, suite="given")
    assert import_result.board is not None
    (theirs,) = [json.loads(import_result.board.render("json"))]
    ours = json.loads(open_evaluation(helm_site).board(release="r1").render("json"))
    means = [
        {(cell["model_deployment"], cell["scenario_name"]): cell["mean"] for cell in board["cells"]}
        for board in (theirs, ours)
    ]
    assert means[0] == means[1]
    assert len(means[0]) == 4
