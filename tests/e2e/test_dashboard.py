"""The dashboard on a lake of planted facts: the page's own logic, then a real browser."""

import csv
import io
import json
import re
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from threading import Event
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import streamlit
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pyarrow import parquet
from streamlit.runtime.context import ContextProxy, StreamlitHeaders
from streamlit.testing.v1 import AppTest

from medhelm_spark import Deployment, Evaluation, InstanceKey, Locality
from medhelm_spark.board import answer_list
from medhelm_spark.board.cells import PROMPT_UNKNOWN
from medhelm_spark.cli.serve import command
from medhelm_spark.config.registry import cards_of
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.request import Prompt
from medhelm_spark.domain.stats import PerInstanceStats, Score
from tests.app_pages import (
    APP,
    answer_columns,
    answer_rows,
    board,
    imported_from,
    opened,
    page_text,
)
from tests.browsers import launcher
from tests.rewriting import rewritable
from tests.servers import HOST, free_port, served
from tests.unit.board.changes import plant_changes
from tests.unit.board.clinic import SUITE as CLINIC, plant_clinic
from tests.unit.board.planted import (
    ALPHA,
    BETA,
    GAMMA,
    HOSTILE,
    SOURCE_ID,
    append,
    planned,
    plant,
    plant_answers,
    run_spec,
)
from tests.unit.board.planted_releases import plant_change, plant_release

ROOT = Path(__file__).resolve().parents[2]
WAIT_MS = 60_000


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("lake"))


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = plant(tmp_path_factory.mktemp("changed"))
    plant_changes(lake)
    return lake


def board_words(test: AppTest) -> list[str]:
    return page_text(test).split()


def models_listed(test: AppTest) -> list[str]:
    """The models in the order of the rows."""
    return re.findall(r'<th scope="row"><span class="ms-rank">\d*</span>([^<]*)', board(test))


class TestPage:
    """The page's logic, without a browser."""

    def test_the_board_shows_planted_numbers(self, monkeypatch, lake) -> None:
        words = " ".join(board_words(opened(monkeypatch, lake)))
        assert f"1 {BETA} tenant 0.750 1.000 [0.44, 1.00] n=3 0.750 [0.30, 0.95] n=4" in words
        failing = "0.500 [0.09, 0.91] n=2/3 under the floor: 0.33 to 0.67"
        assert f"{ALPHA} local – {failing}" in words
        assert (
            f"Not ranked: {ALPHA} has no mean that counts on MedCalc-Bench (2 of 3 answers scored)."
            in words
        )
        assert "3.250 * [0.05, 4.49] n=2 cov 0.75" in words
        assert f"{GAMMA} external – not scored yet 0.250" in words
        assert "Working results, not approved." in words
        assert "judge without evidence of its agreement with clinicians" in words
        assert "0.990" not in words  # the write that nobody finished

    def test_two_models_are_compared_and_the_answers_that_differ_stand_side_by_side(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake, view="Compare", first=ALPHA, second=BETA)
        words = " ".join(board_words(test))
        assert f"{ALPHA} against {BETA}, 1 comparison: not told apart on Triage choice." in words
        assert "not told apart Triage choice: exact_match +0.000" in words
        assert "MedCalc-Bench" not in words, "it is under the floor"
        assert "McNemar's mid-p test" in words
        assert "those that the first model lost first" in words
        marked = [part.proto.body for part in test.html if "<mark>" in part.proto.body]
        assert marked
        test.number_input(key="margin").set_value(0.9).run()
        assert "Within margin" in " ".join(board_words(test))
        test.toggle(key="regressions").set_value(True).run()
        assert (
            f"(exact_match on Triage choice) {ALPHA} is not shown to be worse on any of them."
            in " ".join(board_words(test))
        )

    def test_the_margin_box_shows_what_the_suite_file_declares(self, monkeypatch, changed) -> None:
        test = opened(monkeypatch, changed, view="Compare", first=ALPHA, second=BETA)
        assert test.number_input(key="margin").value == 0.02
        assert "(declared)" in " ".join(board_words(test))
        assert "0.02: not shown" in " ".join(board_words(test))
        test.number_input(key="margin").set_value(0.9).run()
        assert "0.9: equivalent" in " ".join(board_words(test))

    def test_a_comparison_opens_with_the_models_that_stand_first(self, monkeypatch, lake) -> None:
        first, second, *_ = models_listed(opened(monkeypatch, lake))
        test = opened(monkeypatch, lake, view="Compare")
        assert [test.selectbox(key=key).value for key in ("first", "second")] == [first, second]

    def test_the_board_is_sorted_by_name_or_by_a_benchmark_as_the_address_says(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake, sort="MedCalc-Bench")
        # The mean under the floor comes after the one that counts, what is missing last.
        assert models_listed(test) == [BETA, ALPHA, GAMMA]
        assert test.selectbox(key="sort").value == "MedCalc-Bench"
        test.selectbox(key="sort").select("Model").run()
        assert models_listed(test) == [ALPHA, BETA, GAMMA]
        test.selectbox(key="sort").select("Discharge note").run()
        assert models_listed(test)[0] == ALPHA

    def test_benchmarks_as_rows_have_the_same_cells(self, monkeypatch, lake) -> None:
        plain = opened(monkeypatch, lake)
        turned = opened(monkeypatch, lake, transpose="true")
        assert turned.toggle(key="transpose").value
        cells = re.compile(r"<td[^>]*>.*?</td>")
        found = [
            sorted(filter(re.compile("<a|missing").search, cells.findall(board(each))))
            for each in (plain, turned)
        ]
        assert found[0] == found[1]
        assert len(found[0]) == 9
        heads = re.findall(r'<th scope="(?:row|rowgroup)">([^<]*)', board(turned))
        assert heads == [
            "Win rate",
            "Clinical Decision Support",
            "MedCalc-Bench",
            "Triage choice",
            "Clinical Note Generation",
            "Discharge note",
        ]

    def test_means_only_still_say_why_a_mean_is_missing_or_counts_nowhere(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake, compact="true", transpose="true")
        words = " ".join(unescape(re.sub(r"<[^>]*>", " ", board(test))).split())
        assert "n=" not in words
        assert "[0." not in words
        assert "0.500 under the floor" in words
        assert "not scored yet" in words
        assert "not run" in words
        assert "3.250 *" in words

    def test_a_category_keeps_its_columns_and_the_board_is_computed_again(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake)
        names = ["All", "Clinical Decision Support", "Clinical Note Generation"]
        assert test.selectbox(key="category").options == names
        test.selectbox(key="category").select("Clinical Decision Support").run()
        words = " ".join(board_words(test))
        assert (
            "Category Clinical Decision Support alone: 1 of 3 benchmarks and 0 of 3 models are "
            "hidden. Win rates and order are computed again" in words
        )
        assert "Discharge note" not in board(test)
        assert "not scored yet" in board(test)
        again = opened(monkeypatch, lake, category="Clinical Note Generation", sort="Triage choice")
        assert models_listed(again) == [ALPHA]

    def test_the_board_is_offered_in_every_format(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake)
        assert not test.exception
        labels = [button.proto.label for button in test.get("download_button")]
        assert labels == ["CSV", "JSON", "Markdown", "Parquet", "HTML report"]

    def test_charts_are_drawn_only_where_the_address_asks(self, monkeypatch, lake) -> None:
        assert not opened(monkeypatch, lake).get("vega_lite_chart")
        test = opened(monkeypatch, lake, charts="true")
        assert not test.exception
        assert "Clinical Decision Support: means with 95 % intervals" in page_text(test)
        drawn = test.get("vega_lite_chart") or test.get("arrow_vega_lite_chart")
        assert len(drawn) == 3  # two categories, and all benchmarks
        labels = [button.proto.label for button in test.get("download_button")]
        assert labels.count("SVG") == labels.count("PNG") == 3

    def test_the_chart_of_one_benchmark_opens_by_the_link_beside_its_name(
        self, monkeypatch, lake
    ) -> None:
        plain = opened(monkeypatch, lake, access=["public", "gated"])
        links = re.findall(r'href="\?([^"]*chart=[^"]*)" aria-label="([^"]*)"', board(plain))
        assert [name for _, name in links] == ["chart of MedCalc-Bench", "chart of Triage choice"]
        address = parse_qs(unescape(links[1][0]))
        assert address["access"] == ["public", "gated"]
        assert address["chart"] == ["Triage choice"]
        test = opened(monkeypatch, lake, chart="Triage choice", access=["public", "gated"])
        assert "Triage choice: means with 95 % intervals" in page_text(test)
        assert len(test.get("vega_lite_chart") or test.get("arrow_vega_lite_chart")) == 1
        unknown = opened(monkeypatch, lake, chart="no such benchmark")
        assert not unknown.exception
        assert not unknown.get("vega_lite_chart")

    def test_scores_of_the_request_are_folded_behind_those_of_the_answer(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant(tmp_path)
        spec = run_spec("many", ALPHA, "triage_choice")
        row = PerInstanceStats(
            run_spec_id=spec.run_spec_id,
            instance_id="triage_choice-i0",
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            split="test",
            stats=(
                Score(name="inference_runtime", value=0.5),
                Score(name="answer_unreadable", value=0.0),
                Score(name=spec.main_metric, value=1.0),
            ),
        )
        plant_answers(lake, 1)
        rewritable(lake / "per_instance_stats").delete("run_spec_id = 'many'")
        append(lake, "per_instance_stats", [row], "w-many")
        test = opened(monkeypatch, lake, view="Instances", run="many")
        (body,) = (p.proto.body for p in test.html if "<h3>Scores" in p.proto.body)
        open_part, _, folded = body.partition("<details>")
        assert re.findall(r"<td>(.*?)</td>", open_part)[::2] == [
            "<b>exact_match</b> (on the board)",
            "answer_unreadable",
        ]
        assert "inference_runtime" in folded

    def test_a_release_says_where_it_stands_and_what_is_gone(self, monkeypatch, tmp_path) -> None:
        lake = plant(tmp_path)
        manifest = plant_release(lake)
        address = {"suite": "", "release": "R2"}
        assert "Working results, not approved." in page_text(opened(monkeypatch, lake, **address))
        for status in (ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED):
            plant_change(lake, status, manifest)
        streamlit.cache_resource.clear()
        words = page_text(opened(monkeypatch, lake, **address))
        assert "Approved release." in words
        assert "not approved" not in words
        rewritable(lake / "request_results").delete()
        rewritable(lake / "prompts").delete()
        plant_change(lake, ReleaseStatus.WITHDRAWN, manifest, "wrong key")
        streamlit.cache_resource.clear()
        words = page_text(opened(monkeypatch, lake, view="Instances", **address))
        top, _, below = words.partition("WITHDRAWN: do not use the numbers of release 'R2'.")
        assert "Reason: wrong key" in below
        assert "Answers" not in top
        assert "No longer in the lake: prompt, answer. The scores are kept." in below

    def test_robustness_is_one_table(self, monkeypatch, changed) -> None:
        words = " ".join(board_words(opened(monkeypatch, changed, view="Robustness")))
        row = f"{ALPHA} Triage choice exact_match"
        share = "0.667 [0.21, 0.94]"
        below = "0.333 [0.06, 0.79]"
        assert f"{row} typos {share} {below} {below} {share} – 3" in words
        mean = "0.750 [0.30, 0.95]"
        assert f"{row} robustness {mean} – 0.500 [0.15, 0.85] {share} – 4" in words
        assert f"{row} prompt_variants {mean} 0.625" in words
        assert "invariance: share of instances with the same value" in words
        assert BETA not in words, "it was asked nothing else"

    def test_robustness_follows_the_filters(self, monkeypatch, changed, lake) -> None:
        test = opened(monkeypatch, changed, view="Robustness")
        test.button_group(key="locality").set_value(["tenant"]).run()
        assert "Not tested. Ask whoever ran the suite to ask each question" in test.info[0].value
        assert "Not tested." in opened(monkeypatch, lake, view="Robustness").info[0].value

    def test_unreadable_answers_and_the_primary_endpoint_are_on_the_board(
        self, monkeypatch, changed
    ) -> None:
        words = " ".join(board_words(opened(monkeypatch, changed)))
        assert "0.750 [0.30, 0.95] n=4 unread 0.25" in words
        assert "Triage choice exact_match public primary endpoint" in words
        assert "see the table of robustness" in words

    def test_an_access_level_switched_off_takes_its_columns_and_win_rates_away(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake)
        test.button_group(key="access").set_value(["public"]).run()
        words = " ".join(board_words(test))
        assert "MedCalc-Bench" not in words
        assert "Discharge note" not in words
        assert f"1 {ALPHA} local 0.750" in words
        assert f"1 {BETA} tenant 0.750" in words  # a tie shares its rank
        assert f"3 {GAMMA} external 0.000" in words
        assert "2 of 3 benchmarks and 0 of 3 models are hidden" in words
        assert "Win rates and order are computed again" in words

    def test_a_locality_switched_off_takes_its_models_away(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake)
        test.button_group(key="locality").set_value(["local", "external"]).run()
        words = " ".join(board_words(test))
        assert BETA not in words
        assert f"1 {ALPHA} local 1.000" in words  # beats gamma, the only other model shown
        assert "0 of 3 benchmarks and 1 of 3 models are hidden" in words

    def test_filters_in_the_address_are_kept_by_the_links(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, access=["public", "gated"])
        bodies = " ".join(part.proto.body for part in test.html)
        (link, *_) = re.findall(r'href="\?([^"]*run=[^"]*)"', bodies)
        assert parse_qs(unescape(link)) == {
            "suite": ["s1"],
            "access": ["public", "gated"],
            "view": ["Instances"],
            "run": ["beta-medcalc_bench"],
        }
        assert "Discharge note" not in page_text(test)

    def test_filters_that_nothing_passes_are_said_and_no_empty_table(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake, answers="1000")
        assert "The filters let no result pass: scored answers at least 1000." in test.info[0].value

    @pytest.mark.parametrize(
        "view", ["Leaderboard", "Metrics", "Compare", "Instances", "Robustness", "Subgroups"]
    )
    def test_every_page_says_what_it_is_and_which_filters_are_in_use(
        self, monkeypatch, lake, view
    ) -> None:
        test = opened(monkeypatch, lake, view=view, access="public", answers="4")
        words = page_text(test)
        assert "What am I looking at?" in words
        line = "access level of the benchmark: public; scored answers at least 4"
        assert f"Filters in use: {line}." in words
        assert "MedCalc-Bench" not in words

    def test_a_value_that_nobody_declared_is_unknown_and_passes_no_filter(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant(tmp_path)
        spec = run_spec("delta-triage_choice", ALPHA, "triage_choice")
        unknown = replace(planned(spec), locality="unknown", name="triage_choice:model=delta")
        append(lake, "run_specs", [unknown], "p-unsaid")
        test = opened(monkeypatch, lake)
        (pills,) = (group for group in test.button_group if group.key == "locality")
        assert "unknown: 1 of" in pills.label
        assert "unknown" not in pills.options
        pills.set_value(["local", "tenant", "external"]).run()
        assert "triage_choice:model=delta" not in page_text(test)

    def test_an_approved_release_is_what_a_visitor_sees_first(self, monkeypatch, tmp_path) -> None:
        lake = plant(tmp_path)
        manifest = plant_release(lake)
        assert "Suite s1" in page_text(opened(monkeypatch, lake, suite=""))
        for status in (ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED):
            plant_change(lake, status, manifest)
        streamlit.cache_resource.clear()
        test = opened(monkeypatch, lake, suite="")
        assert "Release R2 (approved)" in page_text(test)
        test = opened(monkeypatch, lake, suite="", status="approved")
        assert "release status: approved" in page_text(test)
        (picker,) = (box for box in test.selectbox if box.key == "source")
        assert picker.options == ["Release R2 (approved)"]
        test = opened(monkeypatch, lake, status="approved")
        assert "no result pass: release status: approved" in test.info[0].value

    def test_another_suite_or_release_is_picked_and_named_in_the_address(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake)
        (picker,) = (box for box in test.selectbox if box.key == "source")
        picker.select("Release R1 (draft)").run()
        assert "0.500 [0.09, 0.91] n=2" in " ".join(board_words(test))
        assert test.query_params["release"] == "R1"
        assert "suite" not in test.query_params

    def test_a_suite_without_results_says_what_makes_them(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, "s0")
        assert "medhelm-spark summarize" in test.info[0].value

    def test_a_link_to_an_answer_opens_it(self, monkeypatch, lake) -> None:
        test = opened(
            monkeypatch,
            lake,
            view="Instances",
            suite="s1",
            run="alpha-discharge_note",
            instance="discharge_note-i1",
        )
        text = page_text(test)
        assert f"Case 1: {HOSTILE}" in text
        assert f"{ALPHA} says 1 {HOSTILE}" in text
        assert "Discharge note · #2" in text
        assert re.search(r"j2\s+unparseable", text)
        assert re.search(r"accuracy\s+4\s+Because", text)
        assert "Local single-user view" in text

    def test_the_next_answer_is_opened_and_named_in_the_address(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, view="Instances", suite="s1", run="alpha-medcalc_bench")
        for _ in range(2):
            self.pressed(test, "Next answer").run()
        assert "no answer: timeout" in page_text(test)
        assert test.query_params["instance"] == "medcalc_bench-i2"
        assert self.pressed(test, "Next answer").disabled
        self.pressed(test, "Previous answer").run()
        assert test.query_params["instance"] == "medcalc_bench-i1"

    @staticmethod
    def pressed(test: AppTest, label: str) -> Any:
        """The button, pressed."""
        (button,) = (each for each in test.button if each.label == label)
        return button if button.disabled else button.click()

    def test_keys_lead_from_the_last_answer_of_a_page_to_the_next_page_and_back(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant(tmp_path)
        plant_answers(lake, 25)
        test = opened(monkeypatch, lake, view="Instances", run="many", instance="triage_choice-i9")
        assert "25 of 25 answers, 1–10 listed" in page_text(test)
        self.pressed(test, "Next answer").run()
        assert "11–20 listed" in page_text(test)
        assert "Triage choice · #11" in page_text(test)
        self.pressed(test, "Previous answer").run()
        assert "Triage choice · #10" in page_text(test)
        self.pressed(test, "Next page").run()
        self.pressed(test, "Next page").run()
        assert "21–25 listed" in page_text(test)
        assert self.pressed(test, "Next page").disabled
        assert [row[0] for row in answer_rows(test)] == [f"#{n}" for n in range(21, 26)]

    def test_answers_are_a_table_with_the_users_id_first_words_answer_and_score(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice")
        assert answer_columns(test) == ["#", "Id", "First words", "Answer", "Score"]
        last = ["#4", SOURCE_ID, f"Case 3: {HOSTILE}", f"{ALPHA} says 3 {HOSTILE}", "0.000"]
        assert answer_rows(test)[3] == last
        lowest = opened(
            monkeypatch, lake, view="Instances", run="alpha-triage_choice", order="lowest"
        )
        assert [row[0] for row in answer_rows(lowest)] == ["#4", "#1", "#2", "#3"]

    def test_flags_and_a_note_are_stored_at_once_and_stand_in_the_table(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant(tmp_path)
        address = {"view": "Instances", "run": "alpha-triage_choice"}
        test = opened(monkeypatch, lake, **address, instance="triage_choice-i1")
        (flags,) = (group for group in test.button_group if group.label == "Flags")
        flags.set_value(["wrong_label", "harmful"]).run()
        test.text_area[0].set_value("Of another letter.").run()
        assert answer_columns(test)[-2:] == ["Flags", "Score"]
        assert [row[-2] for row in answer_rows(test)] == ["", "wrong label, harmful", "", ""]
        assert "letter" not in str(test.query_params)
        again = opened(monkeypatch, lake, **address, instance="triage_choice-i1")
        assert again.text_area[0].value == "Of another letter."
        (button,) = (each for each in again.button if each.label == "Next answer")
        button.click().run()
        assert again.text_area[0].value == ""

    def test_a_viewer_elsewhere_writes_no_note_and_sees_those_of_public_rows(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant(tmp_path)
        evaluation = Evaluation(lake, site=None, tracking=False)
        for scenario in ("triage_choice", "medcalc_bench"):
            key = InstanceKey(instance_id=f"{scenario}-i0")
            evaluation.notes.write(scenario, ALPHA, key, suite="s1", text=f"Said of {scenario}.")
        test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice")
        monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Host", "evil.test")]))
        test.run()
        assert not test.text_area
        assert "Said of triage_choice." in page_text(test)
        test.selectbox[2].select("MedCalc-Bench").run()
        assert "Said of medcalc_bench." not in page_text(test)
        assert "Flags" not in answer_columns(test)

    def test_a_viewer_elsewhere_sees_numbers_and_scores_and_no_text_of_private_rows(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant(tmp_path)
        rewritable(lake / "instances").update(
            updates={"access_level": "'private'"}, predicate="instance_id = 'triage_choice-i3'"
        )
        test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice")
        monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Host", "evil.test")]))
        rows = answer_rows(test.run())
        assert rows[3] == ["#4", "hidden", "hidden", "hidden", "0.000"]
        assert rows[2][1:3] == [SOURCE_ID, f"Case 2: {HOSTILE}"]
        test.selectbox[2].select("MedCalc-Bench").run()
        assert {cell for row in answer_rows(test) for cell in row[1:4]} == {"hidden"}

    def test_the_model_and_benchmark_pickers_follow_each_other(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, view="Instances", suite="s1", run="alpha-discharge_note")
        test.selectbox[1].select(GAMMA).run()
        assert f"{GAMMA} says 0" in page_text(test)
        assert test.query_params["run"] == "gamma-triage_choice"

    def test_wrong_answers_alone_are_listed_and_the_address_says_so(
        self, monkeypatch, lake
    ) -> None:
        test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice", only="wrong")
        assert "1 of 4 answers" in page_text(test)
        assert [(row[0], row[-1]) for row in answer_rows(test)] == [("#4", "0.000")]
        (picker,) = (box for box in test.selectbox if box.label == "Show")
        assert picker.options == ["all (4)", "wrong (1)", "unread (0)", "failed (0)"]
        picker.select("failed (0)").run()
        assert test.query_params["only"] == "failed"
        assert test.info[0].value == "None of the 4 answers failed."
        (picker,) = (box for box in test.selectbox if box.label == "Show")
        picker.select("all (4)").run()
        assert "4 of 4 answers" in page_text(test)
        assert "only" not in test.query_params

    def test_a_search_lists_answers_and_is_not_in_the_address(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice")
        test.text_input(key="search").set_value("CASE 2").run()
        assert "1 of 4 answers" in page_text(test)
        assert f"{ALPHA} says 2" in page_text(test)
        assert "CASE 2" not in str(test.query_params)
        test.text_input(key="search").set_value(SOURCE_ID.lower()).run()
        assert "4 of 4 answers" in page_text(test)
        test.text_input(key="search").set_value("no such text").run()
        none = "None of the 4 answers has the text that was searched for."
        assert test.info[0].value == none
        assert "no such" not in str(test.query_params)

    def test_a_viewer_elsewhere_has_no_search_of_private_text(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice")
        monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Host", "evil.test")]))
        assert test.run().text_input
        test.selectbox[2].select("MedCalc-Bench").run()
        assert not test.text_input
        assert "No search: gated text is searched only at the machine" in page_text(test)

    def test_a_public_run_with_a_private_row_is_listed_though_not_searched(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant(tmp_path)
        rewritable(lake / "instances").update(
            updates={"access_level": "'private'"}, predicate="instance_id = 'triage_choice-i3'"
        )
        test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice")
        monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Host", "evil.test")]))
        test.text_input(key="search").set_value("case 2").run()
        text = page_text(test)
        assert "Not searched, all are listed: private text is shown only at the machine" in text
        assert "4 of 4 answers" in text
        assert len(answer_rows(test)) == 4

    def test_a_request_beside_an_answer_made_elsewhere_is_the_declared_one(self) -> None:
        prompt = Prompt(
            prompt_id="p",
            render_id="r",
            subject_id="i",
            access_level=AccessLevel.PUBLIC,
            text="Urgent?",
        )
        with imported_from(APP.parent):
            from answer_markup import request_html

            declared = request_html(prompt, None, PROMPT_UNKNOWN)
            assert f"by the run entry; {PROMPT_UNKNOWN}" in declared
            assert "run entry" not in request_html(prompt, None)

    def test_a_first_page_of_many_answers_does_not_wait_for_their_list(
        self, monkeypatch, lake
    ) -> None:
        """The numbers of wrong answers and of others follow when all were read."""
        is_read = Event()
        with imported_from(APP.parent):
            import instances_page
            import loaded

            def held_up(*args: object) -> object:
                is_read.wait(WAIT_MS / 1000)
                return answer_list(*args)

            monkeypatch.setattr(loaded, "answer_list", held_up)
            monkeypatch.setattr(instances_page, "FEW_ANSWERS", 0)
            monkeypatch.setattr(instances_page, "PAGE_ROWS", 2)
            streamlit.cache_resource.clear()
            test = opened(monkeypatch, lake, view="Instances", run="alpha-triage_choice")
            assert "4 of 4 answers, 1–2 listed" in page_text(test)
            assert f"{ALPHA} says 0" in page_text(test)
            (kinds,) = (each.options for each in test.selectbox if "all (4)" in each.options)
            assert "wrong (–)" in kinds
            is_read.set()
            button = next(each for each in test.button if each.label == "Next page")
            button.click().run()
            assert "4 of 4 answers, 3–4 listed" in page_text(test)
            (kinds,) = (each.options for each in test.selectbox if "all (4)" in each.options)
            assert "wrong (1)" in kinds

    def test_scores_whose_instance_the_lake_no_longer_has_are_shown(
        self, monkeypatch, tmp_path
    ) -> None:
        lake = plant_clinic(tmp_path)
        test = opened(monkeypatch, lake, view="Instances", suite=CLINIC)
        assert not test.exception
        assert "No longer in the lake: prompt, references" in page_text(test)

    def test_answers_of_other_models_stand_beside_it(self, monkeypatch, lake) -> None:
        address = {"view": "Instances", "run": "alpha-triage_choice", "beside": BETA}
        test = opened(monkeypatch, lake, instance="triage_choice-i2", **address)
        (columns,) = (p.proto.body for p in test.html if '"ms-columns"' in p.proto.body)
        words = unescape(re.sub(r"<[^>]*>", " ", columns))
        assert f"{ALPHA} says 2" in words
        assert f"{BETA} says 2" in words
        assert re.findall(r"exact_match:\s+(\S+)", words) == ["1.000", "0.000"]
        (picker,) = test.multiselect
        assert picker.options == [BETA, GAMMA]
        picker.set_value([BETA, GAMMA]).run()
        assert f"{GAMMA} says 2" in page_text(test)
        test.selectbox[1].select(BETA).run()
        assert not test.exception

    def test_what_is_stored_of_the_request_is_folded(self, monkeypatch, lake) -> None:
        address = {"view": "Instances", "run": "alpha-medcalc_bench"}
        test = opened(monkeypatch, lake, instance="medcalc_bench-i2", **address)
        (body,) = (p.proto.body for p in test.html if "Request details" in p.proto.body)
        words = " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())
        for fact in (
            f"deployment {ALPHA} temperature 0 top_p 1 max_tokens 16",
            "request_id q-alpha-medcalc_bench-2",
            "prompt tokens 40",
            "failure timeout",
            "request time 0.250 s",
            "engine fingerprint e",
        ):
            assert fact in words
        assert SOURCE_ID not in body

    @pytest.mark.parametrize(
        "address",
        [
            {"view": "Instances", "run": "alpha-medcalc_bench", "only": "x", "beside": "nobody"},
            {"view": "Instances", "run": "x' OR '1'='1"},
            {"view": "Instances", "run": "alpha-medcalc_bench", "instance": "no-such-id"},
            {"view": "Instances", "run": "alpha-medcalc_bench", "instance": "a~b~c"},
            {"view": "Elsewhere", "access": "secret"},
        ],
    )
    def test_a_wrong_address_still_opens_a_page(self, monkeypatch, lake, address) -> None:
        test = opened(monkeypatch, lake, **address)
        assert not test.exception
        assert 'class="ms-note ms-note-error"' not in " ".join(p.proto.body for p in test.html)

    def test_an_unknown_suite_is_one_sentence(self, monkeypatch, lake) -> None:
        test = opened(monkeypatch, lake, "s9")
        assert "no suite 's9'; the lake has 's0', 's1'" in page_text(test)

    def test_no_lake_is_one_sentence(self, monkeypatch, tmp_path) -> None:
        test = opened(monkeypatch, tmp_path / "nothing")
        assert "there is no lake at" in page_text(test)

    @pytest.mark.parametrize("view", ["Leaderboard", "Metrics", "Compare", "Robustness"])
    def test_a_source_id_stands_beside_no_number(self, monkeypatch, lake, view) -> None:
        test = opened(monkeypatch, lake, view=view, suite="s1")
        assert SOURCE_ID not in " ".join(part.proto.body for part in test.html)

    def test_a_source_id_is_shown_with_the_text_of_its_row_alone(self, monkeypatch, lake) -> None:
        address = {"view": "Instances", "run": "alpha-medcalc_bench"}
        test = opened(monkeypatch, lake, **address)
        assert SOURCE_ID in " ".join(part.proto.body for part in test.html)
        monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Host", "evil.test")]))
        assert SOURCE_ID not in " ".join(part.proto.body for part in test.run().html)


@pytest.fixture(scope="module")
def address(lake: Path) -> Iterator[str]:
    """The served dashboard."""
    port = free_port()
    with served([*command(str(lake), port, HOST), "--suite", "s1"], port, lake / "server.log"):
        yield f"http://{HOST}:{port}/"
    log = (lake / "server.log").read_text(encoding="utf-8")
    assert "Traceback" not in log
    assert HOSTILE not in log


PRIVATE = "view=Instances&suite=s1&run=alpha-discharge_note&instance=discharge_note-i1"
EVIL = "evil.test"
WITHHELD = "private text is shown only at the machine that serves this page"


def streamlit_run(lake: Path, port: int) -> list[str]:
    """What a person types who goes round `medhelm-spark serve`."""
    words = [sys.executable, "-m", "streamlit", "run", str(APP), "--server.port", str(port)]
    return [*words, "--", "--output-path", str(lake)]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Callable[..., Browser]]:
    """Launches browsers; one Playwright for all, since a second beside it is refused."""
    with launcher() as launch:
        yield launch


@pytest.fixture(scope="module")
def rebound(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    """A browser whose look-up of another site's name gives this machine's address."""
    browser = chromium(f"--host-resolver-rules=MAP {EVIL} {HOST}")
    yield browser
    browser.close()


class TestViewers:
    """Who is shown text, in a browser: only one at this machine, under a name of it."""

    @pytest.mark.attack("dashboard", "DNS rebinding: another site's name for this machine")
    def test_a_rebound_name_opens_no_page(self, rebound: Browser, lake: Path) -> None:
        port = free_port()
        with served(command(str(lake), port, HOST), port, lake / "rebound.log"):
            page = rebound.new_page()
            refused: list[str] = []
            page.on("console", lambda message: refused.append(message.text))
            page.goto(f"http://{EVIL}:{port}/?{PRIVATE}")
            page.wait_for_timeout(4000)
            assert any("WebSocket" in text and "403" in text for text in refused), refused
            assert "says 1" not in page.content()
            page.goto(f"http://localhost:{port}/?{PRIVATE}")
            expect(page.locator(".ms-answer")).to_have_text(
                f"{ALPHA} says 1 {HOSTILE}", timeout=WAIT_MS
            )
            page.close()

    @pytest.mark.attack(
        "dashboard", "DNS rebinding, the server's list of hosts opened by a variable"
    )
    def test_a_rebound_name_is_shown_no_text(self, rebound: Browser, lake: Path) -> None:
        port = free_port()
        variables = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "*"}
        with served(streamlit_run(lake, port), port, lake / "open.log", **variables):
            page = rebound.new_page()
            page.goto(f"http://{EVIL}:{port}/?{PRIVATE}")
            expect(page.locator(".ms-note-error")).to_contain_text(WITHHELD, timeout=WAIT_MS)
            assert "says 1" not in page.content()
            page.close()

    @pytest.mark.attack(
        "dashboard", "STREAMLIT_SERVER_ADDRESS opens `streamlit run`, then private rows arrive"
    )
    def test_a_server_opened_to_others_shows_no_text(
        self, rebound: Browser, tmp_path: Path
    ) -> None:
        port = free_port()
        variables = {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}
        with served(streamlit_run(tmp_path, port), port, tmp_path / "log.txt", **variables):
            plant(tmp_path)
            page = rebound.new_page()
            page.goto(f"http://{HOST}:{port}/?{PRIVATE}")
            expect(page.locator(".ms-note-error")).to_contain_text(WITHHELD, timeout=WAIT_MS)
            assert "says 1" not in page.content()
            with socket.create_connection(("127.0.0.2", port), timeout=5):
                pass  # it does listen beyond its own address
            page.close()


@pytest.fixture(scope="module")
def browser(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    """The machine's Chromium, without a window."""
    browser = chromium()
    yield browser
    browser.close()


def nine_by_nine(folder: Path) -> Path:
    """A lake of nine models with names of usual length on nine benchmarks, with groups."""
    models = [
        Deployment(
            name=name,
            model=name,
            engine="canned",
            locality=Locality.LOCAL,
            args={"mode": "script", "text": "yes" if number % 2 else "no"},
        )
        for number, name in enumerate(NINE_MODELS)
    ]
    entries = []
    for name in NINE_BENCHMARKS:
        benchmark_folder = folder / name.replace(" ", "_")
        benchmark_folder.mkdir()
        (benchmark_folder / "prompt.txt").write_text("{question}\nAnswer:")
        lines = [f"q{i},Is {i} urgent?,{'yes' if i % 3 else 'no'},{'fm'[i % 2]}" for i in range(24)]
        (benchmark_folder / "data.csv").write_text(
            "\n".join(["id,question,correct_answer,sex", *lines])
        )
        config = {
            "name": name,
            "description": "Made for a test.",
            "prompt_file": "prompt.txt",
            "dataset_file": "data.csv",
            "metrics": [{"name": "exact_match"}],
            "groups": ["sex"],
        }
        (benchmark_folder / "benchmark.yaml").write_text(json.dumps(config))
        entry = f"medhelm_configurable_benchmark:config_path={benchmark_folder / 'benchmark.yaml'}"
        entries += [f"{entry},model={model.name}" for model in models]
    lake = folder / "lake"
    Evaluation(lake, site=None, tracking=False, deployments=models).run(entries, suite="wide")
    return lake


NINE_MODELS = (
    *("openai/gpt-4-turbo", "anthropic/claude-sonnet-4", "meta/llama-3.1-70b-instruct"),
    *("mistral/mixtral-8x7b", "google/gemma-2-27b", "qwen/qwen2.5-72b"),
    *("hospital/pilot", "deepseek/r1-distill", "baseline/constant"),
)
NINE_BENCHMARKS = (
    *("Referral urgency", "Discharge codes", "Radiology follow-up", "Sepsis alert"),
    *("Drug interactions", "Consent forms", "Triage notes", "Lab anaemia", "Trial matching"),
)
GRAVE = ("serious", "critical")
"""The impacts of axe's findings that are faults; contrast of level AA is among its rules."""


def faults(page: Page) -> list[str]:
    """What axe-core finds on a page that keeps a person from reading or using it."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


@pytest.fixture(params=[1280, 1920])
def tab(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that fails its test for any console error or request to another host."""
    page = browser.new_page(viewport={"width": request.param, "height": 900})
    page.set_default_timeout(WAIT_MS)
    expect.set_options(timeout=WAIT_MS)
    hosts: set[str] = set()
    wrong: list[str] = []
    page.on("request", lambda sent: hosts.add(urlsplit(sent.url).hostname or HOST))
    page.on("websocket", lambda socket: hosts.add(urlsplit(socket.url).hostname or ""))
    page.on(
        "console", lambda message: wrong.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    page.close()
    assert hosts == {HOST}
    assert not wrong


class TestBrowser:
    """What a person sees and does."""

    def test_board_filter_and_answer(self, tab: Page, address: str) -> None:
        tab.goto(address)
        board = tab.get_by_role("region", name="Leaderboard")
        expect(board.get_by_role("row")).to_have_count(5)  # two header rows, three models
        expect(board.get_by_role("rowheader").first).to_contain_text(BETA)
        self.fits(tab)
        tab.get_by_text("Filters", exact=True).click()
        for level in ("public", "private"):
            tab.get_by_role("button", name=level, exact=True).click()
        expect(tab.get_by_text("Filters in use: access level")).to_be_visible()
        expect(board.get_by_text("MedCalc-Bench")).to_have_count(0)
        expect(tab.get_by_text("1 of 3 benchmarks and 0 of 3 models are hidden")).to_be_visible()
        assert parse_qs(urlsplit(tab.url).query)["access"] == ["public", "private"]
        tab.get_by_role("link", name="3.250").click()
        answer = tab.locator(".ms-answer")
        expect(answer).to_have_text(f"{ALPHA} says 0 {HOSTILE}")
        expect(tab.locator(".ms-block", has_text="Judges")).to_contain_text("Because")
        data = tab.locator(".ms-block", has_text="In the data").get_by_role("row")
        expect(data).to_have_text(["columnvalue", f"id{SOURCE_ID}", "wardward 0"])
        tab.get_by_role("row", name="2.000").click()
        expect(answer).to_have_text(f"{ALPHA} says 1 {HOSTILE}")
        query = parse_qs(urlsplit(tab.url).query)
        assert query["instance"] == ["discharge_note-i1"]
        assert query["access"] == ["public", "private"]
        assert tab.locator(".ms-text img, .ms-text b").count() == 0
        self.fits(tab)

    def test_what_is_downloaded_has_the_pages_order_and_columns(
        self, tab: Page, address: str
    ) -> None:
        cut = "category=Clinical+Decision+Support&sort=MedCalc-Bench&access=public&access=gated"
        tab.goto(f"{address}?{cut}")
        board = tab.get_by_role("region", name="Leaderboard")
        expect(board.get_by_role("row")).to_have_count(4)  # of one category no row names it
        shown = [head.split("\n")[0] for head in board.get_by_role("rowheader").all_inner_texts()]
        order = [next(name for name in (ALPHA, BETA, GAMMA) if name in head) for head in shown]
        assert order == [BETA, ALPHA, GAMMA]
        tab.get_by_role("button", name="Download").click()
        files = {
            name: self.downloaded(tab, name)
            for name in ("CSV", "JSON", "Markdown", "Parquet", "HTML report")
        }
        rows = list(csv.DictReader(io.StringIO(files["CSV"].decode())))
        table = parquet.read_table(io.BytesIO(files["Parquet"])).to_pylist()
        exported = json.loads(files["JSON"])
        cells = [(row["model_deployment"], row["scenario_name"]) for row in exported["cells"]]
        assert cells == [
            (BETA, "medcalc_bench"),
            (BETA, "triage_choice"),
            (ALPHA, "medcalc_bench"),
            (ALPHA, "triage_choice"),
            (GAMMA, "triage_choice"),
        ]
        for records in (rows, table):
            of_cells = [row for row in records if row["record"] == "cell"]
            assert [(row["model_deployment"], row["scenario_name"]) for row in of_cells] == cells
        report = files["HTML report"].decode()
        for text in (files["Markdown"].decode(), report):
            assert text.index(BETA) < text.index(ALPHA) < text.index(GAMMA)
            assert "Discharge note" not in text
            assert "access level of the benchmark: public, gated" in text
        # The card that ships describes what the benchmark asks.
        card = cards_of(None)["medcalc_bench"]
        assert f"<dt>Task</dt><dd>{escape(card.description)}</dd>" in report
        assert "<dt>Sorted by</dt><dd>MedCalc-Bench</dd>" in report

    @staticmethod
    def downloaded(tab: Page, name: str) -> bytes:
        """The file behind a button of the popover."""
        with tab.expect_download() as arriving:
            tab.get_by_role("button", name=name, exact=True).click()
        return Path(arriving.value.path()).read_bytes()

    def test_an_address_opens_the_same_answer_again(self, tab: Page, address: str) -> None:
        tab.goto(
            f"{address}?view=Instances&suite=s1&run=beta-triage_choice&instance=triage_choice-i2"
        )
        expect(tab.locator(".ms-answer")).to_have_text(f"{BETA} says 2 {HOSTILE}")
        tab.get_by_text("Leaderboard", exact=True).click()
        expect(tab.get_by_role("region", name="Leaderboard")).to_contain_text(BETA)

    def test_the_keyboard_reaches_filters_and_cells(self, tab: Page, address: str) -> None:
        tab.goto(address)
        expect(tab.get_by_role("region", name="Leaderboard")).to_be_visible()
        assert {"Filters", "1.000"} <= self.focused(tab, 30)
        tab.locator("summary", has_text="Filters").focus()
        tab.keyboard.press("Enter")
        expect(tab.get_by_role("button", name="external")).to_be_visible()
        assert {"draft", "gated", "external"} <= self.focused(tab, 30)  # the first of each group

    @staticmethod
    def focused(tab: Page, times: int) -> set[str]:
        """The lines of all that has the focus, one after the other."""
        seen = set()
        for _ in range(times):
            tab.keyboard.press("Tab")
            seen.update(tab.evaluate("document.activeElement.innerText").split("\n"))
        return seen

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [390, 1280])
    def test_every_page_is_legible_in_light_and_dark_and_as_wide_as_the_window(
        self, browser: Browser, address: str, scheme: Literal["light", "dark"], width: int
    ) -> None:
        window = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
        )
        page = window.new_page()
        views = (
            "Leaderboard",
            "Metrics",
            "Compare",
            "Instances",
            "Robustness",
            "Subgroups",
            "Drift",
        )
        for view in views:
            page.goto(f"{address}?view={view}&run=alpha-discharge_note")
            expect(page.locator(".ms-about")).to_be_visible(timeout=WAIT_MS)
            page.wait_for_timeout(1500)  # what a page shows last
            self.fits(page)
            assert faults(page) == []
        window.close()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_nine_models_and_benchmarks_are_above_the_fold_and_a_number_on_a_telephone(
        self, browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]
    ) -> None:
        port, lake = free_port(), nine_by_nine(tmp_path)
        with served([*command(str(lake), port, HOST), "--suite", "wide"], port, tmp_path / "log"):
            for width, height in ((1400, 900), (390, 844)):
                window = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,
                )
                page = window.new_page()
                page.goto(f"http://{HOST}:{port}/")
                rows = page.get_by_role("region", name="Leaderboard").get_by_role("row")
                expect(rows).to_have_count(10, timeout=WAIT_MS)
                page.wait_for_timeout(1500)  # what a page shows last
                last, index = (rows.nth(9), -1) if width == 1400 else (rows.nth(1), 0)
                box = last.get_by_role("link").all()[index].bounding_box()
                assert box
                assert box["x"] + box["width"] <= width
                assert box["y"] + box["height"] <= height
                assert faults(page) == []
                window.close()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_what_scrolls_sideways_fades_out_until_its_end(
        self, browser: Browser, address: str, scheme: Literal["light", "dark"]
    ) -> None:
        faded, opaque = "-64px 0px", "0px 0px"
        for width in (390, 1920):
            window = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page = window.new_page()
            page.goto(f"{address}?view=Compare")
            table = page.get_by_role("region", name="Comparison")
            is_narrow = width == 390
            expect(table).to_have_css("mask-position", faded if is_narrow else opaque)
            table.evaluate("(each) => each.scrollTo(each.scrollWidth, 0)")
            expect(table).to_have_css("mask-position", opaque)
            assert faults(page) == []
            window.close()

    def test_a_stated_prevalence_goes_from_metrics_to_compare(
        self, tab: Page, tmp_path: Path
    ) -> None:
        port, lake = free_port(), plant_clinic(tmp_path / "clinic")
        with served([*command(str(lake), port, HOST), "--suite", CLINIC], port, tmp_path / "log"):
            tab.goto(f"http://{HOST}:{port}/?view=Metrics")
            field = tab.get_by_role("spinbutton", name="Prevalence, %")
            field.fill("2")
            field.press("Enter")
            expect(tab.locator(".ms-said").first).to_contain_text("2 % (as stated)")
            tab.get_by_text("Leaderboard", exact=True).click()
            board = tab.get_by_role("region", name="Leaderboard")
            expect(board).to_contain_text("specificity 0.062")
            tab.get_by_text("Compare", exact=True).click()
            expect(tab.locator(".ms-said").nth(1)).to_contain_text("2 % (as stated)")
            assert parse_qs(urlsplit(tab.url).query)["prevalence"] == ["referral=0.02"]
            tab.reload()
            expect(field).to_have_value("2.00")
            tab.goto("about:blank")  # before the server ends

    def test_what_is_chosen_survives_a_refresh(self, tab: Page, address: str) -> None:
        tab.goto(f"{address}?view=Compare&first={quote(ALPHA)}&second={quote(BETA)}")
        tab.get_by_role("spinbutton", name="Margin").fill("0.9")
        tab.get_by_role("spinbutton", name="Margin").press("Enter")
        expect(tab.get_by_role("region", name="Comparison")).to_contain_text("Within margin")
        tab.reload()
        expect(tab.get_by_role("region", name="Comparison")).to_contain_text("Within margin")
        tab.goto(f"{address}?view=Instances&run=alpha-triage_choice")
        answers = tab.get_by_role("region", name="Answers").get_by_role("row")
        expect(answers.nth(1)).to_contain_text("#1")
        tab.get_by_role("button", name="Score").click()
        expect(answers.nth(1)).to_contain_text("#4")
        tab.reload()
        expect(answers.nth(1)).to_contain_text("#4")
        assert parse_qs(urlsplit(tab.url).query)["order"] == ["lowest"]

    def test_j_and_k_open_the_next_and_the_previous_answer(self, tab: Page, address: str) -> None:
        tab.goto(f"{address}?view=Instances&run=alpha-triage_choice")
        answer = tab.locator(".ms-answer")
        expect(answer).to_contain_text("says 0")
        expect(tab.get_by_role("button", name="Next answer")).to_be_enabled()
        expect(tab.get_by_test_id("stStatusWidget")).to_have_count(0)
        for key, text in (("j", "says 1"), ("j", "says 2"), ("k", "says 1")):
            tab.keyboard.press(key)
            expect(answer).to_contain_text(text)
        search = tab.get_by_label("Search", exact=True)
        search.press_sequentially("j")
        expect(search).to_have_value("j")
        expect(answer).to_contain_text("says 1")

    def test_an_address_cannot_make_the_page_fetch_a_picture(self, tab: Page, address: str) -> None:
        tab.goto(f"{address}?suite=![x](http://evil.test/a.png)<img src=//evil.test/b.png>")
        expect(tab.locator(".ms-note-error")).to_contain_text("![x](http://evil.test/a.png)<img")

    def fits(self, tab: Page) -> None:
        """The page is no wider than its window: only the board may scroll sideways."""
        root = "document.documentElement"
        assert tab.evaluate(f"{root}.scrollWidth <= {root}.clientWidth")
