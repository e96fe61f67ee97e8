"""Files of a store that Spark alone can open: file systems and credentials are the cluster's."""

from collections.abc import Iterable

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from medhelm_spark.errors import DataError


def bytes_of(spark: SparkSession, paths: Iterable[str], most: int) -> dict[str, bytes]:
    """The content of files by their path, brought to the driver; of no more than `most` bytes.

    Raises:
        DataError: one is not there, is more than a file, or they are too large together.
    """
    contents: dict[str, bytes] = {}
    left = most
    for path in paths:
        try:
            rows = spark.read.format("binaryFile").load(path)
            sizes = [int(row["length"]) for row in rows.select("length").collect()]
            if len(sizes) != 1:
                raise DataError(f"{path}: {len(sizes)} files are there; one is needed.")
            if sizes[0] > left:
                raise DataError(
                    f"{path}: Spark alone can open it, and its {sizes[0]} bytes are more than the "
                    f"{left} that may travel through the driver; copy it to a volume, a mount or a "
                    "store that Python can open, as s3:// or abfss:// with credentials."
                )
            (content,) = rows.select(F.col("content")).collect()
        except PySparkException as error:
            kind = error.getCondition() or type(error).__name__
            raise DataError(
                f"{path}: neither this process nor Spark can read it ({kind})."
            ) from None
        contents[path] = bytes(content[0])
        left -= sizes[0]
    return contents
