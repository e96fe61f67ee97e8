"""The commands that take from MedHELM and give to it: scenarios and results."""

from argparse import Namespace

from medhelm_spark.cli.commands import evaluation, level_of
from medhelm_spark.cli.exit_codes import LEFT_OUT
from medhelm_spark.cli.printing import write_out
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.run_entries import parse_value
from medhelm_spark.workspace.workspace import say


def import_helm(args: Namespace) -> int:
    """`import-helm`: results of MedHELM's or HELM's own; LEFT_OUT where a run is broken."""
    done = evaluation(args).medhelm.import_results(
        args.path, suite=args.suite, access_level=level_of(args), rescore=args.rescore
    )
    if done.board:
        write_out(done.board.render())
    return LEFT_OUT if done.broken else 0


def export_helm(args: Namespace) -> int:
    """`export-helm`: a suite's runs as HELM's files; text of the levels that were named."""
    evaluation(args).medhelm.export_results(
        args.path,
        suite=args.suite,
        text_levels=(AccessLevel.PUBLIC, *map(AccessLevel, args.text_levels)),
    )
    return 0


def import_scenario(args: Namespace) -> int:
    """`import-scenario`: from `--file`, or from what MedHELM's Python exports."""
    if (args.from_medhelm is None) == (args.file is None):
        raise ConfigError("give --from-medhelm NAME with --medhelm-python, or --file FILE.")
    export = args.file
    if args.from_medhelm:
        from medhelm_spark.medhelm_results.scenarios import export_request  # of a feature

        arguments = dict(map(_pair, args.args))
        export = export_request(
            args.from_medhelm, arguments, args.medhelm_python, args.medhelm_output
        )
    done = evaluation(args).medhelm.import_scenario(
        export, name=args.called, access_level=level_of(args)
    )
    if done.ingested.bad:
        say("import-scenario: what is quarantined is in MedHELM's numbers, and not in these")
    for name in done.left_out:
        say(f"import-scenario: {name} is not computed here")
    size = counted(done.num_instances, "instance")
    say(f"import-scenario: {size}; run it by -r {done.entry}")
    return 0


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals or not value:
        raise ConfigError(f"--args: {text!r} is not KEY=VALUE.")
    return key, str(parse_value(value))
