"""What a person writes for data: a file, whose ending tells its format, or `table:NAME`."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

TABLE = "table:"
"""What the name of a table begins with where files could be meant, too."""

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        ".csv": "csv",
        ".tsv": "tsv",
        ".json": "json",
        ".jsonl": "jsonl",
        ".parquet": "parquet",
        ".feather": "feather",
        ".xlsx": "xlsx",
        ".xml": "xml",
        ".docx": "docx",
        ".txt": "text",
    }
)
"""The format of a file by its ending."""


def table_of(place: str) -> str | None:
    """The table that a place names, None where it names a file.

    >>> table_of("table:clinic.letters"), table_of("letters.csv")
    ('clinic.letters', None)
    """
    return place.removeprefix(TABLE) if place.startswith(TABLE) else None


def is_delta_path(table: str) -> bool:
    """Whether a table is named by the folder of its Delta files rather than by a catalog's name.

    >>> is_delta_path("data/letters"), is_delta_path("s3://bucket/letters")
    (True, True)
    >>> is_delta_path("clinic.letters"), is_delta_path("delta.`/data/letters`")
    (False, False)
    """
    return "/" in table and "`" not in table


def ending_of(path: str) -> str:
    """The ending of a file's name, small, compression aside.

    >>> ending_of("data/Letters.CSV.gz")
    '.csv'
    """
    return PurePosixPath(path.lower().removesuffix(".gz")).suffix
