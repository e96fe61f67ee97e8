"""Faults of a program or its installation, which no request causes and no second try cures."""

import traceback
from pathlib import Path

from medhelm_spark.errors import EngineError

FAULTS = (AttributeError, ImportError, NameError, TypeError)
"""A name that is not there or that is called otherwise: another version is installed, or a bug."""


def fault(what: str, error: Exception) -> EngineError:
    """What ends the job, in one sentence without the error's own text, which may quote a request.

    `what` is the library and its version.
    """
    frames = traceback.extract_tb(error.__traceback__)
    at_line = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return EngineError(
        f"{what} failed with {type(error).__name__}{at_line}: a fault of the program or of the "
        "installed version, not of a request, so asking was ended; nothing is settled by it."
    )
