"""Which commands may be run for a key."""

import json

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.key_source import KeyCommand, key_source
from medhelm_spark.domain.policy import Policy
from medhelm_spark.errors import ConfigError, PolicyError


def check_command(policy: Policy, deployment: Deployment) -> None:
    """Refuse a key's command that the policy does not list, word by word.

    A file that names a model may come from anywhere, and a command runs as whoever runs the job.

    Raises:
        PolicyError: names the command with the line that lists it.
        ConfigError: the deployment's `api_key` is neither a reference nor a source of keys.
    """
    try:
        source = key_source(deployment.args.get("api_key", ""))
    except ValueError as error:
        raise ConfigError(f"deployment {deployment.name!r}: {error}") from None
    if isinstance(source, KeyCommand) and source.command not in policy.commands:
        raise PolicyError(
            f"deployment {deployment.name!r}: args.api_key names a command, and {policy.label} "
            "does not list it; whoever has checked it adds to the policy's commands: "
            f"{json.dumps(source.command)}."
        )
