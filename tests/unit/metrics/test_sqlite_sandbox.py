"""The sandbox: what a query may read, and that a hostile one changes and delays nothing."""

import sqlite3
from pathlib import Path
from time import monotonic

import pytest

from medhelm_spark.errors import SetupError
from medhelm_spark.metrics.sqlite_sandbox import Limits, QueryOutcome, sandbox

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Three patients, in a file whose name means something in an address."""
    path = tmp_path / "ward 100%?#.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE patient (id INTEGER, ward TEXT, weight REAL)")
    rows = [(1, "a", 70.5), (2, "a", None), (3, "b", 81.0)]
    connection.executemany("INSERT INTO patient VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path


def run(database: Path, sql: str, **limits):
    with sandbox(str(database), Limits(**limits)) as query:
        return query(sql)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT id FROM patient WHERE ward = 'a'", ((1,), (2,))),
        ("select count(*), round(avg(weight), 2) from patient", ((3, 75.75),)),
        ("SELECT weight FROM patient WHERE id = 2", ((None,),)),
        ("SELECT id FROM patient WHERE id > 9", ()),
        (f"{NUMBERS} SELECT sum(i) FROM (SELECT i FROM n LIMIT 4)", ((10,),)),
        ("SELECT id, rank() OVER (ORDER BY id DESC) FROM patient ORDER BY id LIMIT 1", ((1, 3),)),
        ("SELECT strftime('%Y', datetime('2105-12-31 23:59:00', '-1 year'))", (("2104",),)),
        ("SELECT ward, group_concat(id) FROM patient GROUP BY ward", (("a", "1,2"), ("b", "3"))),
        ("SELECT 1; -- a comment", ((1,),)),
    ],
)
def test_reading(database, sql, rows):
    result = run(database, sql)
    assert (result.outcome, result.rows) == (QueryOutcome.ROWS, rows)


HOSTILE = [
    "INSERT INTO patient VALUES (4, 'c', 1)",
    "DELETE FROM patient",
    "UPDATE patient SET ward = 'x'",
    "DROP TABLE patient",
    "CREATE TABLE evil AS SELECT 1",
    "CREATE TEMP TABLE evil AS SELECT 1",
    "CREATE VIEW evil AS SELECT 1",
    "CREATE VIRTUAL TABLE evil USING fts5(x)",
    "CREATE TRIGGER evil AFTER INSERT ON patient BEGIN SELECT 1; END",
    "ALTER TABLE patient RENAME TO evil",
    "WITH x AS (SELECT 1) DELETE FROM patient",
    "PRAGMA journal_mode = WAL",
    "PRAGMA hard_heap_limit = 0",
    "PRAGMA temp_store_directory = '{folder}'",
    "SELECT * FROM pragma_database_list",
    "ATTACH '{folder}/evil.db' AS evil",
    "ATTACH '/etc/passwd' AS evil",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO '{folder}/evil.db'",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT evil",
    "REINDEX",
    "ANALYZE",
    "SELECT load_extension('evil')",
    "SELECT writefile('{folder}/evil.db', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT rtreecheck('patient')",
    "SELECT printf('%.*c', 2000000000, 'x')",
    "SELECT format('%.*c', 2000000000, 'x')",
    "SELECT randomblob(1000000000)",
    "SELECT zeroblob(1000000000)",
    "SELECT id FROM patient; DROP TABLE patient",
    "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "SELECT '" + "x" * 100_000 + "'",
    "SELECT '\0'",
    "SELECT '\ud800'",
]


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: sql[:40])
def test_a_hostile_query_gets_no_rows_and_leaves_no_trace(database, sql):
    before = database.read_bytes()
    with sandbox(str(database), Limits()) as query:
        assert query(sql.replace("{folder}", str(database.parent))).rows == ()
        assert query("SELECT count(*) FROM patient").rows == ((3,),)
    assert database.read_bytes() == before
    assert list(database.parent.iterdir()) == [database]


@pytest.mark.parametrize(
    ("sql", "outcome"),
    [
        ("DROP TABLE patient", QueryOutcome.REFUSED),
        ("SELECT load_extension('evil')", QueryOutcome.REFUSED),
        ("SELECT nothing FROM patient", QueryOutcome.ERROR),
        ("SELEC 1", QueryOutcome.ERROR),
        ("SELECT 1; SELECT 2", QueryOutcome.ERROR),
    ],
)
def test_refused_is_not_an_error_of_the_query(database, sql, outcome):
    assert run(database, sql).outcome is outcome


@pytest.mark.parametrize(
    "sql",
    [
        f"{NUMBERS} SELECT count(*) FROM n",
        f"{NUMBERS} SELECT i FROM n",
        f"{NUMBERS} SELECT i FROM n ORDER BY i DESC",
        f"{NUMBERS} SELECT group_concat(i) FROM n",
        f"{NUMBERS} SELECT max(replace(hex(i), '3', '{'x' * 9_000}')) FROM n",
    ],
)
def test_a_query_without_end_is_stopped(database, sql):
    assert run(database, sql, max_steps=2_000_000, max_rows=100).outcome is QueryOutcome.OVER_LIMIT


def test_steps_seconds_and_rows_are_limited_each(database):
    four = f"{NUMBERS} SELECT i FROM n LIMIT 4"
    endless = f"{NUMBERS} SELECT count(*) FROM n"
    assert len(run(database, four, max_rows=4).rows) == 4
    assert run(database, four, max_rows=3).outcome is QueryOutcome.OVER_LIMIT
    assert run(database, endless, max_steps=20_000).outcome is QueryOutcome.OVER_LIMIT
    assert run(database, endless, max_seconds=0.05).outcome is QueryOutcome.OVER_LIMIT


@pytest.mark.attack("inputs", "SQL of a model that spends its time inside functions, for minutes")
def test_time_is_limited_between_two_counts_of_steps(database):
    wide = f"SELECT replace(hex(hex(hex('{'a' * 4_000}'))), '61', 'aa') AS x"
    calls = "SELECT sum(instr(x, substr(x, 1, 15000) || i)) FROM wide, n"
    sql = f"{NUMBERS}, wide AS ({wide}) {calls}"
    began = monotonic()
    with sandbox(str(database), Limits(max_seconds=0.2)) as query:
        assert query(sql).outcome is QueryOutcome.OVER_LIMIT
        # What is left of the clock must not end the next query.
        assert query("SELECT count(*) FROM patient").rows == ((3,),)
    assert monotonic() - began < 30
    assert Limits().max_seconds == 5


def test_memory_is_limited_and_the_next_query_runs(database):
    wide = "SELECT " + ", ".join(f"'{'x' * 900}' || i AS c{number}" for number in range(60))
    with sandbox(str(database), Limits()) as query:
        result = query(f"{NUMBERS}, w AS ({wide} FROM n) SELECT * FROM w ORDER BY c1 DESC")
        assert result.outcome is QueryOutcome.OVER_LIMIT
        assert query("SELECT 1").rows == ((1,),)


def test_a_query_that_doubles_forty_times_is_stopped_before_it_runs(database):
    """SQLite copies the text behind a name at each use, 2 to the 40th times here."""
    steps = [f"n{i} AS (SELECT a.i FROM n{i - 1} a, n{i - 1} b)" for i in range(1, 40)]
    doubling = f"WITH n0 AS (SELECT 1 AS i), {', '.join(steps)} SELECT count(*) FROM n39"
    assert run(database, doubling).outcome is QueryOutcome.OVER_LIMIT


def test_text_that_is_no_utf8_is_read(tmp_path):
    path = tmp_path / "latin.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t AS SELECT CAST(x'4de9' AS TEXT) AS name")
    connection.commit()
    connection.close()
    assert run(path, "SELECT name FROM t").rows == (("M�",),)


def test_a_file_that_is_absent_or_no_database_is_told(tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("nothing of the kind, at some length\n" * 40)
    for path in (tmp_path / "absent.sqlite", other, tmp_path):
        with pytest.raises(SetupError, match="cannot be read"), sandbox(str(path), Limits()):
            pass
    assert not (tmp_path / "absent.sqlite").exists()
