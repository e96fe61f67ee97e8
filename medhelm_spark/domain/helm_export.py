"""Runs on their way into HELM's files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medhelm_spark.domain.request import Annotation, PlannedRequest, Prompt, RequestResult
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stats import PerInstanceStats


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedState:
    """One request with all that HELM's `scenario_state.json` has of it; None: it is not stored."""

    instance: Instance
    request: PlannedRequest
    prompt: Prompt | None
    result: RequestResult | None
    annotations: tuple[Annotation, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedStats:
    """The values of one instance; `source_id` is HELM's own id of it where it was imported."""

    source_id: str
    stats: PerInstanceStats


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One item of a list in a JSON file, as text."""

    text: str


def without_none(document: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what is None, as HELM writes it."""
    return {key: value for key, value in document.items() if value is not None}


def stat_document(
    name: str,
    split: str,
    mean: float | None,
    *,
    count: int = 1,
    perturbation: Mapping[str, Any] | None = None,
    stddev: float = 0.0,
    ends: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """A Stat of HELM's; without a mean one that counted nothing.

    Args:
        name: the stat's.
        split: the split; empty for none.
        mean: the mean of what was counted.
        count: how many values were counted.
        perturbation: what was done to the instances, as HELM writes it.
        stddev: the spread of the values.
        ends: the lowest and the highest value, where they are not the mean.
    """
    named = without_none({"name": name, "split": split or None, "perturbation": perturbation})
    if mean is None:
        return {"name": named, "count": 0, "sum": 0, "sum_squared": 0}
    low, high = ends or (mean, mean)
    square = stddev * stddev + mean * mean
    return {
        "name": named,
        "count": count,
        "sum": mean * count,
        "sum_squared": square * count,
        "min": low,
        "max": high,
        "mean": mean,
        "variance": stddev * stddev,
        "stddev": stddev,
    }
