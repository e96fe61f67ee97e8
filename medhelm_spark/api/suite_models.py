"""The suite's other models: what the same run entries make of them now, and who is left behind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.api.entries import LoadedEntries
from medhelm_spark.api.workspace import Workspace
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import RunEntry, SuiteRun
from medhelm_spark.errors import ConfigError
from medhelm_spark.helm.run_entries import DEPLOYMENT, MODEL, MODEL_KEYS
from medhelm_spark.stages.decide import NEVER_ASKED


def runs_of(
    rows: Sequence[SuiteRun], entries: LoadedEntries, workspace: Workspace
) -> dict[str, ResolvedRun]:
    """The rows' runs as the command's entries resolve them, by run name.

    A row is missing where its deployment or an entry for it is configured no longer.
    """
    names = {row.name for row in rows}
    runs: dict[str, ResolvedRun] = {}
    for name in sorted({row.run_spec.model_deployment for row in rows}):
        deployment = workspace.registry.deployments.get(name)
        if deployment is None:
            continue
        own = tuple(one for entry in entries.entries for one in _entries_for(entry, deployment))
        only = replace(entries.options, models_to_run=[name])
        try:
            resolved = replace(entries, options=only, entries=own).resolve(
                workspace.registry_for(own)
            )
        except ConfigError:  # of a model that the command does not ask for: no reason to end it
            continue
        runs |= {run.name: run for run in resolved if run.name in names}
    return runs


def _entries_for(entry: RunEntry, deployment: Deployment) -> Iterator[RunEntry]:
    """An entry with another model in the place of its own, in the ways in which it is written."""
    if not any(key in entry.args for key in MODEL_KEYS):
        yield entry
        return
    values = {MODEL: deployment.model, DEPLOYMENT: deployment.name}
    for wanted in ((MODEL,), (DEPLOYMENT,), MODEL_KEYS):
        kept = {
            key: values.get(key, value)
            for key, value in entry.args.items()
            if key not in MODEL_KEYS or key in wanted
        }
        yield replace(entry, args={**kept, **{key: values[key] for key in wanted}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """Other models of a suite that keep an earlier definition of a scenario.

    `asked` are those that would have to be asked for the present one, `imported` those whose
    answers came from a file, which has to be imported again.
    """

    scenario_name: str
    asked: tuple[str, ...]
    imported: tuple[str, ...]


def others_left(rows: Sequence[SuiteRun]) -> tuple[Other, ...]:
    """The models that were left behind, by scenario."""
    scenarios = sorted({row.run_spec.scenario_name for row in rows})
    return tuple(_other(name, rows) for name in scenarios)


def _other(scenario_name: str, rows: Sequence[SuiteRun]) -> Other:
    own = [row for row in rows if row.run_spec.scenario_name == scenario_name]
    imported = {row.run_spec.model_deployment for row in own if row.engine == NEVER_ASKED}
    asked = {row.run_spec.model_deployment for row in own} - imported
    return Other(
        scenario_name=scenario_name, asked=tuple(sorted(asked)), imported=tuple(sorted(imported))
    )
