"""spark-submit entry: all stages from ingest to score, as `medhelm-spark run`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
