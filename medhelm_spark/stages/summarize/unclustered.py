"""Runs whose data was read before its card named a cluster: their intervals are too narrow.

The lake does not have the clusters of such rows, so stats cannot be computed again from it: the
source has to be read again, by repeating the command. Answers stay.
"""

from collections.abc import Iterable, Mapping

from medhelm_spark.domain.helm_results import HELM_RESULTS
from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import ScenarioCard, ScenarioVersion
from medhelm_spark.domain.stages import SUMMARIZE
from medhelm_spark.lake.literals import literals
from medhelm_spark.scenarios import CLUSTER
from medhelm_spark.stages.context import Context

_SCENARIOS = "SELECT * FROM {{scenarios}} WHERE data_version IN ({versions})"


def say_unclustered(
    ctx: Context, specs: Iterable[RunSpec], cards: Mapping[str, ScenarioCard]
) -> None:
    """Print which scenarios of a suite's current RunSpecs have to be read again."""
    clustered = {card.name for card in cards.values() if CLUSTER in card.fields}
    versions = {
        spec.data_version for spec in specs if spec.scenario_name.partition(":")[0] in clustered
    }
    if not versions:
        return
    rows = ctx.lake.rows(_SCENARIOS.format(versions=literals(sorted(versions))), ScenarioVersion)
    names = {
        row.scenario_name
        for row in rows
        if row.cluster_column is None and row.source != HELM_RESULTS
    }
    if names:
        ctx.say(
            f"{SUMMARIZE.name}: {first_of(sorted(names))} of suite {ctx.suite!r}: read before the "
            "card named a cluster, so that intervals and tests take its answers for independent; "
            "repeat the command that made its runs: it reads the data again and asks no model."
        )
