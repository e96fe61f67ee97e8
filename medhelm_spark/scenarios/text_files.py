"""Plain text: one record a file, or one record a line."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from medhelm_spark.scenarios.delimited import text_lines
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.tables import CheckColumns, RawFile


def stem(path: str) -> str:
    """The name of a file without folder and ending.

    >>> stem("notes/Otitis Media.txt")
    'Otitis Media'
    """
    return PurePosixPath(path).stem


def read_text(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """One record: the file's `text`, and its name without the ending as `file`."""
    check(("file", "text"))
    yield {"file": stem(file.path), "text": "".join(text_lines(file))}


def read_lines(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """A record for every line: its number from 1 as `line`, its `text` without the line end."""
    check(("line", "text"))
    for number, line in enumerate(text_lines(file), 1):
        yield {"line": str(number), "text": line.rstrip("\r\n")}
