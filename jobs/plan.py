"""spark-submit entry: the stage plan, as `medhelm-spark plan`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["plan", *sys.argv[1:]]))
