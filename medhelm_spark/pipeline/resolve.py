"""From run entries to runs whose data and levels are checked, without Spark and the lake."""

from collections.abc import Mapping
from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.scenario import TABULAR, ScenarioCard
from medhelm_spark.domain.skipped import SkippedRun
from medhelm_spark.governance.stated_levels import ProvidedData, with_levels, with_user_data
from medhelm_spark.pipeline.checks import check
from medhelm_spark.pipeline.skipped import absent_runs, refuse_all
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.user_data.own_columns import check_own_columns
from medhelm_spark.user_data.own_data import (
    Sources,
    by_scenario,
    check_order,
    check_sources,
    suite_sources,
)
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An evaluation whose runs, data and levels are checked, without Spark and the lake.

    `runs` have the access levels of `provided`, their cards the data that they read. `own` are the
    scenarios whose data a person provided. `absent` are runs of scenarios that were never imported,
    or whose metrics lack the data that they need.
    """

    workspace: Workspace
    entries: LoadedEntries
    runs: tuple[ResolvedRun, ...]
    provided: ProvidedData
    own: frozenset[str]
    absent: tuple[SkippedRun, ...] = ()

    @property
    def own_cards(self) -> list[ScenarioCard]:
        """The cards whose data is a person's own: `source` of a scenario, or a benchmark file."""
        cards = self.provided.cards.items()
        return [card for name, card in cards if name in self.own or card.shape == TABULAR]


def resolve(
    workspace: Workspace,
    entries: LoadedEntries,
    source: Sources = (),
    columns: Mapping[str, str] | None = None,
    *,
    access_level: AccessLevel | None = None,
    strict: bool = True,
) -> Resolved:
    """Resolve and check the entries, and determine the access level of the data.

    `source` replaces scenarios' own data, and `access_level` states its access level.

    Raises:
        AbsentDataError: a scenario was never imported, or a metric lacks the data that it needs,
            and it is `strict` or there is no other scenario.
    """
    absent: tuple[SkippedRun, ...] = ()
    if not strict:
        entries, absent = workspace.without_absent(entries)
    if not entries.entries:
        refuse_all([run.reason for run in absent])
    runs = workspace.resolve(entries)
    reasons = check(runs, strict=strict)
    absent = (*absent, *absent_runs(runs, reasons))
    runs = tuple(run for run in runs if run.card.name not in reasons)
    if not runs:
        refuse_all([run.reason for run in absent])
    of_suite = suite_sources(entries.suite.sources)
    if absent or entries.is_narrowed:
        evaluated = {run.card.name for run in runs}
        of_suite = {name: own for name, own in of_suite.items() if name in evaluated}
    sources = {**of_suite, **by_scenario(source, columns, runs)}
    check_sources(sources, runs)
    for run in runs:
        check_order(run, sources.get(run.card.name))
    cards = {run.card.name: run.card for run in runs}
    provided = with_user_data(cards, sources, access_level, workspace.registry)
    levels = {name: card.access_level for name, card in provided.cards.items()}
    check_plugins(workspace.registry.policy, levels.values())
    for name, card in provided.cards.items():
        if name in sources or card.shape == TABULAR:
            check_own_columns(card, workspace.say)
    return Resolved(
        workspace=workspace,
        entries=entries,
        runs=with_levels(runs, levels),
        provided=provided,
        own=frozenset(sources),
        absent=absent,
    )
