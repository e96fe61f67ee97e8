"""What is written for HELM: names, documents, and texts that stay."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.helm_export import ExportedState
from medhelm_spark.domain.helm_results import stored_metric
from medhelm_spark.domain.request import (
    Annotation,
    Completion,
    CriterionScore,
    Decoding,
    FailureKind,
    FinishReason,
    PlannedRequest,
    Prompt,
    Purpose,
    RequestResult,
    VerdictStatus,
)
from medhelm_spark.domain.run import AdapterSpec, MetricSpec, RunSpec, SuiteRun
from medhelm_spark.domain.scenario import Instance, Reference
from medhelm_spark.domain.split import Split
from medhelm_spark.domain.stats import ComputedOn, IntervalMethod, Stat
from medhelm_spark.medhelm_results.write import (
    StateLines,
    run_names,
    run_spec_document,
    stats_document,
)

KEY: dict[str, Any] = {
    "instance_id": "i0",
    "perturbation": "",
    "train_trial_index": 0,
    "trial_index": 0,
    "run_spec_id": "r",
    "access_level": AccessLevel.PRIVATE,
}


def spec(name: str, *metrics: MetricSpec) -> RunSpec:
    return RunSpec(
        run_spec_id="r",
        name=name,
        scenario_name="ward:kind=note",
        data_version="v",
        model="acme/m",
        model_deployment="acme/m",
        deployment_fingerprint="f",
        adapter_spec=AdapterSpec(reference_prefix_characters="xy"),
        metrics=metrics or (MetricSpec(name="exact_match"),),
        annotators=(),
        groups=(),
        access_level=AccessLevel.PRIVATE,
        main_metric="exact_match",
        main_split="test",
    )


def stored(name: str) -> RunSpec:
    return spec(name, stored_metric("exact_match", {}))


def row(spec: RunSpec, **more: Any) -> SuiteRun:
    return SuiteRun(
        suite="s",
        name=spec.name,
        run_spec_id="r",
        planned_at=datetime.now(UTC),
        locality="local",
        engine="canned",
        is_jury_validated=None,
        run_spec=spec,
        **more,
    )


def exported() -> ExportedState:
    return ExportedState(
        instance=Instance(
            instance_id="i0",
            scenario_name="ward",
            data_version="v",
            source_id="record 7",
            source_index=0,
            split=Split.TEST,
            input="note of one",
            references=(Reference(text="fever", tags=("correct",)),),
            access_level=AccessLevel.PRIVATE,
            extra_data={"hint": "note of two"},
        ),
        request=PlannedRequest(
            **KEY,
            purpose=Purpose.EVALUATE,
            request_id="q",
            prompt_id="p",
            model_deployment="acme/m",
            decoding=Decoding(max_tokens=5),
            estimated_tokens=1,
        ),
        prompt=Prompt(
            prompt_id="p",
            render_id="n",
            subject_id="i0",
            access_level=AccessLevel.PRIVATE,
            text="note of three",
            output_mapping={"A": "fever"},
        ),
        result=RequestResult(
            request_id="q",
            model_deployment="acme/m",
            access_level=AccessLevel.PRIVATE,
            completed_at=datetime(2026, 1, 1, tzinfo=UTC),
            engine_fingerprint="e",
            completions=(
                Completion(text="fever", finish_reason=FinishReason.STOP, thinking="note of four"),
            ),
        ),
        annotations=(
            Annotation(
                **KEY,
                annotator="ward",
                judge="gpt",
                status=VerdictStatus.OK,
                scores=(CriterionScore(criterion="c", score=4.0, explanation="note of five"),),
            ),
        ),
    )


def written(state: ExportedState, *levels: AccessLevel, keeps_ids: bool = False) -> str:
    (line,) = StateLines("acme/m", frozenset(levels), keeps_ids)([state])
    return line.text


def test_text_of_another_level_is_redacted_and_ids_stay_in_the_lake() -> None:
    text = written(exported(), AccessLevel.PUBLIC, AccessLevel.GATED)
    assert "note of" not in text
    assert "fever" not in text
    assert "record 7" not in text
    document = json.loads(text)
    assert document["instance"]["id"] == "i0"
    assert document["result"]["completions"][0]["text"] == "[redacted]"
    assert document["annotations"]["ward"]["gpt"]["c"]["score"] == 4.0


def test_one_row_of_a_stricter_level_redacts_all_of_a_request() -> None:
    state = exported()
    loose = replace(
        state,
        instance=replace(state.instance, access_level=AccessLevel.PUBLIC),
        request=replace(state.request, access_level=AccessLevel.PUBLIC),
    )
    assert "note of" not in written(loose, AccessLevel.PUBLIC)


def test_text_of_a_named_level_is_written_with_helms_keys() -> None:
    document = json.loads(written(exported(), AccessLevel.PRIVATE))
    assert document["instance"]["input"] == {"text": "note of one"}
    assert document["request"]["prompt"] == "note of three"
    assert document["output_mapping"] == {"A": "fever"}
    (completion,) = document["result"]["completions"]
    assert completion["finish_reason"] == {"reason": "stop"}
    assert completion["thinking"] == {"text": "note of four"}


def test_a_failed_request_has_no_result() -> None:
    state = exported()
    assert state.result
    failed = replace(state.result, completions=(), failure=FailureKind.TIMEOUT)
    assert "result" not in json.loads(written(replace(state, result=failed)))


def test_an_imported_run_has_its_own_name_unless_that_is_taken() -> None:
    alone = run_names([stored("a:model=m@medhelm-0.8"), spec("b:model=m")])
    assert alone == {"a:model=m@medhelm-0.8": "a:model=m", "b:model=m": "b:model=m"}
    both = run_names([stored("a:model=m@medhelm-0.8"), spec("a:model=m")])
    assert sorted(both.values()) == ["a:model=m", "a:model=m@medhelm-0.8"]


def test_a_run_spec_is_as_it_was_or_in_helms_form() -> None:
    run_spec = {"name": "a", "scenario_spec": {"class_name": "x.Y"}, "later": 1}
    imported = row(stored("a@medhelm-0.8"), as_imported=json.dumps({"run_spec.json": run_spec}))
    assert run_spec_document(imported, "a") == run_spec
    own = run_spec_document(row(spec("ward:kind=note,model=m")), "ward:kind=note,model=m")
    assert own["groups"] == ["ward"]
    assert own["scenario_spec"]["args"] == {"kind": "note"}
    assert own["adapter_spec"]["reference_prefix_characters"] == ["x", "y"]
    assert "random" not in own["adapter_spec"], "what is None is left out, as HELM does"


def test_stats_hold_what_helm_has_a_word_for() -> None:
    def made(name: str, mean: float | None, **more: Any) -> Stat:
        known = {"perturbation": "", "count": 4, "num_unscored": 1, **more}
        return Stat(
            run_spec_id="r",
            name=name,
            split="test",
            mean=mean,
            stddev=0.5,
            minimum=0.0,
            maximum=1.0,
            ci_low=None,
            ci_high=None,
            ci_method=IntervalMethod.NONE,
            **known,
        )

    stats = [
        made("exact_match", 0.5),
        made("exact_match", 0.25, perturbation="robustness", computed_on=ComputedOn.WORST),
        made("exact_match", 0.1, perturbation="robustness", computed_on=ComputedOn.INVARIANCE),
        made("f1_score", None),
    ]
    document = stats_document(spec("a"), stats)
    assert [(each["name"]["name"], each["mean"]) for each in document] == [
        ("exact_match", 0.5),
        ("exact_match", 0.25),
        ("num_instances", 5.0),
    ]
    assert document[0]["count"] == 1
    assert document[1]["name"]["perturbation"]["robustness"] is True
