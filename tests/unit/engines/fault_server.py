"""An OpenAI-compatible server on asyncio streams whose faults a prompt asks for by name.

The first word of the last message names an entry of `FAULTS`; any other prompt is answered.
"""

import asyncio
import json
import threading
from collections import Counter
from typing import Any

from medhelm_spark.engines.loop_thread import LoopThread

REASONS = {200: "OK", 307: "Temporary Redirect", 400: "Bad Request", 429: "Too Many Requests"}


def reply(text: str | None = "A", reason: str = "stop", **message: Any) -> dict[str, Any]:
    choice = {"message": {"content": text, **message}, "finish_reason": reason, "text": text}
    usage = {"prompt_tokens": 5, "completion_tokens": 1}
    return {"choices": [choice], "usage": usage, "model": "served-1", "system_fingerprint": "fp"}


def error(message: str = "", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


FAULTS: dict[str, tuple[int, dict[str, str], Any]] = {
    "throttled": (429, {"Retry-After": "0.2"}, error(code="rate_limit_exceeded")),
    "broken": (500, {}, error("a trace that quotes PLANTED")),
    "gateway": (504, {}, "<html>PLANTED</html>"),
    "malformed": (200, {}, "{not json PLANTED"),
    "choiceless": (200, {}, {"choices": []}),
    "filtered": (400, {}, error("PLANTED", code="content_filter")),
    "too-long-code": (400, {}, error("PLANTED", code="context_length_exceeded")),
    "too-long-type": (400, {}, error("PLANTED", code=400, type="exceed_context_size_error")),
    "too-long-words": (400, {}, {"message": "maximum context length is 8 tokens", "code": 400}),
    "bad-request": (400, {}, error("PLANTED", code="invalid_value")),
    "unauthorised": (401, {}, error("Incorrect key: sk-planted", code="invalid_api_key")),
    "no-model": (404, {}, error("PLANTED", code="model_not_found")),
    "moved": (307, {"Location": "/v1/elsewhere"}, {}),
    "refused": (200, {}, reply(None, refusal="I cannot help.")),
    "cut-filtered": (200, {}, reply("Half", "content_filter")),
    "empty": (200, {}, reply("")),
    "long": (200, {}, reply("x", "length")),
}


class FaultServer:
    """Serves until closed; keeps what it was sent."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.calls: Counter[str] = Counter()
        self.open_now = self.peak = self.dropped = 0
        self.replies: dict[str, tuple[int, dict[str, str], Any]] = {}
        self.flooded = 0
        self.slow = threading.Event()
        self.pause = 0.0
        self.recovers_after = 10**9
        self._loop = LoopThread("fault-server")
        self._server = self._loop.submit(self._start()).result()
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)

    def close(self) -> None:
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self._one(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.paths.append(head[0].split()[1])
        self.headers.append(headers)
        self.bodies.append(body)
        self.open_now += 1
        self.peak = max(self.peak, self.open_now)
        try:
            if "flood" in json.dumps(body):
                await self._flood(writer)
            writer.write(await self._answer(body, reader))
        finally:
            self.open_now -= 1

    async def _answer(self, body: dict[str, Any], reader: asyncio.StreamReader) -> bytes:
        text = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        name = (text.split() or [""])[0]
        self.calls[text] += 1
        if name == "slow":
            self.slow.set()
            await self._wait_for_hang_up(reader)
        if name == "hang-up":
            raise ConnectionResetError
        await asyncio.sleep(self.pause)
        known = FAULTS | self.replies
        faulty = name in known and self.calls[text] <= self.recovers_after
        status, extra, content = known[name] if faulty else (200, {}, reply())
        if not isinstance(content, bytes):
            content = (content if isinstance(content, str) else json.dumps(content)).encode()
        data: bytes = content
        lines = [f"{key}: {value}" for key, value in extra.items()]
        kind = "Content-Type: application/json"
        first = f"HTTP/1.1 {status} {REASONS.get(status, 'Error')}"
        head = "\r\n".join([first, kind, f"Content-Length: {len(data)}", *lines])
        return head.encode() + b"\r\n\r\n" + data

    async def _flood(self, writer: asyncio.StreamWriter) -> None:
        """A body without an end, until the client hangs up."""
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            await writer.drain()
            self.flooded += 0x10000

    async def _wait_for_hang_up(self, reader: asyncio.StreamReader) -> None:
        await reader.read(1)
        self.dropped += 1
        raise ConnectionResetError
