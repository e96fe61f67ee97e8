"""`python -m medhelm_spark.cli`."""

import sys

from medhelm_spark.cli import main

sys.exit(main())
