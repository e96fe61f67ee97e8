"""What commands print: boards on standard output or in a file, the rest on standard error."""

import sys
from pathlib import Path

from medhelm_spark.domain.names import printable
from medhelm_spark.local_files import write_whole
from medhelm_spark.workspace.workspace import say


def write_out(text: str, path: Path | None = None, *, command: str = "leaderboard") -> None:
    """Print, or write to a file and say so as the command of that name."""
    if path is None:
        shown = printable(text) if sys.stdout.isatty() else text
        sys.stdout.write(shown if shown.endswith("\n") else shown + "\n")
        sys.stdout.flush()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
    say(f"{command}: wrote {path}")
