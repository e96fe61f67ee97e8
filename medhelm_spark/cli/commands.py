"""One function per command: what it needs is in `args`, what it returns is the exit code."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.cli import demos
from medhelm_spark.cli.boards import print_board, write_board, write_text
from medhelm_spark.cli.coverage import check_answers, check_scores
from medhelm_spark.cli.dry_run import dry_run
from medhelm_spark.cli.evaluate import (
    check,
    check_engines,
    evaluate,
    one_source,
    own_data,
    prepare,
    replaced,
)
from medhelm_spark.cli.schema import load_shown, shown_runs
from medhelm_spark.cli.track import track
from medhelm_spark.cli.workspace import Entries, Workspace, say
from medhelm_spark.config.registry import explain, policy_of
from medhelm_spark.config.settings import load_settings
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.helm.schema_file import load_schema
from medhelm_spark.helm.site import load_site
from medhelm_spark.leaderboard import choose, robustness_of
from medhelm_spark.render.robustness import render_robustness
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.import_responses import ENGINE, file_id, parse_fields
from medhelm_spark.stages.import_responses import import_responses as import_file
from medhelm_spark.stages.ingest import ingest as ingest_cards
from medhelm_spark.stages.publish import publish, suite_runs
from medhelm_spark.stages.score import score
from medhelm_spark.stages.summarize import completed
from medhelm_spark.stages.summarize import summarize as summarize_runs
from medhelm_spark.tracking import preload


def run(args: Namespace) -> int:
    """`run`, and `plan`, `infer`, `annotate`, `score` for the stages up to one."""
    workspace = Workspace(args.local_path, args.output_path)
    runs = Entries.of(args).resolve(args, workspace)
    check(runs)
    if args.dry_run:
        return dry_run(runs, args.suite, workspace.registry.policy)
    if args.name != "plan":
        check_engines(runs, workspace)
    if args.name == "run" and not args.no_tracking:
        preload()
    ctx = workspace.context(args.suite)
    if args.skip_completed_runs:
        runs = _not_completed(ctx, runs)
    own = one_source(runs, own_data(args.source, args.columns))
    prepared = prepare(ctx, workspace, runs, own)
    retry = args.retry_failed
    done = evaluate(
        ctx, workspace, runs, prepared=prepared, upto=args.name, retry_failed=retry, args=args
    )
    say(counted(done.model_calls, "model call"))
    if args.name == "run":
        _show(args, workspace, ctx)
        return check_scores(workspace, ctx, runs, prepared.specs, args.typed)
    return (
        0
        if args.name == "plan"
        else check_answers(workspace, ctx, runs, prepared.specs, args.typed)
    )


def _not_completed(ctx: Context, runs: tuple[ResolvedRun, ...]) -> tuple[ResolvedRun, ...]:
    done = completed(ctx)
    return tuple(one for one in runs if one.name not in done)


def ingest(args: Namespace) -> int:
    """`ingest`: a scenario's data, from its card's source or from `--source`."""
    workspace = Workspace(args.local_path, args.output_path)
    cards = workspace.registry.cards
    if args.scenario not in cards:
        raise UnknownNameError("scenario", args.scenario, cards, where="--scenario")
    card = replaced(cards[args.scenario], own_data(args.source, args.columns))
    ingest_cards(workspace.context(""), [card])
    return 0


def import_responses(args: Namespace) -> int:
    """`import-responses`: answers made elsewhere, scored without calling the model."""
    names = parse_fields(args.fields)
    known = Workspace(args.local_path, args.output_path)
    entries = Entries.of(args)
    own = _own_models(entries, args.models_to_run, known, file_id(args.file))
    workspace = Workspace(args.local_path, args.output_path, own) if own else known
    runs = entries.resolve(args, workspace)
    check(runs)
    if len({one.card.name for one in runs}) > 1 or len({one.deployment.name for one in runs}) > 1:
        raise ConfigError("--file holds one model's answers to one scenario; give one run entry.")
    # What the file lacks is not asked: only judges are, so only their engines must run here.
    unasked = tuple(replace(one, deployment=replace(one.deployment, engine=ENGINE)) for one in runs)
    check_engines(unasked, workspace)
    ctx = workspace.context(args.suite)
    data = one_source(runs, own_data(args.source, args.columns))
    prepared = prepare(ctx, workspace, runs, data)
    import_file(ctx, prepared.specs, {prepared.specs[0].scenario_name: args.file}, names)
    done = evaluate(ctx, workspace, unasked, prepared=prepared, args=args)
    say(counted(done.model_calls, "model call"))
    _show(args, workspace, ctx)
    return check_scores(workspace, ctx, unasked, prepared.specs, args.typed)


def _show(args: Namespace, workspace: Workspace, ctx: Context) -> None:
    if not args.no_tracking:
        track(workspace, ctx, args.suite, args.tracking_uri)
    print_board(workspace, suite=args.suite)


def _own_models(
    entries: Entries, models: Sequence[str], workspace: Workspace, revision: str
) -> list[Deployment]:
    """A deployment for each named model that no file knows: its answers are only imported.

    The file's hash is its revision, so that another file is another run and supersedes it.
    """
    named = {
        str(entry.args[key])
        for entry in entries.entries
        for key in ("model", "model_deployment")
        if key in entry.args
    }
    known = workspace.registry.deployments
    served = {one.model for one in known.values()}
    return [
        Deployment(
            name=name,
            model=name,
            engine=ENGINE,
            locality=Locality.LOCAL,
            args={"revision": revision},
            origin="import-responses",
        )
        for name in sorted(named | set(models))
        if name not in known and name not in served
    ]


def summarize(args: Namespace) -> int:
    """`summarize --suite S`, or `--suites A B --release R`, which also makes the release."""
    suites = args.suites or ([args.suite] if args.suite else [])
    if not suites:
        raise ConfigError("give --suite S, or --suites A B with --release R.")
    if args.name == "publish" and not args.release:
        raise ConfigError("publish makes a release: name it by --release R.")
    schema = load_schema(args.schema) if args.schema else None
    if args.auto_generate_schema:
        say("--auto-generate-schema: every group is shown; names and directions are the cards'")
    workspace = Workspace(args.local_path, args.output_path)
    for suite in suites:
        ctx = workspace.context(suite)
        specs = [row.run_spec for row in suite_runs(ctx, [suite])]
        score(ctx, specs)
        summarize_runs(ctx, specs)
        if not args.no_tracking and not args.release:
            track(workspace, ctx, suite, args.tracking_uri)
    if args.release:
        publish(ctx, args.release, suites)
        if not args.no_tracking:
            track(workspace, ctx, args.release, args.tracking_uri, is_release=True)
    board = load_shown(
        workspace, schema, suite=None if args.release else suites[-1], release=args.release
    )
    write_board(board, "table", None)
    return 0


def leaderboard(args: Namespace) -> int:
    """`leaderboard`: the board of a suite or release, or its robustness, printed or written."""
    schema = load_schema(args.schema) if args.schema else None
    workspace = Workspace(args.local_path, args.output_path)
    if args.show == "robustness":
        reader = workspace.reader
        source = choose(reader, args.suite, args.release)
        rows = robustness_of(shown_runs(workspace, schema, source, reader))
        write_text(render_robustness(rows, args.format), args.output_file)
    else:
        board = load_shown(workspace, schema, suite=args.suite, release=args.release)
        write_board(board, args.format, args.output_file)
    return 0


def serve(args: Namespace) -> int:
    """`serve`: the dashboard on this machine."""
    from medhelm_spark.cli.serve import serve as open_dashboard

    place = (args.output_path, args.suite, args.release, args.port, args.host)
    floor = policy_of(args.local_path).comparison.coverage_floor
    return open_dashboard(*place, coverage_floor=floor, plugins=args.plugins)


def explain_config(args: Namespace) -> int:
    """`explain-config`: which file gave each named thing, and what it won over."""
    for origin in explain(load_site(args.local_path), load_settings(args.local_path)):
        over = f"  (over {', '.join(origin.overridden)})" if origin.overridden else ""
        sys.stdout.write(f"{origin.kind}  {origin.name}  {origin.file}{over}\n")
    return 0


def fetch_model(_: Namespace) -> int:
    """`fetch-model`: the small model's file, verified, into the cache."""
    from medhelm_spark.engines.assets import fetch_model as fetch

    say(f"model file: {fetch()}")
    return 0


def demo(args: Namespace) -> int:
    """`demo`: the shipped benchmarks with the embedded model and a constant baseline."""
    place = (args.output_path, args.local_path, args.tracking_uri)
    return demos.run(*place, tracking=not args.no_tracking, typed=args.typed)
