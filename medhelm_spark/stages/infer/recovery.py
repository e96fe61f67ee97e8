"""Answers that a driver had in hand when it ended, committed before anything is asked again."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.policy import Policy
from medhelm_spark.lake.staging import is_of, write_id_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.denied import record_denied
from medhelm_spark.stages.infer.waves import outcomes_of


def commit_interrupted(
    ctx: Context,
    alive: Collection[str],
    deployments: Mapping[str, Deployment],
    policy: Policy,
) -> bool:
    """Commit what waves of this suite have staged; whether there was anything.

    Those of the holders that are `alive` are their own business.
    """
    theirs = tuple(f"_{content_id(holder)[:12]}_" for holder in alive)
    names = [
        name for name in ctx.lake.staging.names(ctx.suite) if not any(one in name for one in theirs)
    ]
    for name in names:
        write_id = write_id_of(name)
        ctx.lake.append_staged("request_results", name, write_id)
        outcomes = outcomes_of(ctx, write_id)
        many = sum(outcome.requests for outcome in outcomes)
        ctx.say(f"infer: {counted(many, 'result')} of an interrupted wave committed")
        known = [outcome for outcome in outcomes if outcome.model_deployment in deployments]
        record_denied(ctx, write_id, known, deployments, policy)
    return bool(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    suite: str


def staged_waves(ctx: Context) -> Mapping[str, int]:
    """The waves whose answers are staged, counted by suite; of a living driver they are too."""
    names = ctx.lake.staging.names()
    if not names:
        return {}
    suites = [row.suite for row in ctx.lake.rows("SELECT DISTINCT suite FROM {run_specs}", _Suite)]
    counts = {suite: sum(is_of(name, suite) for name in names) for suite in sorted(suites)}
    return {suite: count for suite, count in counts.items() if count}
