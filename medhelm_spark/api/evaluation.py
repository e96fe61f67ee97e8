"""`Evaluation`: one sentence for what the command line does."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from medhelm_spark import plugins
from medhelm_spark.api.coverage import missing_answers, missing_scores
from medhelm_spark.api.entries import Entries, LoadedEntries
from medhelm_spark.api.estimates import Estimates, estimates_of
from medhelm_spark.api.evaluate import (
    Prepared,
    check,
    check_engines,
    evaluate,
    judging_of,
    models_of,
    prepare,
)
from medhelm_spark.api.own_data import OwnData, Source, by_scenario, own_data, replaced
from medhelm_spark.api.results import (
    Board,
    Comparison,
    Evaluated,
    Instances,
    Release,
    Robustness,
    Runs,
    turned,
)
from medhelm_spark.api.schema import load_shown, shown_runs
from medhelm_spark.api.track import track, uri_of
from medhelm_spark.api.workspace import Workspace, say
from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.stages import PLAN, SUMMARIZE, UPTO, Stage
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.helm.run_entries import MODEL_KEYS
from medhelm_spark.helm.schema_file import Schema, load_schema
from medhelm_spark.lake.location import Location
from medhelm_spark.leaderboard import (
    BoardRun,
    InstanceKey,
    Order,
    choose,
    instances_of,
    paired,
    robustness_of,
)
from medhelm_spark.scenarios import check_card
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.import_responses import file_id, import_responses
from medhelm_spark.stages.ingest.stage import Ingested, ingest
from medhelm_spark.stages.publish import publish, suite_runs
from medhelm_spark.stages.score import score
from medhelm_spark.stages.summarize import completed, summarize
from medhelm_spark.tracking import preload

DEFAULT_LAKE = "benchmark_output"
DEFAULT_SITE = "prod_env"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """An evaluation whose data is ingested and whose requests are planned."""

    ctx: Context
    entries: LoadedEntries
    runs: tuple[ResolvedRun, ...]
    prepared: Prepared


class Evaluation:
    """Evaluations into one lake, by one site's configuration.

    Args:
        lake: a folder, an object-store URI or `catalog.schema`; made when something is written.
        site: the folder of the site's own configuration; one that is absent is empty.
        spark: the session to use; without one the platform's, else one that is started.
        tracking: MLflow: True for the settings' or the lake's own address, a URI, or False.
        plugins: modules with the site's own parsers, metrics and so on.
        deployments: models known beside the site's own, for this object only.
        say: is told each finished step in a line; standard error by default.

    Raises:
        ConfigError: the configuration is wrong, or a plug-in cannot be imported.
    """

    def __init__(
        self,
        lake: str | Path = DEFAULT_LAKE,
        *,
        site: str | Path | None = DEFAULT_SITE,
        spark: SparkSession | None = None,
        tracking: bool | str = True,
        plugins: Sequence[str] = (),
        deployments: Iterable[Deployment] = (),
        say: Callable[[str], None] = say,
    ) -> None:
        if plugins:  # none given leaves those that are active
            _activate(plugins)
        self._workspace = Workspace(
            str(lake),
            Path(site) if site else None,
            deployments=deployments,
            spark=spark,
            tell=say,
        )
        self._tracking = tracking

    # What is evaluated -------------------------------------------------------------------------

    def run(
        self,
        entries: str | Sequence[str] | Entries = (),
        *,
        suite: str,
        upto: Stage | str = SUMMARIZE,
        source: Source | Mapping[str, OwnData] = (),
        columns: Mapping[str, str] | None = None,
        retry_failed: bool = False,
        skip_completed_runs: bool = False,
        **options: Any,
    ) -> Evaluated:
        """Do all stages for run entries, each only where something is missing.

        Args:
            entries: run entries, such as `pubmed_qa:model=NAME`, or Entries.
            suite: the suite that the runs belong to.
            upto: the last stage: `plan`, `infer`, `annotate`, `score` or `summarize`.
            source: data in place of the card's, for the one scenario that is evaluated; or by
                scenario name.
            columns: what `source` calls the card's columns.
            retry_failed: also ask requests again whose failure is their own.
            skip_completed_runs: leave runs alone that are summarised with every answer there.
            options: fields of Entries, such as `max_eval_instances=10`.

        Raises:
            MedhelmSparkError: what a person can cure, in one sentence; OutageError where a model
                or judge gives no answers, what was answered being kept.
        """
        stage = _stage(upto)
        if stage is SUMMARIZE and self._tracking:
            preload()
        begun = self._begin(
            _entries(entries, options),
            suite,
            _sources(source, columns),
            is_asked=stage is not PLAN,
            skip_completed_runs=skip_completed_runs,
        )
        return self._finish(begun, begun.runs, upto=stage, retry_failed=retry_failed)

    def dry_run(
        self, entries: str | Sequence[str] | Entries = (), *, suite: str, **options: Any
    ) -> Runs:
        """What would run and what the policy says of it; starts no Spark, writes nothing."""
        runs = self._resolve(_entries(entries, options).load(self._workspace.site))
        check(runs)
        return Runs(suite=suite, runs=runs, policy=self._workspace.registry.policy)

    def estimate(
        self,
        entries: str | Sequence[str] | Entries = (),
        *,
        suite: str,
        source: Source | Mapping[str, OwnData] = (),
        columns: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Estimates:
        """Plan, and count what asking would cost: tokens, hours, GPU hours, money."""
        begun = self._begin(
            _entries(entries, options), suite, _sources(source, columns), is_asked=False
        )
        specs = begun.prepared.specs
        return estimates_of(
            begun.ctx,
            specs,
            models_of(self._workspace, begun.runs),
            judging_of(self._workspace, begun.runs, specs),
        )

    def ingest(
        self, scenario: str, *, source: Source = (), columns: Mapping[str, str] | None = None
    ) -> Ingested:
        """Read a scenario's data into the lake, from its card's source or from another."""
        cards = self._workspace.registry.cards
        if scenario not in cards:
            raise UnknownNameError("scenario", scenario, cards, where="--scenario")
        card = bind(replaced(cards[scenario], own_data(source, columns)))
        check_card(card)
        return ingest(self._workspace.context(""), [card])[scenario]

    def import_responses(
        self,
        entries: str | Sequence[str] | Entries,
        file: str | Path,
        *,
        suite: str,
        fields: Mapping[str, str] | None = None,
        source: Source = (),
        columns: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Evaluated:
        """Take answers made elsewhere as a model's and score them; the model is not asked.

        Args:
            entries: the run entry of one scenario and model.
            file: JSON lines with `source_id` or `instance_id`, and `completion`.
            suite: the suite that the run belongs to.
            fields: what the file calls them, by our names.
            source: as for `run`.
            columns: as for `run`.
            options: fields of Entries.
        """
        path, chosen = Path(file), _entries(entries, options)
        loaded = chosen.load(self._workspace.site)
        revision = file_id(path)
        if unknown := _unknown_models(loaded, self._workspace, revision):
            self._workspace = self._workspace.with_deployments(unknown)
        begun = self._begin(loaded, suite, _sources(source, columns), is_imported=True)
        names = {spec.scenario_name for spec in begun.prepared.specs}
        files = dict.fromkeys(names, path)
        import_responses(begun.ctx, begun.prepared.specs, files, fields or {})
        # What the file lacks is not asked.
        return self._finish(begun, _unasked(begun.runs), upto=SUMMARIZE, retry_failed=False)

    def summarize(self, suites: str | Sequence[str]) -> None:
        """Score and summarise what suites hold, where a metric or definition has changed."""
        for suite in [suites] if isinstance(suites, str) else suites:
            ctx = self._workspace.context(suite)
            specs = [row.run_spec for row in suite_runs(ctx, [suite])]
            score(ctx, specs)
            summarize(ctx, specs)

    def publish(self, release: str, suites: str | Sequence[str]) -> Release:
        """Make or replace a draft release of the current numbers of some suites.

        A run that stands in two suites counts as the later one's.
        """
        names = [suites] if isinstance(suites, str) else list(suites)
        self.summarize(names)
        ctx = self._workspace.context(names[-1])
        manifest = publish(ctx, release, names)
        self.track(release=release)
        return Release(
            name=release,
            suites=tuple(names),
            manifest_hash=manifest,
            board=self.board(release=release),
        )

    # What is read ------------------------------------------------------------------------------

    def board(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
    ) -> Board:
        """The board of a suite or release, of the suite planned last where neither is given.

        `schema` is a schema file of HELM's: only runs in its run groups are shown.
        """
        return Board(load_shown(self._workspace, _schema(schema), suite=suite, release=release))

    def robustness(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
    ) -> Robustness:
        """What perturbed copies, other prompts and repeats do to the numbers of a board."""
        return Robustness(robustness_of(self._runs(suite, release, _schema(schema))))

    def compare(
        self,
        first: str,
        second: str,
        *,
        suite: str | None = None,
        release: str | None = None,
        scenario: str | None = None,
    ) -> Comparison:
        """Two models on the same instances, by scenario.

        Raises:
            UnknownNameError: a model or scenario is not on the board.
        """
        runs = self._runs(suite, release)
        names = [_deployment_named(name, runs) for name in (first, second)]
        both = [run for run in runs if run.run_spec.model_deployment in names]
        if scenario:
            _check_known("scenario", scenario, {run.run_spec.scenario_name for run in both})
            both = [run for run in both if run.run_spec.scenario_name == scenario]
        pairs = paired(self._workspace.reader, both, coverage_floor=self._workspace.coverage_floor)
        return Comparison(
            first=names[0],
            second=names[1],
            pairs=tuple(pair if pair.first == names[0] else turned(pair) for pair in pairs),
        )

    def instances(
        self,
        scenario: str,
        model: str,
        *,
        suite: str | None = None,
        release: str | None = None,
        order: Order | str = Order.SOURCE,
        limit: int = 50,
        offset: int = 0,
        holding: InstanceKey | None = None,
    ) -> Instances:
        """The answers behind a model's number on a scenario, a page at a time.

        Raises:
            UnknownNameError: the scenario or the model is not on the board.
        """
        runs = self._runs(suite, release)
        _check_known("scenario", scenario, {run.run_spec.scenario_name for run in runs})
        own = [run for run in runs if run.run_spec.scenario_name == scenario]
        name = _deployment_named(model, own)
        spec = next(run.run_spec for run in own if run.run_spec.model_deployment == name)
        reader = self._workspace.reader
        page = instances_of(
            reader, spec, limit=limit, offset=offset, order=Order(order), holding=holding
        )
        return Instances(run_spec=spec, page=page, reader=reader)

    # What is told to others --------------------------------------------------------------------

    def track(self, *, suite: str | None = None, release: str | None = None) -> None:
        """Log a suite's or release's current numbers to MLflow, unless tracking is off."""
        if self._tracking:
            ctx = self._workspace.context(suite or "")
            name = release or ctx.suite
            track(self._workspace, ctx, name, self._given_uri, is_release=release is not None)

    @property
    def location(self) -> str:
        """The lake: an absolute path, a URI or `catalog.schema`."""
        return str(Location.of(self._workspace.location))

    @property
    def tracking_uri(self) -> str | None:
        """MLflow's address; None for MLflow's own choice."""
        return uri_of(self._workspace, self._given_uri)

    @property
    def _given_uri(self) -> str | None:
        return self._tracking if isinstance(self._tracking, str) else None

    # -------------------------------------------------------------------------------------------

    def _resolve(self, entries: LoadedEntries) -> tuple[ResolvedRun, ...]:
        return entries.resolve(self._workspace.registry_for(entries.entries))

    def _begin(
        self,
        entries: Entries | LoadedEntries,
        suite: str,
        sources: OwnData | Mapping[str, OwnData] | None,
        *,
        is_asked: bool = True,
        is_imported: bool = False,
        skip_completed_runs: bool = False,
    ) -> _Begun:
        """Resolve, check, ask the policy, ingest what is missing, plan."""
        workspace = self._workspace
        loaded = entries.load(workspace.site) if isinstance(entries, Entries) else entries
        runs = self._resolve(loaded)
        check(runs)
        if is_imported:
            _check_one(runs)
        if is_asked:
            check_engines(_unasked(runs) if is_imported else runs, workspace)
        ctx = workspace.context(suite)
        if skip_completed_runs:
            done = completed(ctx)
            runs = tuple(run for run in runs if run.name not in done)
        named = sources if isinstance(sources, Mapping) else by_scenario(runs, sources)
        prepared = prepare(ctx, workspace, runs, named)
        return _Begun(ctx=ctx, entries=loaded, runs=runs, prepared=prepared)

    def _finish(
        self,
        begun: _Begun,
        runs: tuple[ResolvedRun, ...],
        *,
        upto: Stage,
        retry_failed: bool,
    ) -> Evaluated:
        """Do the stages after the plan, and say what they came to."""
        ctx, workspace, specs = begun.ctx, self._workspace, begun.prepared.specs
        calls, others = evaluate(
            ctx,
            workspace,
            runs,
            begun.prepared,
            upto=upto,
            retry_failed=retry_failed,
            entries=begun.entries,
        )
        missing, board = None, None
        if upto is SUMMARIZE:
            self.track(suite=ctx.suite)
            missing = missing_scores(workspace, ctx, runs, specs)
            board = self.board(ctx.suite)
        elif upto is not PLAN:
            missing = missing_answers(workspace, ctx, runs, specs)
        return Evaluated(
            suite=ctx.suite,
            upto=upto,
            specs=specs,
            model_calls=calls,
            missing=missing,
            others=others,
            board=board,
        )

    def _runs(
        self, suite: str | None, release: str | None, schema: Schema | None = None
    ) -> Sequence[BoardRun]:
        reader = self._workspace.reader
        return shown_runs(self._workspace, schema, choose(reader, suite, release), reader)


def _activate(modules: Sequence[str]) -> None:
    plugins.activate(modules)


def _entries(given: str | Sequence[str] | Entries, options: Mapping[str, Any]) -> Entries:
    for name in options:
        _check_known("option", name, Entries.__dataclass_fields__)
    if isinstance(given, Entries):
        return replace(given, **options)
    return Entries(run_entries=[given] if isinstance(given, str) else list(given), **options)


def _schema(given: Schema | str | Path | None) -> Schema | None:
    return load_schema(Path(given)) if isinstance(given, str | Path) else given


def _stage(upto: Stage | str) -> Stage:
    names = {stage.name: stage for stage in UPTO}
    name = upto.name if isinstance(upto, Stage) else upto
    _check_known("stage", name, names)
    return names[name]


def _sources(
    source: Source | Mapping[str, OwnData], columns: Mapping[str, str] | None
) -> OwnData | Mapping[str, OwnData] | None:
    return source if isinstance(source, Mapping) else own_data(source, columns)


def _check_one(runs: Sequence[ResolvedRun]) -> None:
    if len({run.card.name for run in runs}) > 1 or len({run.deployment.name for run in runs}) > 1:
        raise ConfigError("--file holds one model's answers to one scenario; give one run entry.")


def _unasked(runs: Sequence[ResolvedRun]) -> tuple[ResolvedRun, ...]:
    """The runs with models that nobody asks; their judges are asked."""
    return tuple(replace(run, deployment=replace(run.deployment, engine=IMPORTED)) for run in runs)


def _unknown_models(
    entries: LoadedEntries, workspace: Workspace, revision: str
) -> list[Deployment]:
    """A deployment for each named model that no file knows: its answers are only imported.

    The file's hash is its revision, so that another file is another run and supersedes it.
    """
    named = {
        str(entry.args[key]) for entry in entries.entries for key in MODEL_KEYS if key in entry.args
    }
    known = workspace.registry.deployments
    served = {deployment.model for deployment in known.values()}
    return [
        Deployment(
            name=name,
            model=name,
            engine=IMPORTED,
            locality=Locality.LOCAL,
            args={"revision": revision},
            origin="import-responses",
        )
        for name in sorted(named | set(entries.options.models_to_run))
        if name not in known and name not in served
    ]


def _deployment_named(name: str, runs: Sequence[BoardRun]) -> str:
    """The deployment of that name, or the one that serves the model of that name."""
    by_name = {run.run_spec.model_deployment: run.run_spec.model for run in runs}
    if name in by_name:
        return name
    serving = sorted(deployment for deployment, model in by_name.items() if model == name)
    if len(serving) != 1:
        raise UnknownNameError("model", name, by_name, where="the board")
    return serving[0]


def _check_known(kind: str, name: str, known: Iterable[str]) -> None:
    names = sorted(known)
    if name not in names:
        raise UnknownNameError(kind, name, names)
