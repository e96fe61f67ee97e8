"""spark-submit entry: the stage gc, as `medhelm-spark gc`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["gc", *sys.argv[1:]]))
