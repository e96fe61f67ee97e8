"""A model behind OpenAI's protocol that can be stopped, hang, fail and come back, on one port."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = {
    "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    "model": "served",
}
UNAVAILABLE = (503, {"error": {"message": "busy", "code": "overloaded"}})
SPENT = (429, {"error": {"message": "no more", "code": "insufficient_quota"}})
TOO_LONG = (400, {"error": {"message": "no", "code": "context_length_exceeded"}})


class ModelServer:
    """Answers `yes`, at `port` from `start` to `stop`.

    `answered` counts answers by prompt and `calls` all calls. `fault` is `refused` (it stops at the
    next call), `hang`, `503` or empty, and sets in after `healthy_for` answers; every
    `fails_every`-th call gets 503. A prompt that contains `long_word` is too long, one with a
    word of `odd` gets that status and body. After `quota` answers it takes no request.
    """

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.calls = self.healthy_for = self.fails_every = 0
        self.fault = self.long_word = ""
        self.odd: dict[str, tuple[int, bytes]] = {}
        self.quota = 10**9
        self.port = 0
        self._lock = threading.Lock()
        self._http: ThreadingHTTPServer | None = None

    def start(self) -> None:
        """Listen: at first on any free port, then always on that one."""
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self.port = self._http.server_port
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections and drop those that are open."""
        if self._http:
            http, self._http = self._http, None
            http.shutdown()
            http.server_close()

    @property
    def is_up(self) -> bool:
        return self._http is not None

    def reply_to(self, prompt: str) -> tuple[int, dict[str, Any] | bytes] | None:
        """Status and body; None where the connection is dropped instead."""
        with self._lock:
            self.calls += 1
            fault = self.fault if self.answered.total() >= self.healthy_for else ""
            if not self.is_up or fault == "refused":
                threading.Thread(target=self.stop, daemon=True).start()
                return None
            if self.long_word and self.long_word in prompt:
                return TOO_LONG
            if odd := next((odd for word, odd in self.odd.items() if word in prompt), None):
                return odd
            if self.answered.total() >= self.quota:
                return SPENT
            if fault == "503" or (self.fails_every and self.calls % self.fails_every == 0):
                return UNAVAILABLE
            if not fault:
                self.answered[prompt] += 1
                return 200, ANSWER
        while self.fault == "hang":
            time.sleep(0.05)
        return None


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = server.reply_to(body["messages"][-1]["content"])
            if reply is None:
                self.close_connection = True
                return
            data = reply[1] if isinstance(reply[1], bytes) else json.dumps(reply[1]).encode()
            self.send_response(reply[0])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests read standard error."""

    return Handler
