"""Rubrics and verdicts for the tests of annotators."""

import json

from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.request import Completion, FinishReason

TWO = Rubric(
    name="demo",
    template="Costs $5, {keep}. Q: {QUESTION}\nGold: {GOLD_RESPONSE}\nA: {RESPONSE}\n{RESPONSE}",
    criteria=(Criterion(name="accuracy"), Criterion(name="clarity", minimum=0, maximum=10)),
    version="v1",
    max_tokens=256,
)


def verdict(accuracy: object = 4, clarity: object = 7, **further: object) -> str:
    scores = {
        "accuracy": {"score": accuracy, "explanation": "a"},
        "clarity": {"score": clarity, "explanation": "c"},
    }
    return json.dumps(scores | further)


def completion(text: str) -> Completion:
    return Completion(text=text, finish_reason=FinishReason.STOP)


PER_ITEM = Rubric(
    name="items",
    template="Judge.\n{CONVERSATION}\n<answer>{RESPONSE}</answer>\nMet? {CRITERION}",
    criteria=(),
    version="v2",
    max_tokens=128,
    kind="rubric",
)
