"""Connections that are used again: a reply that nobody asked for is nobody's answer."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import build_engine
from tests.unit.engines.fault_server import reply
from tests.unit.engines.nouns import allow, deployment, request

Serve = Callable[[socket.socket, int], None]


def reply_of(text: str, *lines: str) -> bytes:
    """A reply of HTTP with this answer."""
    data = json.dumps(reply(text)).encode()
    head = "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {len(data)}", *lines])
    return head.encode() + b"\r\n\r\n" + data


def take(connection: socket.socket) -> bytes:
    """One request that came."""
    read = b""
    while b"\r\n\r\n" not in read or not read.endswith(b"}"):
        chunk = connection.recv(1 << 16)
        if not chunk:
            raise ConnectionError
        read += chunk
    return read


@pytest.fixture
def engine_at():
    """An engine that asks once, at a server whose connections are served by a function."""
    closing = []

    def build(serve: Serve, **args):
        listener = socket.create_server(("127.0.0.1", 0))

        def accept() -> None:
            number = 0
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                number += 1
                threading.Thread(target=run, args=(connection, number), daemon=True).start()

        def run(connection: socket.socket, number: int) -> None:
            with connection:
                try:
                    serve(connection, number)
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        port = listener.getsockname()[1]
        target = deployment(
            "openai", base_url=f"http://127.0.0.1:{port}/v1", max_attempts=1, **args
        )
        engine = build_engine(target, max_in_flight=1)
        closing.extend([engine, listener])
        return engine

    yield build
    for each in closing:
        each.close()


def ask(engine, text="hello"):
    (result,) = engine.answer([request(text)], allow)
    return result


def answer(result):
    assert result.is_answer, result.reason
    return result.completions[0].text


def test_a_connection_is_used_again(engine_at):
    def serve(connection, number):
        while take(connection):
            connection.sendall(reply_of(f"of {number}"))

    engine = engine_at(serve)
    assert [answer(ask(engine)) for _ in range(3)] == ["of 1"] * 3


def test_a_reply_that_nobody_asked_for_answers_no_later_request(engine_at):
    sent = threading.Event()

    def serve(connection, number):
        take(connection)
        connection.sendall(reply_of(f"first of {number}"))
        time.sleep(0.1)
        connection.sendall(reply_of("of nobody"))
        sent.set()
        while take(connection):
            connection.sendall(reply_of("too late"))

    engine = engine_at(serve)
    assert answer(ask(engine)) == "first of 1"
    assert sent.wait(5)
    assert answer(ask(engine)) == "first of 2"


def test_a_connection_that_the_server_closed_costs_no_try(engine_at):
    closed = threading.Event()

    def serve(connection, number):
        take(connection)
        connection.sendall(reply_of(f"of {number}"))
        connection.close()
        closed.set()

    engine = engine_at(serve)
    assert answer(ask(engine)) == "of 1"
    assert closed.wait(5)
    assert answer(ask(engine)) == "of 2"


def test_no_cookie_is_kept_or_told(engine_at, caplog):
    caplog.set_level(logging.DEBUG)
    came = []

    def serve(connection, number):
        while True:
            came.append(take(connection))
            connection.sendall(
                reply_of("A", "Set-Cookie: PLANTED of a note=1", "Set-Cookie: b=PLANTED")
            )

    engine = engine_at(serve)
    assert [answer(ask(engine)) for _ in range(2)] == ["A", "A"]
    assert b"cookie" not in came[1].lower()
    assert "PLANTED" not in caplog.text


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{", FailureKind.UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", FailureKind.UNREACHABLE),
        (b"PLANTED\r\n\r\n", FailureKind.UNREACHABLE),
        (b"HTTP/1.1 500 PLANTED\r\nContent-Length: 99\r\n\r\n", FailureKind.UNREACHABLE),
        (b"", FailureKind.UNREACHABLE),
    ],
)
def test_what_is_no_whole_reply_is_a_failed_connection(engine_at, sent, kind, caplog):
    caplog.set_level(logging.DEBUG)

    def serve(connection, number):
        take(connection)
        connection.sendall(sent)

    result = ask(engine_at(serve))
    assert (result.failure, result.reason) == (kind, "connection")
    assert "PLANTED" not in caplog.text


@pytest.mark.parametrize("sent", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n{"])
def test_a_reply_that_stops_in_its_middle_is_a_timeout(engine_at, sent):
    def serve(connection, number):
        take(connection)
        connection.sendall(sent)
        take(connection)

    result = ask(engine_at(serve, timeout=0.3))
    assert result.failure is FailureKind.TIMEOUT
    assert result.request_time < 5


def test_what_comes_before_a_reply_is_waited_out(engine_at):
    def serve(connection, number):
        take(connection)
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + reply_of("A"))

    assert answer(ask(engine_at(serve))) == "A"


def test_a_reply_without_a_length_ends_with_its_connection(engine_at):
    def serve(connection, number):
        take(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(reply("A")).encode())

    assert answer(ask(engine_at(serve))) == "A"


def test_a_reply_says_in_which_characters_it_is(engine_at):
    data = json.dumps(reply("fièvre"), ensure_ascii=False).encode("latin-1")

    def serve(connection, number):
        take(connection)
        kind = "application/json; charset=iso-8859-1"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
        connection.sendall(head.encode() + data)

    assert answer(ask(engine_at(serve))) == "fièvre"


def test_a_reply_that_comes_before_a_long_request_was_read_counts(engine_at):
    done = threading.Event()

    def serve(connection, number):
        connection.recv(100)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        assert done.wait(10)

    result = ask(engine_at(serve), "note " * 4_000_000)
    done.set()
    assert (result.failure, result.reason) == (FailureKind.TOO_LONG, "413")


def test_a_long_header_is_read(engine_at):
    def serve(connection, number):
        take(connection)
        connection.sendall(reply_of("A", f"X-Policy: {'a' * 20_000}"))

    assert answer(ask(engine_at(serve))) == "A"
