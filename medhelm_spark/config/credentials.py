"""Secrets by reference: MedHELM's `credentials.conf`, the environment, Databricks secret scopes.

A Deployment carries `env:NAME`, `secret:SCOPE/KEY` or `credentials:FILE#KEY`, never the secret.
The driver resolves a reference when an engine is about to be built.
"""

import importlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medhelm_spark.config.hocon import parse_hocon
from medhelm_spark.config.yaml_text import read_text
from medhelm_spark.errors import SetupError

SECRET_VARIABLE = "MEDHELM_SPARK_SECRET_"
RUNTIME = "DATABRICKS_RUNTIME_VERSION"
PER_DEPLOYMENT = "deployments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The keys of a `credentials.conf`. Its values are kept out of `repr`, so out of logs."""

    path: Path
    values: Mapping[str, object] = field(repr=False)

    def reference(self, deployment: str) -> str | None:
        """Where this deployment's key is: its own entry, else its host's `<host>ApiKey`."""
        own = self.values.get(PER_DEPLOYMENT)
        if isinstance(own, Mapping) and deployment in own:
            return f"credentials:{self.path}#{PER_DEPLOYMENT}:{deployment}"
        key = f"{_host(deployment)}ApiKey"
        return f"credentials:{self.path}#{key}" if key in self.values else None

    def setting(self, deployment: str, suffix: str) -> str | None:
        """A setting of the deployment's host that is no secret: `BaseUrl`, `OrgId`."""
        value = self.values.get(_host(deployment) + suffix)
        return str(value) if value else None


def _host(deployment: str) -> str:
    return deployment.partition("/")[0]


def load_credentials(path: Path) -> Credentials:
    """Reads a `credentials.conf`; an absent file holds no keys.

    Raises:
        ConfigError: If it is not HOCON.
    """
    values = parse_hocon(read_text(path), path) if path.is_file() else {}
    return Credentials(path=path.resolve(), values=values)


def resolve_secret(reference: str, *, environ: Mapping[str, str] | None = None) -> str:
    """The secret behind a reference.

    `secret:SCOPE/KEY` is read from the variable MEDHELM_SPARK_SECRET_SCOPE_KEY where it is set,
    else from the Databricks secret scope.

    Raises:
        SetupError: If it is not there; the message names the reference only.
    """
    scheme, _, rest = reference.partition(":")
    environ = os.environ if environ is None else environ
    if scheme == "env":
        found, cure = environ.get(rest), f"set the environment variable {rest}"
    elif scheme == "secret":
        variable = secret_variable(rest)
        found = environ.get(variable) or (_from_scope(rest) if RUNTIME in environ else None)
        cure = f"set {variable}, or create the secret {rest} in Databricks"
    elif scheme == "credentials":
        found, cure = _from_file(rest), f"add the key to {rest.rpartition('#')[0]}"
    else:
        raise SetupError("A key is not given by reference: write env:NAME or secret:SCOPE/KEY.")
    if not found:
        raise SetupError(f"No key found for {reference}: {cure}.")
    return found


def secret_variable(name: str) -> str:
    """The environment variable that stands for the secret `SCOPE/KEY`.

    >>> secret_variable("llm/gpt-4o")
    'MEDHELM_SPARK_SECRET_LLM_GPT_4O'
    """
    return SECRET_VARIABLE + re.sub(r"[^A-Za-z0-9]", "_", name).upper()


def _from_file(place: str) -> str | None:
    file, _, key = place.rpartition("#")
    values: object = load_credentials(Path(file)).values
    for part in key.split(":", 1):
        values = values.get(part) if isinstance(values, Mapping) else None
    return None if values is None else str(values)


def _from_scope(name: str) -> str:
    scope, _, key = name.partition("/")
    try:
        dbutils = importlib.import_module("databricks.sdk.runtime").dbutils
        return str(dbutils.secrets.get(scope=scope, key=key))
    except Exception as error:
        # The platform's own exception types cannot be imported here; its text may be long.
        kind = type(error).__name__
        raise SetupError(f"Databricks refused the secret {name} ({kind}).") from None
