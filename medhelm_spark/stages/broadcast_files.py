"""Gives tasks the files that only the driver, or only Spark, can open.

Small files of the driver are sent with the tasks; large ones have to be on each machine. Spark
reads a file of a store that Python cannot open, and it is sent too.
"""

from collections.abc import Iterable, Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, functions as F

from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import MAX_CARRIED_BYTES, BroadcastFiles, carried, is_web, stamp
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.machines import refuse_absent


def for_tasks(ctx: Context, paths: Mapping[str, Iterable[str]]) -> BroadcastFiles:
    """Opens files in a task; the keys of `paths` name what needs the files, for messages.

    If tasks run on the driver's machine, its own files are not sent.

    Raises:
        DataError: a file can be read neither here nor by Spark, or only by Spark and is too large.
        SetupError: a file is too large to be sent and a machine of the cluster does not have it.
    """
    every = dict.fromkeys(path for names in paths.values() for path in names)
    stores = [path for path in every if is_uri(path) and not is_web(path) and stamp(path) is None]
    contents = bytes_of(ctx.lake.spark, stores, MAX_CARRIED_BYTES) if stores else {}
    if ctx.is_one_machine:
        return BroadcastFiles(contents)
    own, large = carried(every)
    for whose, names in paths.items():
        refuse_absent(ctx, [path for path in names if path in large], whose)
    return BroadcastFiles({**own.contents, **contents})


def bytes_of(spark: SparkSession, paths: Iterable[str], most: int) -> dict[str, bytes]:
    """The content of files by their path, read into the driver; no more than `most` bytes.

    Raises:
        DataError: one does not exist, is more than one file, or they are too large together.
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
