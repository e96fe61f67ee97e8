"""`--dry-run`: what would run, what the policy decides, and what is missing."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from medhelm_spark.cli.exit_codes import FAILED, LEFT_OUT
from medhelm_spark.cli.incomplete import FETCH
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.policy import PolicyDecision
from medhelm_spark.domain.sampling import SamplingOrder
from medhelm_spark.engines import IMPORTED, factory_of
from medhelm_spark.pipeline.availability import DATA
from medhelm_spark.pipeline.results import Runs
from medhelm_spark.stages.decide import JUDGE, MODEL, decisions_of, refuse
from medhelm_spark.workspace.workspace import say

ROLES = (MODEL, IMPORTED, JUDGE)


def print_dry_run(runs: Runs, *, strict: bool) -> int:
    """Print a line per run, then refuse what a real run would refuse.

    Returns the code that the run would end with for what is missing: LEFT_OUT where it would leave
    scenarios out, FAILED where it would end; 0 where nothing is.

    Raises:
        PolicyError: As `decide` would, in the same words.
    """
    names = (Path(runs.policy.origin).name, Path(runs.policy.restricted_by).name)
    policy = replace(runs.policy, origin=names[0], restricted_by=names[1])
    for run in runs.runs:
        decisions = list(decisions_of(runs.suite, [run], policy))
        sys.stdout.write("\t".join(_cells(run, decisions)) + "\n")
    sys.stdout.flush()
    for line in _renderings(runs.runs):
        say(line)
    for needed in runs.needed:
        say(str(needed))
    refuse(runs.decisions, "above")
    say(f"{counted(len(runs.runs), 'run')}; nothing was written or sent")
    return _code(runs, strict=strict)


def _renderings(runs: Sequence[ResolvedRun]) -> list[str]:
    """The chat templates of the models that this job loads itself."""
    models = {run.deployment.name: run.deployment for run in runs}
    templates = {name: factory_of(each).rendering(each) for name, each in models.items()}
    return [f"{name}: {text}" for name, text in templates.items() if text]


def _code(runs: Runs, *, strict: bool) -> int:
    if not runs.missing:
        return 0
    absent = {needed.name for needed in runs.missing if needed.kind == DATA}
    is_model = any(needed.kind == MODEL for needed in runs.missing)
    if strict or is_model or absent >= {run.card.name for run in runs.runs}:
        return FAILED
    say(FETCH)
    return LEFT_OUT


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
