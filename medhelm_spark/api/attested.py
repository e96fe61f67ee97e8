"""Models whose locality a person states with the command, since no file does."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.domain.deployment import BY_NAME, Deployment, Locality
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError


def attested(runs: Sequence[ResolvedRun], locality: Locality) -> tuple[ResolvedRun, ...]:
    """The runs with this locality for models that a name alone stands for.

    Raises:
        ConfigError: every model is registered with its own.
    """
    if not any(_is_open(run.deployment) for run in runs):
        raise ConfigError(
            f"attest_locality (--attest-locality) is {locality}: the model is registered with its "
            "own locality; leave it out."
        )
    return tuple(replace(run, deployment=_stated(run.deployment, locality)) for run in runs)


def _is_open(deployment: Deployment) -> bool:
    """Whether no file says where it runs; of answers from a file, where it answered."""
    is_named = deployment.origin == BY_NAME and not deployment.is_locality_stated
    return is_named or deployment.engine == IMPORTED


def _stated(deployment: Deployment, locality: Locality) -> Deployment:
    if not _is_open(deployment):
        return deployment
    return replace(
        deployment, locality=locality, is_locality_stated=True, is_locality_attested=True
    )
