"""spark-submit entry: rewrite small files, as `medhelm-spark optimize`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["optimize", *sys.argv[1:]]))
