"""Types commands one after the other, in one process: `python -m tests.connect.commands FILE`.

FILE contains a JSON list of command lines; each exit code is written to standard output.
"""

import json
import sys
from pathlib import Path

from medhelm_spark.cli import main

for line in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
    print(main(line), flush=True)  # noqa: T201
