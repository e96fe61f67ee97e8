"""Commits the answers that a driver had not committed when it ended, before any request is sent."""

from collections.abc import Mapping
from dataclasses import dataclass

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.policy import Policy
from medhelm_spark.lake.lease import LeaseHandle
from medhelm_spark.lake.staging import ORDER, is_by, is_of, write_id_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.commits import Commits
from medhelm_spark.stages.infer.denied import Recipient, decided_recipients, record_denied
from medhelm_spark.stages.infer.order_folder import OrderFolder
from medhelm_spark.stages.infer.throughput import outcomes_of


def commit_interrupted(
    ctx: Context,
    lease_handle: LeaseHandle,
    deployments: Mapping[str, Deployment],
    policy: Policy,
) -> bool:
    """Commit the staged answers of runs of this suite; returns whether there were any.

    It leaves those of other drivers that have a lease of the suite and live.
    """
    staged = ctx.lake.staging.names(ctx.suite)

    def has_staged(holder: str) -> bool:
        return any(is_by(name, holder) for name in staged)

    alive = lease_handle.others(ctx.say, has_staged) if staged else frozenset()
    names = [name for name in staged if not any(is_by(name, holder) for holder in alive)]
    for name in names:
        if name not in ctx.lake.staging.names(ctx.suite):  # another driver committed it meanwhile
            continue
        write_id, shared = write_id_of(name), ctx.lake.staging.shared
        if shared and OrderFolder(str(shared / name)).is_one:
            many = Commits(ctx, OrderFolder(str(shared / name)), write_id).commit()
            ctx.lake.staging.remove(name)
        elif name.endswith(ORDER):  # a round's answers are staged apart from the order
            ctx.lake.staging.remove(name)
            continue
        else:
            ctx.lake.append_staged("request_results", name, write_id)
            many = sum(outcome.requests for outcome in outcomes_of(ctx, write_id))
        outcomes = outcomes_of(ctx, write_id)
        ctx.say(f"infer: {counted(many, 'result')} of an interrupted run committed")
        # An interrupted run may have asked deployments that this command does not have.
        others = {outcome.model_deployment for outcome in outcomes} - deployments.keys()
        recipients: dict[str, Recipient] = {**decided_recipients(ctx)} if others else {}
        recipients.update(deployments)
        record_denied(ctx, write_id, outcomes, recipients, policy)
    return bool(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    suite: str


def staged_answers(ctx: Context) -> Mapping[str, int]:
    """How many staging folders have answers, by suite; including those of a living driver."""
    names = ctx.lake.staging.names()
    if not names:
        return {}
    suites = [row.suite for row in ctx.lake.rows("SELECT DISTINCT suite FROM {run_specs}", _Suite)]
    counts = {suite: sum(is_of(name, suite) for name in names) for suite in sorted(suites)}
    return {suite: count for suite, count in counts.items() if count}
