"""spark-submit entry: the stage score, as `medhelm-spark score`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["score", *sys.argv[1:]]))
