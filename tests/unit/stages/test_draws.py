"""Which instances a sampling filter lets a draw take, where this process draws."""

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.sampling import Condition
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.split import Split
from medhelm_spark.lake.in_process import LocalFrame, answered
from medhelm_spark.lake.rows import arrow_of
from medhelm_spark.stages.plan.samples import Sample, _eligible_sql


def instance(name: str, text: str, ward: str | None, **extra_data: str) -> Instance:
    return Instance(
        scenario_name="notes",
        data_version="v",
        instance_id=name,
        source_index=0,
        source_id=name,
        split=Split.TEST,
        sub_split=ward,
        input=text,
        extra_data=extra_data,
        references=(),
        access_level=AccessLevel.PUBLIC,
    )


INSTANCES = (
    instance("long", "Wie groß ist das Öhr?", "surgery", grade="2"),
    instance("short", "\u00f6\u00e9\U0001f600", "surgery", grade="1"),
    instance("elsewhere", "Really?", None),
)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, {"long", "short", "elsewhere"}),
        ({"sub_split": Condition(values=("surgery", "eyes"))}, {"long", "short"}),
        ({"extra.grade": Condition(values=("2",))}, {"long"}),
        ({"split": Condition(values=("valid",))}, set()),
        ({"characters": Condition(maximum=3)}, {"short"}),
        ({"characters": Condition(minimum=4, maximum=7)}, {"elsewhere"}),
        (
            {"sub_split": Condition(values=("surgery",)), "characters": Condition(minimum=4)},
            {"long"},
        ),
    ],
)
def test_a_draw_takes_what_meets_every_condition(
    conditions: dict[str, Condition], expected: set[str]
) -> None:
    draw = Sample(
        draw_id="d",
        data_version="v",
        seed="7",
        max_eval_instances=None,
        eval_splits=("test",),
        conditions=conditions,
    )
    frames = {
        "instances_now": LocalFrame(arrow_of(INSTANCES, Instance)),
        "draws": LocalFrame(arrow_of([draw], Sample)),
    }
    eligible = answered(_eligible_sql(has_filter=True), frames).rows
    assert set(eligible["instance_id"].to_pylist()) == expected
