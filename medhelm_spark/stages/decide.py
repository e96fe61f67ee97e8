"""decide: ask the policy for every model and judge of a plan, record the answers, refuse."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import UNKNOWN, Deployment, Locality
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.policy import Decision, Policy, PolicyDecision
from medhelm_spark.domain.stages import PLAN
from medhelm_spark.engines import IMPORTED, factory_of
from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.literals import among
from medhelm_spark.metrics import metrics_for
from medhelm_spark.policy.allowlist import confined
from medhelm_spark.policy.levels import without_review
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.policy.policy import decide as ask
from medhelm_spark.stages.context import Context, now

ALLOWING = (
    "docs/governance.md#the-policys-place, docs/own-model.md#private-notes-to-your-own-server"
)
"""The pages that explain how a site allows more than the shipped policy."""

MODEL, JUDGE, METRIC = "model", "judge", "metric"


def decide(
    ctx: Context,
    runs: Sequence[ResolvedRun],
    policy: Policy,
    unreviewed: Collection[str] = (),
) -> list[PolicyDecision]:
    """Ask the policy, and refuse the plan if a model or judge may not see its text.

    A refusal is recorded at once; `record` writes the other decisions once the data is known to be
    good. `unreviewed` are the scenarios whose level a person lowered without a second person.

    Raises:
        PolicyError: names the first refusal and their number; nothing was rendered or sent. Also
            for a plug-in that the policy does not list for such text.
    """
    check_plugins(policy, (run.card.access_level for run in runs))
    decisions = list(decisions_of(ctx.suite, runs, policy, unreviewed))
    if not all(decision.allowed for decision in decisions):
        record(ctx, decisions)
        refuse(decisions, "in policy_decisions")
    return decisions


def record(ctx: Context, decisions: Iterable[PolicyDecision]) -> None:
    """Write the decisions that `policy_decisions` does not contain yet."""
    ctx = ctx.within(PLAN)
    sql = f"SELECT * FROM {{policy_decisions}} WHERE {among('suite', [ctx.suite])}"
    rows = ctx.lake.rows(sql, PolicyDecision)
    known = {_identity(row) for row in rows if row.suite == ctx.suite}
    own = [replace(row, run_by=ctx.user) for row in decisions]
    new = {_identity(row): row for row in own if _identity(row) not in known}
    ctx.lake.append_rows("policy_decisions", new.values(), new_write_id())


def decisions_of(
    suite: str,
    runs: Iterable[ResolvedRun],
    policy: Policy,
    unreviewed: Collection[str] = (),
) -> Iterator[PolicyDecision]:
    """The policy's decision on every model and judge that these runs would ask."""
    for run in runs:
        is_unreviewed = run.card.name in unreviewed
        asking = Asking(suite=suite, run_name=run.name, access_level=run.card.access_level)
        for role, deployment in _recipients(run):
            yield decision_of(asking, role, deployment, policy, is_unreviewed=is_unreviewed)
        for metric, params in metrics_for(run.metrics):
            if model := metric.loads(params):
                answer = ask(policy, run.card.access_level, Locality.LOCAL)
                yield PolicyDecision(
                    suite=suite,
                    run_name=run.name,
                    role=METRIC,
                    subject=model,
                    model_deployment=metric.emitted(params)[0].name,
                    locality=Locality.LOCAL,
                    access_level=run.card.access_level,
                    allowed=answer.allowed,
                    rule=f"{answer.rule} (in this job's processes, from a folder)",
                    policy_version=policy.version,
                    decided_at=now(),
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The run that asks the policy, and the level of its text."""

    suite: str
    run_name: str
    access_level: AccessLevel


def decision_of(
    asking: Asking, role: str, deployment: Deployment, policy: Policy, *, is_unreviewed: bool
) -> PolicyDecision:
    """The policy's decision on one model or judge.

    Args:
        asking: the run and its text.
        role: MODEL, JUDGE or IMPORTED.
        deployment: the model or judge that would see the text.
        policy: the site's.
        is_unreviewed: whether a person lowered the level without a second person.
    """
    answer = _ask(policy, asking.access_level, role, deployment)
    if is_unreviewed:
        answer = without_review(answer, deployment.locality)
    return PolicyDecision(
        suite=asking.suite,
        run_name=asking.run_name,
        role=role,
        subject=deployment.model,
        model_deployment=deployment.name,
        locality=_locality(deployment, answer),
        access_level=asking.access_level,
        allowed=answer.allowed,
        rule=answer.rule,
        policy_version=policy.version,
        decided_at=now(),
    )


def _locality(deployment: Deployment, answer: Decision) -> str:
    """Where a deployment runs; unknown if the refusal would rest on a guess."""
    is_guess = not deployment.is_locality_stated and not answer.allowed
    return UNKNOWN if is_guess else deployment.locality or UNKNOWN


def _ask(policy: Policy, level: AccessLevel, role: str, deployment: Deployment) -> Decision:
    """The policy's decision on a deployment; imported answers are not sent anywhere."""
    is_imported = role == IMPORTED
    if is_imported:
        answer = ask(policy, level, deployment.locality)
    else:
        answer = confined(policy, level, deployment, factory_of(deployment).route(deployment))
    if is_imported and deployment.locality is None and level is AccessLevel.PUBLIC:
        return Decision(allowed=True, rule="public answers from a file; nothing is sent")
    if is_imported and deployment.locality is None:
        return replace(answer, rule=f"{answer.rule}; --attest-locality states where it answered")
    if deployment.is_locality_attested:
        source = f"{deployment.origin} --attest-locality {deployment.locality}"
        return replace(answer, rule=f"{answer.rule} (by {source})")
    if is_imported:
        return replace(answer, rule=f"{answer.rule} (by {deployment.origin})")
    return answer


def refuse(decisions: Iterable[PolicyDecision], others: str) -> None:
    """Refuse the plan if a model or judge may not see its text; `others` says where the rest is.

    Raises:
        PolicyError: names the first refusal and the number of others.
    """
    refused = [row for row in decisions if not row.allowed]
    if refused:
        first = refused[0]
        more = f" ({len(refused) - 1} more {others})" if len(refused) > 1 else ""
        raise PolicyError(
            f"{first.run_name}: the {first.role} {first.subject!r} ({first.locality}) may not see "
            f"{first.access_level} text: {first.rule}{more}.{_how_allowed(first)}"
        )


def _how_allowed(refused: PolicyDecision) -> str:
    """Where a site reads how its own policy allows a locality; empty for public text."""
    is_public = refused.access_level == AccessLevel.PUBLIC
    if is_public or refused.locality not in {Locality.TENANT, Locality.BAA, Locality.EXTERNAL}:
        return ""
    return f" To allow {refused.locality}, a site has a binding policy: {ALLOWING}."


def _recipients(run: ResolvedRun) -> Iterator[tuple[str, Deployment]]:
    yield IMPORTED if run.deployment.engine == IMPORTED else MODEL, run.deployment
    for annotator in run.annotators:
        for deployment in annotator.deployments:
            yield JUDGE, deployment


def _identity(row: PolicyDecision) -> tuple[object, ...]:
    return (
        row.run_name,
        row.role,
        row.model_deployment,
        row.locality,
        row.access_level,
        row.policy_version,
        row.allowed,
        row.rule,  # it contains what a person attested
        row.run_by,
    )
