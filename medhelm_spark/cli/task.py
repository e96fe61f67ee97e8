"""`medhelm-spark-task`: the command line for schedulers that look at what is raised.

Databricks calls a wheel task's entry point and ignores what it returns; a run that ended with exit
code 3 would be shown as succeeded.
"""

import sys

from medhelm_spark.cli import main


def task() -> None:
    """Run one command; leaves by SystemExit where its exit code is not 0."""
    if code := main():
        sys.exit(code)
