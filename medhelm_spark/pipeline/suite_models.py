"""The suite's other models: their runs by the same run entries now, and those that are outdated."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import RunEntry, RunSpec, SuiteRun
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.run_entries import DEPLOYMENT, MODEL, MODEL_KEYS
from medhelm_spark.pipeline.rescore import entry_of
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace


def runs_of(
    rows: Sequence[SuiteRun], entries: LoadedEntries, workspace: Workspace
) -> dict[str, ResolvedRun]:
    """The rows' runs as the command's entries resolve them, by run name.

    A row is missing if its deployment or an entry for it is no longer configured.
    """
    names = {row.name for row in rows}
    runs: dict[str, ResolvedRun] = {}
    for name in sorted({row.run_spec.model_deployment for row in rows}):
        deployment = workspace.registry.deployment(name)
        if deployment is None:
            continue
        own = tuple(own for entry in entries.entries for own in _entries_for(entry, deployment))
        only = replace(entries.options, models_to_run=[name])
        try:
            resolved = replace(entries, options=only, entries=own).resolve(
                workspace.registry_for(own)
            )
        except ConfigError:  # of a model that the command does not run: no reason to end it
            continue
        runs |= {run.name: run for run in resolved if run.name in names}
    return runs


def _entries_for(entry: RunEntry, deployment: Deployment) -> Iterator[RunEntry]:
    """An entry with another model in place of its own, in each form in which it can be written."""
    if not any(key in entry.args for key in MODEL_KEYS):
        yield entry
        return
    model, name = deployment.model, deployment.name
    ways = (
        {MODEL: model},
        {MODEL: name},  # a deployment's name can replace a model's
        {DEPLOYMENT: name},
        {MODEL: model, DEPLOYMENT: name},
    )
    for way in ways:
        args = {
            key: way.get(key, value)
            for key, value in entry.args.items()
            if key not in MODEL_KEYS or key in way
        }
        yield replace(entry, args={**args, **way})


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleModel:
    """Other models of a suite that keep an earlier definition of a scenario.

    `asked` are the models that would have to be asked by the current one, `imported` those whose
    answers are from a file, which has to be imported again. `further` are the names of runs by
    other run entries, on data that the scenario no longer has.
    """

    scenario_name: str
    asked: tuple[str, ...]
    imported: tuple[str, ...]
    further: tuple[str, ...] = ()


def others_left(rows: Sequence[SuiteRun], further: Sequence[SuiteRun]) -> tuple[StaleModel, ...]:
    """The outdated runs by scenario: other models' runs, and runs of other run entries."""
    scenarios = sorted({row.run_spec.scenario_name for row in (*rows, *further)})
    return tuple(_other(name, rows, further) for name in scenarios)


def on_other_data(
    rows: Sequence[SuiteRun], planned: Sequence[RunSpec], versions: Mapping[str, str]
) -> list[SuiteRun]:
    """The suite's runs of other run entries whose scenario has another data version by now.

    Perturbed runs are excluded: they have data versions of their own.
    """
    names, entries = {spec.name for spec in planned}, {entry_of(spec) for spec in planned}
    return [
        row
        for row in rows
        if row.name not in names
        and entry_of(row.run_spec) not in entries
        and not row.run_spec.perturbations
        and not row.run_spec.prompt_variants
        and versions.get(row.run_spec.scenario_name, row.run_spec.data_version)
        != row.run_spec.data_version
    ]


def _other(scenario_name: str, rows: Sequence[SuiteRun], further: Sequence[SuiteRun]) -> StaleModel:
    own = [row for row in rows if row.run_spec.scenario_name == scenario_name]
    imported = {row.run_spec.model_deployment for row in own if row.engine == IMPORTED}
    asked = {row.run_spec.model_deployment for row in own} - imported
    return StaleModel(
        scenario_name=scenario_name,
        asked=tuple(sorted(asked)),
        imported=tuple(sorted(imported)),
        further=tuple(
            sorted(row.name for row in further if row.run_spec.scenario_name == scenario_name)
        ),
    )
