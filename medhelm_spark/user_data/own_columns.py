"""Whether a person's own data has the columns that its card needs, before anything is started."""

from collections.abc import Callable

from medhelm_spark.domain.data_uri import is_delta_path
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.lake.delta_columns import delta_columns
from medhelm_spark.scenarios import check_columns, check_head, required_columns


def check_own_columns(card: ScenarioCard, tell: Callable[[str], None]) -> None:
    """Refuse data without the card's columns, by the head of its files or a Delta folder's schema.

    `tell` is given what local files were recognised to be, where that is not usual.

    A catalog's table, and what lies in an object store, is checked through Spark before a row of it
    is read.

    Raises:
        DataError: a column is absent, or a file holds no row or cannot be read.
        LakeError: a folder holds no Delta table.
    """
    table = card.source.table
    if table is None:
        check_head(card, tell)
        return
    columns = delta_columns(table) if is_delta_path(table) else None
    if columns is not None:
        check_columns(f"table {table!r}", required_columns(card), columns, from_schema=True)
