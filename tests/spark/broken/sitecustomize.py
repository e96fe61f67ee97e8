"""Python imports this at its start, on driver and workers, where this folder is on its path.

It wraps one function of every stage; the wrapper that the file `MEDHELM_SPARK_TEST_BREAK` names
raises an error that quotes its whole input, or hands on text where a number belongs.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from medhelm_spark.annotators import jury
from medhelm_spark.domain.stats import Score
from medhelm_spark.engines import canned
from medhelm_spark.metrics import METRICS
from medhelm_spark.scenarios import PARSERS
from medhelm_spark.stages.annotate import judges, stage as annotate
from medhelm_spark.stages.plan import stage as plan
from medhelm_spark.user_data import read_responses as responses

CHOICE = Path(os.environ["MEDHELM_SPARK_TEST_BREAK"])


def raising(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if CHOICE.read_text() == name:
            raise ValueError(f"PLANTED-IN-ERROR: cannot digest {args!r} {kwargs!r}")
        return function(*args, **kwargs)

    return wrapper


def mistyping(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(states: Any, params: Any) -> Any:
        if CHOICE.read_text() == name:
            return [(Score(name="exact_match", value=s.completions[0].text),) for s in states]
        return function(states, params)

    return wrapper


def put(owner: Any, attribute: str, function: Callable[..., Any]) -> None:
    object.__setattr__(owner, attribute, function)


put(PARSERS["tabular"], "parse", raising("parser", PARSERS["tabular"].parse))
plan.render = raising("renderer", plan.render)
canned.CannedEngine._ask = raising("engine", canned.CannedEngine._ask)
judges.judge_prompts = raising("judge prompt", jury.judge_prompts)
annotate.annotation_for = raising("judge parser", jury.annotation_for)
matched = METRICS["exact_match"]
put(matched, "fn", mistyping("metric type", raising("metric", matched.fn)))
responses.response_of = raising("responses", responses.response_of)
