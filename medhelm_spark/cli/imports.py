"""`import-scenario`: a scenario with MedHELM's own prompts, from an installation or an export."""

import tempfile
from argparse import Namespace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from medhelm_spark.cli.workspace import Workspace, say
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.helm.export import ExportRequest, export_scenario
from medhelm_spark.helm.export_file import METHODS, Export, read_export
from medhelm_spark.helm.imported import Import, held_card, import_of
from medhelm_spark.helm.run_entries import parse_value
from medhelm_spark.helm.scenario_args import refuse_unsupported
from medhelm_spark.metrics import metrics_for, stats_of
from medhelm_spark.scenarios import check_card, first_line
from medhelm_spark.stages.import_scenario import import_scenario as into_lake

REFERENCES = "references"


def import_scenario(args: Namespace) -> int:
    """From `--file`, or from what MedHELM's Python exports into a folder that goes again."""
    if (args.from_medhelm is None) == (args.file is None):
        raise ConfigError("give --from-medhelm NAME with --medhelm-python, or --file FILE.")
    workspace = Workspace(args.local_path, args.output_path)
    if args.file:
        return _import(args, workspace, _absolute(args.file))
    asked = _asked(args)
    with tempfile.TemporaryDirectory(prefix="medhelm_spark_export_") as folder:
        path = Path(folder, "export.jsonl")
        say(f"import-scenario: {asked.name} is read by {asked.python}; MedHELM may download it")
        export_scenario(asked, path)
        return _import(args, workspace, str(path))


def _absolute(path: str) -> str:
    return path if "://" in path else str(Path(path).expanduser().absolute())


def _asked(args: Namespace) -> ExportRequest:
    if not args.medhelm_python:
        raise ConfigError(
            "--from-medhelm needs --medhelm-python, the python of an environment with medhelm; "
            "an export that was made elsewhere is given by --file."
        )
    refuse_unsupported((args.from_medhelm,), "--from-medhelm")
    return ExportRequest(
        name=args.from_medhelm,
        args=dict(map(_pair, args.args)),
        python=args.medhelm_python,
        methods=METHODS,
        medhelm_output=args.medhelm_output,
    )


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals or not value:
        raise ConfigError(f"--args: {text!r} is not KEY=VALUE.")
    return key, str(parse_value(value))


def _import(args: Namespace, workspace: Workspace, path: str) -> int:
    line = first_line(path)
    export = read_export(line, path)
    level = AccessLevel(args.access_level) if args.access_level else None
    made = import_of(export, path, workspace.registry.cards, name=args.called, access_level=level)
    _check(made, export)
    found = into_lake(workspace.context(""), made.card, partial(_row, made, export))
    if found.bad:
        say("import-scenario: what is quarantined is in MedHELM's numbers, and not in these")
    for name in made.left_out:
        say(f"import-scenario: {name} is not computed here")
    given = ",".join(f"{key}={value}" for key, value in made.args.items())
    entry = f"{made.name}:{given + ',' if given else ''}model=MODEL"
    say(f"import-scenario: {counted(export.instances, 'instance')}; run it by -r {entry}")
    return 0


def _check(made: Import, export: Export) -> None:
    """Refuse what could not be scored, before anything is written."""
    card = made.card
    check_card(card)
    stats = [stat.name for stat in stats_of(card.metrics)]
    if card.main_metric not in stats:
        raise UnknownNameError("main metric", card.main_metric, stats, where=card.name)
    needing = [
        spec.name
        for spec in card.metrics
        for metric, _ in metrics_for([spec])
        if REFERENCES in metric.needs
    ]
    if needing and export.without_reference:
        raise ConfigError(
            f"{card.name}: {counted(export.without_reference, 'instance')} of {export.instances} "
            f"without a right reference, which {needing[0]} needs."
        )


def _row(made: Import, export: Export, data_version: str) -> ImportedScenario:
    return ImportedScenario(
        scenario_name=made.card.name,
        name=made.name,
        args=made.args,
        data_version=data_version,
        access_level=made.card.access_level,
        card=held_card(made, data_version),
        header=canonical_json(export),
        package=export.package,
        package_version=export.package_version,
        imported_at=datetime.now(UTC),
    )
