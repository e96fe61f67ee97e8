"""Viewings: who opens gated or private text is on record, or does not see it."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.session import is_started
from tests.app_pages import opened, page_text
from tests.unit.provenance.made import BENCHMARK, SUITE

CANARY = "ZEBRA-CANARY"


@pytest.fixture(params=["private", "public"])
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def here(tmp_path: Path, level: str) -> Evaluation:
    """Six answers of one model about text of a level."""
    (tmp_path / "site").mkdir()
    rows = "".join(f"{CANARY} case {place}?,yes\n" for place in range(6))
    (tmp_path / "data.csv").write_text(f"question,correct_answer\n{rows}")
    (tmp_path / "prompt.txt").write_text("{question}\nAnswer yes or no:")
    benchmark = {**BENCHMARK, "access_level": level}
    (tmp_path / "benchmark.yaml").write_text(yaml.safe_dump(benchmark))
    model = {
        "name": "ward/yes",
        "engine": "canned",
        "locality": "local",
        "client_spec": {"args": {"text": "yes"}},
    }
    (tmp_path / "site" / "model_deployments.yaml").write_text(
        yaml.safe_dump({"model_deployments": [model]})
    )
    made = Evaluation(
        tmp_path / "lake", site=tmp_path / "site", tracking=False, say=lambda line: None
    )
    path = tmp_path / "benchmark.yaml"
    made.run(f"medhelm_configurable_benchmark:config_path={path},model=ward/yes", suite=SUITE)
    return made


def stored(here: Evaluation) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        open_reader(here.location).query("SELECT * FROM {viewings}").to_pylist()
    )
    assert CANARY not in repr(rows)
    return rows


def at_first_instance(here: Evaluation, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    first = here.instances("Cases", "ward/yes", suite=SUITE).page.scores[0].key.instance_id
    address = {"view": "Instances", "instance": first}
    return opened(monkeypatch, Path(here.location), SUITE, **address)


def test_answers_of_text_that_is_not_public_are_on_record(
    here: Evaluation, level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(here.answers(suite=SUITE, limit=4).answers) == 4
    rows = stored(here)
    if level == "public":
        assert rows == []
        return
    (row,) = rows
    assert (row["place"], row["access_level"], row["num_rows"]) == ("answers", "private", 4)
    assert (row["scenario_name"], row["model_deployment"]) == ("Cases", "ward/yes")
    words = ["-o", here.location, "--local-path", str(tmp_path / "site"), "--format", "json"]
    assert main(["disclosures", "--viewings", "--benchmark", "Cases", *words]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["rows"]
    assert (shown["num_rows"], shown["viewed_by"]) == (4, row["viewed_by"])
    assert main(["disclosures", "--viewings", "--since", "2999-01-01", *words]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []
    assert main(["disclosures", "--viewings", "--suite", SUITE, *words]) != 0
    assert not is_started()


def test_instances_that_the_dashboard_shows_are_on_record_once(
    here: Evaluation, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = at_first_instance(here, monkeypatch)
    assert CANARY in page_text(page)
    page.run()
    rows = stored(here)
    assert [(row["place"], row["num_rows"]) for row in rows] == (
        [("dashboard", 6)] if level == "private" else []
    ), "the table of answers shows the words of all six"


@pytest.mark.attack("reading", "private text opened where the viewing cannot be recorded")
@pytest.mark.parametrize("level", ["private"], indirect=True)
def test_text_whose_viewing_cannot_be_recorded_is_not_shown(
    here: Evaluation, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path(here.location) / "viewings").write_text("no table can be made here")
    with pytest.raises(PolicyError, match="its viewing cannot be recorded") as refused:
        here.answers(suite=SUITE)
    assert CANARY not in str(refused.value)
    page = at_first_instance(here, monkeypatch)
    assert CANARY not in page_text(page)
    assert "its viewing cannot be recorded" in page_text(page)
