"""Metric keys, metric values and params, by hand-written expectations."""

from dataclasses import fields, replace

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import digest
from medhelm_spark.domain.run import (
    AdapterSpec,
    AnnotatorSpec,
    MetricSpec,
    PerturbationSpec,
    PromptVariant,
    Substitution,
)
from medhelm_spark.domain.sampling import Condition, Sampling
from medhelm_spark.tracking.records import (
    TrackedRun,
    allowed_name,
    fitting,
    flatten,
    metric_key,
    metrics_of,
    original_name,
    params_of,
    suite_metrics,
)
from tests.unit.tracking.rows import cell, run, spec, stat, suite


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("exact_match", "exact_match"),
        ("medcalc_bench_accuracy@medhelm-0.8", "medcalc_bench_accuracy at medhelm-0.8"),
        ("jury[accuracy]", "jury 5b accuracy 5d "),
        ("BERTScore-F", "BERTScore-F"),
        ("two words", "two 20 words"),
        ("a/b", "a 2f b"),
        ("../x", " 2e . 2f x"),
        ("Vollständigkeit", "Vollständigkeit"),
    ],
)
def test_a_name_is_mapped_to_what_mlflow_allows_and_back(name: str, allowed: str) -> None:
    assert allowed_name(name) == allowed
    assert original_name(allowed) == name


@given(st.text())
def test_every_name_comes_back(name: str) -> None:
    assert original_name(allowed_name(name)) == name


def test_two_names_never_share_a_key() -> None:
    names = ["a@b", "a at b", "a 40 b", "a[b", "a 5b b", "a20b"]
    assert len({allowed_name(name) for name in names}) == len(names)


def test_a_long_key_is_cut_to_the_limit_and_stays_distinct() -> None:
    first, second = (fitting("x" * 300 + end) for end in "ab")
    assert len(first) == len(second) == 250
    assert first != second
    assert fitting("x" * 250) == "x" * 250


def test_metric_key() -> None:
    assert metric_key("qa", "f1@medhelm-0.8", "_ci_low") == "qa/f1 at medhelm-0.8_ci_low"


def test_params_are_exactly_the_fields_of_the_run_spec() -> None:
    made = spec(
        metrics=(MetricSpec(name="f1", args={"labels": "yes,no"}), MetricSpec(name="exact_match")),
        annotators=(AnnotatorSpec(name="jury", rubric="r1"),),
    )
    assert params_of(made) == {
        "run_spec_id": made.run_spec_id,
        "name": "qa:model=acme_small",
        "scenario_name": "qa",
        "data_version": "v1",
        "model": "acme/small",
        "model_deployment": "acme/small",
        "deployment_fingerprint": "f1",
        "asked_again": "null",
        "adapter_spec.method": "generation",
        "adapter_spec.global_prefix": '""',
        "adapter_spec.global_suffix": '""',
        "adapter_spec.instructions": "Answer yes or no.",
        "adapter_spec.input_prefix": "Input: ",
        "adapter_spec.input_suffix": '"\\n"',
        "adapter_spec.reference_prefix": "A. ",
        "adapter_spec.reference_prefix_characters": "null",
        "adapter_spec.reference_suffix": '"\\n"',
        "adapter_spec.chain_of_thought_prefix": '""',
        "adapter_spec.chain_of_thought_suffix": '"\\n"',
        "adapter_spec.output_prefix": "Output: ",
        "adapter_spec.output_suffix": '"\\n"',
        "adapter_spec.instance_prefix": '"\\n"',
        "adapter_spec.substitutions": "[]",
        "adapter_spec.max_train_instances": "0",
        "adapter_spec.max_eval_instances": "null",
        "adapter_spec.num_outputs": "1",
        "adapter_spec.num_train_trials": "1",
        "adapter_spec.num_trials": "1",
        "adapter_spec.sample_train": "true",
        "adapter_spec.temperature": "0.0",
        "adapter_spec.max_tokens": "100",
        "adapter_spec.stop_sequences": '["\\n"]',
        "adapter_spec.random": "null",
        "adapter_spec.multi_label": "false",
        "adapter_spec.eval_splits": "[]",
        "adapter_spec.output_mapping_pattern": "null",
        "adapter_spec.answer_form": "free",
        "metrics.0.name": "f1",
        "metrics.0.args.labels": "yes,no",
        "metrics.1.name": "exact_match",
        "metrics.1.args": "{}",
        "annotators.0.name": "jury",
        "annotators.0.rubric": "r1",
        "annotators.0.jury": "default",
        "groups": '["qa"]',
        "access_level": "public",
        "main_metric": "exact_match",
        "main_split": "test",
        "answer_extraction": "null",
        "perturbations": "null",
        "prompt_variants": "null",
        "sampling": "null",
        "medhelm": "null",
    }


def test_a_value_over_6000_bytes_is_hashed() -> None:
    assert flatten({"a": "x" * 6000}) == {"a": "x" * 6000}
    assert flatten({"a": "x" * 6001}) == {"a": f"hash:{digest('x' * 6001)}"}
    assert flatten({"a": "é" * 3001}) == {"a": f"hash:{digest('é' * 3001)}"}


def test_metrics_of_a_run() -> None:
    values = suite_metrics(
        suite(run("qa", stat(mean=0.5), stat("f1@medhelm-0.8", 0.25)), mean_win_rate=0.75)
    )
    assert values == {
        "0_scores/mean_win_rate": 0.75,
        "0_scores/qa": 0.5,
        "mean_win_rate": 0.75,
        "qa/exact_match": 0.5,
        "qa/exact_match_ci_low": 0.25,
        "qa/exact_match_ci_high": 0.75,
        "qa/n": 10.0,
        "qa/n_unscored": 2.0,
        "qa/f1 at medhelm-0.8": 0.25,
        "qa/f1 at medhelm-0.8_ci_low": 0.0,
        "qa/f1 at medhelm-0.8_ci_high": 0.5,
    }


def test_absent_is_not_zero() -> None:
    assert metrics_of(run("qa", stat(mean=None))) == {"qa/n": 0.0, "qa/n_unscored": 10.0}


def test_other_splits_and_perturbations_are_left_out() -> None:
    others = (stat(mean=0.9, split="train"), stat(mean=0.1, perturbation="typos"))
    assert metrics_of(run("qa", stat(), *others)) == metrics_of(run("qa", stat()))


def test_a_further_run_of_a_scenario_is_named_by_what_differs() -> None:
    first = run("qa", stat(mean=0.4), name="qa:a")
    second = replace(run("qa", stat(mean=0.6), name="qa:b"), variant="n=3")
    rates = {"mean_win_rate": 0.5, "medhelm_mean_win_rate": 0.25}
    values = suite_metrics(suite(first, second, **rates))
    assert (values["qa/exact_match"], values["qa at n 3d 3/exact_match"]) == (0.4, 0.6)
    assert (values["mean_win_rate"], values["mean_win_rate at medhelm-0.8"]) == (0.5, 0.25)


def test_every_model_has_the_same_keys() -> None:
    runs = [run("qa", stat(), stat("f1", 0.3)), run("notes", stat(mean=0.1))]
    other = [
        replace(one, stats=tuple(replace(s, mean=0.9) for s in one.stats)) for one in reversed(runs)
    ]
    ones = suite_metrics(suite(*runs, mean_win_rate=0.0))
    assert ones.keys() == suite_metrics(suite(*other, mean_win_rate=1.0)).keys()


def test_what_the_board_shows_is_logged_as_it_shows_it() -> None:
    parts = [run(f"qa:part={name}", stat(mean=mean)) for name, mean in (("a", 0.25), ("b", 0.75))]
    whole = replace(cell("qa", stat(mean=0.5)), count=20, ci_low=0.31, ci_high=0.69)
    values = suite_metrics(suite(*parts, cells={"qa": whole}))
    assert values["0_scores/qa"] == values["qa/exact_match"] == 0.5
    assert (values["qa/exact_match_ci_low"], values["qa/n"]) == (0.31, 20.0)
    names = {name for name in values if name.startswith("0_scores/")}
    assert names == {"0_scores/qa"}, "parts are no columns of the board"
    assert values["qa 3a part 3d a/exact_match"] == 0.25, "and have names of their own"


@pytest.mark.attack("rest", "a private card's instructions and prefixes, in MLflow's params")
@pytest.mark.parametrize("level", [AccessLevel.GATED, AccessLevel.PRIVATE])
def test_the_words_of_a_prompt_that_is_not_public_are_hashes(level: AccessLevel) -> None:
    words = "Jane Roe, MRN-0042"
    texts = {one.name: words for one in fields(AdapterSpec) if one.type in (str, "str")}
    adapter = AdapterSpec(
        **texts,
        stop_sequences=(words,),
        substitutions=(Substitution(source=words, target=words),),
        max_tokens=7,
    )
    variant = PromptVariant(name="short", adapter_spec={"instructions": words})
    made = replace(spec(), adapter_spec=adapter, access_level=level, prompt_variants=(variant,))
    params = params_of(made)
    assert not [name for name, text in params.items() if "Roe" in text]
    assert params["adapter_spec.instructions"] == f"hash:{digest(words)}"
    assert params["adapter_spec.max_tokens"] == "7"
    assert params["prompt_variants.0.name"] == "short"
    assert params["main_metric"] == made.main_metric


@pytest.mark.attack("rest", "arguments of a private run's metrics, in MLflow's params")
def test_arguments_are_hashes_where_the_data_is_not_public() -> None:
    made = replace(
        spec(),
        access_level=AccessLevel.PRIVATE,
        metrics=(MetricSpec(name="contains", args={"word": "Jane Roe", "name": "MRN-0042"}),),
        perturbations=(
            PerturbationSpec(name="typos", args={"prob": "0.1"}, word_lists={"misspellings": "w1"}),
        ),
    )
    params = params_of(made)
    assert params["metrics.0.name"] == "contains"
    assert params["metrics.0.args.word"] == f"hash:{digest('Jane Roe')}"
    assert params["metrics.0.args.name"] == f"hash:{digest('MRN-0042')}"
    assert params["perturbations.0.args.prob"] == f"hash:{digest('0.1')}"
    assert params["perturbations.0.word_lists.misspellings"] == "w1"
    public = params_of(replace(made, access_level=AccessLevel.PUBLIC))
    assert public["perturbations.0.args.prob"] == "0.1"


@pytest.mark.attack(
    "rest", "record numbers by which a private run takes instances, in MLflow's params"
)
def test_values_of_the_data_in_a_filter_are_hashes_where_it_is_not_public() -> None:
    sampling = Sampling(seed=3, filter={"extra.patient": Condition(values=("MRN-0042",))})
    made = replace(spec(), access_level=AccessLevel.PRIVATE, sampling=sampling)
    params = params_of(made)
    assert not [name for name, text in params.items() if "0042" in text]
    assert params["sampling.seed"] == "3"
    public = params_of(replace(made, access_level=AccessLevel.PUBLIC))
    assert public["sampling.filter.extra.patient.values"] == '["MRN-0042"]'


ROE, NEGATIVE = "HIV positive (J. Roe)", "negative"
OF_LABELS = (f"sensitivity[{ROE}]", f"confusion[{ROE}>-]", f"confusion[{NEGATIVE}>{ROE}]")


def labelled(level: AccessLevel, main_metric: str = "exact_match") -> TrackedRun:
    """A run with overall stats and with those of its two labels."""
    metric = MetricSpec(name="diagnostic_accuracy", args={"labels": f"{ROE}|{NEGATIVE}"})
    names = (main_metric, "accuracy", "jury_criteria[dose]", *OF_LABELS)
    made = (stat(name) for name in dict.fromkeys(names))
    return run("qa", *made, access_level=level, metrics=(metric,), main_metric=main_metric)


@pytest.mark.parametrize("level", [AccessLevel.GATED, AccessLevel.PRIVATE])
def test_stats_of_one_label_are_left_out_where_the_data_is_not_public(level: AccessLevel) -> None:
    names = {original_name(key) for key in metrics_of(labelled(level))}
    assert names == {
        "0_scores/qa",
        "qa/n",
        "qa/n_unscored",
        *(
            f"qa/{name}{end}"
            for name in ("exact_match", "accuracy", "jury_criteria[dose]")
            for end in ("", "_ci_low", "_ci_high")
        ),
    }
    public = {original_name(key) for key in metrics_of(labelled(AccessLevel.PUBLIC))}
    assert public.issuperset(f"qa/{name}" for name in OF_LABELS)


def test_the_label_of_a_main_metric_is_a_hash_where_the_data_is_not_public() -> None:
    one = labelled(AccessLevel.PRIVATE, OF_LABELS[0])
    shown = f"sensitivity[hash:{digest(ROE)}]"
    tracked = suite(one, cells={"qa": replace(cell("qa", one.stats[0]), access_level="private")})
    metrics = {original_name(key): value for key, value in suite_metrics(tracked).items()}
    assert metrics[f"qa/{shown}"] == metrics["0_scores/qa"] == 0.5
    assert not [name for name in metrics if "Roe" in name]
    params = params_of(one.run_spec)
    assert params["main_metric"] == shown
    assert not [text for text in params.values() if "Roe" in text]
    assert (
        params_of(labelled(AccessLevel.PUBLIC, OF_LABELS[0]).run_spec)["main_metric"] in OF_LABELS
    )
