"""How tasks get to files that only the driver, or only Spark, can open.

The driver's own small files travel with the work; large ones have to be on each machine. A file of
a store that Python cannot open is read by Spark, and travels too.
"""

from collections.abc import Iterable, Mapping

from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.lake.spark_files import bytes_of
from medhelm_spark.scenarios import MAX_CARRIED_BYTES, BroadcastFiles, carried, is_web, stamp
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.machines import refuse_absent


def for_tasks(ctx: Context, paths: Mapping[str, Iterable[str]]) -> BroadcastFiles:
    """What opens files in a task; `paths` are the files by what needs them, for messages.

    Where tasks run on the driver's machine its own files do not travel.

    Raises:
        DataError: a file can be read neither here nor by Spark, or by Spark alone and is too large.
        SetupError: a file is too large to travel and a machine of the cluster has none there.
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
