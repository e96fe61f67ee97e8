"""Checks before Spark is started, data is read or a model is asked."""

from collections.abc import Sequence

from medhelm_spark.annotators.kinds import kind_of
from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun, deployments_of
from medhelm_spark.domain.run import AnswerForm
from medhelm_spark.domain.sampling import EXTRA
from medhelm_spark.domain.scenario import TABULAR
from medhelm_spark.domain.split import Split
from medhelm_spark.engines import IMPORTED, factory_of, preflight
from medhelm_spark.errors import AbsentDataError, ConfigError, UnknownNameError
from medhelm_spark.metrics import metrics_for, run_metrics_for, stats_of
from medhelm_spark.policy.commands import check_command
from medhelm_spark.stages.plan.perturb import changes_of
from medhelm_spark.stages.plan.truncation import fit_of
from medhelm_spark.workspace.workspace import Workspace

SPLIT = "split"


def check(runs: Sequence[ResolvedRun], *, strict: bool = True) -> dict[str, str]:
    """Refuse runs that are wrong before Spark is started, data is read or a model is asked.

    Returns by scenario name why the data that a metric needs is not available; if `strict`, that is
    refused.
    """
    absent: dict[str, str] = {}
    for run in runs:
        fit_of(run)
        changes_of(run)
        try:
            _check_metrics(run)
        except AbsentDataError as error:
            if strict:
                raise
            absent[run.card.name] = str(error)
        _check_endpoint(run)
        _check_examples(run)
        for annotator in run.annotators:
            kind_of(annotator.rubric)
            _check_fields(run, annotator.rubric)
    return absent


def _check_metrics(run: ResolvedRun) -> None:
    try:
        for metric, params in metrics_for(run.metrics):
            metric.preflight(params)
        for run_metric, params in run_metrics_for(run.metrics):
            run_metric.preflight(params)
    except AbsentDataError:
        raise
    except ConfigError as error:
        raise ConfigError(f"{run.name}: {error}") from None


def _check_fields(run: ResolvedRun, rubric: Rubric) -> None:
    """Refuse a rubric that scores by a column that the benchmark does not have."""
    columns = {role.removeprefix(EXTRA) for role in run.card.fields if role.startswith(EXTRA)}
    for criterion in rubric.criteria:
        name = criterion.scored_by
        if name and name not in columns and run.card.shape == TABULAR:
            listed = ", ".join(sorted(columns)) or "none"
            raise ConfigError(
                f"{run.where or run.name}: rubric {rubric.name!r}, criterion {criterion.name!r}: "
                f"scored_by is {name!r}, and {run.card.name!r} keeps no such column "
                f"(extra_columns: {listed}); add it to extra_columns."
            )


def _check_endpoint(run: ResolvedRun) -> None:
    """Refuse a primary endpoint whose metric the scenario does not have."""
    known = [stat.name for stat in stats_of(run.metrics)]
    if run.is_primary and run.card.main_metric not in known:
        where = f"the suite file's primary_endpoint: scenario {run.card.name!r}"
        raise UnknownNameError("metric", run.card.main_metric, known, where=where)


def _check_examples(run: ResolvedRun) -> None:
    """Refuse few-shot examples for a benchmark that names no rows for them."""
    examples, source = run.adapter_spec.max_train_instances, run.card.source
    has_examples = any(file.split is Split.TRAIN for file in source.files)
    if run.card.shape == TABULAR and examples and not (has_examples or SPLIT in run.card.fields):
        raise ConfigError(
            f"{run.where or run.name}: max_train_instances is {examples}, and {run.card.name!r} "
            "names no rows for examples; give train_file or split_column in its configuration."
        )


def check_engines(runs: Sequence[ResolvedRun], workspace: Workspace) -> None:
    """Refuse an engine that cannot run here; loads no model.

    On a cluster the driver has neither the executors' GPUs nor their vLLM: for an engine that loads
    a model it checks only the arguments, and the executors check the rest.
    """
    for run in runs:
        _check_form(run)
    for deployment in to_infer(runs).values():
        check_engine(deployment, workspace)


def _check_form(run: ResolvedRun) -> None:
    """Refuse an answer form that the run's engine does not enforce."""
    form, deployment = run.adapter_spec.answer_form, run.deployment
    forms = factory_of(deployment).answer_forms(deployment.args)
    if form not in forms and deployment.engine != IMPORTED:
        allowed = ", ".join(each for each in AnswerForm if each in forms)
        cure = "; args.choices_by names how the server is asked" if "json" in forms else ""
        raise ConfigError(
            f"{run.where or run.name}: answer_form is {form.value!r}, which deployment "
            f"{deployment.name!r} (engine {deployment.engine}) does not enforce; allowed: "
            f"{allowed}{cure}."
        )


def check_engine(deployment: Deployment, workspace: Workspace) -> None:
    """Refuse a deployment as `check_engines` does, or if its key's command is not allowed."""
    check_command(workspace.registry.policy, deployment)
    platform, factory = workspace.settings.platform, factory_of(deployment)
    factory.check_arguments(deployment)
    if platform is Platform.LOCAL or not factory.exclusive:
        preflight(deployment)


def to_infer(runs: Sequence[ResolvedRun]) -> dict[str, Deployment]:
    """The models and judges that these runs would ask, by name."""
    deployments = deployments_of(runs)
    return {name: each for name, each in deployments.items() if each.engine != IMPORTED}
