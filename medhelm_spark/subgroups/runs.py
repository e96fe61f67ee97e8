"""What groups need in the course of an evaluation (`features`)."""

from medhelm_spark.governance.purges import purges_of
from medhelm_spark.pipeline.prepare import Prepared
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.subgroups.assign import assign_groups, derive_groups
from medhelm_spark.subgroups.summarize import summarize_groups
from medhelm_spark.workspace.workspace import Workspace


def prepared(prepared: Prepared) -> None:
    """Store the groups of the data of an evaluation, before a model is asked."""
    assign_groups(prepared.ctx, prepared.cards, prepared.versions)
    planned = zip(prepared.runs, prepared.specs, strict=True)
    bases = {spec.data_version: prepared.versions[run.card.name] for run, spec in planned}
    derive_groups(prepared.ctx, {name: base for name, base in bases.items() if name != base})


def summarized(workspace: Workspace, ctx: Context) -> None:
    """Summarise a suite's runs by the groups of their data; purged data stays as it is."""
    purged = {row.scenario_name for row in purges_of(workspace)}
    rows = [row.run_spec for row in current_runs(ctx)]
    specs = [spec for spec in rows if spec.scenario_name not in purged]
    summarize_groups(ctx, specs, workspace.registry.policy.small_cells)
