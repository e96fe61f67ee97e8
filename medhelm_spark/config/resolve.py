"""From the names in a run entry to a deployment, by HELM's rules (facts section 2.4).

A deployment's name stands for itself. A model's name stands for the deployment of the same name,
else for the last one registered for it that is not deprecated. A model of three parts,
`host/org/model`, names deployment and model at once.
"""

from collections.abc import Mapping

from medhelm_spark.config.deployments import Refusal
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.errors import ConfigError, UnknownNameError

MODEL_GROUPS = ("all", "text", "code", "text_code", "instruction_following", "vlm", "audiolm")

Deployments = Mapping[str, Deployment]
Refusals = Mapping[str, Refusal]


def resolve_deployment(
    deployments: Deployments, refusals: Refusals, model: str | None, model_deployment: str | None
) -> Deployment:
    """The deployment that the two names stand for; at least one must be given."""
    if model_deployment:
        found = _named(deployments, refusals, model_deployment)
        return _of_model(found, model) if model else found
    if not model:
        raise ConfigError("neither a model nor a deployment is named.")
    if model.count("/") == 2 and (model in deployments or model in refusals):
        return _of_model(_named(deployments, refusals, model), model.partition("/")[2])
    return _for_model(deployments, refusals, model)


def _named(deployments: Deployments, refusals: Refusals, name: str) -> Deployment:
    if name in refusals:
        raise ConfigError(refusals[name].reason)
    if name not in deployments:
        raise UnknownNameError("deployment", name, deployments)
    return deployments[name]


def _of_model(deployment: Deployment, model: str) -> Deployment:
    if model in (deployment.model, deployment.name):
        return deployment
    raise ConfigError(
        f"deployment {deployment.name!r} serves model {deployment.model!r}, not {model!r}."
    )


def _for_model(deployments: Deployments, refusals: Refusals, model: str) -> Deployment:
    same = deployments.get(model)
    if same and not same.deprecated:
        return same
    serving = [one for one in deployments.values() if one.model == model]
    if serving:
        return next((one for one in reversed(serving) if not one.deprecated), serving[-1])
    if same or model in refusals:
        return _named(deployments, refusals, model)
    refused = [one for one in refusals.values() if one.model == model]
    if refused:
        raise ConfigError(refused[-1].reason)
    if model in MODEL_GROUPS:
        raise ConfigError(
            f"model={model} is a group of HELM's; name the models by --models-to-run instead."
        )
    known = {one.model for one in deployments.values()} | set(deployments)
    raise UnknownNameError("model", model, known)
