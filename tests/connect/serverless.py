"""As `tests.connect.commands`, in a session in which only a few settings can be read and set.

Databricks' serverless compute raises CONFIG_NOT_AVAILABLE for all others, read or set. What
PySpark itself reads is returned here: a platform answers what its own client reads.
"""

import runpy
import sys
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql.connect.conf import RuntimeConf

AVAILABLE = (
    "spark.databricks.execution.timeout",
    "spark.sql.ansi.enabled",
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.session.timeZone",
    "spark.sql.shuffle.partitions",
)


def only_available(method: Any) -> Any:
    """The method, which raises for every other key as the platform does."""

    def refuse(self: RuntimeConf, key: str, *arguments: Any) -> Any:
        caller = sys._getframe(1).f_globals["__name__"]
        if key not in AVAILABLE and not caller.startswith("pyspark."):
            message = f"[CONFIG_NOT_AVAILABLE] Configuration {key} is not available."
            raise AnalysisException(message, errorClass="CONFIG_NOT_AVAILABLE")
        return method(self, key, *arguments)

    return refuse


if __name__ == "__main__":
    for name in ("get", "set", "unset"):
        setattr(RuntimeConf, name, only_available(getattr(RuntimeConf, name)))
    runpy.run_module("tests.connect.commands", run_name="__main__")
