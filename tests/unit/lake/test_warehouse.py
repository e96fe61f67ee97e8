"""A lake in a catalog by a SQL warehouse: a fake of the connector's cursor really executes."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from medhelm_spark.board import list_releases, load_board
from medhelm_spark.board.sources import choose
from medhelm_spark.config.settings import load_settings
from medhelm_spark.domain.warehouse import Warehouse
from medhelm_spark.errors import ConfigError, LakeError, SetupError
from medhelm_spark.lake import warehouse as module
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.warehouse import WarehouseReader, connect
from medhelm_spark.tracking.tracked import tracked_of
from tests.unit.board.planted import plant
from tests.unit.board.planted_releases import plant_release
from tests.warehouse import FakeConnection, of_files

PLACE = "prod-eu.medhelm"
HOUSE = Warehouse(address="https://adb-1.example.net/sql/1.0/warehouses/ab12")


class House:
    """Sessions of a fake warehouse over a planted lake."""

    def __init__(self, lake: Path) -> None:
        self.lake = lake
        self.statements: list[str] = []
        self.sessions: list[FakeConnection] = []
        self.reader = WarehouseReader(PLACE, self._open)

    def _open(self) -> FakeConnection:
        self.sessions.append(FakeConnection(of_files(self.lake), self.statements))
        return self.sessions[-1]


@pytest.fixture
def house(tmp_path: Path) -> House:
    plant_release(plant(tmp_path))
    return House(tmp_path)


@pytest.mark.parametrize("source", [{"suite": "s1"}, {"release": "R2"}])
def test_boards_are_those_that_the_files_give(house: House, source: dict[str, str]) -> None:
    files = open_reader(str(house.lake))
    board = load_board(house.reader, **source, coverage_floor=0.95)
    assert board == load_board(files, **source, coverage_floor=0.95)
    assert board.rows
    assert list_releases(house.reader) == list_releases(files)
    assert tracked_of(house.reader, choose(files, "s1")) == [], "a table that is not there"
    assert len(house.sessions) == 1
    assert any("FROM `prod-eu`.medhelm.runs" in one for one in house.statements)


def test_a_table_that_appears_is_seen_once_the_old_answer_is_stale(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = "SELECT count(*) AS n FROM {left_out}"
    assert house.reader.query(left_out)["n"].to_pylist() == [0]
    known = len(house.statements)
    house.reader.query(left_out)
    assert len(house.statements) == known + 1, "the answer, and no second look at the table"
    monkeypatch.setattr(module, "RECHECK_SECONDS", -1.0)
    later = House(house.lake)
    later.reader.query(left_out)
    later.reader.query(left_out)
    assert sum("LIMIT 0" in one for one in later.statements) == 2
    later.reader.query("SELECT count(*) AS n FROM {stats}")
    later.reader.query("SELECT count(*) AS n FROM {stats}")
    assert sum("stats LIMIT 0" in one for one in later.statements) == 1, "a whole table stays"


def test_a_session_that_has_ended_is_opened_again(house: House) -> None:
    house.reader.query("SELECT count(*) AS n FROM {stats}")
    house.sessions[0].close()
    assert house.reader.query("SELECT count(*) AS n FROM {stats}")["n"].to_pylist() != [0]
    assert len(house.sessions) == 2


def test_no_word_of_the_warehouses_message_is_shown(house: House) -> None:
    def refuse(_: str) -> pa.Table:
        raise PermissionError("[INSUFFICIENT_PERMISSIONS] Jane Roe has no SELECT == SQL == token")

    reader = WarehouseReader(PLACE, lambda: FakeConnection(refuse, []))
    with pytest.raises(LakeError) as caught:
        reader.query("SELECT * FROM {stats}")
    assert str(caught.value).startswith(
        "prod-eu.medhelm: the SQL warehouse does not answer (PermissionError, "
        "INSUFFICIENT_PERMISSIONS). Check that it runs"
    )
    assert "Jane" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_connector_gets_host_path_and_the_token_of_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect_options: dict[str, Any] = {}
    sql = SimpleNamespace(connect=lambda **options: connect_options.update(options))
    package = ModuleType("databricks")
    package.sql = sql  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "databricks", package)
    monkeypatch.setitem(sys.modules, "databricks.sql", sql)
    monkeypatch.setenv("OUR_TOKEN", "planted-0123")
    connect(replace(HOUSE, token="env:OUR_TOKEN"))
    assert connect_options["server_hostname"] == "adb-1.example.net"
    assert connect_options["http_path"] == "/sql/1.0/warehouses/ab12"
    assert connect_options["access_token"] == "planted-0123"
    assert connect_options["enable_telemetry"] is False
    monkeypatch.delenv("OUR_TOKEN")
    with pytest.raises(SetupError, match="no token found for env:OUR_TOKEN; set the environment"):
        connect(replace(HOUSE, token="env:OUR_TOKEN"))


def test_without_the_connector_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "databricks", None)
    with pytest.raises(SetupError, match=r"medhelm-spark\[databricks\]"):
        connect(HOUSE)


def test_a_catalog_without_a_warehouse_says_what_to_set() -> None:
    with pytest.raises(SetupError, match="name one by sql_warehouse"):
        open_reader("main.evals")


def test_settings_name_a_warehouse_and_never_hold_its_token(tmp_path: Path) -> None:
    def settings(text: str) -> Any:
        (tmp_path / "settings.yaml").write_text(text)
        return load_settings(tmp_path, {"MEDHELM_SPARK_PLATFORM": "local"})

    assert settings("slots: 1").warehouse is None
    assert settings(f"sql_warehouse: {HOUSE.address}").warehouse == HOUSE
    own = settings(f"sql_warehouse: {HOUSE.address}\nsql_warehouse_token: env:OURS")
    assert own.warehouse == replace(HOUSE, token="env:OURS")
    with pytest.raises(ConfigError, match="sql_warehouse_token is no reference") as caught:
        settings("sql_warehouse_token: planted-0123")
    assert "planted" not in str(caught.value)
    for wrong in (
        "adb-1.example.net",
        "https://h:1/sql/1",
        "https://me:pw@h/sql/1",
        "https://h/sql?token=t",
    ):
        with pytest.raises(ConfigError, match="sql_warehouse is no warehouse's address"):
            settings(f"sql_warehouse: {wrong}")
