"""Whether the site's network lets this job out: a connection is opened and closed, nothing is sent.

Every address is tried by the driver and by each executor: a rule that binds one machine may leave
another one open.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from medhelm_spark.engines.worker import this_executor
from medhelm_spark.lake.cluster import cluster_of
from medhelm_spark.lake.executors import each_executor
from medhelm_spark.workspace.session import session_of
from medhelm_spark.workspace.workspace import Workspace

PATIENCE = 5.0
"""Seconds to wait: a firewall that drops packets answers nothing."""

OUTSIDE = (
    ("huggingface.co", 443),
    ("github.com", 443),
    ("api.openai.com", 443),
    ("1.1.1.1", 443),
)
"""What an air-gapped job has no need of: a name of each kind, and an address that needs no name."""

OPEN = "open"
"""A connection was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedEgress:
    """What a machine of the job found."""

    name: str
    tried: tuple[str, ...]
    """The addresses, as HOST:PORT."""
    outcomes: tuple[str, ...]
    """OPEN, or why there was no connection, in the same order."""


def try_all(addresses: tuple[tuple[str, int], ...], name: str = "") -> TriedEgress:
    """Try each address from this process."""
    return TriedEgress(
        name=name or this_executor(),
        tried=tuple(f"{host}:{port}" for host, port in addresses),
        outcomes=tuple(_tried(host, port) for host, port in addresses),
    )


def _tried(host: str, port: int) -> str:
    try:
        with socket.create_connection((host, port), timeout=PATIENCE):
            return OPEN
    except socket.gaierror:
        return "the name is not known"
    except TimeoutError:
        return f"no answer in {PATIENCE:.0f} s"
    except OSError as error:
        return f"refused ({type(error).__name__})"


def from_executors(
    workspace: Workspace, addresses: Sequence[tuple[str, int]]
) -> tuple[TriedEgress, ...]:
    """What each executor finds; Spark is started for it."""
    spark = session_of(workspace.settings)
    look = partial(try_all, tuple(addresses))
    return tuple(each_executor(spark, cluster_of(spark), look, TriedEgress))
