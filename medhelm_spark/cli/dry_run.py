"""`--dry-run`: what would run and what the policy says of it; starts no Spark, writes nothing."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from medhelm_spark.cli.workspace import say
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.policy import Policy, PolicyDecision
from medhelm_spark.domain.sampling import SamplingOrder
from medhelm_spark.stages.decide import decisions_of, refuse


def dry_run(runs: Sequence[ResolvedRun], suite: str, policy: Policy) -> int:
    """Print a line per run, then refuse what a real run would refuse.

    Raises:
        PolicyError: As `decide` would, in the same words.
    """
    named = replace(policy, origin=Path(policy.origin).name)
    for run in runs:
        line = _cells(run, list(decisions_of(suite, [run], named)))
        sys.stdout.write("\t".join(line) + "\n")
    sys.stdout.flush()
    refuse(decisions_of(suite, runs, policy), "above")
    say(f"{counted(len(runs), 'run')}; nothing was written or sent")
    return 0


def _cells(run: ResolvedRun, decisions: Sequence[PolicyDecision]) -> tuple[str, ...]:
    """Name, model, access level, size, judges, and the rules that allow or refuse."""
    imported = f"{run.deployment.name} (imported, not asked)"
    models = [_answer(one) for one in decisions if one.role == "model"] or [imported]
    judges = [_answer(one) for one in decisions if one.role == "judge"] or ["none"]
    return (
        run.name,
        ", ".join(models),
        run.card.access_level.value,
        _size(run),
        f"judges: {', '.join(judges)}",
        "; ".join(dict.fromkeys(one.rule for one in decisions)),
    )


def _size(run: ResolvedRun) -> str:
    limit, sampling = run.adapter_spec.max_eval_instances, run.card.sampling
    size = counted(limit, "instance") if limit else "all instances"
    if sampling.filter:
        size += f" by {', '.join(sampling.filter)}"
    return size if sampling.order is SamplingOrder.HASH else f"{size} in {sampling.order} order"


def _answer(decision: PolicyDecision) -> str:
    word = "allowed" if decision.allowed else "refused"
    return f"{decision.model_deployment} ({decision.locality}) {word}"
