"""A site's registry, its files written in HELM's words where it has them so."""

from collections.abc import Iterable
from pathlib import Path

from medhelm_spark.config.registry import PolicyTables, Registry, load_registry
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import ENGINES
from medhelm_spark.helm.clients import site_translator


def load_site(
    local_path: Path | None = None,
    *,
    deployments: Iterable[Deployment] = (),
    tables: PolicyTables | None = None,
) -> Registry:
    """Reads the shipped files and a site's folder, MedHELM's client classes as engines.

    `tables` reads a policy that the platform keeps in a catalog.

    Raises:
        ConfigError: If any file is wrong.
    """
    return load_registry(
        local_path,
        engines=ENGINES,
        translator=site_translator,
        deployments=deployments,
        tables=tables,
    )
