"""`Evaluation`: one method for each command of the command line."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import SparkSession

from medhelm_spark import features
from medhelm_spark.board import (
    AnswerFilter,
    BoardRun,
    InstanceKey,
    Order,
    as_of,
    choose,
    robustness_of,
    stat_rows,
)
from medhelm_spark.board.answer_texts import answers_of
from medhelm_spark.board.host import Host, at_work
from medhelm_spark.board.metrics import Metrics, metrics_of, prices_in
from medhelm_spark.board.reading import check_page, compared, instances_behind, runs_named
from medhelm_spark.board.reports import ReportFile, report_of
from medhelm_spark.board.results import Answers, Board, Comparison, Instances, Robustness, Stats
from medhelm_spark.board.schema import BoardView, load_board, schema_of, shown_runs
from medhelm_spark.board.taxonomy import TaxonomyCoverage, taxonomy_coverage
from medhelm_spark.config.benchmark_data import check_reading
from medhelm_spark.config.settings import Platform, load_settings
from medhelm_spark.config.site_folder import DEFAULT_SITE, site_folder
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import Again
from medhelm_spark.domain.stages import PLAN, SUMMARIZE, UPTO, Stage
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.governance.methods import GovernanceMethods
from medhelm_spark.lake.defaults import with_defaults
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.settings import kept_settings
from medhelm_spark.maintenance.methods import LakeMethods
from medhelm_spark.medhelm.schema_file import Schema
from medhelm_spark.pipeline.availability import needed_by
from medhelm_spark.pipeline.checks import to_infer
from medhelm_spark.pipeline.coverage import missing_answers, missing_scores
from medhelm_spark.pipeline.estimates import Estimates, estimates_of
from medhelm_spark.pipeline.fetch import fetch_data
from medhelm_spark.pipeline.models import listed_models
from medhelm_spark.pipeline.prepare import Prepared, ingest_scenario, prepare
from medhelm_spark.pipeline.resolve import Resolved, resolve
from medhelm_spark.pipeline.results import Fetched, Models, RunResult, Runs
from medhelm_spark.pipeline.run import evaluate
from medhelm_spark.pipeline.slots import print_slots
from medhelm_spark.pipeline.summarized import summarized
from medhelm_spark.plugins import activate, use
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.ingested import Ingested
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.user_data.answers import as_imported, check_single, with_unknown_models
from medhelm_spark.user_data.import_responses import checked_table, import_responses
from medhelm_spark.user_data.init import InitializedBenchmark, init_benchmark
from medhelm_spark.user_data.own_data import Source, Sources
from medhelm_spark.user_data.own_rows import check_own_labels, check_own_rows
from medhelm_spark.user_data.read_responses import answers_at, check_file
from medhelm_spark.workspace.attested import with_prompt
from medhelm_spark.workspace.entries import Entries, entries_of, listed
from medhelm_spark.workspace.names import check_known, check_name
from medhelm_spark.workspace.workspace import Workspace, say

if TYPE_CHECKING:
    from medhelm_spark.air_gap.methods import AirGapMethods
    from medhelm_spark.candidate_gate.methods import CandidateGateMethods
    from medhelm_spark.evidence.methods import EvidenceMethods
    from medhelm_spark.judge_checks.methods import JudgeMethods
    from medhelm_spark.medhelm_results.methods import MedhelmMethods
    from medhelm_spark.notes.methods import NoteMethods
    from medhelm_spark.provenance.methods import ProvenanceMethods
    from medhelm_spark.ratings.methods import RatingMethods
    from medhelm_spark.releases.methods import ReleaseMethods
    from medhelm_spark.sharing.methods import SharingMethods
    from medhelm_spark.subgroups.methods import SubgroupMethods
    from medhelm_spark.tracking.methods import TrackingMethods
    from medhelm_spark.viewings.methods import ViewingMethods
    from medhelm_spark.watch.methods import WatchMethods

DEFAULT_LAKE = "benchmark_output"


class Evaluation:
    """Evaluations into one lake, by one site's configuration.

    Args:
        lake: a folder, an object-store URI or `catalog.schema`; made when something is written.
        site: the folder of the site's own configuration; it has to exist, except `prod_env`.
        spark: the session to use; by default the platform's, else a session is started. An existing
            session keeps its settings: its time zone is UTC only while a method runs.
        tracking: MLflow: True for the settings' or the lake's own address, a URI, or False.
        plugins: modules with the site's own parsers, metrics and so on. Each method uses the
            plug-ins of its own object; without any, those that were named last.
        deployments: models in addition to the site's own, for this object only.
        say: receives each finished step in a line; standard error by default.

    Raises:
        ConfigError: the configuration is wrong, the site's folder does not exist, or a plug-in
            cannot be imported.
    """

    def __init__(
        self,
        lake: str | Path = DEFAULT_LAKE,
        *,
        site: str | Path | None = DEFAULT_SITE,
        spark: SparkSession | None = None,
        tracking: bool | str = True,
        plugins: str | Sequence[str] = (),
        deployments: Iterable[Deployment] = (),
        say: Callable[[str], None] = say,
    ) -> None:
        if site:
            site_folder(site)
        self._plugins = (*load_settings(Path(site) if site else None).plugins, *listed(plugins))
        if self._plugins:  # without any, the active ones stay
            activate(self._plugins)
        self._workspace = Workspace(
            str(lake),
            Path(site) if site else None,
            deployments=_deployments(deployments),
            spark=spark,
            say=say,
        )
        self._tracking = tracking

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Sets this object's plug-ins and the session's settings during a call."""
        use(self._plugins)
        session, settings = self._workspace.provided_session, self._workspace.settings
        with (
            kept_settings(session),
            with_defaults(session, settings.spark),
            self._workspace.sole_driver.at_work(),
        ):
            yield

    # What is evaluated -------------------------------------------------------------------------

    @at_work
    def run(
        self,
        entries: str | Sequence[str] | Entries = (),
        *,
        suite: str,
        upto: Stage | str = SUMMARIZE,
        source: Sources = (),
        columns: Mapping[str, str] | None = None,
        access_level: AccessLevel | None = None,
        retry_failed: bool = False,
        skip_completed_runs: bool = False,
        strict: bool = False,
        ask_again: date | str | None = None,
        model: str | None = None,
        **options: Any,
    ) -> RunResult:
        """Run all stages for run entries, each only for what is missing.

        Runs whose data is not available are left out: the result's `left_out`, the board and the
        table `left_out` list them.

        Args:
            entries: run entries, such as `pubmed_qa:model=NAME`, or Entries.
            suite: the suite that the runs belong to.
            upto: the last stage: `plan`, `infer`, `annotate`, `score` or `summarize`.
            source: data in place of the card's, for the one scenario that is evaluated; or by
                scenario name.
            columns: the names of the card's columns in `source`.
            access_level: the level of the data (None: the card's); required for `source` if the
                card is public. It may be stricter than the card's, never looser.
            retry_failed: also send requests again whose failure is their own.
            skip_completed_runs: skip runs that are summarised with all answers.
            strict: end at once if data is not available, instead of leaving it out.
            ask_again: a day (`2024-10-02`), today at the latest. Requests are sent again, and from
                then on answers of that day count in this suite; earlier ones stay in the lake. A
                repeated call goes on. For weights that changed under the same name.
            model: the model or deployment to ask again (None: all).
            options: fields of Entries, such as `max_eval_instances=10`.

        Raises:
            MedhelmSparkError: what a person can fix, in one sentence; OutageError if a model or
                judge gives no answers (earlier answers are kept); AbsentDataError if no scenario
                has its data, or if one lacks it and it is `strict`.
        """
        stage = _stage(upto)
        check_name("suite", suite)
        if stage is SUMMARIZE and self._is_tracked:
            self.tracking.preload()
        prepared = prepare(
            self._resolve(
                entries, options, source, columns, access_level=access_level, strict=strict
            ),
            suite,
            is_asked=stage is not PLAN,
            skip_completed_runs=skip_completed_runs,
            strict=strict,
            again=_again(ask_again, model),
        )
        self._prepared(prepared)
        return self._evaluate(prepared, upto=stage, retry_failed=retry_failed)

    @at_work
    def dry_run(
        self,
        entries: str | Sequence[str] | Entries = (),
        *,
        suite: str,
        source: Sources = (),
        columns: Mapping[str, str] | None = None,
        access_level: AccessLevel | None = None,
        strict: bool = False,
        **options: Any,
    ) -> Runs:
        """What would run, the policy's decisions, and what is missing; writes nothing.

        For one's own files it first prints the numbers of the rows that would be left out. It sends
        no request: it reports that servers were not asked. It starts Spark only for a policy in a
        catalog's table. Arguments are those of `run`.

        Raises:
            AbsentDataError: no scenario is imported and has the data of its metrics; or one lacks
                it and it is `strict`.
            DataError: one's own data lacks a column, an id is in more than one row, or a label of a
                metric is no row's right answer.
        """
        check_name("suite", suite)
        resolved = self._resolve(
            entries, options, source, columns, access_level=access_level, strict=strict
        )
        for card in resolved.own_cards:
            check_own_rows(card, self._workspace.say)
            check_own_labels(card)
        print_slots(self._workspace, to_infer(resolved.runs).values())
        policy = self._workspace.registry.policy
        needed = needed_by(resolved)
        return Runs(suite=suite, runs=resolved.runs, policy=policy, needed=needed)

    @at_work
    def estimate(
        self,
        entries: str | Sequence[str] | Entries = (),
        *,
        suite: str,
        source: Sources = (),
        columns: Mapping[str, str] | None = None,
        access_level: AccessLevel | None = None,
        **options: Any,
    ) -> Estimates:
        """Plan, and count the cost of the requests: tokens, hours, GPU hours, money, memory.

        Runs whose data is not available are left out, as in `run`; the result's `left_out` lists
        them.
        """
        check_name("suite", suite)
        resolved = self._resolve(
            entries, options, source, columns, access_level=access_level, strict=False
        )
        is_local = self._workspace.settings.platform is Platform.LOCAL
        prepared = prepare(resolved, suite, is_asked=False, strict=False)
        return estimates_of(prepared, is_local=is_local)

    @at_work
    def models(self, names: str | Sequence[str] = (), *, check: bool = False) -> Models:
        """The configured models: engine, locality, prices, keys, and what each lacks.

        Args:
            names: the models, also those that no file lists, such as `ollama/llama3.1:8b`; by
                default all that files list.
            check: also ask each one short question of public nature, through its own engine and the
                policy. Without it no connection is opened.

        Raises:
            ConfigError: a name is not that of a model.
        """
        return Models(listed_models(self._workspace, listed(names), check=check))

    @at_work
    def ingest(
        self,
        scenario: str,
        *,
        source: Source = (),
        columns: Mapping[str, str] | None = None,
        access_level: AccessLevel | None = None,
    ) -> Ingested:
        """Read a scenario's data into the lake, from its card's source or from another."""
        return ingest_scenario(
            self._workspace, scenario, source, columns, access_level=access_level
        )

    @at_work
    def init_benchmark(
        self,
        place: str | Path,
        folder: str | Path | None = None,
        *,
        text: str,
        label: str,
        id_column: str | None = None,
        sheet: str | None = None,
        separator: str | None = None,
        encoding: str | None = None,
        question: str | None = None,
        positive: str | None = None,
        cluster: str | None = None,
        metric: str | None = None,
    ) -> InitializedBenchmark:
        """Write a benchmark of one's own table or file into a new folder, and check it.

        The folder names the data, at level private, and contains none of its rows' text, except
        the right answers if they are few. It starts Spark only for a table.

        Args:
            place: a file, or a table as `table:NAME` or `table:PATH`.
            folder: the new folder (None: named after the table or file).
            text: the column that the prompt shows.
            label: the column of right answers.
            id_column: the column of ids (None: `id` where there is one, else the row's number).
            sheet: the sheet of a workbook (None: the first).
            separator: the sign between the columns of a csv (None: what the file shows).
            encoding: of a text (None: what the file shows).
            question: what the prompt asks (None: a draft).
            positive: the right answer that counts as positive (None: none does).
            cluster: the column that says which rows belong together (None: none does).
            metric: the main metric (None: by the right answers).

        Raises:
            ConfigError: the folder exists already, the name of a column rules out its meaning, or
                `positive` is none of 2 to 20 right answers.
            DataError: the data cannot be read, lacks a column, or has no row that can be used.
        """
        return init_benchmark(
            self._workspace,
            folder,
            str(place),
            text=text,
            label=label,
            id_column=id_column,
            sheet=sheet,
            separator=separator,
            encoding=encoding,
            question=question,
            positive=positive,
            cluster=cluster,
            metric=metric,
        )

    @at_work
    def fetch_data(
        self, scenarios: str | Sequence[str] = (), *, all_public: bool = False
    ) -> Fetched:
        """Fetch the data of scenarios to this machine before a run; needs no Spark and no lake.

        Data that is not available is a row with the reason, and the others are fetched.

        Args:
            scenarios: names, as `med_qa`; with arguments for one choice of data, as
                `mmlu:subject=virology`.
            all_public: all public scenarios.

        Raises:
            ConfigError: no scenario is named, or one is unknown; nothing was fetched.
        """
        return Fetched(fetch_data(self._workspace, listed(scenarios), all_public=all_public))

    @at_work
    def import_responses(
        self,
        entries: str | Sequence[str] | Entries,
        file: str | Path,
        *,
        suite: str,
        fields: Mapping[str, str] | None = None,
        source: Source = (),
        columns: Mapping[str, str] | None = None,
        access_level: AccessLevel | None = None,
        attest_prompt: str | None = None,
        sheet: str | None = None,
        separator: str | None = None,
        encoding: str | None = None,
        **options: Any,
    ) -> RunResult:
        """Import answers that a model gave elsewhere and score them; the model is not asked.

        They are a run of their own: answers from another file, or from a later `run` that asks the
        model, supersede it in the suite.

        Args:
            entries: the run entry of one scenario and model.
            file: records with `source_id` or `instance_id`, `completion`, and `trial` where the
                suite asks more than once: csv, tsv, JSON lines, JSON, Parquet, a workbook, a
                folder of such files, or a table as `table:NAME`.
            suite: the suite that the run belongs to.
            fields: the file's names for them, by our names; a path such as
                `response.choices.0.message.content` leads into a column.
            source: as for `run`.
            columns: as for `run`.
            access_level: as for `run`.
            attest_prompt: the statement that the answers are to the run entry's prompt, and how you
                know, in a line without patient data; boards show it with your name (None: the
                prompt is not on record).
            sheet: the sheet of a workbook of answers (None: the first).
            separator: the sign between the columns of a csv of answers (None: what it shows).
            encoding: of a text of answers (None: what it shows).
            options: fields of Entries. `attest_locality` is where a model that no file registers
                ran when it answered; it is recorded in `policy_decisions`.
        """
        check_name("suite", suite)
        loaded = entries_of(entries, options).load(self._workspace.site)
        workspace = with_unknown_models(self._workspace, loaded)
        resolved = resolve(workspace, loaded, source, columns, access_level=access_level)
        stated = with_prompt(resolved.runs, attest_prompt)
        check_reading(separator, encoding, "the answers")
        layout = {"sheet": sheet, "separator": separator, "encoding": encoding}
        answers = answers_at(str(file), fields or {}, **layout)
        check_single(stated)
        if answers.table is None:
            check_file(answers, workspace.say)
        else:
            workspace.expect([AccessLevel.PRIVATE])  # the level of its text is not known yet
            answers = checked_table(workspace.context(suite), answers)
        runs = as_imported(stated, answers.revision)
        prepared = prepare(replace(resolved, runs=runs), suite)
        self._prepared(prepared)
        import_responses(prepared.ctx, prepared.specs, answers)
        return self._evaluate(prepared, upto=SUMMARIZE, retry_failed=False)

    @at_work
    def summarize(self, suites: str | Sequence[str]) -> Board:
        """Score and summarise the runs of suites if a metric or definition has changed.

        Returns the board of the last one.
        """
        for ctx in summarized(self._workspace, suites):
            board = self.board(ctx.suite)
            self._log(ctx, board.leaderboard)
        return board

    # What is read ------------------------------------------------------------------------------

    @at_work
    def board(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
        metric: str | None = None,
    ) -> Board:
        """The board of a suite or release; by default of the suite that was planned last.

        `schema` is a schema file of HELM's: the board shows the runs in its run groups, with its
        main metric, split, names and directions. Notes list what it hides and why. `metric` is a
        stat to show and rank by instead of each benchmark's main metric, such as `specificity`, for
        the runs that have it. Primary endpoints, margins and tiers are only of main metrics.

        Raises:
            UnknownNameError: no run has the metric.
        """
        view = self._view(suite, release, schema, metric)
        return Board(load_board(self._workspace, view), self._banner(release))

    @at_work
    def stats(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
    ) -> Stats:
        """Every stat of every run of a board, with interval and comparability key."""
        return Stats(stat_rows(self._runs(suite, release, schema)), self._banner(release))

    @at_work
    def metrics(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
        prevalence: float | Mapping[str, float] | None = None,
    ) -> Metrics:
        """Further metrics beside the main one, by benchmark, of all models side by side.

        With a positive class: two-by-two table, and of 1,000 cases how many are missed, how many
        are false alarms and what errors cost, with PPV and NPV. For every benchmark, what applies
        of: the classes against each other, calibration, tokens, seconds and money.

        Args:
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            schema: as in `board`.
            prevalence: the share of positive cases where the model will be used, from 0 to 1, or
                the shares by scenario name (None: as in the data).

        Raises:
            ConfigError: a prevalence is not between 0 and 1.
            UnknownNameError: it names no benchmark with a positive class.
        """
        runs = self._runs(suite, release, schema)
        banner = self._banner(release)
        return metrics_of(
            self._workspace, runs, release=release, prevalence=prevalence, banner=banner
        )

    @at_work
    def taxonomy(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
    ) -> TaxonomyCoverage:
        """Which subcategories of the taxonomy the benchmarks cover, and which they do not."""
        categories = self._workspace.registry.taxonomy.categories
        names = {each.display_name: each.subcategories for each in categories}
        runs = self._runs(suite, release, schema)
        return TaxonomyCoverage(taxonomy_coverage(runs, names), self._banner(release))

    def _banner(self, release: str | None) -> str:
        """The banner above the numbers of a release; empty for a suite's."""
        return choose(self._workspace.reader, release=release).banner if release else ""

    @at_work
    def robustness(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
        metric: str | None = None,
    ) -> Robustness:
        """How perturbed copies, other prompts and repeats change the numbers of a board.

        `metric` is a stat to show instead of each benchmark's main metric.

        Raises:
            UnknownNameError: no run has the metric.
        """
        runs = self._view(suite, release, schema, metric).runs
        return Robustness(robustness_of(runs), self._banner(release))

    @at_work
    def compare(
        self,
        *models: str,
        suite: str | None = None,
        release: str | None = None,
        scenario: str | Sequence[str] | None = None,
        margin: float | None = None,
        prevalence: float | Mapping[str, float] | None = None,
    ) -> Comparison:
        """Models on the same instances, by scenario: one decision a row, regressions first.

        p-values are adjusted by Holm for the primary endpoints that the suite file declares, by
        Benjamini and Hochberg for the others: for all pairs of models of the board where they are
        six at most, else for the pairs that are compared.

        Args:
            models: their names or deployments, each compared with each later one (none: all).
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            scenario: the scenarios to compare on (None: all).
            margin: a difference too small to matter, in the metric's own units: the result then
                says whether a model is not inferior, or equivalent (None: that of the suite file).
            prevalence: of two models, the share of positive cases at which missed cases, false
                alarms and cost are compared, as in `metrics`.

        Raises:
            UnknownNameError: a model or scenario is not on the board.
            ConfigError: the same model twice, a single one, a margin that is not above 0, or a
                prevalence that is not between 0 and 1 or is for more than two models.
        """
        runs = self._runs(suite, release)
        scenarios = [scenario] if isinstance(scenario, str) else list(scenario or ())
        reader = as_of(self._workspace.reader, release)
        floor = self._workspace.coverage_floor
        return compared(
            reader,
            runs,
            models,
            coverage_floor=floor,
            scenarios=scenarios,
            margin=margin,
            prevalence=prevalence,
            prices=prices_in(self._workspace),
        )

    @at_work
    def report(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
        prevalence: float | Mapping[str, float] | None = None,
    ) -> ReportFile:
        """The board of a suite or release as one HTML file, with charts, risks and comparisons.

        `prevalence` is as in `metrics`.

        Raises:
            ConfigError: a prevalence is not between 0 and 1.
            SetupError: the package that draws charts is missing.
        """
        view = self._view(suite, release, schema)
        return report_of(self._workspace, view, release, prevalence)

    @at_work
    def instances(
        self,
        scenario: str,
        model: str,
        *,
        suite: str | None = None,
        release: str | None = None,
        order: Order | str = Order.SOURCE,
        limit: int | None = 50,
        offset: int = 0,
        holding: InstanceKey | None = None,
        only: AnswerFilter | str | None = None,
    ) -> Instances:
        """The answers behind a model's number on a scenario, a page at a time.

        Args:
            scenario: its name, as on the board.
            model: a deployment's name, or that of a model with one deployment on the board.
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            order: `source`, `lowest` or `highest` value first.
            limit: how many answers a page has, from 1 on (None: all).
            offset: how many answers to skip before it.
            holding: an answer's key: its page is shown, whatever `offset` says.
            only: only `wrong`, `unread` or `failed` answers (None: all).

        Raises:
            UnknownNameError: the scenario or the model is not on the board.
            ConfigError: order, limit, offset or only has a value that is not allowed.
        """
        check_page(order, limit, offset, only)
        runs = self._runs(suite, release)
        return instances_behind(
            as_of(self._workspace.reader, release),
            runs,
            scenario,
            model,
            order=order,
            limit=limit,
            offset=offset,
            holding=holding,
            only=only,
        )

    @at_work
    def answers(
        self,
        scenario: str | None = None,
        model: str | None = None,
        *,
        suite: str | None = None,
        release: str | None = None,
        only: AnswerFilter | str | None = None,
        limit: int | None = 20,
        noted: bool = False,
        check: Callable[[Collection[AccessLevel]], None] | None = None,
    ) -> Answers:
        """Answers as a person reads them: end of the prompt, answer, references and score of each.

        Contains clinical text. If answers count as wrong or were not read, it says which other
        method of reading would score how many of them as right.

        Args:
            scenario: its name, as on the board (None: all of them, one after the other).
            model: a deployment's name, or that of a model with one deployment (None: all).
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            only: only `wrong`, `unread` or `failed` answers (None: all).
            limit: how many answers in all, from 1 on (None: all).
            noted: only answers on which people left flags or a note.
            check: receives the levels of the texts, and raises if they may not be shown; it is
                called before their viewing is recorded.

        Raises:
            UnknownNameError: the scenario or the model is not on the board.
            SetupError: `noted`, and this installation is without the feature `notes`.
            PolicyError: plug-ins are loaded that the policy does not list for this text, or the
                viewing of gated or private text cannot be recorded.
        """
        check_page(Order.SOURCE, limit, 0, only)
        if noted:
            self._feature("notes")
        runs = runs_named(self._runs(suite, release), scenario, model)
        levels = (run.run_spec.access_level for run in runs)
        check_plugins(self._workspace.registry.policy, levels)
        reader = as_of(self._workspace.reader, release)
        chosen = AnswerFilter(only) if only else None
        answers = answers_of(reader, runs, only=chosen, limit=limit, noted=noted)
        if check:
            check(answers.levels)
        if viewings := features.part("viewings", "record"):
            viewings.record_answers(self._workspace, answers.answers, runs, release)
        return answers

    # What features add -------------------------------------------------------------------------

    @property
    def releases(self) -> "ReleaseMethods":
        """Numbers of suites that are pinned, reviewed, published, compared and verified."""
        return cast("ReleaseMethods", self._feature("releases").ReleaseMethods(self._host))

    @property
    def medhelm(self) -> "MedhelmMethods":
        """Scenarios and results of MedHELM's, and this lake's results for it."""
        return cast("MedhelmMethods", self._feature("medhelm_results").MedhelmMethods(self._host))

    @property
    def tracking(self) -> "TrackingMethods":
        """The same numbers in MLflow."""
        uri = self._tracking if isinstance(self._tracking, str) else None
        methods = self._feature("tracking").TrackingMethods(self._host, uri)
        return cast("TrackingMethods", methods)

    @property
    def ratings(self) -> "RatingMethods":
        """People's ratings of answers, and how judges agree with them."""
        return cast("RatingMethods", self._feature("ratings").RatingMethods(self._host))

    @property
    def notes(self) -> "NoteMethods":
        """Flags and notes that people leave on answers."""
        return cast("NoteMethods", self._feature("notes").NoteMethods(self._host))

    @property
    def subgroups(self) -> "SubgroupMethods":
        """Scores of models by groups of patients, and their comparison."""
        return cast("SubgroupMethods", self._feature("subgroups").SubgroupMethods(self._host))

    @property
    def candidate_gate(self) -> "CandidateGateMethods":
        """Whether a candidate may replace the model that runs today."""
        methods = self._feature("candidate_gate").CandidateGateMethods(self._host)
        return cast("CandidateGateMethods", methods)

    @property
    def sharing(self) -> "SharingMethods":
        """Releases that are shared with others."""
        return cast("SharingMethods", self._feature("sharing").SharingMethods(self._host))

    @property
    def evidence(self) -> "EvidenceMethods":
        """The evidence of a release for a committee."""
        return cast("EvidenceMethods", self._feature("evidence").EvidenceMethods(self._host))

    @property
    def judges(self) -> "JudgeMethods":
        """Whether juries may be trusted, and the cards with the results."""
        return cast("JudgeMethods", self._feature("judge_checks").JudgeMethods(self._host))

    @property
    def provenance(self) -> "ProvenanceMethods":
        """The provenance of the runs of releases, as recorded and signed."""
        return cast("ProvenanceMethods", self._feature("provenance").ProvenanceMethods(self._host))

    @property
    def viewings(self) -> "ViewingMethods":
        """Who opened gated or private text in the dashboard or by `answers`."""
        return cast("ViewingMethods", self._feature("viewings").ViewingMethods(self._host))

    @property
    def watch(self) -> "WatchMethods":
        """Watches releases: whether a model that runs today is still the published one."""
        return cast("WatchMethods", self._feature("watch").WatchMethods(self._host))

    @property
    def air_gap(self) -> "AirGapMethods":
        """Offline runs, a folder with all that they need, and the site's network rule."""
        return cast("AirGapMethods", self._feature("air_gap").AirGapMethods(self._host))

    @property
    def governance(self) -> GovernanceMethods:
        """The records of text that was sent, and of levels."""
        return GovernanceMethods(self._host)

    @property
    def lake(self) -> LakeMethods:
        """Maintenance that keeps the lake small and fast to read."""
        return LakeMethods(self._host)

    @property
    def location(self) -> str:
        """The lake: an absolute path, a URI or `catalog.schema`."""
        return str(Location.of(self._workspace.location))

    # -------------------------------------------------------------------------------------------

    @property
    def _host(self) -> Host:
        return Host(
            workspace=self._workspace,
            at_work=self._at_work,
            is_tracked=self._is_tracked,
            board=self.board,
            log=self._log,
        )

    @property
    def _is_tracked(self) -> bool:
        return bool(self._tracking) and features.is_there("tracking")

    def _feature(self, name: str) -> Any:
        """The methods that a feature adds.

        Raises:
            SetupError: this installation is without the feature.
        """
        methods = features.part(name, "methods")
        if methods is None:
            raise SetupError(f"this installation is without the feature {name!r}.")
        return methods

    def _log(self, ctx: Context, board: Leaderboard, release: str | None = None) -> None:
        if self._is_tracked:
            self.tracking.log_board(ctx, board, release)

    def _prepared(self, prepared: Prepared) -> None:
        """Call the features after ingest and before any request is sent."""
        for feature in features.parts("runs"):
            feature.prepared(prepared)

    def _summarized(self, ctx: Context) -> None:
        """Call the features after a suite's runs are summarised."""
        for feature in features.parts("runs"):
            feature.summarized(self._workspace, ctx)

    def _resolve(
        self,
        entries: str | Sequence[str] | Entries,
        options: Mapping[str, Any],
        source: Sources,
        columns: Mapping[str, str] | None,
        *,
        access_level: AccessLevel | None,
        strict: bool = True,
    ) -> Resolved:
        loaded = entries_of(entries, options).load(self._workspace.site)
        return resolve(
            self._workspace, loaded, source, columns, access_level=access_level, strict=strict
        )

    def _evaluate(self, prepared: Prepared, *, upto: Stage, retry_failed: bool) -> RunResult:
        """Run the stages after the plan; returns their result."""
        ctx = prepared.ctx
        calls, others = evaluate(prepared, upto=upto, retry_failed=retry_failed)
        missing, board = None, None
        if upto is SUMMARIZE:
            self._summarized(ctx)
            view = self._view(ctx.suite)
            board = load_board(self._workspace, view)
            self._log(ctx, board)
            missing = missing_scores(prepared, view.runs)
        elif upto is not PLAN:
            missing = missing_answers(prepared)
        return RunResult(
            suite=ctx.suite,
            upto=upto,
            specs=prepared.specs,
            model_calls=calls,
            missing=missing,
            others=others,
            board=Board(board) if board else None,
            left_out=prepared.left_out,
        )

    def _runs(
        self,
        suite: str | None = None,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
    ) -> Sequence[BoardRun]:
        return self._view(suite, release, schema).runs

    def _view(
        self,
        suite: str | None = None,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
        metric: str | None = None,
    ) -> BoardView:
        return shown_runs(self._workspace, suite, release, schema_of(schema), metric)


def _stage(upto: Stage | str) -> Stage:
    names = {stage.name: stage for stage in UPTO}
    name = upto.name if isinstance(upto, Stage) else upto
    check_known("stage", name, names)
    return names[name]


def _again(day: date | str | None, model: str | None) -> Again | None:
    """The day and model of `ask_again`; the day has begun, so that it can date an answer."""
    if day is None:
        if model:
            raise ConfigError("model (--model) is given without ask_again (--ask-again).")
        return None
    try:
        parsed = date.fromisoformat(str(day))
    except ValueError:
        parsed = date.max
    if parsed > datetime.now(UTC).date():
        raise ConfigError(
            f"ask_again (--ask-again) is {str(day)!r}; allowed: a day, as 2024-10-02, today (UTC) "
            "at the latest."
        )
    return Again(day=parsed.isoformat(), model=model)


def _deployments(provided: Iterable[Deployment]) -> tuple[Deployment, ...]:
    """What a person provided, as a tuple."""
    for each in (deployments := listed(provided)):
        if not isinstance(each, Deployment):
            raise ConfigError(
                f"deployments contains a {type(each).__name__}; allowed: Deployment, as in "
                "docs/api.md."
            )
    return deployments
