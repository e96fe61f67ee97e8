"""Attacks as tests: a listener that takes the part of the outside, and the table of what was tried.

A test of an attack is marked `@pytest.mark.attack("area", "what was tried")` and is beside the
other tests of what it attacks. `make attack` runs them all and writes the table of
docs/security.md.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

OUTSIDE = "127.0.0.2"
"""An address of this machine that tests' policies do not list as local."""

INSIDE_ONLY = "127.0.0.1/32"
"""The network that such policies list for `local`: the default would include all of 127.0.0.0/8."""

BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
REPLY = {
    "id": "x",
    "object": "chat.completion",
    "model": "outside",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}


@dataclass
class Listener:
    """Answers every request like a model's server, and keeps what it was sent."""

    port: int
    received: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"{OUTSIDE}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def saw(self, text: str) -> bool:
        return any(text in sent for sent in self.received)


def listening() -> Iterator[Listener]:
    """A listener at OUTSIDE until the generator is closed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _record(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            head = f"{self.requestline}\n{self.headers}"
            listener.received.append(head + body.decode("utf-8", "replace"))
            reply = json.dumps(REPLY).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply)

        do_GET = do_POST = do_PUT = do_HEAD = do_CONNECT = _record

        def log_message(self, format: str, *args: object) -> None:
            """Requests are kept, not printed."""

    server = ThreadingHTTPServer((OUTSIDE, 0), Handler)
    listener = Listener(port=server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Table:
    """A pytest plug-in: gathers the outcome of every attack, and writes them into a page.

    Tests may run in several processes: what was tried travels with each report.
    """

    def __init__(self, page: Path) -> None:
        self._page = page
        self._rows: dict[tuple[str, str], bool] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        outcome = yield
        report = outcome.get_result()  # type: ignore[attr-defined]
        tries = [("attack", list(mark.args)) for mark in item.iter_markers("attack")]
        report.user_properties = [*report.user_properties, *tries]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        passed = not report.failed and not report.skipped
        for name, value in report.user_properties:
            if name == "attack":
                area, tried = map(str, value)  # type: ignore[call-overload]
                self._rows[area, tried] = self._rows.get((area, tried), True) and passed

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):  # the process that started this one writes
            return
        lines = ["| Area | What was tried | Outcome |", "|---|---|---|"]
        lines += [
            f"| {area} | {tried} | {'held' if passed else '**failed**'} |"
            for (area, tried), passed in sorted(self._rows.items())
        ]
        passed = sum(self._rows.values())
        lines += ["", f"{len(self._rows)} tries, {passed} held, {len(self._rows) - passed} failed."]
        text = self._page.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        table = "\n".join(lines)
        self._page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
