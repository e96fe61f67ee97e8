"""Which engine maintains a lake's tables, and the merging of small files at the end of a run."""

from pathlib import Path

from medhelm_spark.lake.folder_maintenance import FolderMaintenance
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.links import refuse_links
from medhelm_spark.lake.spark_maintenance import SparkMaintenance
from medhelm_spark.lake.table_maintenance import MANY_SMALL_FILES, Maintenance
from medhelm_spark.lake.tables import TABLES


def maintenance_of(lake: Lake) -> Maintenance:
    """By delta-rs in a folder of this machine, where Spark need not start, else by Spark.

    Raises:
        LakeError: A symbolic link is among the lake's files; nothing was done yet.
    """
    if lake.location.is_folder:
        refuse_links(Path(lake.location.name))
    return _engine_of(lake)


def merge_small_files(lake: Lake) -> dict[str, int]:
    """Merge the files of tables that runs have filled with small ones; how many, by table.

    `runs` gets the most files, several by each run: where it has few, Spark asks no other table.
    """
    tables = _engine_of(lake)
    merged = {}
    for table in sorted(TABLES, key=lambda name: name != "runs"):
        small = tables.files(table).small if tables.exists(table) else 0
        if small > MANY_SMALL_FILES:
            lake.before_writing()
            if tables.merge(table):
                merged[table] = small
        elif table == "runs" and not lake.is_folder_of_ours:
            break
    return merged


def _engine_of(lake: Lake) -> Maintenance:
    return FolderMaintenance(lake.files) if lake.files else SparkMaintenance(lake)
