"""The Java exception behind an error of PySpark."""

from typing import Any


def innermost(error: Exception) -> Any | None:
    """The Java exception at the root of an error, a py4j object; None where Java raised none."""
    java = getattr(error, "java_exception", None)
    while java is not None and (cause := java.getCause()) is not None:
        java = cause
    return java
