"""What a lake has of answers: those in their table, and those that are in files for a commit."""

from pathlib import Path

import pyarrow.parquet as pq
from deltalake import DeltaTable

TABLE = "request_results"


def in_files(lake: Path) -> set[str]:
    """The requests whose answers a run has written and not committed."""
    found: set[str] = set()
    for folder in ("answers", "commit-*"):
        for path in (lake / "_staged").glob(f"*/{folder}/[!.]*.parquet"):
            try:
                found |= set(pq.read_table(path, columns=["request_id"])[0].to_pylist())
            except FileNotFoundError:  # committed meanwhile
                continue
    return found


def stored(lake: Path) -> set[str]:
    """The requests that have an answer, in the table or in a file."""
    staged = in_files(lake)
    if not (lake / TABLE / "_delta_log").is_dir():
        return staged
    table = DeltaTable(str(lake / TABLE)).to_pyarrow_table(columns=["request_id"])
    return staged | set(table["request_id"].to_pylist())
