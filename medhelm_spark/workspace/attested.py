"""What a person states with the command because no file does: a model's locality, a prompt."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.domain.deployment import BY_NAME, Deployment, Locality
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.engines import IMPORTED
from medhelm_spark.errors import ConfigError

LONGEST_NOTE = 200
"""Characters of a statement: boards show it in a line."""


def attested(runs: Sequence[ResolvedRun], locality: Locality) -> tuple[ResolvedRun, ...]:
    """The runs with this locality for models that only a name describes.

    Raises:
        ConfigError: every model is registered with its own.
    """
    if not any(_is_open(run.deployment) for run in runs):
        raise ConfigError(
            f"attest_locality (--attest-locality) is {locality}: the model is registered with its "
            "own locality; leave it out."
        )
    return tuple(replace(run, deployment=_stated(run.deployment, locality)) for run in runs)


def with_prompt(runs: Sequence[ResolvedRun], note: str | None) -> tuple[ResolvedRun, ...]:
    """The runs with the statement that their imported answers were given to their own prompt.

    Raises:
        ConfigError: the statement is no line of text.
    """
    if note is None:
        return tuple(runs)
    words = note.strip()
    if not words or not words.isprintable() or len(words) > LONGEST_NOTE:
        raise ConfigError(
            f"attest_prompt (--attest-prompt) has {len(words)} characters in "
            f"{len(words.splitlines())} lines; allowed: one printable line of up to {LONGEST_NOTE} "
            "characters that says whence it is known."
        )
    return tuple(replace(run, prompt_attested=words) for run in runs)


def _is_open(deployment: Deployment) -> bool:
    """Whether no file states where it runs, or where it gave imported answers."""
    is_named = deployment.origin == BY_NAME and not deployment.is_locality_stated
    return is_named or deployment.engine == IMPORTED


def _stated(deployment: Deployment, locality: Locality) -> Deployment:
    if not _is_open(deployment):
        return deployment
    return replace(
        deployment, locality=locality, is_locality_stated=True, is_locality_attested=True
    )
