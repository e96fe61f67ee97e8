"""What a main metric leaves out, read from countable answers, to text, files and pandas."""

import csv
import io
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from medhelm_spark import Evaluation
from medhelm_spark.board import choose, disagreements, load_runs
from medhelm_spark.board.benchmark_metrics import (
    BenchmarkMetrics,
    benchmark_metrics,
    benchmarks_of,
    most_to_say,
)
from medhelm_spark.board.class_answers import CaseAnswers, in_common
from medhelm_spark.board.practical import class_differences, practical_differences
from medhelm_spark.board.render.board import counts
from medhelm_spark.board.render.fields import FIELDS
from medhelm_spark.board.render.metric_records import metrics_report, render_metrics
from medhelm_spark.board.render.metrics import (
    classes_table,
    confusion_of,
    has_tables,
    overall_table,
    rates_table,
    tables_of,
    took_table,
)
from medhelm_spark.board.render.practical import practical_table, price_note
from medhelm_spark.board.render.risk import differences_of, lead, prevalence_of
from medhelm_spark.board.render.risk_tables import (
    counts_of,
    difference_table,
    prevalences_table,
    risk_table,
)
from medhelm_spark.board.render.trade_off import BEATEN, UNDOMINATED, trade_off_plot
from medhelm_spark.board.render.verdicts import verdicts
from medhelm_spark.board.took import Took, each_took, money, together, took_by
from medhelm_spark.board.trade_off import MONEY, trade_offs
from medhelm_spark.cli import main
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.reader import open_reader
from tests.rewriting import rewritable
from tests.unit.board.clinic import ALARMIST, CAREFUL, QUIET, SUITE, plant_clinic

PRICES = {CAREFUL: Prices(prompt=2.0, completion=8.0)}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant_clinic(tmp_path_factory.mktemp("clinic"))


@pytest.fixture(scope="module")
def benchmarks(lake: Path) -> tuple[BenchmarkMetrics, ...]:
    reader = open_reader(str(lake))
    return benchmark_metrics(reader, benchmarks_of(load_runs(reader, choose(reader, SUITE))))


def named(benchmarks: tuple[BenchmarkMetrics, ...], title: str) -> BenchmarkMetrics:
    (found,) = (one for one in benchmarks if one.benchmark.title == title)
    return found


def site(lake: Path) -> Evaluation:
    return Evaluation(str(lake), site=None, tracking=False, say=lambda line: None)


def test_the_two_by_two_table_counts_answers_of_neither_class(benchmarks) -> None:
    referral = named(benchmarks, "Referral")
    counts = {run.name: counts_of(run) for run in referral.runs}
    assert counts == {
        ALARMIST: [40, 0, 0, 150, 10, 0],
        CAREFUL: [34, 4, 2, 16, 140, 4],
        QUIET: [10, 30, 0, 2, 158, 0],
    }
    assert referral.prevalence == pytest.approx(0.2)
    assert referral.benchmark.positive == "urgent"


def test_what_errors_cost_shows_who_is_no_better_than_one_answer_to_all(benchmarks) -> None:
    referral = named(benchmarks, "Referral")
    prevalence = prevalence_of(referral)
    rows = {row[0]: row[1:] for row in risk_table(referral, prevalence).rows}
    costs = {name: float(cells[4].split()[0]) for name, cells in rows.items()}
    assert costs == {
        ALARMIST: 750.0,
        CAREFUL: 400.0,
        QUIET: 1510.0,
        "always positive": 800.0,
        "always negative": 2000.0,
    }
    first, cheapest, beaten, turns, evidence = lead(referral, prevalence, {})
    assert first == (
        "At a prevalence of 20 % (as in the data), in 1,000 cases, the lowest estimates are: "
        f"missed: {ALARMIST}, none seen, up to 17.5 possible; false alarms: {QUIET}, 10.0 "
        f"[2.7, 35.5]; declared cost: {CAREFUL}, 400.0 [234.4, 695.9]."
    )
    assert cheapest == (
        f"By declared cost {CAREFUL} is shown to cost less than {ALARMIST}, {QUIET}; {ALARMIST} "
        f"is shown to cost less than {QUIET}."
    )
    assert beaten == (
        f"Beside always positive, which costs 800.0: shown to cost less: {CAREFUL}; "
        f"of no use here: {QUIET}; not shown to be of use here: {ALARMIST}."
    )
    assert evidence == "Evidence: 200 answers by each model, 40 positive and 160 negative."
    verdicts = {name: cells[0] for name, cells in rows.items()}
    assert verdicts == {
        ALARMIST: f"fewest missed; most false alarms; costs less than {QUIET}; costs more than "
        f"{CAREFUL}; not shown to be of use here",
        CAREFUL: f"fewer missed than {QUIET}; more missed than {ALARMIST}; fewer false alarms than "
        f"{ALARMIST}; more false alarms than {QUIET}; costs least; 30.0 without an answer",
        QUIET: "most missed; fewest false alarms; costs most; of no use here",
        "always positive": "",
        "always negative": "",
    }
    # careful less quiet: 10 (1 - p) 14/160 = 1110 p / 200; alarmist less careful likewise
    assert turns == (
        f"Lowest declared cost by prevalence, by point estimates: below 0.5 % always negative; "
        f"0.5 to 1.8 % {QUIET}; 1.8 to 35.1 % {CAREFUL}; above 35.1 % {ALARMIST}."
    )
    rare = prevalence_of(referral, {"referral": 0.02})
    assert str(rare) == "2 % (as stated)"
    assert "always negative, which costs 200.0" in list(lead(referral, rare, {}))[2]


def test_a_lowest_cost_that_is_not_shown_is_no_verdict(benchmarks) -> None:
    """At 2 % careful costs 152.5 and quiet 162.2, with intervals that share nearly all."""
    referral = named(benchmarks, "Referral")
    pair = replace(referral, runs=tuple(r for r in referral.runs if r.name != ALARMIST))
    rare = prevalence_of(pair, 0.02)
    rows = {row[0]: row[1] for row in risk_table(pair, rare).rows}
    assert rows[CAREFUL] == (
        f"fewer missed than {QUIET}; more false alarms than {QUIET}; 25.5 without an answer; "
        "not shown to be of use here"
    )
    assert "By declared cost the 2 models are not told apart." in lead(pair, rare, {})
    assert "<strong>" not in render_metrics([pair], "html", stated=0.02)
    beside = difference_table(pair, rare, QUIET)
    assert (beside.title, beside.rows[0][0]) == (
        "Referral: more than quiet, in 1,000 cases",
        CAREFUL,
    )


def test_of_many_models_each_is_compared_with_the_cheapest_alone(benchmarks) -> None:
    referral = named(benchmarks, "Referral")
    many = replace(referral, runs=referral.runs * 3)
    cheapest = list(lead(many, prevalence_of(many), {}))[1]
    assert cheapest.startswith(f"By declared cost {CAREFUL} is shown to cost less than {ALARMIST}")
    assert cheapest.endswith(f"; no other two are told apart beside {CAREFUL}.")


def test_predictive_values_stand_once_at_the_prevalence_of_the_data(benchmarks) -> None:
    """There the rates have them, with intervals that do not take the prevalence as known."""
    referral = named(benchmarks, "Referral")
    table = risk_table(referral, prevalence_of(referral))
    assert not {"PPV", "NPV"} & set(table.header)
    assert "PPV and NPV at the prevalence of the data: in the table as measured." in table.notes
    assert {"PPV", "NPV"} <= set(rates_table(referral).header)
    assert {"PPV", "NPV"} <= set(risk_table(referral, prevalence_of(referral, 0.02)).header)


def of_patients(benchmark: BenchmarkMetrics) -> BenchmarkMetrics:
    """The same, with two letters of each patient, of one class."""
    runs = []
    for run in benchmark.runs:
        is_positive = run.answers.is_positive
        within = np.where(is_positive, is_positive.cumsum() - 1, (~is_positive).cumsum() - 1)
        clusters = within // 2 + 1000 * is_positive
        by_case = replace(run.by_case, answers=replace(run.answers, clusters=clusters))
        cell = replace(run.run.cell, num_clusters=100, cluster_column="patient_id")
        stats = tuple(replace(stat, num_clusters=100) for stat in run.run.stats)
        runs.append(replace(run, by_case=by_case, run=replace(run.run, cell=cell, stats=stats)))
    return replace(benchmark, runs=tuple(runs))


def test_patients_are_counted_beside_the_answers(benchmarks) -> None:
    referral = of_patients(named(benchmarks, "Referral"))
    *_, evidence = lead(referral, prevalence_of(referral), PRICES)
    assert evidence == (
        "Evidence: 200 answers of 100 patients (patient_id) by each model, 40 positive of 20 "
        "patients and 160 negative of 80 patients."
    )
    shared = [
        replace(run, by_case=replace(run.by_case, answers=replace(run.answers, clusters=letters)))
        for run in referral.runs
        if (letters := np.arange(len(run.answers.predicted)) // 2).size
    ]
    *_, evidence = lead(replace(referral, runs=tuple(shared)), prevalence_of(referral), PRICES)
    assert evidence.endswith(" patients with both.")
    patients, meanings = rates_table(referral).notes
    assert patients.startswith("n: answers. 200 answers of 100 patients (patient_id); intervals")
    assert "PPV: share of the positive answers that are right." in meanings
    assert "in 100 patients" in list(counts(referral.runs[0].run.cell))
    money = [*lead(referral, prevalence_of(referral), PRICES)][-2]
    assert money == "Money for 1,000 answers: careful 0.13."


def test_the_report_has_other_prevalences_than_the_datas(benchmarks) -> None:
    table = prevalences_table(named(benchmarks, "Referral"))
    assert [row[0] for row in table.rows[:3]] == ["1 %"] * 3
    assert len(table.rows) == 3 * 5, "no rows of the rules"
    careful = next(row for row in table.rows if row[:2] == ("2 %", "careful"))
    assert careful[2] == "3.0 [1.4, 5.8]"


def test_without_costs_a_verdict_names_missed_cases_and_false_alarms(
    benchmarks, lake: Path
) -> None:
    referral = named(benchmarks, "Referral")
    free = [
        replace(run, by_case=replace(run.by_case, answers=replace(run.answers, costs=None)))
        for run in referral.runs
    ]
    pairs = site(lake).compare(CAREFUL, ALARMIST, suite=SUITE).pairs
    found = class_differences([replace(referral, runs=tuple(free))], pairs, {"referral": 0.02})
    (line,) = verdicts(pairs, tuple(found))
    assert line.startswith(
        "Referral, at a prevalence of 2 % (as stated): careful is worse than alarmist on "
        "sensitivity, with more missed cases (3.0 beside 0.0 in 1,000 cases, +3.0 ["
    )
    assert " and with fewer false alarms (98.0 beside 918.8 in 1,000 cases, -820.8 [" in line
    prevalence = prevalence_of(referral)
    rows = {
        row[0]: row[1] for row in risk_table(replace(referral, runs=tuple(free)), prevalence).rows
    }
    assert rows[QUIET] == "most missed; fewest false alarms"


def test_a_reader_begins_with_the_benchmark_that_has_most_to_say(lake: Path) -> None:
    reader = open_reader(str(lake))
    on_board = benchmarks_of(load_runs(reader, choose(reader, SUITE)))
    assert [one.title for one in on_board] == ["Notes", "Referral", "Triage"]
    assert most_to_say(on_board) == 1
    notes, referral, triage = on_board
    assert most_to_say([notes, triage]) == 1
    assert most_to_say([notes]) == 0
    primary = replace(
        referral,
        runs=tuple(replace(r, cell=replace(r.cell, is_primary=True)) for r in referral.runs),
    )
    assert most_to_say([notes, referral, primary]) == 2


def test_verdicts_are_bold_where_a_form_can_be(benchmarks) -> None:
    referral = [named(benchmarks, "Referral")]
    assert "<strong>of no use here</strong>" in render_metrics(referral, "html")
    assert "; **costs least**; " in render_metrics(referral, "md")
    assert "*" not in render_metrics(referral, "table")


def test_models_are_compared_case_by_case_in_missed_cases_alarms_and_cost(benchmarks) -> None:
    referral = named(benchmarks, "Referral")
    prevalence = prevalence_of(referral)
    found = {each.name: each.less_reference for each in differences_of(referral, prevalence)}
    assert list(found) == [ALARMIST, QUIET]
    alarmist = found[ALARMIST]
    assert (alarmist.num_positive, alarmist.num_negative) == (40, 160)
    assert alarmist.missed.value == pytest.approx(1000 * (0 - 6) / 200)
    assert alarmist.false_alarms.value == pytest.approx(1000 * (150 - 16) / 200)
    assert alarmist.cost.value == pytest.approx(1000 * (150 - 80) / 200)
    assert alarmist.missed.high < 0 < alarmist.cost.low
    table = difference_table(referral, prevalence)
    assert table.title == "Referral: more than careful, in 1,000 cases"
    assert table.rows[0][-1] == "40 + 160"


def test_cases_that_one_model_lacks_are_in_no_difference(benchmarks) -> None:
    careful, quiet = (
        next(run for run in named(benchmarks, "Referral").runs if run.name == name)
        for name in (CAREFUL, QUIET)
    )
    some = CaseAnswers(
        answers=quiet.by_case.answers.only(np.arange(30, 200)[::-1]),
        rows=quiet.by_case.rows.take(list(range(30, 200))[::-1]),
    )
    ours, theirs = in_common(careful.by_case, some)
    assert len(ours.predicted) == 170
    assert ours.is_positive.tolist() == theirs.is_positive.tolist()
    assert theirs.costs.of_answers.sum() == quiet.by_case.answers.costs.of_answers[30:].sum()


def test_a_benchmark_without_a_positive_class_shows_its_classes_alone(benchmarks) -> None:
    triage = named(benchmarks, "Triage")
    assert triage.prevalence is None
    assert not any(run.answers for run in triage.runs)
    rows = [row[:3] for row in classes_table(triage).rows]
    assert (CAREFUL, "emergency", "0.800 [0.49, 0.94] n=10") in rows
    careful = next(run for run in triage.runs if run.name == CAREFUL)
    assert confusion_of(careful)["routine"] == {"-": 2, "emergency": 0, "urgent": 0, "routine": 28}
    titles = " ".join(table.title for table in tables_of(triage, None, {}))
    assert "prevalence" not in titles
    notes = named(benchmarks, "Notes")
    assert not has_tables(notes)
    assert tables_of(notes, None, {}) == []


def test_the_order_of_a_lakes_rows_changes_no_table(tmp_path: Path, benchmarks) -> None:
    path = rewritable(plant_clinic(tmp_path) / "stats")
    rows = path.to_pyarrow_table()
    path.delete()
    write_deltalake(path, rows.take(list(range(len(rows)))[::-1]), mode="append")
    reader = open_reader(str(tmp_path))
    turned = benchmark_metrics(reader, benchmarks_of(load_runs(reader, choose(reader, SUITE))))
    for one, other in zip(benchmarks, turned, strict=True):
        assert tables_of(one, None, {}) == tables_of(other, None, {})


def test_a_calibration_curve_needs_log_probabilities(benchmarks) -> None:
    curves = {run.name: run.curve for run in named(benchmarks, "Referral").runs}
    assert curves[QUIET] == ()
    (bin_,) = curves[ALARMIST]
    assert (bin_.confidence, bin_.count, bin_.right.value) == (pytest.approx(0.8), 200, 0.25)
    wrong, right = curves[CAREFUL]
    assert (wrong.count, wrong.right.value, right.count, right.right.value) == (26, 0.0, 174, 1.0)


def test_half_and_nearly_all_answers_took_at_most_so_long() -> None:
    took = Took(
        answers=20,
        prompt_tokens=1,
        completion_tokens=1,
        seconds=0.2,
        milliseconds={900: 1, 100: 10, 200: 8, 5000: 1},
    )
    assert (took.median_seconds, took.slow_seconds) == (0.1, 0.9)
    both = together([took, took])
    assert (both.answers, both.median_seconds, both.slow_seconds) == (40, 0.1, 0.9)
    unknown = Took(answers=3, prompt_tokens=None, completion_tokens=None, seconds=None)
    assert (unknown.median_seconds, together([took, unknown]).slow_seconds) == (None, None)


def test_prices_name_their_currency_and_day() -> None:
    dated = Prices(prompt=1, completion=2, as_of="2026-10-02", currency="USD")
    assert price_note({"b": dated, "a": Prices(prompt=1, completion=2)}) == (
        "Prices in an unstated currency, date not recorded: a. Prices in USD, as of 2026-10-02: b."
    )
    assert price_note({}) == ""


def test_money_has_its_currency_in_tables_chart_and_files(benchmarks, lake: Path) -> None:
    names = (ALARMIST, CAREFUL, QUIET)
    euro = {
        name: Prices(prompt=2.0, completion=price, currency="EUR")
        for price, name in enumerate(names)
    }
    referral = named(benchmarks, "Referral")
    assert next(row for row in took_table(referral, euro).rows if row[0] == CAREFUL)[-1] == (
        "0.09 EUR"
    )
    plot = trade_off_plot(trade_offs(referral, euro), "sensitivity")
    assert plot["facet"]["sort"] == ["Money for 1,000, EUR"]
    rows = csv.DictReader(io.StringIO(render_metrics([referral], "csv", prices=euro)))
    assert {row["currency"] for row in rows if not row["rule"]} == {"EUR"}
    mixed = euro | {QUIET: Prices(prompt=2.0, completion=8.0, currency="USD")}
    assert not trade_offs(referral, mixed), "sums in two currencies are not compared"
    reader = open_reader(str(lake))
    runs = load_runs(reader, choose(reader, SUITE))
    pairs = [
        p for p in site(lake).compare(CAREFUL, QUIET, suite=SUITE).pairs if "Ref" in p.display_name
    ]

    def what(prices: dict[str, Prices]) -> list[str]:
        found = list(practical_differences(reader, runs, pairs, prices=prices))
        return [row[1] for row in practical_table(found, prices).rows]

    assert what(euro)[-1] == "money for 1,000 answers, EUR"
    assert what(mixed)[-1] == "seconds"


def test_two_models_are_compared_beside_the_main_metric(lake: Path) -> None:
    comparison = site(lake).compare(CAREFUL, QUIET, suite=SUITE, prevalence={"referral": 0.02})
    found = {
        each.quantity.value: each
        for each in comparison.practical
        if each.scenario_name == "referral"
    }
    assert {
        each.quantity.value for each in comparison.practical if each.scenario_name == "notes"
    } == {
        "prompt tokens",
        "output tokens",
        "seconds",
    }
    missed = found["missed"]
    assert (missed.first, missed.second) == (pytest.approx(3.0), pytest.approx(15.0))
    assert missed.difference.value == pytest.approx(-12.0)
    tokens = found["prompt tokens"]
    assert (tokens.first, tokens.second, tokens.difference.value, tokens.n) == (40, 40, 0, 200)
    assert found["seconds"].first == pytest.approx(0.25)
    assert (missed.n, found["false alarms"].n, found["declared cost"].n) == (40, 160, 200)
    assert "Referral at a prevalence of 2 % (as stated)" in comparison.render()
    content = json.loads(comparison.render("json"))
    assert {row["quantity"] for row in content["practical_differences"]} == set(found)
    assert not site(lake).compare(suite=SUITE).practical
    with pytest.raises(ConfigError, match="prevalence is for two models; these are 3"):
        site(lake).compare(suite=SUITE, prevalence=0.1)
    with pytest.raises(UnknownNameError, match="Known: referral"):
        site(lake).compare(CAREFUL, QUIET, suite=SUITE, prevalence={"notes": 0.1})
    with pytest.raises(ConfigError, match="between 0 and 1"):
        site(lake).compare(CAREFUL, QUIET, suite=SUITE, prevalence=1.0)


def test_of_a_request_that_was_answered_twice_the_first_answer_counts(tmp_path: Path) -> None:
    """What is current, as for every other number (`CURRENT_RESULTS`)."""
    path = rewritable(plant_clinic(tmp_path) / "request_results")
    rows = path.to_pyarrow_table().slice(0, 30)
    again = pa.Table.from_pylist(
        [
            {**row, "completed_at": row["completed_at"] + timedelta(hours=1), "request_time": 9.0}
            for row in rows.to_pylist()
        ],
        rows.schema,
    )
    write_deltalake(path, again, mode="append")
    reader = open_reader(str(tmp_path))
    units = [run.run_spec.run_spec_id for run in load_runs(reader, choose(reader, SUITE))]
    each = each_took(reader, units)
    assert {value for took in each.values() for value in took.request_time} == {0.25}
    counts = {unit: took.answers for unit, took in took_by(reader, units).items()}
    assert {unit: len(took.instances) for unit, took in each.items()} == counts


def test_the_report_says_what_was_asked_and_what_limits_it(lake: Path) -> None:
    html = site(lake).report(suite=SUITE).html
    facts = html[html.index("<h2>Benchmarks</h2>") :]
    assert "<dt>Positive cases</dt><dd>40 of 200 (urgent)</dd>" in facts
    assert "<dt>Answers</dt><dd>at most 16 tokens, temperature 0</dd>" in facts
    assert "<dt>Prompt</dt><dd>generation, no examples</dd>" in facts
    assert "<dt>Read by</dt><dd>strict</dd>" in facts


def test_tokens_seconds_and_money_of_an_answer(benchmarks) -> None:
    took = {run.name: run.took for run in named(benchmarks, "Referral").runs}[CAREFUL]
    assert took
    assert (took.answers, took.prompt_tokens, took.completion_tokens) == (200, 40, 6)
    assert took.seconds == pytest.approx(0.25)
    assert money(took, PRICES[CAREFUL]) == pytest.approx((40 * 2 + 6 * 8) / 1000)
    assert money(took, None) is None
    overall = {row[0]: row[1:] for row in overall_table(benchmarks, PRICES).rows}
    assert overall[CAREFUL] == ("272", "40", "6.0", "0.25", "0.25", "0.25", "0.13")
    alone = overall_table([named(benchmarks, "Referral")], PRICES)
    assert not alone.rows  # the benchmark's own table has them
    assert overall[QUIET][-1] == "-"


def test_models_that_no_other_beats_at_quality_and_money(benchmarks) -> None:
    """Sensitivity: alarmist 1, careful .85, quiet .25; all took the same tokens and seconds."""
    prices = {
        ALARMIST: Prices(prompt=10.0, completion=10.0),
        CAREFUL: Prices(prompt=2.0, completion=8.0),
        QUIET: Prices(prompt=3.0, completion=8.0),
    }
    referral = named(benchmarks, "Referral")
    found = trade_offs(referral, prices)
    assert list(found) == [MONEY]
    assert {point.name: point.is_undominated for point in found[MONEY]} == {
        ALARMIST: True,
        CAREFUL: True,
        QUIET: False,
    }
    reason = "another model is at least as good and takes no more than quiet."
    assert f"{MONEY}, by the estimates: {reason}" in took_table(referral, prices).notes
    plot = trade_off_plot(found, "sensitivity")
    standing = {row["model"]: row["standing"] for row in plot["data"]["values"]}
    assert standing == {ALARMIST: UNDOMINATED, CAREFUL: UNDOMINATED, QUIET: BEATEN}
    assert not trade_offs(referral, PRICES)  # one model alone has a price


def test_every_field_of_a_record_has_a_meaning_and_every_format_its_numbers(benchmarks) -> None:
    report = metrics_report(benchmarks, None, PRICES)
    assert set(report.fields) <= set(FIELDS)
    rows = list(csv.DictReader(io.StringIO(render_metrics(benchmarks, "csv", prices=PRICES))))
    careful = next(row for row in rows if row["run_spec_id"] == f"{CAREFUL}-referral")
    assert float(careful["missed_per_1000"]) == pytest.approx(30)
    assert float(careful["ppv"]) == pytest.approx(34 / 50)
    assert careful["true_positives"] == "34"
    assert float(careful["money_per_1000"]) == pytest.approx(0.128)
    assert {row["rule"] for row in rows} == {"", "always positive", "always negative"}
    content = json.loads(render_metrics(benchmarks, "json", stated=0.02))
    assert {row["prevalence_is_stated"] for row in content["metrics"]} == {True, None}
    assert [curve["run_spec_id"] for curve in content["calibration_curves"]] == [
        f"{ALARMIST}-referral",
        f"{CAREFUL}-referral",
    ]
    assert "Referral: 1,000 cases" in render_metrics(benchmarks, "md")
    assert "There are no metrics" in render_metrics([], "table")


def test_a_prevalence_is_checked(lake: Path) -> None:
    metrics = site(lake).metrics(prevalence={"referral": 0.02})
    frame = metrics.to_pandas()
    rows = frame[frame["scenario_name"] == "referral"]
    assert set(rows["prevalence"]) == {0.02}
    assert frame[frame["scenario_name"] == "notes"]["prevalence"].isna().all()
    for wrong in (0, 1, 1.5, float("nan")):
        with pytest.raises(ConfigError, match="between 0 and 1"):
            site(lake).metrics(prevalence=wrong)
    with pytest.raises(UnknownNameError, match="Did you mean 'referral'"):
        site(lake).metrics(prevalence={"referal": 0.1})
    with pytest.raises(UnknownNameError, match="Known: referral"):
        site(lake).report(prevalence={"notes": 0.1})


def test_the_report_answers_which_model_at_what_risk_at_what_cost(lake: Path) -> None:
    html = site(lake).report(prevalence=0.02).html
    assert "Risk, cost and evidence" in html
    assert "At a prevalence of 2 % (as stated), in 1,000 cases, the lowest estimates are: " in html
    assert (
        "Beside always negative, which costs 200.0: <strong>of no use here</strong>: alarmist; "
        "not shown to be of use here: careful, quiet." in html
    )
    assert (
        "Referral, at a prevalence of 2 % (as stated): careful is worse than alarmist on "
        "sensitivity, <strong>at lower declared cost</strong> (152.5 beside 918.8 in 1,000 cases, "
        "-766.2" in html
    )
    assert "3.0 [1.4, 5.8]" in html
    assert "Tokens, seconds and money" in html
    assert html.count('aria-label="Referral: share of right answers by confidence"') == 1
    assert "clip-path" not in html


def test_the_command_shows_metrics_and_any_stat(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def leaderboard(*words: str) -> str:
        assert main(["leaderboard", "-o", str(lake), "--suite", SUITE, *words]) == 0
        return capsys.readouterr().out

    rare = leaderboard("--show", "metrics", "--prevalence", "referral=0.02")
    assert "always negative 20.0 0.0 0.0 200.0 - 0.980" in " ".join(rare.split())
    board = leaderboard("--metric", "specificity")
    assert "0.875 [0.81, 0.92] sensitivity 0.850 n=160 of 200" in board
    assert "1.000 [0.91, 1.00] specificity 0.062 n=40 of 200" in leaderboard()
    assert "Read by specificity, whatever the main metric is" in board
    assert "Not shown, without specificity: notes:model=careful, notes:model=quiet" in board
    assert "No tiers" in board
    everything = leaderboard("--metric", "all")
    for name in ("npv", "confusion[urgent>-]", "brier_score", "classification_f1[routine]"):
        assert f" {name} " in everything
    path = tmp_path / "stats.csv"
    leaderboard("--metric", "all", "--format", "csv", "--output-file", str(path))
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert set(rows[0]) <= set(FIELDS)
    frame = site(lake).stats().to_pandas()
    assert len(frame) == len(rows)
    ppv = frame[(frame["metric"] == "ppv") & (frame["model_deployment"] == CAREFUL)].iloc[0]
    assert (ppv["mean"], ppv["denominator"], ppv["ci_method"]) == (0.68, 50, "wilson")
    assert not ppv["is_main"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "specifity"), "Did you mean 'specificity'"),
        (("--metric", "all", "--show", "robustness"), "--metric all lists every stat"),
        (("--show", "metrics", "--metric", "npv"), "--show metrics shows all"),
        (("--prevalence", "0.1"), "--prevalence is for --show metrics"),
        (("--show", "metrics", "--prevalence", "rare"), "prevalence is rare"),
        (("--show", "metrics", "--prevalence", "0.1", "0.2"), "one number between 0 and 1"),
        (("--show", "metrics", "--prevalence", "7"), "prevalence is 7.0"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    lake: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert main(["leaderboard", "-o", str(lake), "--suite", SUITE, *words]) == 1
    assert message in capsys.readouterr().err


def test_answers_that_differ_are_listed_where_the_metric_is_of_the_whole_run(lake: Path) -> None:
    reader = open_reader(str(lake))
    runs = {run.run_spec.run_spec_id: run for run in load_runs(reader, choose(reader, SUITE))}
    rows = disagreements(reader, runs[f"{CAREFUL}-referral"], runs[f"{QUIET}-referral"])
    lost, won = ([row for row in rows if row.difference == sign] for sign in (-1, 1))
    assert len(lost) + len(won) == len(rows)
    assert rows == [*lost, *won]
    # By index careful is wrong on 34 to 55 and 196 to 199, quiet on 10 to 41.
    assert [len(lost), len(won)] == [14 + 4, 24]
