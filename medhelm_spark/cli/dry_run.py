"""`--dry-run`: what would run, what the policy says of it, and what is missing."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from medhelm_spark.api.results import Runs
from medhelm_spark.api.workspace import say
from medhelm_spark.cli.exit_codes import FAILED
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.policy import PolicyDecision
from medhelm_spark.domain.sampling import SamplingOrder
from medhelm_spark.engines import IMPORTED
from medhelm_spark.stages.decide import JUDGE, MODEL, decisions_of, refuse

ROLES = (MODEL, IMPORTED, JUDGE)


def print_dry_run(runs: Runs) -> int:
    """Print a line per run, then refuse what a real run would refuse; FAILED for what it lacks.

    Raises:
        PolicyError: As `decide` would, in the same words.
    """
    names = (Path(runs.policy.origin).name, Path(runs.policy.restricted_by).name)
    policy = replace(runs.policy, origin=names[0], restricted_by=names[1])
    for run in runs.runs:
        decisions = list(decisions_of(runs.suite, [run], policy))
        sys.stdout.write("\t".join(_cells(run, decisions)) + "\n")
    sys.stdout.flush()
    for needed in runs.needed:
        say(str(needed))
    refuse(runs.decisions, "above")
    say(f"{counted(len(runs.runs), 'run')}; nothing was written or sent")
    return FAILED if runs.missing else 0


def _cells(run: ResolvedRun, decisions: Sequence[PolicyDecision]) -> tuple[str, ...]:
    """Name, model, access level, size, judges, and the rules that allow or refuse."""
    by_role = {
        role: [_answer(decision) for decision in decisions if decision.role == role]
        for role in ROLES
    }
    models = by_role[MODEL] + [f"{answer}, imported, not asked" for answer in by_role[IMPORTED]]
    judges = by_role[JUDGE] or ["none"]
    return (
        run.name,
        ", ".join(models),
        run.card.access_level.value,
        _size(run),
        f"judges: {', '.join(judges)}",
        "; ".join(dict.fromkeys(decision.rule for decision in decisions)),
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
