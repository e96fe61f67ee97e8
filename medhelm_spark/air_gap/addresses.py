"""The addresses that work needs, derived from the site's configuration and from nothing else."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from medhelm_spark.air_gap.guard import ListedAddress
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import ENGINES
from medhelm_spark.workspace.workspace import Workspace

PORTS = {"http": 80, "https": 443, "sc": 15002, "spark": 7077}
STORES = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")


def derived(workspace: Workspace, tracking: str | None = None) -> tuple[ListedAddress, ...]:
    """The servers that the site's own files name: models, keys, MLflow, Spark, warehouse, lake.

    A deployment that ships with the package is not on the list until a file of the site names it.
    """
    return tuple(sorted(set(_derived(workspace, tracking))))


def _derived(workspace: Workspace, tracking: str | None) -> Iterator[ListedAddress]:
    for deployment in workspace.registry.deployments.values():
        if not _is_shipped(deployment):
            yield from _of_deployment(deployment)
    settings = workspace.settings
    yield from _of_url(tracking or settings.tracking_uri, "MLflow")
    if settings.warehouse:
        address = settings.warehouse.address
        yield from _of_url(address if "//" in address else f"https://{address}", "SQL warehouse")
    for url in (settings.spark.get("spark.master"), os.environ.get("SPARK_REMOTE")):
        yield from _of_url(url, "Spark")
    if is_uri(workspace.location):
        for name in STORES:
            yield from _of_url(os.environ.get(name), "the lake's store")


def _of_deployment(deployment: Deployment) -> Iterator[ListedAddress]:
    engine = ENGINES[deployment.engine]
    for url in engine.route(deployment).urls:
        yield from _of_url(url, f"model {deployment.name}")
    key = deployment.args.get("api_key")
    if isinstance(key, Mapping):
        yield from _of_url(str(key.get("token_url") or ""), f"key of {deployment.name}")


def _of_url(url: str | None, why: str) -> Iterator[ListedAddress]:
    """The server of an address; a path, a catalog or `local[2]` has none."""
    if not url or "://" not in url:
        return
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        return
    if host and (port or parts.scheme in PORTS):
        yield ListedAddress(host.rstrip("."), port or PORTS[parts.scheme], why)


def _is_shipped(deployment: Deployment) -> bool:
    return bool(deployment.origin) and Path(deployment.origin).is_relative_to(conf_path())


def by_hand(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Host and port of addresses that were typed, as `huggingface.co` or `10.0.0.7:443`."""
    for text in texts:
        parts = urlsplit(text if "://" in text else f"//{text}")
        if parts.hostname:
            yield parts.hostname, parts.port or PORTS["https"]
