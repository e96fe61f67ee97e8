"""What surrounds a start of vLLM: a folder for its sockets, and why one of its processes failed."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from medhelm_spark.engines.vllm_child import FOLDER, OWNER, REASONS, reason_of

SOCKETS = "/tmp"
"""A private folder is made in it: the path of a socket has at most 107 characters."""


class VllmStart:
    """The folder of the sockets between this process and vLLM's, which only this user can enter.

    Without it vLLM would lay them where the machine's own environment says.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="vllm-", dir=SOCKETS)
        self._reasons = Path(self._folder.name) / REASONS
        self.env = {FOLDER: self._folder.name, OWNER: str(os.getpid())}

    @contextmanager
    def takes_reasons(self) -> Iterator[None]:
        """Takes reasons, and hides our program, which a process that is spawned would run again."""
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        self._reasons.touch()
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            self._reasons.unlink()

    def reason(self, error: BaseException) -> str:
        """Why vLLM did not start: the reason that was written first, else this error's."""
        written = self._reasons.read_text(encoding="utf-8").splitlines()
        return next(iter(written), reason_of(error))

    def close(self) -> None:
        """Removes the folder."""
        self._folder.cleanup()
