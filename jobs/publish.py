"""spark-submit entry: the stage publish, as `medhelm-spark publish`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["publish", *sys.argv[1:]]))
