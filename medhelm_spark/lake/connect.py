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

    Behind a proxy nothing is known before it is asked.

    Args:
        remote: its address as SPARK_REMOTE has it, `sc://HOST:PORT/;key=value`.

    Raises:
        SetupError: nobody listens there.
    """
    if any(os.environ.get(name) for name in PROXIES):
        return
    try:
        place = urlsplit(remote)
        host, port = place.hostname or "", place.port or DEFAULT_PORT
    except ValueError:
        return  # PySpark says what is wrong with the address
    try:
        socket.create_connection((host, port), timeout=SECONDS).close()
    except OSError as error:
        raise SetupError(
            f"no Spark Connect server answers at {host}:{port} ({type(error).__name__}), as "
            "SPARK_REMOTE has it; start it, or unset SPARK_REMOTE."
        ) from error
