"""One function per command: what was typed becomes a call of the API, its result is printed."""

import json
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from medhelm_spark import Entries, Evaluation, RunResult, features
from medhelm_spark.board import text_levels
from medhelm_spark.cli.board_options import ALL
from medhelm_spark.cli.dry_run import print_dry_run
from medhelm_spark.cli.exit_codes import FAILED
from medhelm_spark.cli.incomplete import exit_code, skipped_code
from medhelm_spark.cli.printing import write_out, write_result
from medhelm_spark.config.registry import explain, policy_of
from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.data_uri import TABLE
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.names import printable, without_login
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.stages import SUMMARIZE
from medhelm_spark.domain.stated_prevalence import stated_of
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.file_permissions import Permissions, restrict
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.medhelm.schema_file import Schema, load_schema
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.render.result import Result
from medhelm_spark.user_data.init import InitializedBenchmark
from medhelm_spark.user_data.own_data import Source, own_data, parse_columns
from medhelm_spark.user_data.read_responses import parse_fields
from medhelm_spark.workspace.session import policy_tables, settings_of
from medhelm_spark.workspace.workspace import print_unread, say

RUN = "run"
POINT_ZERO = re.compile(r"-?\d+\.0+")


def evaluation(args: Namespace, deployments: Sequence[Deployment] = ()) -> Evaluation:
    """The lake and site that were typed, with models known beside the site's own."""
    is_tracked = not getattr(args, "no_tracking", True)
    tracking = (args.tracking_uri or True) if is_tracked else False
    return Evaluation(
        args.output_path,
        site=args.local_path,
        tracking=tracking,
        plugins=getattr(args, "plugins", ()),
        deployments=deployments,
    )


def finished(done: RunResult, args: Namespace) -> int:
    """Print what an evaluation came to; returns the exit code."""
    say(counted(done.model_calls, "model call"))
    if done.board:
        write_out(done.board.render())
    return exit_code(done, args)


def entries_of(args: Namespace) -> Entries:
    """The run entries that were typed, and the options of all of them."""
    names = [field.name for field in fields(Entries)]
    return Entries(**{name: getattr(args, name) for name in names if hasattr(args, name)})


def run(args: Namespace) -> int:
    """`run`, and `plan`, `infer`, `annotate`, `score` for the stages up to one."""
    entries = entries_of(args)
    if args.dry_run:
        runs = evaluation(args).dry_run(
            entries,
            suite=args.suite,
            source=source_of(args),
            access_level=level_of(args),
            strict=args.strict,
        )
        return print_dry_run(runs, strict=args.strict)
    done = evaluation(args).run(
        entries,
        suite=args.suite,
        upto=SUMMARIZE if args.name == RUN else args.name,
        source=source_of(args),
        access_level=level_of(args),
        retry_failed=args.retry_failed,
        skip_completed_runs=args.skip_completed_runs,
        strict=args.strict,
        ask_again=args.ask_again,
        model=args.model,
    )
    return finished(done, args)


def init(args: Namespace) -> int:
    """`init`: a benchmark folder on one's own data.

    The filled prompt goes to a terminal, to whoever typed the command, and nowhere else: neither
    into a pipe or file, which may be a job's log, nor on a platform that keeps its drivers' output.
    """
    location = args.file or args.table
    if args.table and not Path(args.table).is_file():  # a file's name is no table's
        location = TABLE + args.table.removeprefix(TABLE)
    made = evaluation(args).init_benchmark(
        location,
        args.folder,
        text=args.text,
        label=args.label,
        id_column=args.id,
        question=args.question,
        positive=args.positive,
        cluster=args.cluster,
        metric=args.metric,
        **_said(args),
    )
    is_seen = settings_of(args.local_path).platform is Platform.LOCAL and sys.stdout.isatty()
    labels = f"; right answers: {', '.join(made.labels)}" if made.labels and is_seen else ""
    say(f"init: wrote {made.folder}, on {counted(made.rows, 'row')}{labels}")
    for line in _alike(made, is_seen=is_seen):
        say(f"init: {line}")
    if not args.question:
        say(f"init: the question is a draft, word it in {made.folder / 'prompt.txt'}")
    if is_seen:
        say("init: the prompt, filled with one row:\n")
        write_out(printable(made.prompt))
        say("")
    else:
        say("init: the filled prompt is shown in a terminal; Evaluation.init_benchmark gives it")
    say(f"init: next: {made.next_command}")
    return 0


def _alike(made: InitializedBenchmark, *, is_seen: bool) -> Iterator[str]:
    """What of the right answers a person may not have meant."""
    if made.alike:
        named = "; ".join(", ".join(map(repr, group)) for group in made.alike)
        yield (
            f"{counted(len(made.alike), 'right answer')} in several spellings that differ by case "
            f"or blanks, each of which is an answer of its own{f': {named}' if is_seen else ''}"
        )
    if made.labels and all(map(POINT_ZERO.fullmatch, made.labels)):
        yield (
            "the right answers are whole numbers with a point, as 1.0: a reply of 1 is none of "
            "them; write them without"
        )


def estimate(args: Namespace) -> int:
    """`estimate`: plan, count and print; LEFT_OUT where some data cannot be had.

    Raises:
        BudgetError: it is above a limit.
    """
    estimates = evaluation(args).estimate(
        entries_of(args),
        suite=args.suite,
        source=source_of(args),
        access_level=level_of(args),
    )
    write_out(str(estimates))
    estimates.check(max_cost=args.max_cost, max_gpu_hours=args.max_gpu_hours)
    say("nothing was asked")
    return skipped_code(estimates.left_out)


def ingest(args: Namespace) -> int:
    """`ingest`: a scenario's data, from its card's source or from `--source`."""
    evaluation(args).ingest(args.scenario, source=source_of(args), access_level=level_of(args))
    return 0


def level(args: Namespace) -> int:
    """`level lower`: on record, a lower level of a scenario's newest data. `level list`: all."""
    if args.action == "list":
        write_result(evaluation(args).governance.level_changes(), args)
        return 0
    required = {"--scenario": args.scenario, "--to": args.to, "--reason": args.reason}
    if lacking := [flag for flag, value in required.items() if not (value or "").strip()]:
        raise ConfigError(f"level lower: {', '.join(lacking)} missing or empty.")
    change = evaluation(args).governance.lower_level(args.scenario, args.to, reason=args.reason)
    say(
        f"level: {change.scenario_name} is recorded as {change.to_level} instead of "
        f"{change.from_level} by {change.changed_by}, data version {change.data_version}"
    )
    if change.reviewed:
        say(f"level: approved by {change.approved_by}")
        return 0
    say(
        "level: unreviewed: until the site's binding policy names somebody else who approves, "
        "its rows keep their level and its text stays on local deployments"
    )
    approval = {
        "scenario_name": change.scenario_name,
        "data_version": change.data_version,
        "to_level": change.to_level.value,
        "approved_by": "NAME",
    }
    say(f"level: the line of `approvals` that approves it: - {json.dumps(approval)}")
    return 0


READING = ("sheet", "separator", "encoding")
"""How a file is read, as options and as arguments of the API."""


def source_of(args: Namespace) -> Source:
    """The data that was typed in place of a card's, with its options.

    Raises:
        ConfigError: options say how the data is read, and there is none.
    """
    own = own_data(args.source, parse_columns(args.columns))
    said = _said(args)
    if own is None:
        if any(said.values()):
            raise ConfigError(
                "--sheet, --sep and --encoding say how source (--source) is read, which is not "
                "given; a benchmark.yaml has the keys sheet, separator and encoding."
            )
        return ()
    return replace(own, **said)


def _said(args: Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in READING}


def level_of(args: Namespace) -> AccessLevel | None:
    """The level that was typed."""
    return AccessLevel(args.access_level) if args.access_level else None


def import_responses(args: Namespace) -> int:
    """`import-responses`: answers made elsewhere, scored without calling the model."""
    done = evaluation(args).import_responses(
        entries_of(args),
        args.file,
        suite=args.suite,
        fields=parse_fields(args.fields),
        source=own_data(args.source, parse_columns(args.columns)) or (),
        access_level=level_of(args),
        attest_prompt=args.attest_prompt,
        sheet=args.sheet,
        separator=args.separator,
        encoding=args.encoding,
    )
    return finished(done, args)


def suites_of(args: Namespace) -> list[str]:
    """The suites that were typed."""
    return args.suites or ([args.suite] if args.suite else [])


def schema_of(args: Namespace) -> Schema | None:
    """The schema file that was typed."""
    if args.auto_generate_schema:
        say("--auto-generate-schema: every group is shown; names and directions are the cards'")
    return load_schema(args.schema) if args.schema else None


def summarize(args: Namespace) -> int:
    """`summarize`: score and summarise suites anew; prints the board of the last one."""
    suites = suites_of(args)
    if not suites:
        raise ConfigError("give --suite S, or --suites A B.")
    here, schema = evaluation(args), schema_of(args)
    board = here.summarize(suites)
    write_out((here.board(suites[-1], schema=schema) if schema else board).render())
    return 0


def leaderboard(args: Namespace) -> int:
    """`leaderboard`: the board of a suite or release, its robustness or all its stats."""
    write_result(_of_share(args) or _requested(args), args)
    return 0


def _of_share(args: Namespace) -> Result | None:
    """The board of a share, where a share's folder was typed in place of a lake."""
    if not features.is_there("sharing"):
        return None
    board = evaluation(args).sharing.board(args.metric or "")
    if board and (args.suite or args.release or args.schema or args.show != "board"):
        raise ConfigError(f"{args.output_path} is a share, which has one board; allowed: --metric.")
    return board


def _requested(args: Namespace) -> Result:
    """What `leaderboard` is to show."""
    site, source = evaluation(args), {"release": args.release, "schema": args.schema}
    if args.prevalence and args.show != "metrics":
        raise ConfigError("--prevalence is for --show metrics; the board has the data's own.")
    if args.by and args.show != "groups":
        raise ConfigError(f"--by is for --show groups; received --show {args.show}.")
    if args.show == "groups":
        return site.subgroups.scores(args.suite, by=args.by, metric=args.metric, **source)
    if args.show == "metrics":
        if args.metric:
            raise ConfigError("--show metrics shows all; give it without --metric.")
        return site.metrics(args.suite, prevalence=stated_of(args.prevalence), **source)
    if args.show == "taxonomy":
        if args.metric:
            raise ConfigError("--show taxonomy has no metric; give it without --metric.")
        return site.taxonomy(args.suite, **source)
    if args.metric == ALL:
        if args.show != "board":
            raise ConfigError(
                f"--metric {ALL} lists every stat; give it without --show {args.show}."
            )
        return site.stats(args.suite, **source)
    read = site.robustness if args.show == "robustness" else site.board
    return read(args.suite, metric=args.metric, **source)


def compare(args: Namespace) -> int:
    """`compare`: models on the same instances, or in each group of patients, printed or written."""
    if args.by:
        write_result(_by_group(args), args)
        return 0
    comparison = evaluation(args).compare(
        *args.models,
        suite=args.suite,
        release=args.release,
        scenario=args.scenario,
        margin=args.margin,
        prevalence=stated_of(args.prevalence),
    )
    write_result(comparison, args)
    return 0


def _by_group(args: Namespace) -> Result:
    """What `compare --by` is to show."""
    named = {"--margin": args.margin is not None, "--prevalence": bool(args.prevalence)}
    if refused := [flag for flag, is_named in named.items() if is_named]:
        verb = "are" if len(refused) > 1 else "is"
        raise ConfigError(f"{' and '.join(refused)} {verb} for whole benchmarks, not for --by.")
    return evaluation(args).subgroups.compare(
        *args.models,
        suite=args.suite,
        release=args.release,
        scenario=args.scenario,
        by=args.by,
    )


def report(args: Namespace) -> int:
    """`report`: the board as one HTML file."""
    made = evaluation(args).report(
        args.suite,
        release=args.release,
        schema=args.schema,
        prevalence=stated_of(args.prevalence),
    )
    path = args.output_file or Path(f"{made.name}.html")
    write_out(made.html, path, command=args.name)
    return 0


def disclosures(args: Namespace) -> int:
    """`disclosures`: what text was sent where, printed or written."""
    if args.viewings:
        if args.suite:
            raise ConfigError(
                "disclosures --viewings: --suite is not of viewings; allowed: "
                "--release, --benchmark, --since, --until."
            )
        return _viewings(args)
    found = evaluation(args).governance.disclosures(
        suite=args.suite,
        release=args.release,
        benchmark=args.benchmark,
        since=args.since,
        until=args.until,
    )
    write_result(found, args)
    return 0


def _viewings(args: Namespace) -> int:
    found = evaluation(args).viewings.list(
        release=args.release, benchmark=args.benchmark, since=args.since, until=args.until
    )
    write_result(found, args)
    return 0


def serve(args: Namespace) -> int:
    """`serve`: the dashboard on this machine."""
    from medhelm_spark.cli.serve import serve as open_dashboard
    from medhelm_spark.cli.sign_in import sign_in_of

    settings = settings_of(args.local_path)
    policy, warehouse = policy_of(args.local_path, policy_tables(settings)), settings.warehouse
    reader = open_reader(args.output_path, warehouse)
    check_plugins(policy, text_levels(reader) if args.plugins else ())
    floor = policy.comparison.coverage_floor
    if settings.platform is Platform.LOCAL:
        restrict(Permissions(settings.lake_permissions))  # the server stores what raters enter
    return open_dashboard(
        args.output_path,
        args.suite,
        args.release,
        args.port,
        args.host,
        coverage_floor=floor,
        smallest_group=policy.small_cells.minimum,
        site=args.local_path,
        plugins=args.plugins,
        allowed=args.allowed_hosts or (),
        raters_only=args.raters_only,
        sign_in=sign_in_of(policy, settings.sign_in, args.local_path),
        warehouse=warehouse,
    )


def explain_config(args: Namespace) -> int:
    """`explain-config`: which file or variable gave each setting and each named thing."""
    settings = settings_of(args.local_path)
    site = load_site(args.local_path, tables=policy_tables(settings))
    print_unread(args.local_path, say)
    for name, value, source in settings.rows:
        sys.stdout.write(f"setting  {name} = {without_login(value)}  {source}\n")
    for origin in explain(site, settings):
        over = f"  (over {', '.join(origin.overridden)})" if origin.overridden else ""
        sys.stdout.write(f"{origin.kind}  {origin.name}  {origin.file}{over}\n")
    return 0


def models(args: Namespace) -> int:
    """`models`: what is known, and with `--check` whether it answers; FAILED where one does not."""
    known = evaluation(args).models(args.check or (), check=args.check is not None)
    write_result(known, args)
    return FAILED if known.silent else 0


def fetch_model(_: Namespace) -> int:
    """`fetch-model`: the small model's file, verified, into the cache."""
    from medhelm_spark.engines.model_files import fetch_model as fetch

    say(f"model file: {fetch()}")
    return 0
