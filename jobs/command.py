"""spark-submit entry: any command of `medhelm-spark`, as `jobs/command.py gc --dry-run`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main())
