"""spark-submit entry: the stage annotate, as `medhelm-spark annotate`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["annotate", *sys.argv[1:]]))
