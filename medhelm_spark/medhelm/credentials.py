"""Secrets by reference: which key of MedHELM's `credentials.conf` a deployment uses.

A Deployment carries `env:NAME`, `secret:SCOPE/KEY` or `credentials:FILE#KEY`, never the secret.
`engines.secrets` resolves the reference, on the machine that uses the key.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medhelm_spark.config.yaml_text import read_text
from medhelm_spark.hocon import parse_hocon

PER_DEPLOYMENT = "deployments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The keys of a `credentials.conf`. `repr` omits their values, so that no log has them."""

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
    """Reads a `credentials.conf`; an absent file has no keys.

    Raises:
        ConfigError: If it is not HOCON.
    """
    values = parse_hocon(read_text(path), path) if path.is_file() else {}
    return Credentials(path=path.resolve(), values=values)
