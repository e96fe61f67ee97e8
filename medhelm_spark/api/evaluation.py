"""`Evaluation`: one sentence for what the command line does."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from pyspark.sql import SparkSession

from medhelm_spark.api.answer_texts import answers_of
from medhelm_spark.api.answers import as_imported, check_single, with_unknown_models
from medhelm_spark.api.at_hand import needed_by
from medhelm_spark.api.attested import with_prompt
from medhelm_spark.api.coverage import missing_answers, missing_scores
from medhelm_spark.api.entries import Entries, entries_of, listed
from medhelm_spark.api.estimates import Estimates, estimates_of
from medhelm_spark.api.evaluate import (
    Prepared,
    Resolved,
    askable,
    evaluate,
    ingest_scenario,
    prepare,
    resolve,
)
from medhelm_spark.api.fetch import fetch_data
from medhelm_spark.api.helm_export import HelmExport, export_results
from medhelm_spark.api.helm_results import HelmResults, import_results
from medhelm_spark.api.imports import Imported, import_from_file, import_from_medhelm
from medhelm_spark.api.init import init_benchmark
from medhelm_spark.api.maintenance import Rewritten, collect_garbage, optimize
from medhelm_spark.api.metrics import Metrics, metrics_of
from medhelm_spark.api.models import listed_models
from medhelm_spark.api.names import check_known, check_name
from medhelm_spark.api.own_data import Source, Sources
from medhelm_spark.api.own_rows import check_own_labels, check_own_rows
from medhelm_spark.api.reading import check_page, compared, instances_behind, runs_named
from medhelm_spark.api.release_results import Gate, ReleaseComparison, ReleaseRecord, Releases
from medhelm_spark.api.releases import (
    check_may_change,
    compared_releases,
    gate,
    release_record,
    releases_of,
    take_step,
)
from medhelm_spark.api.reports import ReportFile, report_of
from medhelm_spark.api.results import (
    Answers,
    Board,
    Comparison,
    Disclosures,
    Evaluated,
    Fetched,
    InitializedBenchmark,
    Instances,
    LevelChanges,
    Models,
    Release,
    Robustness,
    Runs,
    Stats,
)
from medhelm_spark.api.schema import Shown, load_board, schema_of, shown_runs
from medhelm_spark.api.slots import tell_slots
from medhelm_spark.api.track import track, track_released, uri_of
from medhelm_spark.api.workspace import Workspace, say
from medhelm_spark.config.benchmark import check_reading
from medhelm_spark.config.settings import load_settings
from medhelm_spark.config.site_folder import DEFAULT_SITE, site_folder
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.domain.plan import Again
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.stages import PLAN, SUMMARIZE, UPTO, Stage
from medhelm_spark.errors import ConfigError, IntegrityError, SetupError
from medhelm_spark.governance.plugins import check_plugins
from medhelm_spark.helm.export import ExportRequest
from medhelm_spark.helm.schema_file import Schema
from medhelm_spark.lake.defaults import with_defaults
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.settings import kept_settings
from medhelm_spark.lake.user import this_user
from medhelm_spark.leaderboard import (
    BoardRun,
    InstanceKey,
    Only,
    Order,
    choose,
    robustness_of,
    stat_rows,
)
from medhelm_spark.leaderboard.disclosures import disclosures_of
from medhelm_spark.leaderboard.level_changes import level_changes_of
from medhelm_spark.plugins import activate, use
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.gc import Removed
from medhelm_spark.stages.import_responses import checked_table, import_responses
from medhelm_spark.stages.ingest.ingested import Ingested
from medhelm_spark.stages.ingest.lowering import lower_level
from medhelm_spark.stages.publish import publish, suite_runs
from medhelm_spark.stages.read_responses import answers_at, check_file
from medhelm_spark.stages.score import score
from medhelm_spark.stages.summarize import summarize
from medhelm_spark.stages.unclustered import say_unclustered
from medhelm_spark.stages.verify import verify
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.tracking import experiment_page, preload, without_login

DEFAULT_LAKE = "benchmark_output"

M = TypeVar("M", bound=Callable[..., Any])


def at_work(method: M) -> M:
    """A method of Evaluation, with what has to hold while it works."""

    @wraps(method)
    def called(self: "Evaluation", *args: Any, **kwargs: Any) -> Any:
        with self._at_work():
            return method(self, *args, **kwargs)

    return cast(M, called)


class Evaluation:
    """Evaluations into one lake, by one site's configuration.

    Args:
        lake: a folder, an object-store URI or `catalog.schema`; made when something is written.
        site: the folder of the site's own configuration; it has to be there, but for `prod_env`.
        spark: the session to use; without one the platform's, else one that is started. One that
            was there keeps its settings: its time zone is UTC while a method works, and then as it
            was.
        tracking: MLflow: True for the settings' or the lake's own address, a URI, or False.
        plugins: modules with the site's own parsers, metrics and so on. Each method works with
            those of its own object; an object that names none, with those named last.
        deployments: models known beside the site's own, for this object only.
        say: is told each finished step in a line; standard error by default.

    Raises:
        ConfigError: the configuration is wrong, the site's folder is not there, or a plug-in cannot
            be imported.
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
        if self._plugins:  # none named leaves those that are active
            activate(self._plugins)
        self._workspace = Workspace(
            str(lake),
            Path(site) if site else None,
            deployments=_deployments(deployments),
            spark=spark,
            tell=say,
        )
        self._tracking = tracking

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """What has to hold during a call: this object's plug-ins, and the session's settings."""
        use(self._plugins)
        session, settings = self._workspace.given_session, self._workspace.settings
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
    ) -> Evaluated:
        """Do all stages for run entries, each only where something is missing.

        Runs whose data cannot be had are left out: the result's `left_out` and the board say which,
        and the table `left_out` keeps it.

        Args:
            entries: run entries, such as `pubmed_qa:model=NAME`, or Entries.
            suite: the suite that the runs belong to.
            upto: the last stage: `plan`, `infer`, `annotate`, `score` or `summarize`.
            source: data in place of the card's, for the one scenario that is evaluated; or by
                scenario name.
            columns: what `source` calls the card's columns.
            access_level: who may hold the data (None: as the card says); to be said of `source`
                where the card is public. It may be stricter than the card, never looser.
            retry_failed: also ask requests again whose failure is their own.
            skip_completed_runs: leave runs alone that are summarised with every answer there.
            strict: end at once where data cannot be had, in place of leaving it out.
            ask_again: a day (`2024-10-02`), today at the latest. Requests are asked anew, and from
                then on answers of that day count in this suite; those of before stay in the lake.
                A repeated call goes on. For weights that changed behind a name.
            model: the model or deployment to ask again (None: all).
            options: fields of Entries, such as `max_eval_instances=10`.

        Raises:
            MedhelmSparkError: what a person can cure, in one sentence; OutageError where a model
                or judge gives no answers, what was answered being kept; AbsentDataError where no
                scenario has its data, or where one lacks it and it is `strict`.
        """
        stage = _stage(upto)
        check_name("suite", suite)
        if stage is SUMMARIZE and self._tracking:
            preload()
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
        """What would run, what the policy says of it, and what is missing; writes nothing.

        Of one's own files it first tells the rows that would be left out, by their numbers. Nobody
        is asked: of a server it says that it was not. Starts Spark for a policy in a catalog's
        table alone. Arguments are those of `run`.

        Raises:
            AbsentDataError: no scenario that is imported, or has what its metrics score by, is
                left; or one lacks it and it is `strict`.
            DataError: one's own data lacks a column, an id stands in more than one row, or a label
                of a metric is the right answer of none.
        """
        check_name("suite", suite)
        resolved = self._resolve(
            entries, options, source, columns, access_level=access_level, strict=strict
        )
        for card in resolved.own_cards:
            check_own_rows(card, self._workspace.say)
            check_own_labels(card)
        tell_slots(self._workspace, askable(resolved.runs).values())
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
        """Plan, and count what asking would cost: tokens, hours, GPU hours, money.

        Runs whose data cannot be had are left out, as `run` does; the result's `left_out` says
        which.
        """
        check_name("suite", suite)
        resolved = self._resolve(
            entries, options, source, columns, access_level=access_level, strict=False
        )
        return estimates_of(prepare(resolved, suite, is_asked=False, strict=False))

    @at_work
    def models(self, names: str | Sequence[str] = (), *, check: bool = False) -> Models:
        """The models that are known here: engine, place, prices, keys, and what each lacks.

        Args:
            names: which ones, those that no file lists too, such as `ollama/llama3.1:8b`; all that
                files list by default.
            check: also ask each one short question of public nature, through its own engine and the
                policy. Without it no connection is opened.

        Raises:
            ConfigError: a name stands for no model.
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
    ) -> InitializedBenchmark:
        """Write a benchmark of one's own table or file into a new folder, and check it.

        The folder names the data, at level private, and holds nothing of its rows but the right
        answers where there are few. Starts Spark for a table alone.

        Args:
            place: a file, or a table as `table:NAME` or `table:PATH`.
            folder: the new folder (None: named after the table or file).
            text: the column that the prompt shows.
            label: the column of right answers.
            id_column: the column of ids (None: `id` where there is one, else the row's number).
            sheet: the sheet of a workbook (None: the first).
            separator: the sign between the columns of a csv (None: what the file shows).
            encoding: of a text (None: what the file shows).

        Raises:
            ConfigError: the folder is there already, or a column has a meaning that its name rules
                out.
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
        )

    @at_work
    def fetch_data(
        self, scenarios: str | Sequence[str] = (), *, all_public: bool = False
    ) -> Fetched:
        """Have the data of scenarios on this machine before a run; needs neither Spark nor a lake.

        Whatever cannot be had is a row that says why, and the others are fetched.

        Args:
            scenarios: names, as `med_qa`; with arguments where one choice of data is meant, as
                `mmlu:subject=virology`.
            all_public: all public scenarios.

        Raises:
            ConfigError: no scenario is named, or one is not known; nothing was fetched.
        """
        return Fetched(fetch_data(self._workspace, listed(scenarios), all_public=all_public))

    @at_work
    def lower_level(self, scenario: str, to: AccessLevel | str, *, reason: str) -> LevelChange:
        """Record that the level of a scenario's newest data is lower than it was said to be.

        Until a site's binding policy names somebody else who approves, it is unreviewed: the rows
        keep their level, and their text stays on local deployments.

        Args:
            scenario: its name, as in `scenarios`.
            to: the lower level.
            reason: why, for whoever reads the record.
        """
        workspace = self._workspace
        policy = workspace.registry.policy
        return lower_level(
            workspace.context(""),
            scenario,
            AccessLevel(to),
            reason,
            changed_by=this_user(),
            approvals=policy.binding_approvals,
        )

    @at_work
    def import_scenario(
        self,
        export: str | Path | ExportRequest,
        *,
        name: str | None = None,
        access_level: AccessLevel | None = None,
    ) -> Imported:
        """Take a scenario with MedHELM's own prompts into the lake; run entries name it then.

        Args:
            export: a file that MedHELM's installation exported, or what to ask one here for.
            name: what run entries call the scenario (None: MedHELM's name).
            access_level: who may hold the data (None: as our own card of it says, else private);
                to be said of a file where our card is public.
        """
        self._workspace.expect([AccessLevel.PRIVATE])  # what it holds is not known yet
        if isinstance(export, ExportRequest):
            return import_from_medhelm(
                self._workspace, export, name=name, access_level=access_level
            )
        return import_from_file(self._workspace, str(export), name=name, access_level=access_level)

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
    ) -> Evaluated:
        """Take answers made elsewhere as a model's and score them; the model is not asked.

        They are a run of their own: another file's answers, and those that a later `run` asks the
        model for, supersede it in the suite.

        Args:
            entries: the run entry of one scenario and model.
            file: records with `source_id` or `instance_id`, `completion`, and `trial` where the
                suite asks more than once: csv, tsv, JSON lines, JSON, Parquet, a workbook, a
                folder of such files, or a table as `table:NAME`.
            suite: the suite that the run belongs to.
            fields: what the file calls them, by our names; a path such as
                `response.choices.0.message.content` leads into a column.
            source: as for `run`.
            columns: as for `run`.
            access_level: as for `run`.
            attest_prompt: that the answers were given to the prompt which the run entry gives here,
                and whence it is known, in a line without patient data; boards show it with your
                name (None: the prompt is not on record).
            sheet: the sheet of a workbook of answers (None: the first).
            separator: the sign between the columns of a csv of answers (None: what it shows).
            encoding: of a text of answers (None: what it shows).
            options: fields of Entries. `attest_locality` is where a model that no file registers
                was when it answered; it is recorded in `policy_decisions`.
        """
        check_name("suite", suite)
        loaded = entries_of(entries, options).load(self._workspace.site)
        workspace = with_unknown_models(self._workspace, loaded)
        resolved = resolve(workspace, loaded, source, columns, access_level=access_level)
        stated = with_prompt(resolved.runs, attest_prompt)
        check_reading(separator, encoding, "the answers")
        said = {"sheet": sheet, "separator": separator, "encoding": encoding}
        answers = answers_at(str(file), fields or {}, **said)
        check_single(stated)
        if answers.table is None:
            check_file(answers, workspace.say)
        else:
            workspace.expect([AccessLevel.PRIVATE])  # whose text it holds is not known yet
            answers = checked_table(workspace.context(suite), answers)
        runs = as_imported(stated, answers.revision)
        prepared = prepare(replace(resolved, runs=runs), suite)
        import_responses(prepared.ctx, prepared.specs, answers)
        return self._evaluate(prepared, upto=SUMMARIZE, retry_failed=False)

    @at_work
    def import_helm(
        self,
        place: str | Path,
        *,
        suite: str,
        access_level: AccessLevel | None = None,
        rescore: bool = False,
    ) -> HelmResults:
        """Take results that MedHELM or HELM wrote into a suite; no model is asked.

        Their values are stats named `STAT@medhelm-0.8` of runs named `RUN@medhelm-0.8`; judges'
        verdicts are kept. The folder's releases are releases of the lake, status `external`. Broken
        runs are left out and named. What is there already is not read again.

        Args:
            place: HELM's output folder, or one suite or run of it; redacted or not.
            suite: the suite that the runs belong to.
            access_level: who may hold their text (None: as our card of the scenario says, else
                private); never looser than the card.
            rescore: whether their stored answers are scored here too: by our card's metrics where
                there is one, as runs named `RUN@rescored`.

        Raises:
            ConfigError: the folder holds no run.
        """
        check_name("suite", suite)
        done = import_results(
            self._workspace, place, suite, access_level=access_level, rescore=rescore
        )
        if not done.imported and not done.already:
            return done
        board = self.board(suite)
        self._track(self._workspace.context(suite), board.leaderboard)
        return replace(done, board=board)

    @at_work
    def export_helm(
        self,
        place: str | Path,
        *,
        suite: str,
        text_levels: Iterable[AccessLevel | str] = (AccessLevel.PUBLIC,),
    ) -> HelmExport:
        """Write a suite's runs as the files that `helm-summarize` of MedHELM 0.8.0 reads.

        Every request is written as it is read; no run is held as a whole. Imported runs get the
        names, ids and stats that they had.

        Args:
            place: the output folder for HELM; `runs/SUITE` is made below it.
            suite: which.
            text_levels: the levels whose text is written; all other text is `[redacted]`.

        Raises:
            ConfigError: that folder holds something already.
            PolicyError: plug-ins are loaded that the policy does not list beside this text.
        """
        check_name("suite", suite)
        choose(self._workspace.reader, suite)
        levels = {AccessLevel(level) for level in text_levels}
        return export_results(self._workspace, place, suite, levels)

    @at_work
    def summarize(self, suites: str | Sequence[str]) -> Board:
        """Score and summarise what suites hold, where a metric or definition has changed.

        Returns the board of the last one.
        """
        for ctx in self._summarized(suites):
            board = self.board(ctx.suite)
            self._track(ctx, board.leaderboard)
        return board

    # Releases ----------------------------------------------------------------------------------

    @at_work
    def publish(
        self,
        release: str,
        suites: str | Sequence[str] | None = None,
        *,
        schema: Schema | str | Path | None = None,
        note: str = "",
    ) -> Release:
        """Pin the current numbers of some suites as a draft; without suites, publish what stands.

        A run that stands in two suites counts as the later one's. A draft is replaced, and a
        release in review or approved becomes a draft again; one that is published does not change.

        Args:
            release: its name.
            suites: whose numbers to pin (None: the release, which is approved, is published).
            schema: a schema file of HELM's that its board is to be shown by; the manifest has its
                hash.
            note: what to keep with the publication.

        Raises:
            ReleaseError: the release has another status than this follows from.
            GateError: it lacks what the policy requires of a release that is published.
            IntegrityError: a number that it pins, or would pin, is not what it says.
        """
        check_name("release", release)
        if suites is None:
            record = self._step(release, ReleaseStatus.PUBLISHED, note)
            return Release(
                name=release,
                suites=record.held.suites,
                manifest_hash=record.manifest_hash,
                board=self.board(release=release, schema=schema),
                status=record.status,
            )
        schema = schema_of(schema)
        check_may_change(self._workspace, release)
        contexts = self._summarized(suites)
        names, ctx = [ctx.suite for ctx in contexts], contexts[-1]
        policy = self._workspace.registry.policy
        schema_hash = content_id(schema) if schema else ""
        manifest = publish(ctx, release, names, policy=policy, schema_hash=schema_hash)
        board = self.board(release=release)
        self._track(ctx, board.leaderboard, release)
        return Release(name=release, suites=tuple(names), manifest_hash=manifest, board=board)

    @at_work
    def releases(self) -> Releases:
        """The releases of the lake with their statuses, the newest first."""
        return releases_of(self._workspace)

    @at_work
    def release(self, release: str) -> ReleaseRecord:
        """One release: its status and who gave it, its manifest, its runs, what is required.

        Raises:
            LakeError: the lake does not hold it.
        """
        return release_record(self._workspace, release)

    @at_work
    def compare_releases(self, first: str, second: str) -> ReleaseComparison:
        """The runs of two releases: which means differ and why, which are in one of them only.

        Raises:
            LakeError: the lake does not hold one of them.
            ConfigError: both are the same.
        """
        return compared_releases(self._workspace, first, second)

    @at_work
    def gate(self, release: str) -> Gate:
        """What each requirement of the policy (`release.require`) comes to for a release.

        Raises:
            ReleaseError: it is external: made elsewhere.
            IntegrityError: a value behind its board was changed.
        """
        return gate(self._workspace, release)

    @at_work
    def submit(self, release: str, *, note: str = "") -> ReleaseRecord:
        """Put a draft in review, by the user of this process.

        Raises:
            ReleaseError: it is no draft.
        """
        return self._step(release, ReleaseStatus.IN_REVIEW, note)

    @at_work
    def approve(self, release: str, *, note: str = "") -> ReleaseRecord:
        """Approve a release in review, as somebody who neither made, ran nor submitted it.

        Raises:
            ReleaseError: it is not in review, or the user of this process had a hand in it.
            GateError: it lacks what the policy requires.
        """
        return self._step(release, ReleaseStatus.APPROVED, note)

    @at_work
    def withdraw(self, release: str, *, reason: str) -> ReleaseRecord:
        """Withdraw a release: all its rows stay, and its boards say so at their top.

        Raises:
            ReleaseError: it is withdrawn already.
            ConfigError: no reason is given.
        """
        return self._step(release, ReleaseStatus.WITHDRAWN, reason)

    def _step(self, release: str, to: ReleaseStatus, note: str) -> ReleaseRecord:
        """Give a release a status, and tell MLflow; the status counts whatever becomes of that."""
        record = take_step(self._workspace, release, to, note)
        try:
            if self._tracking:
                board = self.board(release=release).leaderboard
                self._track(self._workspace.context(""), board, release)
        except (IntegrityError, SetupError) as error:
            self._workspace.say(f"mlflow: the status is on record and not tracked: {error}")
        return record

    @at_work
    def verify(self, release: str) -> str:
        """Hash every row behind a release again; returns the manifest hash, writes nothing.

        Raises:
            IntegrityError: a value was changed since it was published; names tables and runs.
        """
        choose(self._workspace.reader, release=release)
        return verify(self._workspace.context(""), release)

    def _summarized(self, suites: str | Sequence[str]) -> list[Context]:
        names = [check_name("suite", name) for name in listed(suites)]
        if not names:
            raise ConfigError("give at least one suite.")
        for name in names:
            choose(self._workspace.reader, name)
        contexts = [self._workspace.context(suite) for suite in names]
        for ctx in contexts:
            specs = [row.run_spec for row in suite_runs(ctx, [ctx.suite])]
            check_plugins(self._workspace.registry.policy, (spec.access_level for spec in specs))
            score(ctx, specs)
            summarize(ctx, specs)
            say_unclustered(ctx, specs, self._workspace.registry.cards)
        return contexts

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
        """The board of a suite or release, of the suite planned last where neither is given.

        `schema` is a schema file of HELM's: the runs in its run groups are shown, by the main
        metric, split, names and directions that it says. Notes tell what it hides and why.
        `metric` is a stat to show and rank by in place of each benchmark's main metric, as
        `specificity`: the runs that have it. Primary endpoints, margins and tiers are of main
        metrics alone.

        Raises:
            UnknownNameError: no run has the metric.
        """
        shown = self._shown(suite, release, schema, metric)
        return Board(load_board(self._workspace, shown, suite, release), self._banner(release))

    @at_work
    def stats(
        self,
        suite: str | None = None,
        *,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
    ) -> Stats:
        """Every stat of every run behind a board, with interval and what it rests on."""
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
        """What one main metric leaves out, by benchmark, of all models side by side.

        Where a positive class is declared: two-by-two table, and of 1,000 cases how many are
        missed, how many are false alarms and what errors cost, with PPV and NPV. Everywhere what
        applies: the classes against each other, calibration, tokens, seconds and money.

        Args:
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            schema: as in `board`.
            prevalence: the share of the cases that is positive where the model is to be used, from
                0 to 1, or that by scenario name (None: as in the data).

        Raises:
            ConfigError: a prevalence is not between 0 and 1.
            UnknownNameError: it is stated of what is no benchmark with a positive class.
        """
        runs = self._runs(suite, release, schema)
        banner = self._banner(release)
        return metrics_of(
            self._workspace, runs, release=release, prevalence=prevalence, banner=banner
        )

    def _banner(self, release: str | None) -> str:
        """What stands above the numbers of a release; empty for a suite's."""
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
        """What perturbed copies, other prompts and repeats do to the numbers of a board.

        `metric` is a stat to show in place of each benchmark's main metric.

        Raises:
            UnknownNameError: no run has the metric.
        """
        runs = self._shown(suite, release, schema, metric).runs
        return Robustness(robustness_of(runs), self._banner(release))

    @at_work
    def disclosures(self) -> Disclosures:
        """What text of this lake was sent where, counted from what was really asked."""
        return Disclosures(tuple(disclosures_of(self._workspace.reader)))

    @at_work
    def level_changes(self) -> LevelChanges:
        """Every lowering of a level on record, and who approves it by the policy in force now."""
        approvals = self._workspace.registry.policy.binding_approvals
        return LevelChanges(tuple(level_changes_of(self._workspace.reader, approvals)))

    @at_work
    def gc(self, *, dry_run: bool = False) -> Sequence[Removed]:
        """Remove what the policy's `retention` no longer keeps; returns what, by table.

        Raises:
            LakeError: others kept writing one of the tables.
        """
        return collect_garbage(self._workspace, dry_run=dry_run)

    @at_work
    def optimize(self, *, dry_run: bool = False) -> Sequence[Rewritten]:
        """Rewrite tables of many small files into few; returns which. No row changes.

        Raises:
            LakeError: others kept writing one of the tables.
        """
        return optimize(self._workspace, dry_run=dry_run)

    @at_work
    def compare(
        self,
        *models: str,
        suite: str | None = None,
        release: str | None = None,
        scenario: str | Sequence[str] | None = None,
        margin: float | None = None,
    ) -> Comparison:
        """Models on the same instances, by scenario: one decision a row, regressions first.

        p-values are adjusted for all that is asked at once: by Holm for the primary endpoints that
        the suite file declares, by Benjamini and Hochberg for the others.

        Args:
            models: their names or deployments, each compared with each later one (none: all).
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            scenario: the scenarios to compare on (None: all).
            margin: a difference too small to matter, in the metric's own units: whether a model is
                not inferior, or equivalent, is told beside it (None: that of the suite file).

        Raises:
            UnknownNameError: a model or scenario is not on the board.
            ConfigError: the same model twice, a single one, or a margin that is not above 0.
        """
        runs = self._runs(suite, release)
        scenarios = [scenario] if isinstance(scenario, str) else list(scenario or ())
        workspace = self._workspace.as_of(release)
        return compared(workspace, runs, models, scenarios=scenarios, margin=margin)

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
        shown = self._shown(suite, release, schema)
        return report_of(self._workspace, shown, suite, release, prevalence)

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
        only: Only | str | None = None,
    ) -> Instances:
        """The answers behind a model's number on a scenario, a page at a time.

        Args:
            scenario: its name, as on the board.
            model: a deployment's name, or that of a model with one deployment on the board.
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            order: `source`, `lowest` or `highest` value first.
            limit: how many answers a page has, from 1 on (None: all).
            offset: how many answers to leave out before it.
            holding: an answer's key: its page is shown, whatever `offset` says.
            only: `wrong`, `unread` or `failed` answers alone (None: all).

        Raises:
            UnknownNameError: the scenario or the model is not on the board.
            ConfigError: order, limit, offset or only is none of those.
        """
        check_page(order, limit, offset, only)
        runs = self._runs(suite, release)
        return instances_behind(
            self._workspace.as_of(release).reader,
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
        only: Only | str | None = None,
        limit: int | None = 20,
    ) -> Answers:
        """Answers as a person reads them: end of the prompt, answer, references and score of each.

        Holds clinical text. Where answers count as wrong or were not read, it says which other
        method of reading would score how many of them as right.

        Args:
            scenario: its name, as on the board (None: all of them, one after the other).
            model: a deployment's name, or that of a model with one deployment (None: all).
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            only: `wrong`, `unread` or `failed` answers alone (None: all).
            limit: how many answers in all, from 1 on (None: all).

        Raises:
            UnknownNameError: the scenario or the model is not on the board.
            PolicyError: plug-ins are loaded that the policy does not list beside this text.
        """
        check_page(Order.SOURCE, limit, 0, only)
        runs = runs_named(self._runs(suite, release), scenario, model)
        levels = (run.run_spec.access_level for run in runs)
        check_plugins(self._workspace.registry.policy, levels)
        reader = self._workspace.as_of(release).reader
        return answers_of(reader, runs, only=Only(only) if only else None, limit=limit)

    # What is told to others --------------------------------------------------------------------

    @at_work
    def track(self, *, suite: str | None = None, release: str | None = None) -> None:
        """Log a suite's or release's current numbers to MLflow, unless tracking is off.

        It is the suite planned last where neither is given.
        """
        source = choose(self._workspace.reader, suite, release)
        board = self.board(suite if release else source.name, release=release)
        ctx = self._workspace.context("" if release else source.name)
        self._track(ctx, board.leaderboard, release)

    def _track(self, ctx: Context, board: Leaderboard, release: str | None = None) -> None:
        if not self._tracking:
            return
        if release:
            track_released(self._workspace, ctx, release, board, self._given_uri)
        else:
            track(self._workspace, ctx, board, self._given_uri)

    @property
    def location(self) -> str:
        """The lake: an absolute path, a URI or `catalog.schema`."""
        return str(Location.of(self._workspace.location))

    @property
    def tracking_uri(self) -> str | None:
        """MLflow's address, without a login that it may hold; None for MLflow's own choice."""
        uri = uri_of(self._workspace, self._given_uri)
        return uri and without_login(uri)

    @property
    def tracking_page(self) -> str | None:
        """The address of MLflow's page with the runs; None where only the platform knows it.

        Of a lake's own database it is that of a server which is started beside it.
        """
        return experiment_page(uri_of(self._workspace, self._given_uri))

    @property
    def _given_uri(self) -> str | None:
        return self._tracking if isinstance(self._tracking, str) else None

    # -------------------------------------------------------------------------------------------

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

    def _evaluate(self, prepared: Prepared, *, upto: Stage, retry_failed: bool) -> Evaluated:
        """Do the stages after the plan, and say what they came to."""
        ctx = prepared.ctx
        calls, others = evaluate(prepared, upto=upto, retry_failed=retry_failed)
        missing, board = None, None
        if upto is SUMMARIZE:
            shown = self._shown(ctx.suite)
            board = load_board(self._workspace, shown, ctx.suite)
            self._track(ctx, board)
            missing = missing_scores(prepared, shown.runs)
        elif upto is not PLAN:
            missing = missing_answers(prepared)
        return Evaluated(
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
        return self._shown(suite, release, schema).runs

    def _shown(
        self,
        suite: str | None = None,
        release: str | None = None,
        schema: Schema | str | Path | None = None,
        metric: str | None = None,
    ) -> Shown:
        return shown_runs(self._workspace, suite, release, schema_of(schema), metric)


def _stage(upto: Stage | str) -> Stage:
    names = {stage.name: stage for stage in UPTO}
    name = upto.name if isinstance(upto, Stage) else upto
    check_known("stage", name, names)
    return names[name]


def _again(day: date | str | None, model: str | None) -> Again | None:
    """What is asked anew; the day is one that has begun, so that it says of when an answer is."""
    if day is None:
        if model:
            raise ConfigError("model (--model) is given without ask_again (--ask-again).")
        return None
    try:
        asked = date.fromisoformat(str(day))
    except ValueError:
        asked = date.max
    if asked > datetime.now(UTC).date():
        raise ConfigError(
            f"ask_again (--ask-again) is {str(day)!r}; allowed: a day, as 2024-10-02, today (UTC) "
            "at the latest."
        )
    return Again(day=asked.isoformat(), model=model)


def _deployments(given: Iterable[Deployment]) -> tuple[Deployment, ...]:
    """What was given, where it is deployments."""
    for each in (held := listed(given)):
        if not isinstance(each, Deployment):
            raise ConfigError(
                f"deployments holds a {type(each).__name__}; allowed: Deployment, as in "
                "docs/api.md."
            )
    return held
