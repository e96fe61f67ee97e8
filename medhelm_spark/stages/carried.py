"""How tasks get to the driver's files: the small ones travel, the large ones have to be there."""

from collections.abc import Iterable, Mapping

from medhelm_spark.scenarios import Carried, carried
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.machines import refuse_absent


def for_tasks(ctx: Context, paths: Mapping[str, Iterable[str]]) -> Carried:
    """What opens files in a task; `paths` are the files by what needs them, for messages.

    Where tasks run on the driver's machine nothing travels.

    Raises:
        DataError: a file cannot be read here.
        SetupError: a file is too large to travel and a machine of the cluster has none there.
    """
    if ctx.is_one_machine:
        return Carried()
    opener, large = carried(path for names in paths.values() for path in names)
    for whose, names in paths.items():
        refuse_absent(ctx, [path for path in names if path in large], whose)
    return opener
