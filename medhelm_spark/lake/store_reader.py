"""Who reads a lake in an object store: this process where it can, else Spark, which wrote it."""

from collections.abc import Callable

from medhelm_spark.errors import MedhelmSparkError, NewerLakeError
from medhelm_spark.lake.lake import Lake, SparkReader
from medhelm_spark.lake.reader import Reader, open_reader

RECORDS = "SELECT count(*) AS records FROM {runs}"


def store_reader(location: str, lake: Lake, say: Callable[[str], None]) -> Reader:
    """The lake's reader; a cluster may reach a bucket that this process has no credentials for.

    Without records of finished work a lake may be empty, or in a bucket that hides its files, and
    Spark reads it.

    Raises:
        NewerLakeError: a newer package wrote the lake.
    """
    try:
        reader = open_reader(location)
        if reader.query(RECORDS).to_pylist()[0]["records"]:
            return reader
        reason = "it shows no records of finished work"
    except NewerLakeError:
        raise
    except (MedhelmSparkError, OSError) as error:
        reason = f"{type(error.__cause__ or error).__name__}"
    say(f"lake: read through Spark, for this process cannot without it ({reason})")
    return SparkReader(lake)
