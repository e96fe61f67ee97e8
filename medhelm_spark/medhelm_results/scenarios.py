"""A scenario with MedHELM's own prompts, from an installation or an export, into the lake."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.stages import IMPORT_SCENARIO
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.governance.purges import refuse_purged
from medhelm_spark.lake.file_permissions import work_folder
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.user import this_user
from medhelm_spark.medhelm.export_file import METHODS, Export, read_export
from medhelm_spark.medhelm.imported import (
    Import,
    import_of,
    imported_level,
    names_a_path,
    stored_card,
)
from medhelm_spark.medhelm.scenario_args import refuse_unsupported
from medhelm_spark.medhelm_results.export_scenario import ExportRequest, export_scenario
from medhelm_spark.metrics import metrics_for, stats_of
from medhelm_spark.policy.plugins import check_plugins
from medhelm_spark.scenarios import check_card, first_line
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.ingested import Ingested
from medhelm_spark.stages.ingest.stage import ingest
from medhelm_spark.workspace.workspace import Workspace

REFERENCES = "references"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A scenario that run entries can name now.

    `entry` is a run entry without its model, `num_instances` the size of the export, `left_out` the
    metrics of MedHELM's that are not computed here.
    """

    entry: str
    num_instances: int
    left_out: tuple[str, ...]
    ingested: Ingested


def import_from_medhelm(
    workspace: Workspace,
    request: ExportRequest,
    *,
    name: str | None = None,
    access_level: AccessLevel | None = None,
) -> Imported:
    """What MedHELM's Python exports, into a folder that goes again."""
    with tempfile.TemporaryDirectory(prefix="export-", dir=work_folder()) as folder:
        path = Path(folder, "export.jsonl")
        workspace.say(
            f"import-scenario: {request.name} is read by {request.python}; MedHELM may download it"
        )
        export_scenario(request, path)
        return import_from_file(
            workspace,
            str(path),
            name=name,
            access_level=access_level,
            is_own=any(names_a_path(key) for key in request.args),
        )


def export_request(
    name: str, args: Mapping[str, str], python: str | None, medhelm_output: str
) -> ExportRequest:
    """What MedHELM is to export.

    Raises:
        ConfigError: no Python is given, or the scenario is one that is not evaluated here.
    """
    if not python:
        raise ConfigError(
            "--from-medhelm needs --medhelm-python, the python of an environment with medhelm; "
            "an export that was made elsewhere is given by --file."
        )
    refuse_unsupported((name,), "--from-medhelm")
    return ExportRequest(
        name=name, args=args, python=python, methods=METHODS, medhelm_output=medhelm_output
    )


def import_from_file(
    workspace: Workspace,
    path: str,
    *,
    name: str | None = None,
    access_level: AccessLevel | None = None,
    is_own: bool = True,
) -> Imported:
    """An export that was made here or elsewhere.

    Args:
        workspace: the lake and its configuration.
        path: the export: a path or an object-store URI.
        name: what run entries call the scenario (None: MedHELM's name).
        access_level: who may have the data (None: as our own card of it says, else private).
        is_own: whether it may contain other data than the scenario's own, as a file may.

    Raises:
        PolicyError: the level has to be stated, or the one that is stated is too low.
    """
    path = path if is_uri(path) else str(Path(path).expanduser().absolute())
    export = read_export(first_line(path), path)
    registry = workspace.registry
    imported = import_of(export, path, registry.cards, name=name)
    refuse_purged(workspace, [imported.card.name])
    level = imported_level(imported, access_level, registry.policy, is_own=is_own)
    imported = replace(imported, card=replace(imported.card, access_level=level))
    check_plugins(registry.policy, [level])
    _check(imported, export)
    ingested = _into_lake(
        workspace.context(""),
        bind(imported.card),
        partial(_row, imported, export),
        stated_by=this_user() if access_level else None,
    )
    args = [f"{key}={value}" for key, value in imported.args.items()]
    return Imported(
        entry=f"{imported.name}:{','.join([*args, 'model=MODEL'])}",
        num_instances=export.instances,
        left_out=tuple(imported.left_out),
        ingested=ingested,
    )


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


def _row(made: Import, export: Export, ingested: Ingested) -> ImportedScenario:
    data_version = ingested.data_version
    made = replace(made, card=replace(made.card, access_level=ingested.access_level))
    return ImportedScenario(
        scenario_name=made.card.name,
        name=made.name,
        args=made.args,
        data_version=data_version,
        access_level=made.card.access_level,
        card=stored_card(made, data_version),
        header=canonical_json(export),
        package=export.package,
        package_version=export.package_version,
        imported_at=datetime.now(UTC),
    )


def _into_lake(
    ctx: Context,
    card: ScenarioCard,
    described: Callable[[Ingested], ImportedScenario],
    *,
    stated_by: str | None = None,
) -> Ingested:
    """Ingest an export and enter it as a scenario that run entries can name.

    Args:
        ctx: the lake.
        card: a card that reads the export's file.
        described: what the lake keeps of an import whose data is this.
        stated_by: who stated the card's level, where a person did.

    Raises:
        DataError: the file is cut off, changed, or no export.
    """
    stated = {card.name: stated_by} if stated_by else {}
    ingested = ingest(ctx, [card], stated_by=stated)[card.name]
    ctx.within(IMPORT_SCENARIO).lake.append_rows(
        "imported_scenarios", [described(ingested)], new_write_id()
    )
    return ingested
