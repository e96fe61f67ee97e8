"""What makes two means comparable: what changes a part, and what must not."""

from dataclasses import replace

import pytest

from medhelm_spark.domain.comparability import (
    data_part,
    extraction_part,
    jury_part,
    metric_part,
    origin_part,
    prompt_part,
)
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    AnswerExtraction,
    ExtractionMethod,
    MetricSpec,
    PerturbationSpec,
    RunSpec,
    Unreadable,
)
from medhelm_spark.metrics import parts_of

CHOICE = AnswerExtraction(method=ExtractionMethod.CHOICE)
AMONG = replace(CHOICE, options=("Y", "N"))
SPEC = RunSpec(
    run_spec_id="r",
    name="bench:model=a",
    scenario_name="bench",
    data_version="d1",
    model="a",
    model_deployment="a",
    deployment_fingerprint="f",
    adapter_spec=AdapterSpec(stop_sequences=("\n", "END")),
    metrics=(MetricSpec(name="exact_match"),),
    annotators=(),
    groups=("bench",),
    access_level="public",
    main_metric="exact_match",
    main_split="test",
)


def adapted(**changes: object) -> RunSpec:
    return replace(SPEC, adapter_spec=replace(SPEC.adapter_spec, **changes))


def test_the_data_are_the_instances_that_were_drawn() -> None:
    assert data_part(SPEC, 24, "77").startswith("n=24 ")
    limited = replace(adapted(max_eval_instances=24), data_version="d2", model="b")
    assert data_part(limited, 24, "77") == data_part(SPEC, 24, "77")
    assert data_part(SPEC, 24, "78") != data_part(SPEC, 24, "77")
    shots = adapted(max_train_instances=3)
    assert data_part(shots, 24, "77") != data_part(replace(shots, data_version="d2"), 24, "77")


@pytest.mark.parametrize(
    "same",
    [
        replace(SPEC, model="b", name="bench:model=b", data_version="d2"),
        adapted(max_eval_instances=10),
        adapted(stop_sequences=("END",)),
        adapted(temperature=1e-4),
        replace(SPEC, perturbations=(PerturbationSpec(name="typos"),)),
    ],
)
def test_what_is_the_models_or_the_datas_does_not_change_the_prompt(same: RunSpec) -> None:
    assert prompt_part(same) == prompt_part(SPEC)


@pytest.mark.parametrize(
    "changes", [{"instructions": "Be brief."}, {"temperature": 1.0}, {"max_tokens": 5}]
)
def test_wording_and_decoding_change_the_prompt(changes: dict[str, object]) -> None:
    assert prompt_part(adapted(**changes)) != prompt_part(SPEC)


def test_stats_over_changed_copies_count_how_they_were_changed() -> None:
    typos = replace(SPEC, perturbations=(PerturbationSpec(name="typos"),))
    assert prompt_part(typos, is_changed=True) != prompt_part(SPEC, is_changed=True)


def test_reading_is_told_in_words() -> None:
    assert extraction_part(STRICT, "3") == "strict v3"
    assert extraction_part(CHOICE, "2") == "choice, unreadable wrong, v2"
    among = extraction_part(AMONG, "2")
    assert among.startswith("choice of ")
    assert among != extraction_part(replace(AMONG, options=("Y", "N", "-")), "2")
    unscored = replace(CHOICE, unreadable=Unreadable.UNSCORED)
    assert extraction_part(unscored, "2") == "choice, unreadable unscored, v2"
    patterns = [
        AnswerExtraction(method=ExtractionMethod.REGEX, pattern=text) for text in ("[A-C]", "[A-D]")
    ]
    assert len({extraction_part(one, "2") for one in patterns}) == 2


def test_a_metric_is_its_name_version_and_arguments() -> None:
    assert metric_part("bleu", "1", {}) == "bleu v1"
    made = {metric_part("bleu", "1", {"order": n}) for n in ("2", "4")}
    assert len(made | {metric_part("bleu", "2", {"order": "2"})}) == 3


def test_a_jury_is_its_rubric_and_its_judges() -> None:
    parts = {
        jury_part("notes", rubric, judges, version)
        for rubric in ("r1", "r2")
        for judges, version in ((["x"], "1"), (["x", "y"], "1"), (["x"], "2"))
    }
    assert len(parts) == 6
    assert jury_part("notes", "r1", ["x", "y"], "1").startswith("notes ")


@pytest.mark.parametrize(
    ("answered", "imported", "origin"),
    [(3, 0, "native"), (0, 0, "native"), (3, 3, "imported"), (3, 2, "native and imported")],
)
def test_origin(answered: int, imported: int, origin: str) -> None:
    assert origin_part(answered, imported) == origin


def test_every_stat_names_the_metrics_that_it_rests_on() -> None:
    parts = parts_of([MetricSpec(name="rouge_l"), MetricSpec(name="classification")])
    assert parts["rouge_1"] == parts["rouge_l"]
    assert parts["rouge_l"].startswith("rouge v")
    macro = next(text for text in parts.values() if text.startswith("classification v"))
    assert " of classes v" in macro
