"""spark-submit entry: the stage infer, as `medhelm-spark infer`."""

import sys

from medhelm_spark.cli import main

if __name__ == "__main__":
    sys.exit(main(["infer", *sys.argv[1:]]))
