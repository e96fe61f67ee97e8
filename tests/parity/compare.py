"""Our metrics on the rows that MedHELM computed, and where the two differ."""

import json
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from medhelm_spark.domain.request import (
    Completion,
    FinishReason,
    RequestState,
    TokenLogprob,
    Verdict,
)
from medhelm_spark.domain.scenario import CORRECT_TAG, Reference
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.metric import MEDHELM

Values = Mapping[str, float | None]

TOLERANCE = 1e-9


def _completion(completion: Mapping[str, Any]) -> Completion:
    return Completion(
        text=completion["text"],
        finish_reason=FinishReason(completion.get("ended", "stop")),
        logprob=completion.get("logprob"),
        tokens=tuple(
            TokenLogprob(text=text, logprob=value) for text, value in completion.get("tokens", ())
        ),
    )


def state(row: Mapping[str, Any], verdicts: Sequence[Verdict] = ()) -> RequestState:
    """A row as our metrics see it; extra data are text in it."""
    extra = row.get("extra_data", {})
    return RequestState(
        run_spec_id="r",
        instance_id="i",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        split="test",
        input=row.get("input", ""),
        references=tuple(
            Reference(text=text, tags=(CORRECT_TAG,) if right else ())
            for text, right in row.get("references", ())
        ),
        extra_data={
            key: one if isinstance(one, str) else json.dumps(one) for key, one in extra.items()
        },
        output_mapping=row.get("output_mapping", {}),
        completions=tuple(_completion(one) for one in row["completions"]),
        num_train_instances=row.get("num_train_instances", 0),
        prompt_truncated=row.get("prompt_truncated", False),
        verdicts=tuple(verdicts),
    )


def ours(metric: str, states: Sequence[RequestState], **params: str) -> list[Values]:
    """The values of every state by the stat's name."""
    rows = METRICS[metric].fn(states, params)
    return [{score.name: score.value for score in scores} for scores in rows]


def same(one: float | None, other: float | None) -> bool:
    """Whether two values are one, or both absent."""
    if one is None or other is None:
        return one is other
    return isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def differing(
    own_values: Sequence[Values], theirs: Sequence[Values], names: Sequence[str], suffix: str = ""
) -> list[int]:
    """The indices of rows on which a stat of these names differs from MedHELM's.

    With `suffix` ours is the stat that follows MedHELM's rule, where there is one. A stat that
    MedHELM lacks, because it raised an error, differs.
    """
    assert len(own_values) == len(theirs) >= NUM_ROWS
    own_names = {name: name + suffix if name + suffix in own_values[0] else name for name in names}
    return [
        index
        for index, (one, other) in enumerate(zip(own_values, theirs, strict=True))
        if not all(name in other and same(one[own], other[name]) for name, own in own_names.items())
    ]


NUM_ROWS = 300
"""No comparison rests on fewer rows."""

__all__ = ["MEDHELM", "NUM_ROWS", "differing", "ours", "same", "state"]
