"""How a process ends itself when only a fresh one can go on."""

import os
import sys
from typing import NoReturn


def end_process(sentence: str) -> NoReturn:
    """Says one text-free sentence and ends at once, so that Spark retries the task elsewhere.

    An exception would not do: the process, and the dead engine in it, would get the retry.
    """
    sys.stderr.write(f"medhelm-spark: {sentence}\n")
    sys.stderr.flush()
    os._exit(1)
