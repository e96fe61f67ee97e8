"""MLflow's SQLite file, made whole or not at all.

MLflow makes a new file table by table, in seconds; if it is killed meanwhile, it refuses that file
from then on.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from medhelm_spark.lake.file_permissions import work_folder

NAME = "mlflow.db"


def ensure_database(tracking_uri: str | None, make: Callable[[str], object]) -> None:
    """Make the SQLite file that `tracking_uri` names if it is missing or half-made.

    Args:
        tracking_uri: MLflow's address; any other than `sqlite:///FILE` is ignored.
        make: lets MLflow make the file at an address.

    Raises:
        OSError: the file's folder cannot be written.
        sqlite3.Error: the file cannot be read, or is not SQLite's. MLflow would try ten times.
    """
    path = _file_of(tracking_uri)
    if path is None or not _is_unfinished(path):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work_folder()) as folder:
        made = Path(folder, NAME)
        make(f"sqlite:///{made}")
        beside = path.with_name(f".{path.name}-{os.getpid()}")
        try:
            shutil.copyfile(made, beside)
            if _is_unfinished(path):  # another driver may have made it meanwhile
                beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def rewrite_database(tracking_uri: str | None) -> None:
    """Rewrite a SQLite file, so that nothing of removed rows stays in its free pages."""
    path = _file_of(tracking_uri)
    if path is not None and path.is_file():
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("VACUUM")


def _file_of(tracking_uri: str | None) -> Path | None:
    if not tracking_uri or not tracking_uri.startswith("sqlite:///"):
        return None
    name = tracking_uri.removeprefix("sqlite:///").partition("?")[0]
    return Path(name) if name and name != ":memory:" else None


def _is_unfinished(path: Path) -> bool:
    """Whether the file has no experiment: MLflow adds the first one when all tables are made."""
    if not path.exists():
        return True
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return database.execute("SELECT 1 FROM experiments LIMIT 1").fetchone() is None
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return True
