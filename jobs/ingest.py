"""spark-submit entry: the stage ingest, as `medhelm-spark ingest`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["ingest", *sys.argv[1:]]))
