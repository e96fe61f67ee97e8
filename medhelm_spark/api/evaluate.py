"""The order of stages, and the checks that come before any of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.annotators.kinds import kind_of
from medhelm_spark.api.absent import absent_files, absent_runs, refuse_all
from medhelm_spark.api.entries import LoadedEntries
from medhelm_spark.api.levels import Given, given_data, levels_of, with_levels
from medhelm_spark.api.own_columns import check_own_columns
from medhelm_spark.api.own_data import (
    Source,
    Sources,
    by_scenario,
    check_order,
    check_sources,
    own_data,
    replaced,
    suite_sources,
)
from medhelm_spark.api.own_rows import check_labels
from medhelm_spark.api.suite_models import Other, on_other_data, others_left, runs_of
from medhelm_spark.api.workspace import Workspace
from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.counting import counted, first_of
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.left_out import AbsentRun, LeftOut
from medhelm_spark.domain.plan import Again, ResolvedRun, deployments_of
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import TABULAR, ScenarioCard, ScenarioVersion, Split
from medhelm_spark.domain.stages import ANNOTATE, INFER, SCORE, SUMMARIZE, UPTO, Stage
from medhelm_spark.engines import IMPORTED, factory_of, preflight
from medhelm_spark.errors import AbsentDataError, ConfigError, UnknownNameError
from medhelm_spark.governance.commands import check_command
from medhelm_spark.governance.plugins import check_plugins
from medhelm_spark.metrics import declared_labels, metrics_for, run_metrics_for, stats_of
from medhelm_spark.scenarios import check_card
from medhelm_spark.stages.annotate import annotate
from medhelm_spark.stages.comparability import outdated
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.decide import decide, record
from medhelm_spark.stages.infer.pending import Recipients
from medhelm_spark.stages.infer.ready import ready
from medhelm_spark.stages.infer.stage import infer
from medhelm_spark.stages.ingest.at_hand import at_hand, record_left_out
from medhelm_spark.stages.ingest.held import outgrown
from medhelm_spark.stages.ingest.ingested import Ingested, ingested
from medhelm_spark.stages.ingest.lowering import approved_levels, lowered
from medhelm_spark.stages.ingest.stage import ingest
from medhelm_spark.stages.judges import Judging
from medhelm_spark.stages.plan.labels import right_answers
from medhelm_spark.stages.plan.perturb import changes_of
from medhelm_spark.stages.plan.run_specs import check_splits, current_runs, dated
from medhelm_spark.stages.plan.stage import plan
from medhelm_spark.stages.plan.windows import fit_of
from medhelm_spark.stages.rescore import enter_rescored, others_of, rescored
from medhelm_spark.stages.score import score
from medhelm_spark.stages.summarize import completed, summarize

SPLIT = "split"

PATIENT_DATA = """\
------------------------------------------------------------------------------------------
This run reads {level} text: {names}.
It stays in the lake {place} with its access level on every row. Who may read that
place is your file system's, catalog's or bucket's business: check it before going on. Models
and judges see it only where this policy lists their locality:
{policy}.
------------------------------------------------------------------------------------------"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """An evaluation whose runs, data and levels are checked; neither Spark nor the lake was asked.

    `runs` stand at the levels of `given`, their cards with the data that they read. `own` are the
    scenarios whose data a person gave. `absent` are runs of scenarios that were never imported, or
    whose metrics lack what they score by.
    """

    workspace: Workspace
    entries: LoadedEntries
    runs: tuple[ResolvedRun, ...]
    given: Given
    own: frozenset[str]
    absent: tuple[AbsentRun, ...] = ()

    @property
    def own_cards(self) -> list[ScenarioCard]:
        """The cards whose data is a person's own: given for a scenario, or of a benchmark file."""
        cards = self.given.cards.items()
        return [card for name, card in cards if name in self.own or card.shape == TABULAR]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An evaluation whose data is ingested and whose requests are planned.

    `specs` stand in the order of their `runs`; `versions` and `levels` are the data versions, and
    their levels, by scenario name. `left_out` are the runs whose data could not be had.
    """

    workspace: Workspace
    ctx: Context
    entries: LoadedEntries
    runs: tuple[ResolvedRun, ...]
    specs: tuple[RunSpec, ...]
    versions: Mapping[str, str]
    levels: Mapping[str, AccessLevel]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def models(self) -> Recipients:
        """The models of these runs, as infer asks them."""
        return Recipients(
            deployments={run.deployment.name: run.deployment for run in self.runs},
            policy=self.workspace.registry.policy,
        )

    @property
    def judging(self) -> Judging:
        """The judges of these runs, as annotate asks them."""
        annotators = zip(self.specs, self.runs, strict=True)
        return Judging(
            annotators={spec.run_spec_id: run.annotators for spec, run in annotators},
            policy=self.workspace.registry.policy,
        )


def check(runs: Sequence[ResolvedRun], *, strict: bool = True) -> dict[str, str]:
    """Refuse what can be seen to be wrong before Spark, data or a model is touched.

    Returns by scenario name why the data that a metric scores by cannot be had, which is refused
    where it is `strict`.
    """
    absent: dict[str, str] = {}
    for run in runs:
        fit_of(run)
        changes_of(run)
        try:
            _check_metrics(run)
        except AbsentDataError as error:
            if strict:
                raise
            absent[run.card.name] = str(error)
        _check_endpoint(run)
        _check_examples(run)
        for annotator in run.annotators:
            kind_of(annotator.rubric)
    return absent


def _check_metrics(run: ResolvedRun) -> None:
    try:
        for metric, params in metrics_for(run.metrics):
            metric.preflight(params)
        for run_metric, params in run_metrics_for(run.metrics):
            run_metric.preflight(params)
    except AbsentDataError:
        raise
    except ConfigError as error:
        raise ConfigError(f"{run.name}: {error}") from None


def _check_endpoint(run: ResolvedRun) -> None:
    """Refuse a primary endpoint whose metric the scenario does not have."""
    known = [stat.name for stat in stats_of(run.metrics)]
    if run.is_primary and run.card.main_metric not in known:
        where = f"the suite file's primary_endpoint: scenario {run.card.name!r}"
        raise UnknownNameError("metric", run.card.main_metric, known, where=where)


def _check_examples(run: ResolvedRun) -> None:
    """Refuse few-shot examples of a benchmark that names no rows for them."""
    wanted, source = run.adapter_spec.max_train_instances, run.card.source
    has_examples = any(file.split is Split.TRAIN for file in source.files)
    if run.card.shape == TABULAR and wanted and not (has_examples or SPLIT in run.card.fields):
        raise ConfigError(
            f"{run.where or run.name}: max_train_instances is {wanted}, and {run.card.name!r} "
            "names no rows for examples; give train_file or split_column in its configuration."
        )


def check_engines(runs: Sequence[ResolvedRun], workspace: Workspace) -> None:
    """Refuse an engine that cannot run here; loads no model.

    On a cluster the driver has neither the executors' GPUs nor their vLLM: of an engine that loads
    a model it checks the arguments alone, and the rest is checked where it is built.
    """
    for deployment in askable(runs).values():
        check_engine(deployment, workspace)


def check_engine(deployment: Deployment, workspace: Workspace) -> None:
    """Refuse a deployment as `check_engines` does, or whose key's command may not be run."""
    check_command(workspace.registry.policy, deployment)
    platform, factory = workspace.settings.platform, factory_of(deployment)
    factory.check_arguments(deployment)
    if platform is Platform.LOCAL or not factory.exclusive:
        preflight(deployment)


def askable(runs: Sequence[ResolvedRun]) -> dict[str, Deployment]:
    """The models and judges that these runs would ask, by name."""
    deployments = deployments_of(runs)
    return {name: each for name, each in deployments.items() if each.engine != IMPORTED}


def resolve(
    workspace: Workspace,
    entries: LoadedEntries,
    source: Sources = (),
    columns: Mapping[str, str] | None = None,
    *,
    access_level: AccessLevel | None = None,
    strict: bool = True,
) -> Resolved:
    """Resolve, check, and tell the level of the data.

    `source` replaces scenarios' own data, and `access_level` says who may hold it.

    Raises:
        AbsentDataError: a scenario was never imported, or a metric lacks what it scores by, and it
            is `strict` or there is no other scenario.
    """
    absent: tuple[AbsentRun, ...] = ()
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
    sources = {**suite_sources(entries.suite.sources), **by_scenario(source, columns, runs)}
    check_sources(sources, runs)
    for run in runs:
        check_order(run, sources.get(run.card.name))
    cards = {run.card.name: run.card for run in runs}
    given = given_data(cards, sources, access_level, workspace.registry)
    levels = {name: card.access_level for name, card in given.cards.items()}
    check_plugins(workspace.registry.policy, levels.values())
    for name, card in given.cards.items():
        if name in sources or card.shape == TABULAR:
            check_own_columns(card, workspace.say)
    return Resolved(
        workspace=workspace,
        entries=entries,
        runs=with_levels(runs, levels),
        given=given,
        own=frozenset(sources),
        absent=absent,
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
    """Ask the policy, ingest what is missing, plan.

    Data in the lake is used as it is, but for a user's own benchmark file: that is read again, so
    that an edited one is noticed. `is_asked` says whether models or judges will be. Where it is not
    `strict`, runs whose data cannot be had are left out; it is recorded, and said.

    Raises:
        AbsentDataError: data cannot be had, and it is `strict` or there is no other.
    """
    workspace, given, runs = resolved.workspace, resolved.given, resolved.runs
    _check_again(runs, again)
    if is_asked:
        check_engines(runs, workspace)
    reasons = _absent(resolved, strict=strict)
    asked = askable(runs).values() if is_asked else ()
    workspace.expect(map(_highest, given.cards.values()), asked)
    ctx = workspace.context(suite)
    if is_asked:
        ready(ctx, askable(runs).values())
    if skip_completed_runs:
        done = completed(ctx)
        runs = tuple(run for run in runs if run.name not in done)
    cards = {run.card.name: given.cards[run.card.name] for run in runs}
    _ = ctx.ledger  # refuses a lake of a newer schema before anything is written
    registry = workspace.registry
    approvals = registry.policy.binding_approvals
    approved = approved_levels(ctx, approvals)
    decide(ctx, with_levels(runs, _lowest(cards, approved)), registry.policy)
    _warn(ctx, cards.values(), registry.policy)
    kept = [
        card for name, card in cards.items() if name not in resolved.own and card.shape != TABULAR
    ]
    data = _still_known(ctx, ingested(ctx, kept), cards, given.published)
    missing = [card for name, card in cards.items() if name not in data and name not in reasons]
    if not strict:
        missing, more = at_hand(ctx, missing)
        reasons |= more
        _refuse_nothing(resolved, reasons)
    absent = [*resolved.absent, *absent_runs(runs, reasons)]
    _tell_absent(ctx, absent)
    data |= ingest(
        ctx, missing, published=given.published, stated_by=given.stated_by, lowered=approved
    )
    left_out = record_left_out(ctx, absent)
    runs = tuple(run for run in runs if run.card.name in data)
    check_splits(runs, {name: held.splits for name, held in data.items()})
    _check_labels(ctx, resolved.own_cards, data)
    data = lowered(ctx, data, approvals)
    runs = with_levels(runs, levels_of(data))
    unreviewed = [name for name, held in data.items() if held.is_unreviewed]
    record(ctx, decide(ctx, runs, registry.policy, unreviewed))
    runs = dated(ctx, runs, again)
    ctx.lake.session.expect_rows(sum(held.size for held in data.values()))
    versions = {name: held.data_version for name, held in data.items()}
    return Prepared(
        workspace=workspace,
        ctx=ctx,
        entries=resolved.entries,
        runs=runs,
        specs=tuple(plan(ctx, runs, versions)),
        versions=versions,
        levels=levels_of(data),
        left_out=left_out,
    )


def _check_again(runs: Sequence[ResolvedRun], again: Again | None) -> None:
    """Refuse to ask a model again that no run is of."""
    if again and not any(again.means(run.deployment) for run in runs):
        known = sorted({run.deployment.name for run in runs})
        raise UnknownNameError("model", str(again.model), known, where="--model")


def _absent(resolved: Resolved, *, strict: bool) -> dict[str, str]:
    """By scenario name why the data cannot be had, as far as is known without Spark.

    Data that a person gave is none of it: it has to be there.

    Raises:
        AbsentDataError: it is `strict` or no scenario has its data.
    """
    cards = [
        card
        for name, card in resolved.given.cards.items()
        if name not in resolved.own and not card.source.is_own and card.shape != TABULAR
    ]
    reasons = absent_files(resolved.workspace, cards)
    if reasons and strict:
        refuse_all(list(reasons.values())[:1])
    _refuse_nothing(resolved, reasons)
    return reasons


def _refuse_nothing(resolved: Resolved, reasons: Mapping[str, str]) -> None:
    """Refuse a command of which no scenario is left."""
    if len(reasons) == len(resolved.given.cards):
        refuse_all([*(run.reason for run in resolved.absent), *reasons.values()])


def _tell_absent(ctx: Context, absent: Sequence[AbsentRun]) -> None:
    names = list(dict.fromkeys(run.scenario_name for run in absent))
    if names:
        ctx.say(
            f"left out: {counted(len(names), 'scenario')} whose data cannot be had: "
            f"{first_of(names, 8)}"
        )


def _check_labels(
    ctx: Context, cards: Sequence[ScenarioCard], data: Mapping[str, Ingested]
) -> None:
    """Refuse a declared label that no row of a person's own data has, before anything is asked."""
    for card in cards:
        if card.name in data and declared_labels(card.metrics):
            check_labels(card, right_answers(ctx, data[card.name].data_version))


def _highest(card: ScenarioCard) -> AccessLevel:
    """The strictest level that the data may turn out to have: a table's rows have their own."""
    return AccessLevel.PRIVATE if card.source.table else card.access_level


def _lowest(
    cards: Mapping[str, ScenarioCard], approved: Mapping[str, AccessLevel]
) -> dict[str, AccessLevel]:
    """The lowest level that the data of each card may turn out to have.

    What may not be seen at that level is refused before it is read; the level that the data really
    has is asked about again, before anything is rendered.
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
    own = own_data(source, columns)
    check_card(bind(replaced(cards[name], own)))
    bound = {name: bind(cards[name])}
    given = given_data(bound, {name: own} if own else {}, access_level, workspace.registry)
    card = given.cards[name]
    check_plugins(workspace.registry.policy, [card.access_level])
    if own:
        check_own_columns(card, workspace.say)
    workspace.expect([_highest(card)])
    ctx = workspace.context("")
    approved = approved_levels(ctx, workspace.registry.policy.binding_approvals)
    return ingest(
        ctx, [card], published=given.published, stated_by=given.stated_by, lowered=approved
    )[name]


def _still_known(
    ctx: Context,
    data: Mapping[str, Ingested],
    cards: Mapping[str, ScenarioCard],
    published: Collection[str],
) -> dict[str, Ingested]:
    """The data in the lake that no stricter data has come to equal since it was ingested.

    The others are read again, and raised; what was imported cannot be, and counts as that level.
    """
    asked = {
        held.data_version: held.access_level
        for name, held in data.items()
        if name not in published or held.is_stated
    }
    levels = outgrown(ctx, asked)
    return {
        name: replace(held, access_level=levels.get(held.data_version, held.access_level))
        for name, held in data.items()
        if held.data_version not in levels or cards[name].source.data_version
    }


def _warn(ctx: Context, cards: Iterable[ScenarioCard], policy: Policy) -> None:
    """Before the first gated or private run of a lake, say what that means."""
    held = [card for card in cards if card.access_level != AccessLevel.PUBLIC]
    if not held:
        return
    seen = ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
    if all(version.access_level == AccessLevel.PUBLIC for version in seen):
        level = max((card.access_level for card in held), key=lambda version: version.strictness)
        names = ", ".join(sorted(card.name for card in held))
        place = ctx.lake.location
        ctx.say(PATIENT_DATA.format(level=level, names=names, place=place, policy=policy.label))


def evaluate(
    prepared: Prepared, *, upto: Stage, retry_failed: bool
) -> tuple[int, tuple[Other, ...]]:
    """Do the stages after `prepare` up to one, each only where something is missing.

    Returns how many requests were sent, and the suite's other models that keep an earlier
    definition.
    """
    ctx, specs, last = prepared.ctx, prepared.specs, UPTO.index(upto)
    calls = 0
    if last >= UPTO.index(INFER):
        models = replace(prepared.models, retry_failed=retry_failed)
        calls += infer(ctx, [spec.run_spec_id for spec in specs], models)
    if last >= UPTO.index(ANNOTATE):
        calls += annotate(ctx, specs, replace(prepared.judging, retry_failed=retry_failed))
    if last < UPTO.index(SCORE):
        return calls, ()
    return calls, score_suite(prepared, is_summarized=upto is SUMMARIZE)


def score_suite(prepared: Prepared, *, is_summarized: bool) -> tuple[Other, ...]:
    """Score what was planned, and what else the suite holds by another definition than now.

    Returns those that keep theirs.
    """
    ctx, workspace = prepared.ctx, prepared.workspace
    current = current_runs(ctx)
    rows = others_of(ctx, current, prepared.specs)
    others = runs_of(rows, prepared.entries, workspace)
    runs = {run.name: run for run in with_levels(list(others.values()), prepared.levels)}
    moved, left = rescored(ctx, rows, runs, prepared.versions, workspace.registry.policy)
    names = {run.name for run in moved.runs}
    kept = [row.run_spec for row in current if row.name not in names]
    specs = (*prepared.specs, *moved.specs)
    score(ctx, [*specs, *outdated(ctx, kept)])
    if is_summarized:
        summarize(ctx, [*specs, *kept])
    enter_rescored(ctx, moved)
    return others_left(left, on_other_data(current, prepared.specs, prepared.versions))
