"""The order of stages, and the checks that come before any of them."""

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from medhelm_spark.annotators.kinds import kind_of
from medhelm_spark.cli.suite_models import runs_of, tell_left
from medhelm_spark.cli.workspace import Workspace, say
from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.sampling import SamplingOrder
from medhelm_spark.domain.scenario import ScenarioCard, ScenarioVersion
from medhelm_spark.engines import factory_of, preflight
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.session import expect_rows
from medhelm_spark.metrics import metrics_for, run_metrics_for, stats_of
from medhelm_spark.scenarios import check_card, with_source
from medhelm_spark.stages.annotate import annotate
from medhelm_spark.stages.comparability import outdated
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.decide import NEVER_ASKED, decide, record
from medhelm_spark.stages.infer import infer
from medhelm_spark.stages.ingest import ingest, ingested
from medhelm_spark.stages.judges import Judging
from medhelm_spark.stages.pending import Asking
from medhelm_spark.stages.perturb import changes_of
from medhelm_spark.stages.plan import plan
from medhelm_spark.stages.rescore import enter_rescored, others_of, rescored
from medhelm_spark.stages.run_specs import check_splits, current_runs
from medhelm_spark.stages.score import score
from medhelm_spark.stages.summarize import summarize
from medhelm_spark.stages.windows import fit_of

STAGES = ("plan", "infer", "annotate", "score", "run")
TABLE = "table:"
TABULAR = "tabular"

PATIENT_DATA = """\
------------------------------------------------------------------------------------------
This run reads {level} text: {names}.
It stays in the lake {place} with its access level on every row. Who may read that
place is your file system's, catalog's or bucket's business: check it before going on. Models
and judges see it only where conf/policy.yaml (or your own) lists their locality.
------------------------------------------------------------------------------------------"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnData:
    """A person's own data for a scenario: its place, and its names for the card's columns."""

    paths: Sequence[str]
    columns: Mapping[str, str] = field(default_factory=dict)


NO_SOURCES: Mapping[str, OwnData] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Planned RunSpecs in the order of their runs, and the data version of each scenario's name."""

    specs: tuple[RunSpec, ...]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What an evaluation came to."""

    specs: tuple[RunSpec, ...]
    model_calls: int


def check(runs: Sequence[ResolvedRun]) -> None:
    """Refuse what can be seen to be wrong before Spark, data or a model is touched."""
    for run in runs:
        check_card(run.card)
        fit_of(run)
        changes_of(run)
        for metric, params in metrics_for(run.metrics):
            metric.preflight(params)
        for run_metric, params in run_metrics_for(run.metrics):
            run_metric.preflight(params)
        _check_endpoint(run)
        for annotator in run.annotators:
            kind_of(annotator.rubric)


def _check_endpoint(run: ResolvedRun) -> None:
    """Refuse a primary endpoint whose metric the scenario does not have."""
    known = [stat.name for stat in stats_of(run.metrics)]
    if run.is_primary and run.card.main_metric not in known:
        where = f"the suite file's primary_endpoint: scenario {run.card.name!r}"
        raise UnknownNameError("metric", run.card.main_metric, known, where=where)


def check_engines(runs: Sequence[ResolvedRun], workspace: Workspace) -> None:
    """Refuse an engine that cannot run here; loads no model.

    On a cluster the driver has neither the executors' GPUs nor their vLLM: an engine that loads a
    model is checked where it is built.
    """
    on_driver = workspace.settings.platform is Platform.LOCAL
    for deployment in _askable(runs).values():
        if on_driver or not factory_of(deployment).exclusive:
            preflight(deployment)


def _askable(runs: Sequence[ResolvedRun]) -> dict[str, Deployment]:
    found = [run.deployment for run in runs]
    found += [one for run in runs for judged in run.annotators for one in judged.deployments]
    return {one.name: one for one in found if one.engine != NEVER_ASKED}


def prepare(
    ctx: Context,
    workspace: Workspace,
    runs: Sequence[ResolvedRun],
    sources: Mapping[str, OwnData] = NO_SOURCES,
) -> Prepared:
    """Ask the policy, ingest what is missing, plan.

    `sources` replace scenarios' own data, by scenario name. Data in the lake is used as it is,
    but for a user's own benchmark file: that is read again, so that an edited one is noticed.
    """
    for run in runs:
        check_order(run, sources.get(run.card.name))
    _ = ctx.ledger  # refuses a lake of a newer schema before anything is written
    decisions = decide(ctx, runs, workspace.registry.policy)
    cards = {run.card.name: run.card for run in runs}
    _warn(ctx, cards.values())
    kept = [card for name, card in cards.items() if name not in sources and card.shape != TABULAR]
    found = ingested(ctx, kept)
    missing = [card for name, card in cards.items() if name not in found]
    found |= ingest(ctx, [replaced(card, sources.get(card.name)) for card in missing])
    check_splits(runs, {name: one.splits for name, one in found.items()})
    record(ctx, decisions)
    expect_rows(ctx.lake.spark, sum(sum(one.splits.values()) for one in found.values()))
    versions = {name: one.data_version for name, one in found.items()}
    return Prepared(specs=tuple(plan(ctx, runs, versions)), versions=versions)


def one_source(runs: Sequence[ResolvedRun], own: OwnData | None) -> dict[str, OwnData]:
    """What `--source` says, for the one scenario that the command line speaks of."""
    names = sorted({run.card.name for run in runs})
    if own and len(names) > 1:
        raise ConfigError(f"--source takes one scenario's data; these are {', '.join(names)}.")
    return {names[0]: own} if own else {}


def own_data(source: Sequence[str], columns: str | None) -> OwnData | None:
    """What `--source` and `--columns` say together; None without a source.

    Raises:
        ConfigError: `--columns` is given alone, or is not written as NAME=COLUMN,NAME=COLUMN.
    """
    if not source:
        if columns:
            raise ConfigError("--columns names the columns of --source, which is not given.")
        return None
    pairs = [part.partition("=") for part in columns.split(",")] if columns else []
    for name, _, theirs in pairs:
        if not name.strip() or not theirs.strip("'\" "):
            raise ConfigError(f"--columns is {columns!r}; allowed: NAME=COLUMN,NAME=COLUMN.")
    return OwnData(
        paths=source,
        columns={name.strip(): theirs.strip().strip("'\"") for name, _, theirs in pairs},
    )


def replaced(card: ScenarioCard, own: OwnData | None) -> ScenarioCard:
    """The card with a person's own data: files, a folder, an archive, or `table:NAME`."""
    if own is None:
        return card
    if card.source.data_version:
        raise ConfigError(
            f"--source: scenario {card.name!r} was imported and is evaluated on what was imported; "
            "import it again with other data."
        )
    columns = {**card.source.columns, **own.columns}
    card = replace(card, source=replace(card.source, columns=columns))
    if len(own.paths) == 1 and own.paths[0].startswith(TABLE):
        table = own.paths[0].removeprefix(TABLE)
        source = replace(card.source, files=(), dataset=None, revision=None, table=table)
        return replace(card, source=source)
    return with_source(card, own.paths)


def check_order(run: ResolvedRun, own: OwnData | None) -> None:
    """Refuse to take instances in the order of a source that has none.

    Raises:
        ConfigError: The data is a table, and the sampling's order is not hash.
    """
    order, source = run.card.sampling.order, replaced(run.card, own).source
    if source.table and order is not SamplingOrder.HASH:
        raise ConfigError(
            f"{run.name}: sampling takes the order {order}, and the rows of table {source.table!r} "
            "have none; allowed: hash."
        )


def _warn(ctx: Context, cards: Iterable[ScenarioCard]) -> None:
    """Before the first gated or private run of a lake, say what that means."""
    held = [card for card in cards if card.access_level != AccessLevel.PUBLIC]
    if not held:
        return
    seen = ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
    if all(one.access_level == AccessLevel.PUBLIC for one in seen):
        level = max((card.access_level for card in held), key=lambda one: one.strictness)
        names = ", ".join(sorted(card.name for card in held))
        say(PATIENT_DATA.format(level=level, names=names, place=ctx.lake.location))


def evaluate(
    ctx: Context,
    workspace: Workspace,
    runs: Sequence[ResolvedRun],
    *,
    prepared: Prepared,
    upto: str = "run",
    retry_failed: bool = False,
    args: Namespace | None = None,
) -> Evaluated:
    """Do the stages after `prepare` up to `upto`, each only where something is missing.

    `args` are the command's: its entries say what the suite's other models are scored by now.
    """
    asked, specs = 0, prepared.specs
    if STAGES.index(upto) >= STAGES.index("infer"):
        asking = asking_of(workspace, runs, retry_failed)
        asked += infer(ctx, [spec.run_spec_id for spec in specs], asking)
    if STAGES.index(upto) >= STAGES.index("annotate"):
        asked += annotate(ctx, specs, judging_of(workspace, runs, specs, retry_failed))
    if STAGES.index(upto) >= STAGES.index("score"):
        score_suite(ctx, workspace, prepared, args, is_summarized=upto == "run")
    return Evaluated(specs=specs, model_calls=asked)


def score_suite(
    ctx: Context,
    workspace: Workspace,
    prepared: Prepared,
    args: Namespace | None,
    *,
    is_summarized: bool,
) -> None:
    """Score what was planned, and what else the suite holds by another definition than now."""
    current = current_runs(ctx)
    rows = others_of(ctx, current, prepared.specs) if args else []
    runs = runs_of(rows, args, workspace) if args else {}
    policy = workspace.registry.policy
    found, left = rescored(ctx, rows, runs, prepared.versions, policy)
    moved = {run.name for run in found.runs}
    kept = [row.run_spec for row in current if row.name not in moved]
    own = (*prepared.specs, *found.specs)
    score(ctx, [*own, *outdated(ctx, kept)])
    if is_summarized:
        summarize(ctx, [*own, *kept])
    enter_rescored(ctx, found)
    if args:
        tell_left(left, args)


def asking_of(
    workspace: Workspace, runs: Sequence[ResolvedRun], retry_failed: bool = False
) -> Asking:
    """The models of these runs, as infer asks them."""
    return Asking(
        deployments={run.deployment.name: run.deployment for run in runs},
        policy=workspace.registry.policy,
        retry_failed=retry_failed,
    )


def judging_of(
    workspace: Workspace,
    runs: Sequence[ResolvedRun],
    specs: Sequence[RunSpec],
    retry_failed: bool = False,
) -> Judging:
    """The judges of these runs, as annotate asks them."""
    return Judging(
        annotators={
            spec.run_spec_id: run.annotators for run, spec in zip(runs, specs, strict=True)
        },
        policy=workspace.registry.policy,
        retry_failed=retry_failed,
    )
