"""Whether a Spark Connect server is there, before PySpark asks it."""

import os
import socket
from urllib.parse import urlsplit

from medhelm_spark.errors import SetupError

PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY")
"""The variables by which gRPC finds a proxy."""

DEFAULT_PORT = 15002
SECONDS = 10.0


def check_answers(remote: str) -> None:
    """Refuse a Spark Connect server that does not answer: PySpark would try for ten minutes.

    gRPC's own handshake is waited for, behind a proxy too: a port that takes connections may belong
    to a server that is stuck, or to one that is not Spark's.

    Args:
        remote: its address as SPARK_REMOTE has it, `sc://HOST:PORT/;key=value`.

    Raises:
        SetupError: no server listens there, or it does not answer for ten seconds.
    """
    try:
        address = urlsplit(remote)
        host, port = address.hostname or "", address.port or DEFAULT_PORT
    except ValueError:
        return  # PySpark says what is wrong with the address
    try:
        if not any(os.environ.get(name) for name in PROXIES):
            socket.create_connection((host, port), timeout=SECONDS).close()
        _wait_for_handshake(remote)
    except (OSError, TimeoutError) as error:
        raise SetupError(
            f"no Spark Connect server answers at {host}:{port} ({type(error).__name__}), as "
            "SPARK_REMOTE has it; start it, or unset SPARK_REMOTE."
        ) from error


def _wait_for_handshake(remote: str) -> None:
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:
        return  # PySpark says which package is missing
    channel = DefaultChannelBuilder(remote).toChannel()
    ready = grpc.channel_ready_future(channel)
    try:
        ready.result(timeout=SECONDS)
    except grpc.FutureTimeoutError as error:
        raise TimeoutError from error
    finally:
        ready.cancel()
        channel.close()
