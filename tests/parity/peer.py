"""Our end of the pipe to the Python that has MedHELM: one JSON line out, one JSON line back."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Self

PYTHON = "MEDHELM_SPARK_PARITY_PYTHON"
"""The variable that names the Python of an environment with medhelm 0.8.0."""

ROOT = Path(__file__).resolve().parents[2]
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


class Peer:
    """The child process; leaving the context ends it."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-m", "tests.parity.medhelm_side"],
            cwd=ROOT,
            env={**os.environ, **_OFFLINE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="surrogatepass",
        )

    def ask(self, question: str, **values: Any) -> Any:
        """The child's answer; what it raised stops the test with its own traceback on stderr."""
        assert self._process.stdin and self._process.stdout
        print(json.dumps({"question": question, **values}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        assert line, f"MedHELM's process ended on the question {question!r}"
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=60)
