"""The page Metrics on a lake of countable answers."""

import re
from pathlib import Path

import pytest
import streamlit

from tests.app_pages import markup, opened, page_text
from tests.unit.board.clinic import SUITE, plant_clinic


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    streamlit.cache_resource.clear()
    return plant_clinic(tmp_path_factory.mktemp("clinic"))


def words(test) -> str:
    return " ".join(page_text(test).split())


def test_the_page_says_who_is_missed_at_a_stated_prevalence(monkeypatch, lake) -> None:
    test = opened(monkeypatch, lake, suite=SUITE, view="Metrics")
    assert test.selectbox(key="benchmark").value == "Referral", "it has a positive class"
    text = words(test)
    assert (
        "At a prevalence of 20 % (as in the data), in 1,000 cases, the lowest estimates are: "
        "missed: alarmist" in text
    )
    assert "careful fewer missed than quiet more missed than alarmist fewer false alarms" in text
    assert "30.0 without an answer 30.0 [14.1, 58.1] 80.0 [50.0, 125.0] 30.0" in text
    assert "Evidence: 200 answers by each model, 40 positive and 160 negative." in text
    assert "urgent answered as routine costs 10, routine answered as urgent costs 1." in text
    assert "Specificity: share of the negative that were answered as negative." in text
    bold = re.findall("<strong>(.*?)</strong>", " ".join(markup(test)))
    assert {"costs least", "of no use here"} == set(bold)
    assert "always positive 0.0 800.0 0.0 800.0" in text
    assert "careful Case answered positive answered negative neither positive 34 4 2" in text
    assert "0.875 [0.81, 0.92] n=160" in text
    assert len(test.get("vega_lite_chart") or test.get("arrow_vega_lite_chart")) == 1
    assert [button.proto.label for button in test.get("download_button")] == ["Download as CSV"]
    test.number_input(key="prevalence-referral").set_value(2.0).run()
    text = words(test)
    assert "At a prevalence of 2 % (as stated)" in text
    assert "25.5 without an answer not shown to be of use here 3.0 [1.4, 5.8]" in text
    test.selectbox(key="benchmark").select("Triage").run()
    assert "prevalence-referral" not in {field.key for field in test.number_input}


def test_a_prevalence_is_stated_once_for_metrics_compare_and_the_board(monkeypatch, lake) -> None:
    test = opened(monkeypatch, lake, suite=SUITE, view="Metrics")
    test.number_input(key="prevalence-referral").set_value(2.0).run()
    test.button_group(key="view").set_value("Compare").run()
    assert test.query_params["prevalence"] == "referral=0.02"
    test.selectbox(key="second").select("alarmist").run()
    assert (
        "Referral, at a prevalence of 2 % (as stated): careful is worse than alarmist on "
        "sensitivity, at lower declared cost (152.5 beside 918.8 in 1,000 cases, -766.2"
        in words(test)
    )
    assert test.number_input(key="prevalence-referral").value == 2.0
    test.number_input(key="prevalence-referral").set_value(5.0).run()
    assert "Referral, at a prevalence of 5 % (as stated)" in words(test)
    test.button_group(key="view").set_value("Leaderboard").run()
    links = " ".join(markup(test))
    assert "prevalence=referral%3D0.05" in links
    assert "1.000 [0.91, 1.00] specificity 0.062 n=40 of 200" in words(test)
    test.button_group(key="view").set_value("Metrics").run()
    assert test.number_input(key="prevalence-referral").value == 5.0


def test_an_address_with_no_prevalence_is_refused(monkeypatch, lake) -> None:
    for wrong in ("referral=2", "referral=rare"):
        test = opened(monkeypatch, lake, suite=SUITE, view="Metrics", prevalence=wrong)
        assert "between 0 and 1" in words(test)


def test_a_benchmark_shows_what_applies_to_it_and_nothing_made_up(monkeypatch, lake) -> None:
    triage = opened(monkeypatch, lake, suite=SUITE, view="Metrics", benchmark="Triage")
    text = words(triage)
    assert "No class is declared as positive" in text
    assert "careful emergency 0.800 [0.49, 0.94] n=10" in text
    assert "careful routine 2 0 28 0" in text
    assert "in 1,000 cases" not in text
    notes = words(opened(monkeypatch, lake, suite=SUITE, view="Metrics", benchmark="Notes"))
    assert "neither classes nor log-probabilities" in notes
    assert "careful 12 40 6.0 0.25 0.25 0.25 -" in notes


def test_prices_of_the_site_give_money(monkeypatch, lake, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prod_env").mkdir()
    (tmp_path / "prod_env" / "model_deployments.yaml").write_text(
        "model_deployments:\n"
        "- {name: careful, engine: imported, prices: {prompt: 2.0, completion: 8.0}}\n"
    )
    streamlit.cache_resource.clear()
    test = opened(monkeypatch, lake, suite=SUITE, view="Metrics", benchmark="Notes")
    assert "careful 12 40 6.0 0.25 0.25 0.25 0.13" in words(test)
    (tmp_path / "prod_env" / "model_deployments.yaml").write_text("model_deployments: secret\n")
    streamlit.cache_resource.clear()
    text = words(opened(monkeypatch, lake, suite=SUITE, view="Metrics", benchmark="Notes"))
    assert "cannot be read, so that no prices are known" in text
    assert "no price is declared of careful, quiet; whoever set up the models can" in text
    assert "secret" not in " ".join(markup(test))


def test_the_reference_is_chosen_once_and_compare_opens_with_it(monkeypatch, lake) -> None:
    test = opened(monkeypatch, lake, suite=SUITE, view="Metrics")
    assert "Referral: more than careful, in 1,000 cases" in words(test), "it costs least"
    test.selectbox(key="reference of a benchmark").select("quiet").run()
    assert "Referral: more than quiet, in 1,000 cases" in words(test)
    assert test.query_params["reference"] == "quiet"
    test.button_group(key="view").set_value("Compare").run()
    assert test.selectbox(key="second").value == "quiet"
    test.selectbox(key="second").select("alarmist").run()
    test.button_group(key="view").set_value("Metrics").run()
    assert "Referral: more than alarmist, in 1,000 cases" in words(test)


def test_regressions_only_says_what_is_compared(monkeypatch, lake) -> None:
    test = opened(
        monkeypatch,
        lake,
        suite=SUITE,
        view="Compare",
        first="careful",
        second="quiet",
        regressions="true",
    )
    text = words(test)
    assert "sensitivity on Referral" in text
    assert "careful is not shown to be worse on any of them." in text
    assert "it is shown that careful has more false alarms (Referral: +70.0 [" in text
    assert "false alarms in 1,000 cases 80.0 10.0 +70.0 [" in text
    assert "missed in 1,000 cases" not in text
