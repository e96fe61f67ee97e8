"""What the draw of few-shot examples reads of the train split."""

from collections.abc import Sequence

from medhelm_spark.adaptation.sampling import TrainRow
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import CORRECT_TAG, Instance, Reference
from medhelm_spark.domain.split import Split
from medhelm_spark.lake.in_process import LocalFrame, answered
from medhelm_spark.lake.rows import arrow_of, rows_of
from medhelm_spark.stages.plan.stage import TRAIN_ROWS

LABELS = ("yes", "no", None, "yes", "Maybe", "\u00e9t\u00e9", "\U0001f600", "\uffee", "")
"""Their order by code point is not that of UTF-16."""


def instance(index: int, label: str | None, split: Split, perturbation: str = "") -> Instance:
    wrong, right = Reference(text="wrong"), Reference(text=label or "", tags=("other", CORRECT_TAG))
    later = Reference(text="another right one", tags=(CORRECT_TAG,))
    return Instance(
        scenario_name="notes",
        data_version="v1",
        instance_id=f"i{index}",
        source_index=index,
        source_id=str(index),
        split=split,
        perturbation=perturbation,
        input=f"note {index}",
        references=(wrong,) if label is None else (wrong, right, later),
        access_level=AccessLevel.PUBLIC,
    )


def drawn_from(instances: Sequence[Instance]) -> list[TrainRow]:
    sql = TRAIN_ROWS.replace("@data_version", "'v1'")
    rows = answered(sql, {"instances_now": LocalFrame(arrow_of(instances, Instance))})
    return sorted(rows_of(rows, TrainRow), key=lambda row: row.source_index)


def test_labels_become_their_positions_in_the_order_of_python() -> None:
    train = [instance(index, label, Split.TRAIN) for index, label in enumerate(LABELS)]
    rows = drawn_from(train)
    assert [row.instance_id for row in rows] == [each.instance_id for each in train]
    known = {row.label: label for row, label in zip(rows, LABELS, strict=True) if label is not None}
    assert [known[index] for index in sorted(known)] == sorted({*LABELS} - {None})
    assert [row.label is None for row in rows] == [label is None for label in LABELS]
    assert rows[0].label == rows[3].label


def test_only_rows_of_the_train_split_as_they_are_may_be_drawn() -> None:
    rows = [
        instance(0, "yes", Split.TEST),
        instance(1, "yes", Split.TRAIN, perturbation="typos"),
        instance(2, "yes", Split.TRAIN),
    ]
    assert [row.instance_id for row in drawn_from(rows)] == ["i2"]
