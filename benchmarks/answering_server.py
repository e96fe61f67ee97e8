"""A server with OpenAI's protocol that answers yes at once: what is left is the client's time.

python -m benchmarks.answering_server PORT
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ANSWER = json.dumps(
    {
        "id": "answer",
        "object": "chat.completion",
        "created": 0,
        "model": "yes",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "yes"},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 300, "completion_tokens": 1, "total_tokens": 301},
    }
).encode()
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(ANSWER),
    ANSWER,
)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request of a connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            ]
            await reader.readexactly(sum(lengths))
            writer.write(RESPONSE)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


@contextmanager
def answering(port: int) -> Iterator[None]:
    """The server in a process of its own, ready."""
    command = [sys.executable, "-m", "benchmarks.answering_server", str(port)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        time.sleep(1)
        yield
    finally:
        process.terminate()
        process.wait()


async def _main(port: int) -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1])))
