"""spark-submit entry: the stage summarize, as `medhelm-spark summarize`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["summarize", *sys.argv[1:]]))
