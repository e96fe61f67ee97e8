"""The first half of an evaluation: load, decide, ingest, plan."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.plan import Again, ResolvedRun
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import TABULAR, ScenarioCard, ScenarioVersion
from medhelm_spark.domain.skipped import LeftOut, SkippedRun
from medhelm_spark.engines.engine import EarlyStart
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.governance.declassification import approved_levels, lowered
from medhelm_spark.governance.purges import refuse_purged
from medhelm_spark.governance.stated_levels import levels_of, with_levels, with_user_data
from medhelm_spark.metrics import declared_labels
from medhelm_spark.pipeline.checks import check_engines, to_infer
from medhelm_spark.pipeline.early_engine import early_engine
from medhelm_spark.pipeline.in_process import is_small
from medhelm_spark.pipeline.resolve import Resolved
from medhelm_spark.pipeline.skipped import absent_files, absent_runs, refuse_all
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.scenarios import check_card
from medhelm_spark.stages.annotate.judges import Judging
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.decide import decide, record
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.ready import ready
from medhelm_spark.stages.ingest.availability import at_hand, record_skipped
from medhelm_spark.stages.ingest.ingested import Ingested, ingested
from medhelm_spark.stages.ingest.stage import ingest
from medhelm_spark.stages.ingest.stored_levels import outgrown
from medhelm_spark.stages.plan.labels import right_answers
from medhelm_spark.stages.plan.run_specs import as_in_suite, check_splits
from medhelm_spark.stages.plan.stage import plan
from medhelm_spark.stages.summarize.stage import completed
from medhelm_spark.user_data.own_columns import check_own_columns
from medhelm_spark.user_data.own_data import (
    Source,
    own_data,
    replaced,
)
from medhelm_spark.user_data.own_rows import check_labels
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace

PATIENT_DATA = """\
------------------------------------------------------------------------------------------
This run reads {level} text: {names}.
It stays in the lake {location} with its access level on every row. Who may read that
place is your file system's, catalog's or bucket's business: check it before going on. Models
and judges see it only where this policy lists their locality:
{policy}.
------------------------------------------------------------------------------------------"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An evaluation whose data is ingested and whose requests are planned.

    `specs` are in the order of their `runs`; `versions` and `levels` are the data versions, and
    their levels, by scenario name, `cards` the cards with the data that they read. `left_out` are
    the runs whose data was not available.
    """

    workspace: Workspace
    ctx: Context
    entries: LoadedEntries
    runs: tuple[ResolvedRun, ...]
    specs: tuple[RunSpec, ...]
    versions: Mapping[str, str]
    levels: Mapping[str, AccessLevel]
    cards: Mapping[str, ScenarioCard]
    left_out: tuple[LeftOut, ...] = ()
    engine: EarlyStart | None = None
    """An engine whose start began before the data was read (`pipeline.early_engine`)."""

    @property
    def models(self) -> InferenceTargets:
        """The models of these runs, as infer asks them."""
        return InferenceTargets(
            deployments={run.deployment.name: run.deployment for run in self.runs},
            policy=self.workspace.registry.policy,
            started=self.engine,
        )

    @property
    def judging(self) -> Judging:
        """The judges of these runs, as annotate asks them."""
        annotators = zip(self.specs, self.runs, strict=True)
        return Judging(
            annotators={spec.run_spec_id: run.annotators for spec, run in annotators},
            policy=self.workspace.registry.policy,
        )


def prepare(
    resolved: Resolved,
    suite: str,
    *,
    is_asked: bool = True,
    skip_completed_runs: bool = False,
    strict: bool = True,
    again: Again | None = None,
) -> Prepared:
    """Load, decide, ingest, plan: ask the policy, read missing data, freeze the runs.

    Data in the lake is used as it is, except a user's own benchmark file: it is read again, so that
    an edit takes effect. `is_asked` says whether models or judges will be asked. If not `strict`,
    runs without available data are left out, which is recorded and printed.

    Raises:
        AbsentDataError: data is not available, and it is `strict` or there is no other.
    """
    _check_again(resolved.runs, again)
    refuse_purged(resolved.workspace, {run.card.name for run in resolved.runs})
    loaded = _load(
        resolved, suite, is_asked=is_asked, skip_completed=skip_completed_runs, strict=strict
    )
    _decide_early(loaded)
    engine = early_engine(loaded.ctx, loaded.runs) if is_asked else None
    try:
        data, left_out = _ingest(loaded, strict=strict)
        runs, data = _decide(loaded, data)
        runs = as_in_suite(loaded.ctx, runs, again)
        return replace(_plan(loaded, runs, data, left_out), engine=engine)
    except BaseException:
        if engine:
            engine.end()
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """An evaluation with its lake open; `runs` are the runs that are not completed."""

    resolved: Resolved
    ctx: Context
    runs: tuple[ResolvedRun, ...]
    cards: Mapping[str, ScenarioCard]
    """By scenario name, with the data that they read."""
    approved: Mapping[str, AccessLevel]
    """By scenario name the level that the site's policy approves."""
    reasons: Mapping[str, str]
    """By scenario name why its data is not available, as far as is known without Spark."""

    @property
    def policy(self) -> Policy:
        return self.resolved.workspace.registry.policy


def _load(
    resolved: Resolved, suite: str, *, is_asked: bool, skip_completed: bool, strict: bool
) -> _Loaded:
    """Open the lake, after all checks that need no session."""
    workspace, provided, runs = resolved.workspace, resolved.provided, resolved.runs
    if is_asked:
        check_engines(runs, workspace)
    reasons = _absent(resolved, strict=strict)
    deployments = to_infer(runs).values() if is_asked else ()
    workspace.expect(map(_highest, provided.cards.values()), deployments)
    ctx = workspace.context(suite, is_in_process=is_small(workspace, runs, provided.cards))
    if is_asked:
        ready(ctx, to_infer(runs).values())
    if skip_completed:
        done = completed(ctx)
        runs = tuple(run for run in runs if run.name not in done)
    ctx.ledger.check()  # refuses a lake of a newer schema before anything is written
    return _Loaded(
        resolved=resolved,
        ctx=ctx,
        runs=runs,
        cards={run.card.name: provided.cards[run.card.name] for run in runs},
        approved=approved_levels(ctx, workspace.registry.policy.binding_approvals),
        reasons=reasons,
    )


def _decide_early(loaded: _Loaded) -> None:
    """Refuse, before data is read, runs that the policy refuses even at the lowest level."""
    lowest = _lowest(loaded.cards, loaded.approved)
    decide(loaded.ctx, with_levels(loaded.runs, lowest), loaded.policy)
    _warn(loaded.ctx, loaded.cards.values(), loaded.policy)


def _ingest(loaded: _Loaded, *, strict: bool) -> tuple[Mapping[str, Ingested], tuple[LeftOut, ...]]:
    """The data of the runs, after reading missing data; and the runs without available data."""
    ctx, resolved, cards = loaded.ctx, loaded.resolved, loaded.cards
    provided, reasons = resolved.provided, dict(loaded.reasons)
    stored = [
        card for name, card in cards.items() if name not in resolved.own and card.shape != TABULAR
    ]
    data = _still_known(ctx, ingested(ctx, stored), cards, provided.published)
    missing = [card for name, card in cards.items() if name not in data and name not in reasons]
    if not strict:
        missing, more = at_hand(ctx, missing)
        reasons |= more
        _refuse_nothing(resolved, reasons)
    skipped = [*resolved.absent, *absent_runs(loaded.runs, reasons)]
    _print_absent(ctx, skipped)
    data |= ingest(
        ctx,
        missing,
        published=provided.published,
        stated_by=provided.stated_by,
        lowered=loaded.approved,
    )
    return data, record_skipped(ctx, skipped)


def _decide(
    loaded: _Loaded, data: Mapping[str, Ingested]
) -> tuple[tuple[ResolvedRun, ...], Mapping[str, Ingested]]:
    """The runs and their data at their final levels; records the policy's decisions."""
    ctx = loaded.ctx
    runs = tuple(run for run in loaded.runs if run.card.name in data)
    check_splits(runs, {name: each.splits for name, each in data.items()})
    _check_labels(ctx, loaded.resolved.own_cards, data)
    data = lowered(ctx, data, loaded.policy.binding_approvals)
    runs = with_levels(runs, levels_of(data))
    unreviewed = [name for name, each in data.items() if each.is_unreviewed]
    record(ctx, decide(ctx, runs, loaded.policy, unreviewed))
    return runs, data


def _plan(
    loaded: _Loaded,
    runs: tuple[ResolvedRun, ...],
    data: Mapping[str, Ingested],
    left_out: tuple[LeftOut, ...],
) -> Prepared:
    """Freeze the runs and write their requests."""
    ctx = loaded.ctx
    ctx.lake.session.expect_rows(sum(each.size for each in data.values()))
    versions = {name: each.data_version for name, each in data.items()}
    return Prepared(
        workspace=loaded.resolved.workspace,
        ctx=ctx,
        entries=loaded.resolved.entries,
        runs=runs,
        specs=tuple(plan(ctx, runs, versions)),
        versions=versions,
        levels=levels_of(data),
        cards={run.card.name: loaded.cards[run.card.name] for run in runs},
        left_out=left_out,
    )


def _check_again(runs: Sequence[ResolvedRun], again: Again | None) -> None:
    """Refuse to ask a model again that has no run."""
    if again and not any(again.means(run.deployment) for run in runs):
        known = sorted({run.deployment.name for run in runs})
        raise UnknownNameError("model", str(again.model), known, where="--model")


def _absent(resolved: Resolved, *, strict: bool) -> dict[str, str]:
    """By scenario name why the data is not available, as far as is known without Spark.

    Data that a person provided is not checked here.

    Raises:
        AbsentDataError: it is `strict` or no scenario has its data.
    """
    cards = [
        card
        for name, card in resolved.provided.cards.items()
        if name not in resolved.own and not card.source.is_own and card.shape != TABULAR
    ]
    reasons = absent_files(resolved.workspace, cards)
    if reasons and strict:
        refuse_all(list(reasons.values())[:1])
    _refuse_nothing(resolved, reasons)
    return reasons


def _refuse_nothing(resolved: Resolved, reasons: Mapping[str, str]) -> None:
    """Refuse a command if no scenario is left."""
    if len(reasons) == len(resolved.provided.cards):
        refuse_all([*(run.reason for run in resolved.absent), *reasons.values()])


def _print_absent(ctx: Context, absent: Sequence[SkippedRun]) -> None:
    names = list(dict.fromkeys(run.scenario_name for run in absent))
    if names:
        ctx.say(
            f"left out: {counted(len(names), 'scenario')} whose data cannot be had: "
            f"{first_of(names, 8)}"
        )


def _check_labels(
    ctx: Context, cards: Sequence[ScenarioCard], data: Mapping[str, Ingested]
) -> None:
    """Refuse a declared label that is in no row of a person's own data."""
    for card in cards:
        if card.name in data and declared_labels(card.metrics):
            check_labels(card, right_answers(ctx, data[card.name].data_version))


def _highest(card: ScenarioCard) -> AccessLevel:
    """The strictest level that the data may have: a table's rows have their own."""
    return AccessLevel.PRIVATE if card.source.table else card.access_level


def _lowest(
    cards: Mapping[str, ScenarioCard], approved: Mapping[str, AccessLevel]
) -> dict[str, AccessLevel]:
    """The lowest level that the data of each card may have.

    A run that is refused at that level is refused before its data is read; the policy is asked
    again with the data's real level, before prompts are rendered.
    """
    return {
        name: min(
            (card.access_level, approved.get(name, card.access_level)),
            key=lambda level: level.strictness,
        )
        for name, card in cards.items()
    }


def ingest_scenario(
    workspace: Workspace,
    name: str,
    source: Source = (),
    columns: Mapping[str, str] | None = None,
    *,
    access_level: AccessLevel | None = None,
) -> Ingested:
    """Read a scenario's data into the lake, from its card's source or from another."""
    cards = workspace.registry.cards
    if name not in cards:
        raise UnknownNameError("scenario", name, cards, where="--scenario")
    refuse_purged(workspace, [name])
    own = own_data(source, columns)
    check_card(bind(replaced(cards[name], own)))
    bound = {name: bind(cards[name])}
    provided = with_user_data(bound, {name: own} if own else {}, access_level, workspace.registry)
    card = provided.cards[name]
    check_plugins(workspace.registry.policy, [card.access_level])
    if own:
        check_own_columns(card, workspace.say)
    workspace.expect([_highest(card)])
    ctx = workspace.context("")
    approved = approved_levels(ctx, workspace.registry.policy.binding_approvals)
    return ingest(
        ctx, [card], published=provided.published, stated_by=provided.stated_by, lowered=approved
    )[name]


def _still_known(
    ctx: Context,
    data: Mapping[str, Ingested],
    cards: Mapping[str, ScenarioCard],
    published: Collection[str],
) -> dict[str, Ingested]:
    """The data in the lake without equal text that was ingested at a stricter level since.

    The others are read again, and raised; imported data cannot be read again and gets that level.
    """
    stored_levels = {
        each.data_version: each.access_level
        for name, each in data.items()
        if name not in published or each.is_stated
    }
    levels = outgrown(ctx, stored_levels)
    return {
        name: replace(each, access_level=levels.get(each.data_version, each.access_level))
        for name, each in data.items()
        if each.data_version not in levels or cards[name].source.data_version
    }


def _warn(ctx: Context, cards: Iterable[ScenarioCard], policy: Policy) -> None:
    """Print a warning before the first gated or private run of a lake."""
    restricted = [card for card in cards if card.access_level != AccessLevel.PUBLIC]
    if not restricted:
        return
    seen = ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
    if all(version.access_level == AccessLevel.PUBLIC for version in seen):
        level = max(
            (card.access_level for card in restricted), key=lambda version: version.strictness
        )
        names = ", ".join(sorted(card.name for card in restricted))
        location = ctx.lake.location
        ctx.say(
            PATIENT_DATA.format(level=level, names=names, location=location, policy=policy.label)
        )
