"""Viewings: who opens gated or private text is on record, or does not see it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import streamlit
import yaml
from streamlit.testing.v1 import AppTest

from medhelm_spark import Evaluation
from medhelm_spark.board import Viewer, choose, load_runs
from medhelm_spark.cli import main
from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.session import is_started
from medhelm_spark.viewings.record import Opening
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
    rows = "".join(f"{CANARY} case {index}?,yes\n" for index in range(6))
    (tmp_path / "data.csv").write_text(f"question,correct_answer\n{rows}")
    (tmp_path / "prompt.txt").write_text("{question}\nAnswer yes or no:")
    benchmark = {**BENCHMARK, "access_level": level}
    (tmp_path / "benchmark.yaml").write_text(yaml.safe_dump(benchmark))
    models = [
        {
            "name": f"ward/{answer}",
            "engine": "canned",
            "locality": "local",
            "client_spec": {"args": {"text": answer}},
        }
        for answer in ("yes", "no")
    ]
    (tmp_path / "site" / "model_deployments.yaml").write_text(
        yaml.safe_dump({"model_deployments": models})
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


def test_text_that_a_pipe_is_refused_is_no_viewing(
    here: Evaluation, level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["answers", "--suite", SUITE, "-n", "3", "-o", here.location]
    words += ["--local-path", str(tmp_path / "site")]
    assert main(words) == (1 if level == "private" else 0)
    assert stored(here) == []
    if level == "private":
        assert CANARY not in capsys.readouterr().out
        assert main([*words, "--text-levels", "private"]) == 0
        (row,) = stored(here)
        assert row["num_rows"] == 3 and CANARY in capsys.readouterr().out


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


def test_a_search_is_on_record(
    here: Evaluation, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(monkeypatch, Path(here.location), SUITE, view="Instances")
    before = stored(here)
    page.text_input(key="search").set_value("case 3").run()
    page.run()
    new = [row for row in stored(here) if row not in before]
    assert [(row["place"], row["num_rows"], row["suite"]) for row in new] == (
        [("search", 6, SUITE)] if level == "private" else []
    ), "what was searched, once; the rows that it found were shown before"


def test_a_comparison_puts_the_answers_of_both_models_on_record(
    here: Evaluation, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "benchmark.yaml"
    here.run(f"medhelm_configurable_benchmark:config_path={path},model=ward/no", suite=SUITE)
    page = opened(monkeypatch, Path(here.location), SUITE, view="Compare")
    assert CANARY in page_text(page)
    page.run()
    rows = stored(here)
    if level == "public":
        assert rows == []
        return
    assert {row["model_deployment"] for row in rows} == {"ward/yes", "ward/no"}
    assert [row["num_rows"] for row in rows] == [5, 5], "the answers of a page, once"


@pytest.fixture
def private_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A binding policy that lets raters' links open private text."""
    policy = tmp_path / "policy.yaml"
    allowed = {"public": ["local"], "private": ["local"]}
    links = {"highest_level": "private"}
    policy.write_text(yaml.safe_dump({"allowed": allowed, "rating_links": links}))
    (tmp_path / "settings.yaml").write_text(f"policy: {policy}")
    monkeypatch.setattr("medhelm_spark.config.settings.PLATFORM_FILE", tmp_path / "settings.yaml")
    for module in ("policy", "settings"):
        monkeypatch.setattr(f"medhelm_spark.config.{module}.why_ours", lambda _: None)
    streamlit.cache_data.clear()
    streamlit.cache_resource.clear()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.mark.usefixtures("private_links")
def test_what_a_rating_page_shows_is_on_record_by_the_raters_pseudonym(
    here: Evaluation, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    invitation = {"scenario": "Cases", "suite": SUITE, "criteria": ("accuracy",), "scale": (1, 5)}
    (link,) = here.ratings.invite(["A"], level=level, **invitation).links
    token = link.link.partition("?rate=")[2]
    page = opened(monkeypatch, Path(here.location), SUITE, rate=token)
    assert CANARY in page_text(page)
    page.run()
    page.button(key="top-next").click().run()
    rows = stored(here)
    if level == "public":
        assert rows == []
        return
    assert [(row["place"], row["num_rows"], row["identified_by"]) for row in rows] == [
        ("rating", 1, "link"),
        ("rating", 1, "link"),
    ], "one for each instance"
    assert all(row["viewed_by"].startswith("rater-") for row in rows)
    (Path(here.location) / "viewings").rename(Path(here.location) / "elsewhere")
    (Path(here.location) / "viewings").write_text("no table can be made here")
    page.button(key="top-next").click().run()
    assert CANARY not in page_text(page)


@pytest.mark.parametrize("level", ["private"], indirect=True)
def test_what_was_searched_without_a_record_is_not_said(
    here: Evaluation, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(monkeypatch, Path(here.location), SUITE, view="Instances")
    table = Path(here.location) / "viewings"
    shutil.rmtree(table)
    table.write_text("no table can be made here")
    page.text_input(key="search").set_value("case 3").run()
    assert "Not searched, all are listed: private text" in page_text(page)
    assert "its viewing cannot be recorded" in page_text(page)


def test_a_download_is_on_record_one_of_public_results_too(
    here: Evaluation, level: str, tmp_path: Path
) -> None:
    reader = open_reader(here.location)
    runs = load_runs(reader, choose(reader, SUITE, None))
    opening = Opening(location=here.location, viewer=Viewer.THIS_MACHINE, suite=SUITE)
    opening.of_download("board.csv", runs)
    (row,) = stored(here)
    assert (row["place"], row["file_name"], row["access_level"]) == ("download", "board.csv", level)
    assert (row["num_rows"], list(row["run_spec_ids"])) == (1, [runs[0].run_spec.run_spec_id])
    elsewhere = tmp_path / "file"
    elsewhere.write_text("no lake")
    broken = Opening(location=str(elsewhere), viewer=Viewer.THIS_MACHINE, suite=SUITE)
    if level == "public":
        broken.of_download("board.csv", runs)
    else:
        with pytest.raises(PolicyError, match="its viewing cannot be recorded"):
            broken.of_download("board.csv", runs)


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
