"""A site's registry, its files written in HELM's words where it has them so."""

from collections.abc import Iterable
from pathlib import Path

from medhelm_spark.config.addresses import check_url
from medhelm_spark.config.deployments import ClientSpec, DeploymentEntry, from_name
from medhelm_spark.config.registry import PolicyTables, Registry, load_registry
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import ENGINES
from medhelm_spark.engines.model_uri import named_model
from medhelm_spark.medhelm.clients import site_translator


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
        by_name=by_name,
    )


def by_name(name: str) -> Deployment | None:
    """The deployment that a name alone defines; None where it defines none.

    Raises:
        ConfigError: The name begins as such a name and goes on otherwise, or its address has a user
            or a key, whatever it begins with: neither is shown.
    """
    model, _, url = name.partition("@")
    if "://" in url or "@" in url:
        check_url(url, f"model {model}@...")
    named = named_model(name)
    if named is None:
        return None
    entry = DeploymentEntry(
        name=name,
        engine=named.engine,
        client_spec=ClientSpec(args=named.args),
        tokenizer_name=named.tokenizer_name,
        max_concurrency=named.max_concurrency,
    )
    return from_name(entry, ENGINES)
