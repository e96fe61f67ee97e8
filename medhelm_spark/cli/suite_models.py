"""The suite's other models: what the same run entries make of them now, and who is left behind."""

import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace

from medhelm_spark.cli.workspace import Entries, Workspace, say
from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import RunEntry, SuiteRun
from medhelm_spark.errors import ConfigError
from medhelm_spark.helm.scenario_args import DEPLOYMENT, MODEL

MODEL_KEYS = (MODEL, DEPLOYMENT)


def runs_of(
    rows: Sequence[SuiteRun], args: Namespace, workspace: Workspace
) -> dict[str, ResolvedRun]:
    """The rows' runs as the command's entries resolve them, by run name.

    A row is missing where its deployment or an entry for it is configured no longer.
    """
    entries, names = Entries.of(args), {row.name for row in rows}
    runs: dict[str, ResolvedRun] = {}
    for name in sorted({row.run_spec.model_deployment for row in rows}):
        deployment = workspace.registry.deployments.get(name)
        if deployment is None:
            continue
        own = tuple(one for entry in entries.entries for one in _entries_for(entry, deployment))
        only = Namespace(**{**vars(args), "models_to_run": [name]})
        try:
            resolved = replace(entries, entries=own).resolve(only, workspace)
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


def tell_left(rows: Sequence[SuiteRun], args: Namespace) -> None:
    """Say per scenario how many models keep another definition, and what mends it."""
    for scenario in sorted({row.run_spec.scenario_name for row in rows}):
        mine = [row.run_spec for row in rows if row.run_spec.scenario_name == scenario]
        models = sorted({spec.model_deployment for spec in mine})
        say(
            f"score: {scenario}: an earlier definition still holds for "
            f"{counted(len(models), 'other model')} of suite {args.suite!r}; to compare, run: "
            f"{_command(models, args)}"
        )


def _command(models: Sequence[str], args: Namespace) -> str:
    entries = [_without_model(text) for text in args.run_entries or ()]
    words = ["medhelm-spark", "run", "--suite", args.suite]
    for flag, given in (
        ("--run-entries", entries),
        ("--conf-paths", args.conf_paths),
        ("--suite-file", [args.suite_file] if args.suite_file else []),
        ("--max-eval-instances", [args.max_eval_instances] if args.max_eval_instances else []),
        ("--models-to-run", models),
    ):
        words += [flag, *map(str, given)] if given else []
    return shlex.join(words)


def _without_model(text: str) -> str:
    name, _, rest = text.partition(":")
    kept = [part for part in rest.split(",") if part.partition("=")[0].strip() not in MODEL_KEYS]
    return f"{name}:{','.join(kept)}" if any(kept) else name
