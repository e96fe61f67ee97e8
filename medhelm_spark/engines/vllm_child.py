"""What runs in each process that vLLM starts for an engine of ours: vLLM loads it as a plug-in.

vLLM's own processes outlive a parent that is killed, and keep the memory of its GPU. `attach` ends
them with their parent. It also keeps data out of their logs, and writes why one of them did not
start where the engine reads the reason. Whoever uses vLLM otherwise may load the plug-in too
(entry point `vllm.general_plugins`): without the variable of an engine of ours it does nothing.
"""

import io
import logging
import multiprocessing
import os
import signal
import sys
import threading
from importlib.metadata import entry_points
from multiprocessing.process import BaseProcess
from pathlib import Path

GROUP = "vllm.general_plugins"
NAME = "medhelm_spark"
FOLDER = "VLLM_RPC_BASE_PATH"
"""The variable with the private folder of the sockets between an engine's processes."""
OWNER = "ENGINE_OF_MEDHELM_SPARK"
"""The variable with the number of the process whose engine it is."""
REASONS = "reasons"
"""The file in that folder that takes reasons; it exists only while the engine starts."""
LONGEST = 300

# Loggers of what renders prompts and reads answers, whose errors quote them, and of what prints the
# requests of a failed step, with the options that an answer is bound to.
SILENT = tuple(
    f"vllm.{name}"
    for name in (
        *("entrypoints", "inputs", "logging_utils", "parser"),
        *("reasoning", "renderers", "tokenizers"),
    )
)


def is_available() -> bool:
    """Whether vLLM can find the plug-in: the package is installed, not only on the path."""
    return any(entry_points(group=GROUP, name=NAME))


def silence() -> None:
    """Log nothing of the modules that may quote data."""
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def attach() -> None:
    """Ends this process with the one that started it, unless the engine itself is in this one."""
    parent, owner = multiprocessing.parent_process(), os.environ.get(OWNER)
    if parent is None or owner in (None, str(os.getpid())):
        return
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    silence()
    for handler in logging.getLogger("vllm").handlers:
        handler.addFilter(_without_data)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGKILL)


def _without_data(record: logging.LogRecord) -> bool:
    """Writes down why an engine did not start; later on, an exception may quote data: it goes."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return True
    reasons = Path(os.environ.get(FOLDER, os.devnull)) / REASONS
    if reasons.is_file():
        with reasons.open("a", encoding="utf-8") as file:
            file.write(f"{reason_of(error)}\n")
        return True
    record.exc_info = record.exc_text = None
    # The process ends by raising the same exception, which Python prints.
    sys.stderr = io.StringIO()
    return True


def reason_of(error: BaseException) -> str:
    r"""An exception's class and the first line of its text, at most 300 characters of it.

    >>> reason_of(ValueError("Free memory is too small.\nDecrease it."))
    'ValueError: Free memory is too small.'
    """
    lines = str(error).strip().splitlines() or ["no reason given"]
    return f"{type(error).__name__}: {lines[0][:LONGEST]}"
