"""spark-submit entry: what is wrong with this cluster, as `medhelm-spark doctor --executors`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["doctor", "--executors", *sys.argv[1:]]))
