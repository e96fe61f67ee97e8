"""Scores and summarises existing suites by the current metrics and definitions."""

from collections.abc import Sequence

from medhelm_spark import features
from medhelm_spark.board import choose
from medhelm_spark.errors import ConfigError
from medhelm_spark.governance.purges import purges_of
from medhelm_spark.pipeline.in_process import is_small_lake
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import suite_runs
from medhelm_spark.stages.score.stage import score
from medhelm_spark.stages.summarize.stage import summarize
from medhelm_spark.stages.summarize.unclustered import say_unclustered
from medhelm_spark.workspace.entries import listed
from medhelm_spark.workspace.names import check_name
from medhelm_spark.workspace.workspace import Workspace


def summarized(workspace: Workspace, suites: str | Sequence[str]) -> list[Context]:
    """Score and summarise suites if a metric or definition has changed; a context for each.

    Raises:
        ConfigError: no suite is named.
        LakeError: the lake does not have one of them.
    """
    names = [check_name("suite", name) for name in listed(suites)]
    if not names:
        raise ConfigError("give at least one suite.")
    for name in names:
        choose(workspace.reader, name)
    purged = {row.scenario_name for row in purges_of(workspace)}
    is_here = is_small_lake(workspace)
    contexts = [workspace.context(suite, is_in_process=is_here) for suite in names]
    for ctx in contexts:
        specs = [row.run_spec for row in suite_runs(ctx, [ctx.suite])]
        check_plugins(workspace.registry.policy, (spec.access_level for spec in specs))
        remaining = [spec for spec in specs if spec.scenario_name not in purged]
        score(ctx, remaining)
        summarize(ctx, remaining)
        for feature in features.parts("runs"):
            feature.summarized(workspace, ctx)
        say_unclustered(ctx, specs, workspace.registry.cards)
    return contexts
