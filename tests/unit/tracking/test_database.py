"""MLflow's file is whole or not there: what a killed command left is made anew."""

import sqlite3
from pathlib import Path

import pytest

from medhelm_spark.errors import SetupError
from medhelm_spark.tracking.database import ensure_database
from medhelm_spark.tracking.store import opened


def killed_while_making(uri: str) -> None:
    """The tables that MLflow begins with, before its migrations: what SIGKILL leaves."""
    from mlflow.store.tracking.dbmodels.initial_models import Base
    from sqlalchemy import create_engine

    engine = create_engine(uri)
    Base.metadata.create_all(engine)
    engine.dispose()


def test_a_half_made_file_is_made_anew(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    killed_while_making(uri)
    with opened(uri, "suite") as store:
        first = store.experiment_id
    with opened(uri, "suite") as store:
        assert store.experiment_id == first
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]


def test_an_empty_file_is_made_anew(tmp_path: Path) -> None:
    made: list[str] = []

    def make(uri: str) -> None:
        made.append(uri)
        with sqlite3.connect(uri.removeprefix("sqlite:///")) as database:
            database.execute("CREATE TABLE experiments (name)")
            database.execute("INSERT INTO experiments VALUES ('Default')")

    (tmp_path / "mlflow.db").touch()
    for _ in range(2):
        ensure_database(f"sqlite:///{tmp_path}/mlflow.db?timeout=9", make)
    assert len(made) == 1, "a whole file is left alone"
    assert str(tmp_path) not in made[0], "it is made elsewhere and put there whole"


def test_a_maker_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(uri: str) -> None:
        Path(uri.removeprefix("sqlite:///")).write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        ensure_database(f"sqlite:///{tmp_path}/mlflow.db", fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("uri", [None, "databricks", "http://127.0.0.1:5000", "sqlite:///:memory:"])
def test_other_stores_are_left_alone(uri: str | None) -> None:
    ensure_database(uri, lambda _: pytest.fail("made"))


def test_a_file_of_another_kind_or_a_folder_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database, longer than a header of SQLite's would be " * 9)
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "text").write_text("")
    for name in ("text.db", "folder.db", "text/mlflow.db"):
        with (
            pytest.raises(SetupError, match=r"^MLflow at sqlite:///\S+ refused: ") as refused,
            opened(f"sqlite:///{tmp_path}/{name}", "suite"),
        ):
            pass
        assert "\n" not in str(refused.value)
    assert (tmp_path / "text.db").read_text().startswith("no database")
