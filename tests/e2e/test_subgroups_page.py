"""The page Subgroups, the report and the files, on a lake of two models and a tiny site."""

import csv
import io
from pathlib import Path

import pytest
import streamlit
import yaml
from streamlit.runtime.context import ContextProxy, StreamlitHeaders

from medhelm_spark import Deployment, Evaluation, Locality
from tests.app_pages import answer_columns, answer_rows, markup, opened, page_text

SUITE = "s"
ROWS = [
    {
        "id": f"q{i}",
        "question": f"Is {i} a number?",
        "correct_answer": "yes" if i % 10 < (4 if i % 2 else 9) else "no",
        "age": ("old", "young")[i // 150],
        "sex": "fm"[i % 2],
        "site": "tiny" if i < 5 else "ns"[i % 3 == 0],
    }
    for i in range(300)
]


def model(text: str) -> Deployment:
    args = {"mode": "script", "text": text}
    return Deployment(
        name=f"team/{text}", model=text, engine="canned", locality=Locality.LOCAL, args=args
    )


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """A small run: this process computes it, without Java."""
    streamlit.cache_resource.clear()
    folder = tmp_path_factory.mktemp("groups")
    (folder / "prompt.txt").write_text("{question}\nAnswer:")
    with (folder / "data.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    config = {
        "name": "Letters",
        "description": "Made for a test.",
        "prompt_file": "prompt.txt",
        "dataset_file": "data.csv",
        "metrics": [{"name": "exact_match"}],
        "groups": ["age", "sex", "site"],
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
    models = [model("yes"), model("no")]
    made = Evaluation(folder / "lake", site=None, tracking=False, deployments=models)
    entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"
    made.run([f"{entry},model=team/{text}" for text in ("yes", "no")], suite=SUITE)
    return made


def words(test) -> str:
    return " ".join(page_text(test).split())


def test_the_page_names_the_worst_group_and_who_falls_behind(monkeypatch, evaluation) -> None:
    lake, address = (
        Path(evaluation.location),
        {"view": "Subgroups", "by": "sex", "first": "team/yes"},
    )
    test = opened(monkeypatch, lake, suite=SUITE, **address)
    text = words(test)
    assert "Watch: sex f (no), sex m (yes). Of 5 groups tested with 2 models" in text
    assert "yes is worse for sex m." in text
    assert "no is worse for sex f." in text
    assert "yes is worse than no (Letters: exact_match) for: sex m." in text
    assert "yes, sex m: exact_match 0.400 of 150, all others 1.000" in text
    assert len(test.get("vega_lite_chart") or test.get("arrow_vega_lite_chart")) == 1
    assert [button.proto.label for button in test.get("download_button")] == [
        "Download as CSV",
        "Download the two models as CSV",
    ]
    test.selectbox(key="second").select("none").run()
    alone = words(test)
    assert "Watch: sex f (no), sex m (yes)." in alone, "whichever model and column is picked"
    assert "yes is worse than no" not in alone
    assert "no is worse for" not in alone


def test_the_page_opens_on_a_group_that_is_worse(monkeypatch, evaluation) -> None:
    test = opened(monkeypatch, Path(evaluation.location), suite=SUITE, view="Subgroups")
    assert test.selectbox(key="by").options == ["age", "sex", "site"]
    assert test.selectbox(key="by").value == "sex"


def test_hidden_groups_have_no_number_on_the_page_in_files_and_in_the_report(
    monkeypatch, evaluation
) -> None:
    test = opened(monkeypatch, Path(evaluation.location), suite=SUITE, view="Subgroups", by="site")
    rows = "".join(body for body in markup(test) if "tiny</td>" in body)
    nothing = "<td></td>" * 4
    assert f"tiny</td><td>hidden</td><td>hidden</td>{nothing}" in rows
    assert f"site: tiny</td><td>hidden</td><td>hidden</td><td>hidden</td>{nothing}" in rows
    assert "fewer than 11 patients" in words(test)
    for line in csv.DictReader(io.StringIO(evaluation.subgroups.scores(SUITE).render("csv"))):
        if line["group_value"] == "tiny":
            assert line["mean"] == line["count"] == line["num_patients"] == ""
    report = evaluation.report(SUITE).html
    assert "<h2>Groups of patients</h2>" in report
    assert "<h3>Letters by sex</h3>" in report
    assert "<td>tiny</td><td>hidden</td><td>hidden</td>" in report
    assert "<p>Watch: sex f (team/no), sex m (team/yes)." in report
    assert "<h3>Two models in each group</h3>" in report
    assert report.count('aria-label="Letters by sex: scores with 95 % intervals"') == 1


def test_a_lake_without_groups_says_how_to_have_some(monkeypatch, tmp_path) -> None:
    """The planted lake has no such tables, as one that is older than groups."""
    from tests.unit.board.planted import plant

    streamlit.cache_resource.clear()
    lake = plant(tmp_path / "lake")
    test = opened(monkeypatch, lake, view="Subgroups")
    assert "run --by COLUMN" in test.info[0].value
    older = Evaluation(lake, site=None, tracking=False)
    assert list(older.subgroups.scores("s1").rows()) == []
    assert list(older.subgroups.compare(suite="s1").rows()) == []
    assert "Groups of patients" not in older.report("s1").html


def test_the_table_of_answers_has_the_groups_and_lists_one_of_them(monkeypatch, evaluation) -> None:
    test = opened(monkeypatch, Path(evaluation.location), suite=SUITE, view="Instances")
    assert answer_columns(test) == [
        "#",
        "Id",
        "First words",
        "Answer",
        "age",
        "sex",
        "site",
        "Score",
    ]
    assert [row[5:7] for row in answer_rows(test)[:2]] == [["f", "tiny"], ["m", "tiny"]]
    (picker,) = (box for box in test.selectbox if box.label == "Group")
    groups = ["sex: f", "sex: m", "site: n", "site: s", "site: tiny"]
    assert picker.options == ["all", "age: old", "age: young", *groups]
    picker.select("site: tiny").run()
    assert "5 of 300 answers" in page_text(test)
    assert {row[6] for row in answer_rows(test)} == {"tiny"}
    assert "tiny" not in str(test.query_params)
    monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Host", "evil.test")]))
    test.run()
    assert "Group" not in [box.label for box in test.selectbox]
    assert answer_columns(test) == ["#", "Id", "First words", "Answer", "Score"]
