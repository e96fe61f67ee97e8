"""Small instances for the tests of adaptation."""

from collections.abc import Sequence

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import Instance, Message, Reference
from medhelm_spark.domain.split import Split


def refs(*texts: str, correct: int | Sequence[int] = 0) -> tuple[Reference, ...]:
    right = (correct,) if isinstance(correct, int) else correct
    return tuple(
        Reference(text=text, tags=("correct",) if i in right else ())
        for i, text in enumerate(texts)
    )


def row(
    index: int,
    text: str,
    references: tuple[Reference, ...] = (),
    *,
    split: Split = Split.TEST,
    level: AccessLevel = AccessLevel.PUBLIC,
    messages: tuple[Message, ...] = (),
) -> Instance:
    return Instance(
        instance_id=f"i{index:03}",
        scenario_name="demo",
        data_version="v1",
        source_id=f"s{index}",
        source_index=index,
        split=split,
        input=text,
        references=references,
        access_level=level,
        messages=messages,
    )
