"""Fills: named functions from a release's material to a Report, for the items of schemes."""

from collections.abc import Callable, Mapping

from medhelm_spark.evidence.fills import (
    of_data,
    of_judges,
    of_models,
    of_policy,
    of_release,
    of_results,
    of_watch,
)
from medhelm_spark.evidence.material import ReleaseMaterial
from medhelm_spark.render.report import Report

Fill = Callable[[ReleaseMaterial], Report]

FLOW, RESULTS, SUBGROUPS = "flow", "results", "subgroups"
"""The fills that a folder has as a CSV file each, whether an item names them or not."""

FILLS: Mapping[str, Fill] = {
    "release": of_release.release,
    "approvals": of_release.approvals,
    "requirements": of_release.requirements,
    "models": of_models.models,
    "benchmarks": of_data.benchmarks,
    "data": of_data.data,
    FLOW: of_data.flow,
    "prompts": of_data.prompts,
    "settings": of_data.settings,
    "reading": of_data.reading,
    "metrics": of_results.metrics,
    RESULTS: of_results.results,
    "comparisons": of_results.comparisons,
    SUBGROUPS: of_results.subgroups,
    "robustness": of_results.robustness,
    "risk": of_results.risk,
    "cost": of_results.cost,
    "judges": of_judges.judges,
    "agreement": of_judges.agreement,
    "policy": of_policy.policy,
    "decisions": of_policy.decisions,
    "disclosures": of_policy.disclosures,
    "levels": of_policy.levels,
    "monitoring": of_watch.monitoring,
}
"""By the name that a scheme's `fill` has; each function's docstring describes its Report."""

OF_RELEASE = frozenset({"release", "approvals", "requirements", "policy"})
"""The fills that are the same for each model: a model's card takes them over."""
