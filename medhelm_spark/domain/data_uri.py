"""What a person writes for data: a file, whose ending is its format, or `table:NAME`.

A location with a scheme, as `s3:` or `dbfs:`, is another machine's or a store's, but for `file:`
and Databricks' volumes, which are folders.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

SCHEME = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9+.-]+):/")
"""What a URI begins with; `dbfs:/` and `hdfs:/` are written with one slash too. A scheme has two
letters at least: `C:/` is a drive."""

VOLUMES = "/Volumes/"
"""Unity Catalog's volumes, which are folders of every machine there."""

BUCKETS = ("s3", "s3a", "s3n", "gs")
"""Schemes whose first part is a bucket, never a folder."""

PLAIN = re.compile(r"\w+", re.ASCII)

TABLE = "table:"
"""What the name of a table begins with where files could be meant, too."""

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        ".csv": "csv",
        ".tsv": "tsv",
        ".json": "json",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".parquet": "parquet",
        ".feather": "feather",
        ".xlsx": "xlsx",
        ".xlsm": "xlsx",
        ".xml": "xml",
        ".docx": "docx",
        ".txt": "text",
    }
)
"""The format of a file by its ending."""


def table_of(location: str) -> str | None:
    """The table that a location names, None where it names a file.

    >>> table_of("table:clinic.letters"), table_of("letters.csv")
    ('clinic.letters', None)
    """
    return location.removeprefix(TABLE) if location.startswith(TABLE) else None


def is_uri(location: str) -> bool:
    """Whether a location has a scheme; a Windows drive has none.

    >>> is_uri("hdfs:/data/a.csv"), is_uri("s3a://bucket/a.csv"), is_uri("/Volumes/main/a.csv")
    (True, True, False)
    """
    return SCHEME.match(location) is not None


def normal_location(location: str) -> str:
    """A location as this machine opens it: `file:` and volumes are paths, a bucket has two slashes.

    >>> normal_location("dbfs:/Volumes/evals/a.csv"), normal_location("file:/data/my%20file.csv")
    ('/Volumes/evals/a.csv', '/data/my file.csv')
    >>> normal_location("s3:/bucket/a.csv"), normal_location("dbfs:/mnt/a.csv")
    ('s3://bucket/a.csv', 'dbfs:/mnt/a.csv')
    """
    scheme = SCHEME.match(location)
    if scheme is None:
        return location
    name = scheme["name"].lower()
    if name == "file":
        return unquote(urlsplit(location).path)
    if location.startswith(f"dbfs:{VOLUMES}"):
        return location.removeprefix("dbfs:")
    if name in BUCKETS and not location[scheme.end() :].startswith("/"):
        return f"{scheme[0]}/{location[scheme.end() :]}"
    return location


def quoted_name(name: str) -> str:
    """A table's name of several parts as SQL takes it: a part with other marks in backticks.

    A name that has backticks is taken as it is.

    >>> quoted_name("prod-eu.medhelm.stats"), quoted_name("main.evals.stats")
    ('`prod-eu`.medhelm.stats', 'main.evals.stats')
    """
    if "`" in name:
        return name
    return ".".join(part if PLAIN.fullmatch(part) else f"`{part}`" for part in name.split("."))


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
