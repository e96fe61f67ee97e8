"""A model behind OpenAI's protocol whose keys end, and the two endpoints that issue new ones."""

import json
import sys
import threading
import time
from base64 import b64decode
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

TOKEN = "planted-token-"
CLIENT, SECRET = "our client", "planted-client/secret"
NOISE = "planted-noise-of-the-command"
COMMAND = f"""
import sys, urllib.request
print("{NOISE}", file=sys.stderr)
try:
    print(urllib.request.urlopen(sys.argv[1]).read().decode())
except Exception:
    print("{TOKEN}half")
    sys.exit(3)
"""
"""A command of a gateway: it prints more than a token, and a part of one where it fails."""


class TokenServer:
    """Answers `yes` to a key of its own that has not ended: after `uses` requests or `seconds`.

    `issued` counts the keys, `answered` the answers by prompt and `refused` the calls that got 401.
    `failing` contains the numbers, from 1, of the requests for a key that are refused.
    """

    def __init__(self) -> None:
        self.uses, self.seconds, self.expires_in = 10**9, 1e9, 3600
        self.failing: set[int] = set()
        self.answered: Counter[str] = Counter()
        self.issued = self.requested = self.refused = 0
        self.authorization: list[str] = []
        self._used: Counter[str] = Counter()
        self._born: dict[str, float] = {}
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def command(self, folder: Path) -> list[str]:
        """A command that prints a key of this server."""
        script = folder / "token.py"
        script.write_text(COMMAND)
        return [sys.executable, str(script), f"{self.url}/issue"]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def issue(self) -> str | None:
        with self._lock:
            self.requested += 1
            if self.requested in self.failing:
                return None
            self.issued += 1
            token = f"{TOKEN}{self.issued:04d}"
            self._born[token] = time.monotonic()
            return token

    def takes(self, header: str) -> bool:
        """Whether a request with this header is answered; counts it."""
        token = header.removeprefix("Bearer ")
        with self._lock:
            self.authorization.append(header)
            self._used[token] += 1
            born = self._born.get(token, -1e12)
            is_valid = self._used[token] <= self.uses and time.monotonic() - born < self.seconds
            self.refused += not is_valid
            return is_valid

    def answer(self, prompt: str) -> dict[str, Any]:
        with self._lock:
            self.answered[prompt] += 1
        choice = {"message": {"content": "yes"}, "finish_reason": "stop"}
        return {
            "choices": [choice],
            "usage": {"prompt_tokens": 5, "completion_tokens": 1},
            "model": "served",
        }


def _handler(server: TokenServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            token = server.issue()
            self._send(200 if token else 500, (token or "planted-error").encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/token":
                self._grant(parse_qs(body.decode()))
                return
            header = self.headers.get("Authorization", "")
            if not server.takes(header):
                error = {"code": "invalid_api_key", "message": f"{header} has ended"}
                self._send(401, json.dumps({"error": error}).encode())
                return
            prompt = json.loads(body)["messages"][-1]["content"]
            self._send(200, json.dumps(server.answer(prompt)).encode())

        def _grant(self, form: dict[str, list[str]]) -> None:
            login = b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
            is_client = login == "our%20client:planted-client%2Fsecret"
            is_form = form == {"grant_type": ["client_credentials"], "scope": ["all"]}
            token = server.issue() if is_client and is_form else None
            reply = {"access_token": token, "expires_in": server.expires_in}
            self._send(200 if token else 401, json.dumps(reply).encode())

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests read standard error."""

    return Handler
