"""Local files that configuration or a command names: a file's name may stand for something else.

A pipe makes its reader wait for ever, `/dev/zero` never ends. Both are refused before a byte is
read, whatever leads to them.
"""

import os
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

# A pipe without a writer is opened at once, too; Windows changes what ends a line.
_AS_IT_IS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotAFileError(OSError):
    """A folder, a pipe, a socket or a device stands where a file should."""


def open_file(path: Path) -> BinaryIO:
    """A file's bytes.

    Raises:
        OSError: it is not there or may not be read; a NotAFileError where it is no regular file.
    """
    # A pipe without a writer is opened at once, too.
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFileError(None, "a folder, a pipe or a device, not a file")
    return os.fdopen(descriptor, "rb")
