"""What a dashboard was started with."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from medhelm_spark.domain.policy import ComparisonRules, SmallCells


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Lake, suite and release: from the command line, else from the environment.

    `medhelm-spark serve` passes the policy's `--coverage-floor` and `--smallest-group`, and the
    site folder. With `--raters-only` nothing is shown to whoever has no link of a rater.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    names = {"output-path": "benchmark_output", "suite": None, "release": None}
    names |= {"sql-warehouse": None, "sql-warehouse-token": None}
    for name, default in names.items():
        variable = f"MEDHELM_SPARK_{name.upper().replace('-', '_')}"
        parser.add_argument(f"--{name}", default=os.environ.get(variable, default))
    parser.add_argument("--local-path", type=Path, default=Path("prod_env"))
    parser.add_argument("--raters-only", action="store_true")
    parser.add_argument("--plugins", nargs="+", default=())
    parser.add_argument("--coverage-floor", type=float, default=ComparisonRules().coverage_floor)
    parser.add_argument("--smallest-group", type=int, default=SmallCells().minimum)
    return parser.parse_known_args(words)[0]
