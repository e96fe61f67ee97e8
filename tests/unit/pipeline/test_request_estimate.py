"""What judges will be asked is counted where this process computes a small run."""

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import RUBRIC_ITEMS, RubricItem, items_text
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.request import Decoding
from medhelm_spark.domain.scenario import Instance, Message, Reference
from medhelm_spark.domain.split import Split
from medhelm_spark.lake.in_process import LocalFrame, answered
from medhelm_spark.lake.rows import arrow_of, rows_of
from medhelm_spark.pipeline.request_estimate import (
    TO_JUDGE,
    Counted,
    CountTokens,
    JudgeCost,
    ToCount,
)
from medhelm_spark.stages.annotate.judges import JudgeCall

ITEMS = (
    RubricItem(criterion="Names the dose.", points=5),
    RubricItem(criterion="Urges “rest”, not work.", points=-2),
)
JUDGE = Deployment(name="acme/judge", model="judge", engine="canned", locality=Locality.LOCAL)


def call(annotator: str, *, is_per_item: bool) -> JudgeCost:
    return JudgeCost(
        run_spec_id="r",
        data_version="v",
        annotator=annotator,
        render_id="x",
        judge="judge",
        call_id="c",
        model_deployment=JUDGE.name,
        decoding=Decoding(max_tokens=30, num_completions=2),
        template="Judge:",
        answer_tokens=100,
        is_per_item=is_per_item,
    )


def to_count(name: str, extra_data: dict[str, str]) -> list[ToCount]:
    """The requests of both kinds of judge about the answers to an instance."""
    row = Instance(
        scenario_name="notes",
        data_version="v",
        instance_id=name,
        source_index=0,
        source_id=name,
        split=Split.TEST,
        input="Question?",
        messages=(Message(role="user", content="A turn."),),
        references=(Reference(text="gold"),),
        extra_data=extra_data,
        access_level=AccessLevel.PUBLIC,
    )
    calls = [call("whole", is_per_item=False), call("each", is_per_item=True)]
    subjects = answered(
        f"SELECT run_spec_id, annotator, data_version, '{name}' AS instance_id, '' AS perturbation "
        "FROM {calls}",
        {"calls": LocalFrame(arrow_of(calls, JudgeCall))},
    )
    frames = {
        "subjects": subjects,
        "calls": LocalFrame(arrow_of(calls, JudgeCost)),
        "instances_now": LocalFrame(arrow_of([row], Instance)),
    }
    return sorted(
        rows_of(answered(TO_JUDGE, frames), ToCount), key=lambda each: each.items is not None
    )


def test_a_judge_of_rubric_items_is_asked_about_each() -> None:
    whole, each = to_count("a", {RUBRIC_ITEMS: items_text(ITEMS)})
    assert (whole.items, each.text) == (None, whole.text)
    assert whole.text == "Judge: Question? A turn. gold"
    counted = list(CountTokens({JUDGE.name: JUDGE})([whole, each]))
    lengths = [len(whole.text), *(len(f"{each.text} {item.criterion}") for item in ITEMS)]
    assert counted == [
        Counted(
            model_deployment=JUDGE.name,
            prompt_tokens=-(-length // 4) + 100,
            output_tokens=60,
        )
        for length in lengths
    ]


def test_an_instance_without_items_brings_such_a_judge_no_request() -> None:
    requests = to_count("b", {})
    assert len(list(CountTokens({JUDGE.name: JUDGE})(requests))) == 1
