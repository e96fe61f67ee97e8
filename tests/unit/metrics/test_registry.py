"""The registry: names, stats, and several specs of one metric."""

import numpy as np
import pytest

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics import (
    METRICS,
    RUN_METRICS,
    info,
    known_stats,
    metric_for,
    metrics_behind,
    metrics_for,
    run_metrics_for,
    stats_of,
)
from tests.unit.metrics.states import state


def spec(name, **args):
    return MetricSpec(name=name, args=args)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("exact_match", "exact_match"),
        ("quasi_prefix_exact_match", "exact_match"),
        ("rouge", "rouge"),
        ("rouge_1", "rouge"),
        ("rouge_l", "rouge"),
        ("BERTScore-F", "bertscore"),
        ("BERTScore-P[all-MiniLM-L6-v2]", "bertscore"),
        ("medcalc_bench_accuracy@medhelm-0.8", "medcalc_bench_accuracy"),
        ("medec_error_flag_accuracy", "medec"),
        ("ehr_sql_execution_accuracy", "ehr_sql"),
        ("sct_score", "sct"),
        ("mimiciv_billing_code_f1@medhelm-0.8", "mimiciv_billing_code"),
        ("jury_coverage", "jury_score"),
        ("aci_bench_accuracy", "jury_score"),
        ("bleu_4", "bleu"),
        ("max_prob", "language_model"),
    ],
)
def test_metric_for_metric_and_stat_names(name, metric):
    assert metric_for(name) == (metric, METRICS[metric])


def test_unknown_name_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"unknown metric 'rouge_L2'.*'rouge_"):
        metric_for("rouge_L2")
    with pytest.raises(UnknownNameError, match="unknown stat"):
        info("exact_mach")


def test_specs_of_one_metric_run_it_once_in_the_order_of_the_specs():
    specs = [spec("rouge_l"), spec("exact_match"), spec("rouge_1"), spec("prefix_exact_match")]
    assert [metric for metric, _ in metrics_for(specs)] == [
        METRICS["rouge"],
        METRICS["exact_match"],
    ]
    assert metrics_for([]) == []


def test_params_travel_with_the_metric():
    specs = [spec("exact_match", output_mapping_pattern="[A-D]"), spec("rouge")]
    assert [params for _, params in metrics_for(specs)] == [{"output_mapping_pattern": "[A-D]"}, {}]


def test_one_stat_under_two_params_is_refused():
    with pytest.raises(ConfigError, match="'BERTScore-P'"):
        metrics_for([spec("BERTScore-P", num_layers="5"), spec("BERTScore-F")])
    two_models = [spec("BERTScore-F"), spec("BERTScore-F", model="m", model_path="m")]
    assert len(metrics_for(two_models)) == 2


def test_info_tells_how_a_stat_is_read():
    assert info("rouge_2").lower_is_better is False
    assert (info("exact_match").minimum, info("exact_match").maximum) == (0.0, 1.0)
    assert (info("aci_bench_accuracy").minimum, info("aci_bench_accuracy").maximum) == (1.0, 5.0)
    assert info("BERTScore-F[all-MiniLM-L6-v2]").name == "BERTScore-F"
    renamed = spec("jury_score", stat_name="tone_of_voice")
    assert info("tone_of_voice", [renamed]).name == "tone_of_voice"
    with pytest.raises(UnknownNameError):
        info("tone_of_voice")


def test_no_two_metrics_give_the_same_stat_but_the_coverage_of_judges():
    names = [stat.name for stat in known_stats()]
    assert {name for name in names if names.count(name) > 1} == {"jury_coverage"}


def test_needs_are_fields_of_a_request_state():
    fields = set(RequestState.__dataclass_fields__)
    for metric in METRICS.values():
        assert metric.needs <= fields
        assert metric.needs & {"completions", "stored"}


@pytest.mark.parametrize("name", METRICS)
def test_a_state_without_an_answer_has_every_stat_and_no_value(name):
    (row,) = METRICS[name].fn([state(None)], {})
    metric = METRICS[name]
    named = [stat.name for stat in metric.emitted({}) if stat.name not in metric.stems]
    assert [score.name for score in row] == named
    assert {(score.value, score.status) for score in row} == {(None, ScoreStatus.NO_ANSWER)}
    assert list(METRICS[name].fn([], {})) == []


def test_a_run_level_metric_brings_what_it_reads_unless_a_spec_names_it():
    with_pattern = spec("exact_match", output_mapping_pattern="[A-D]")
    chosen = metrics_for([spec("calibration"), with_pattern, spec("ece_1_bin"), spec("perplexity")])
    assert [metric for metric, _ in chosen] == [METRICS["exact_match"], METRICS["language_model"]]
    assert chosen[0][1] == {"output_mapping_pattern": "[A-D]"}
    of_run = run_metrics_for(
        [with_pattern, spec("ece_1_bin"), spec("calibration"), spec("perplexity")]
    )
    assert of_run == [(RUN_METRICS["calibration"], {}), (RUN_METRICS["perplexity"], {})]


def test_what_a_run_level_metric_reads_gets_its_arguments():
    (chosen,) = metrics_for([spec("classification", labels="yes|no")])
    assert chosen == (METRICS["classes"], {"labels": "yes|no"})


def test_one_run_level_stat_under_two_params_is_refused():
    with pytest.raises(ConfigError, match="'classification_macro_f1'"):
        run_metrics_for([spec("classification", labels="a|b"), spec("classification")])


def test_a_run_level_stat_is_told_like_any_other():
    assert info("ece_10_bin").lower_is_better is True
    assert info("selective_acc@10@medhelm-0.8").lower_is_better is False
    assert [stat.name for stat in stats_of([spec("classification", labels="a|b")])] == [
        "true_classes",
        "predicted_classes",
        "classification_macro_f1",
        "classification_micro_f1",
        "classification_macro_f1@medhelm-0.8",
        "classification_f1[a]",
        "classification_f1[b]",
    ]
    behind = metrics_behind("ece_10_bin", [spec("calibration", correct="jury_score")])
    assert METRICS["jury_score"] in behind
    assert metrics_behind("rouge_1", [spec("exact_match")]) == []


@pytest.mark.parametrize("name", RUN_METRICS)
def test_what_a_run_level_metric_reads_is_given_by_a_metric(name):
    metric = RUN_METRICS[name]
    reads = metric.reads({})
    params = {"labels": "a|b"}
    values = metric.fn(np.full((2, len(reads)), 0.5), np.array([3, 0]), params)
    assert len(values) == len(metric.emitted(params))
    assert all(metric_for(stat)[1] in METRICS.values() for stat in reads)
    assert metric.biased <= {stat.name for stat in metric.emits}
