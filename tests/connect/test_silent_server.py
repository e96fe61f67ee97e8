"""A Spark Connect server that takes connections, shakes hands and never answers."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from medhelm_spark.cli.stopping import SECONDS_TO_END


class Silent(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Takes any call and waits with the answer until the test is done."""

    def __init__(self) -> None:
        self.called, self.done = threading.Event(), threading.Event()

    def service(self, handler_call_details: object) -> grpc.RpcMethodHandler:
        def wait(*_: object) -> Iterator[bytes]:
            self.called.set()
            self.done.wait()
            yield from ()

        return grpc.stream_stream_rpc_method_handler(wait)


@pytest.fixture
def silent() -> Iterator[tuple[Silent, str]]:
    handler = Silent()
    server = grpc.server(ThreadPoolExecutor(8), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield handler, f"sc://127.0.0.1:{port}"
    handler.done.set()
    server.stop(None)


def test_sigterm_ends_a_command_that_waits_for_it(
    silent: tuple[Silent, str], tmp_path: Path
) -> None:
    handler, remote = silent
    process = subprocess.Popen(
        [sys.executable, "-m", "medhelm_spark.cli", "optimize", "-o", "a_catalog.a_schema"],
        cwd=tmp_path,
        env={**os.environ, "SPARK_REMOTE": remote},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert handler.called.wait(60)
    process.send_signal(signal.SIGTERM)
    _, output = process.communicate(timeout=SECONDS_TO_END + 20)
    assert process.returncode == 143
    assert output.splitlines()[-1].startswith(
        "medhelm-spark: stopped by SIGTERM; what was committed"
    )
