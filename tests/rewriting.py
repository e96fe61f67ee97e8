"""Changing rows of a lake as somebody does who may write its files."""

from pathlib import Path

from deltalake import DeltaTable


def rewritable(table: str | Path) -> DeltaTable:
    """The table, no longer append-only: a commit of its own, which its history keeps."""
    opened = DeltaTable(str(table))
    opened.alter.set_table_properties({"delta.appendOnly": "false"})
    return DeltaTable(str(table))
