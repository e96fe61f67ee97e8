"""decide: ask the policy for every model and judge of a plan, record the answers, refuse."""

from collections.abc import Iterator, Sequence

from pyspark.sql import DataFrame

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.policy import Policy, PolicyDecision
from medhelm_spark.errors import PolicyError
from medhelm_spark.governance.policy import decide as ask
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.stages.context import Context, now

NEVER_ASKED = "imported"


def decide(ctx: Context, runs: Sequence[ResolvedRun], policy: Policy) -> None:
    """Record who may see what, and refuse the plan when anybody may not.

    Raises:
        PolicyError: names the first refusal and their number; nothing was rendered or sent.
    """
    decisions = [decision for run in runs for decision in _decisions(ctx, run, policy)]
    known = {_identity(row) for row in rows_of(_of_suite(ctx), PolicyDecision)}
    new = {_identity(row): row for row in decisions if _identity(row) not in known}
    ctx.lake.append_rows("policy_decisions", new.values(), new_write_id())
    refused = [row for row in decisions if not row.allowed]
    if refused:
        first, others = refused[0], len(refused) - 1
        more = f" ({others} more refusals are in policy_decisions)" if others else ""
        raise PolicyError(
            f"{first.run_name}: the {first.role} {first.subject!r} ({first.locality}) may not see "
            f"{first.access_level} text: {first.rule}{more}."
        )


def _of_suite(ctx: Context) -> DataFrame:
    table = ctx.lake.read("policy_decisions")
    return table.where(table.suite == ctx.suite)


def _decisions(ctx: Context, run: ResolvedRun, policy: Policy) -> Iterator[PolicyDecision]:
    if run.deployment.engine != NEVER_ASKED:
        yield _decision(ctx, run, policy, "model", run.deployment)
    for annotator in run.annotators:
        for deployment in annotator.deployments:
            yield _decision(ctx, run, policy, "judge", deployment)


def _decision(
    ctx: Context, run: ResolvedRun, policy: Policy, role: str, deployment: Deployment
) -> PolicyDecision:
    answer = ask(policy, run.card.access_level, deployment.locality)
    return PolicyDecision(
        suite=ctx.suite,
        run_name=run.name,
        role=role,
        subject=deployment.model,
        model_deployment=deployment.name,
        locality=deployment.locality.value,
        access_level=run.card.access_level,
        allowed=answer.allowed,
        rule=answer.rule,
        policy_version=policy.version,
        decided_at=now(),
    )


def _identity(row: PolicyDecision) -> tuple[object, ...]:
    return (
        row.run_name,
        row.role,
        row.model_deployment,
        row.locality,
        row.access_level,
        row.policy_version,
        row.allowed,
    )
