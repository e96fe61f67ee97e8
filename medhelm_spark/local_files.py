"""Local files that configuration or a command names: a file's name may be that of something else.

A pipe makes its reader wait for ever, `/dev/zero` never ends. Both are refused before a byte is
read, whatever leads to them.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

# A pipe without a writer is opened at once, too; Windows changes what ends a line.
_AS_IT_IS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotAFileError(OSError):
    """A folder, a pipe, a socket or a device is where a file should be."""


def open_file(path: Path) -> BinaryIO:
    """A file's bytes.

    Raises:
        OSError: it is not there or may not be read; a NotAFileError where it is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | _AS_IT_IS)
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFileError(None, "a folder, a pipe or a device, not a file")
    return os.fdopen(descriptor, "rb")


def part_files(folder: Path) -> Sequence[Path]:
    """The files of a folder that Spark, Hive or Trino wrote as one table, in the order of names.

    What begins with a dot or an underscore is of the writer's own, and `~$` of Office, which has
    the file open; Windows keeps files of its own in folders. Files of folders inside are left out,
    for the folders' names are columns of the table.
    """
    files = (path for path in folder.iterdir() if path.is_file())
    return sorted(path for path in files if not _is_of_program(path.name))


def _is_of_program(name: str) -> bool:
    return name.startswith((".", "_", "~$")) or name.lower() in ("thumbs.db", "desktop.ini")


def local_table(table: str) -> str:
    """A table by its folder, where its bare name is that of a Delta table's folder here."""
    if "/" in table or "`" in table or not has_delta_log(Path(table)):
        return table
    return str(Path(table).absolute())


def has_delta_log(folder: Path) -> bool:
    """Whether a folder is a Delta table."""
    return (folder / "_delta_log").is_dir()
