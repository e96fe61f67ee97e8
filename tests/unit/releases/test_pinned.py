"""A release whose values were changed after it was published shows no number."""

from dataclasses import replace
from pathlib import Path

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from medhelm_spark.board import choose, load_runs
from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import CHANGED
from medhelm_spark.domain.stats import Score
from medhelm_spark.errors import IntegrityError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.releases.pinned import read_release, refuse_changed
from medhelm_spark.releases.value_hash import row_digest, values_hash
from tests.rewriting import rewritable
from tests.unit.board.planted import plant

RUN = "triage_choice:model=alpha_large"
CHANGES = [
    ("stats", {"mean": "0.999"}, f"stats of {RUN}"),
    ("stats", {"count": "400"}, f"stats of {RUN}"),
    ("stats", {"ci_low": "0.9"}, f"stats of {RUN}"),
    ("stats", {"write_id": "'another'"}, f"stats of {RUN}"),
    ("run_specs", {"locality": "'external'"}, f"run_specs of {RUN}"),
    ("run_specs", {"planned_at": "timestamp '2031-01-01T00:00:00Z'"}, f"run_specs of {RUN}"),
    ("scenarios", {"display_name": "'Another'"}, f"scenarios of {RUN}"),
    ("releases", {"status": "'approved'"}, "releases"),
    ("releases", {"name": "'another run'"}, "releases"),
    ("releases", {"manifest_hash": "'0'"}, "releases"),
]


@pytest.mark.attack("integrity", "a value behind a release's board, changed after publishing")
@pytest.mark.parametrize(("table", "values", "named"), CHANGES)
def test_a_changed_value_is_named_and_no_number_shown(
    tmp_path: Path, table: str, values: dict[str, str], named: str, capsys
) -> None:
    plant(tmp_path)
    board = ["leaderboard", "--release", "R1", "-o", str(tmp_path)]
    assert main(board) == 0
    assert "0.500" in capsys.readouterr().out
    rewritable(tmp_path / table).update(updates=values)
    assert main(board) == CHANGED
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "release 'R1' is not what was published" in printed.err
    assert named in printed.err


@pytest.mark.attack("integrity", "rows of a table updated or deleted as it stands in the lake")
@pytest.mark.parametrize("name", ["stats", "per_instance_stats", "runs", "releases"])
def test_delta_refuses_to_change_a_row_until_a_commit_allows_it(tmp_path: Path, name: str) -> None:
    plant(tmp_path)
    table = DeltaTable(str(tmp_path / name))
    for change in (lambda: table.update({"write_id": "'w'"}), table.delete):
        with pytest.raises(CommitFailedError, match="append-only"):
            change()
    assert rewritable(tmp_path / name).history()[0]["operation"] == "SET TBLPROPERTIES"


@pytest.mark.attack("integrity", "rows of a release's stats, deleted or doubled")
@pytest.mark.parametrize("how", ["deleted", "doubled"])
def test_a_missing_or_added_row_is_named(tmp_path: Path, how: str) -> None:
    plant(tmp_path)
    table = rewritable(tmp_path / "stats")
    if how == "deleted":
        table.delete("write_id = 'w-first' AND name = 'other'")
    else:
        from deltalake import write_deltalake

        rows = table.to_pyarrow_table(filters=[("write_id", "=", "w-first")])
        write_deltalake(table, rows, mode="append")
    reader = open_reader(str(tmp_path))
    with pytest.raises(IntegrityError, match=f"changed since: stats of {RUN}"):
        load_runs(reader, choose(reader, release="R1"))


def test_what_is_no_part_of_a_release_changes_nothing(tmp_path: Path) -> None:
    plant(tmp_path)
    rewritable(tmp_path / "stats").update(
        updates={"mean": "0.999"}, predicate="write_id <> 'w-first'"
    )
    reader = open_reader(str(tmp_path))
    assert load_runs(reader, choose(reader, release="R1"))


def test_a_release_without_hashes_shows_no_number(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    (member,) = read_release(reader, ()).members or reader.rows(
        "SELECT * FROM {releases}", _member_type()
    )
    rows = read_release(reader, [replace(member, value_hashes=None)])
    with pytest.raises(IntegrityError, match=r"no hashes of its values.*publish it again"):
        refuse_changed("R1", rows)


def _member_type() -> type:
    from medhelm_spark.releases.tables import ReleaseMember

    return ReleaseMember


def test_the_hash_of_rows_knows_no_order_but_counts_them() -> None:
    rows = [Score(name=f"s{i}", value=i / 7) for i in range(5000)]
    assert values_hash(rows) == values_hash(reversed(rows))
    assert values_hash(rows) != values_hash(rows[1:])
    assert values_hash(rows) != values_hash([*rows, rows[0]])
    assert values_hash([*rows[1:], replace(rows[0], value=1e-300)]) != values_hash(rows)
    assert values_hash([]) == values_hash(())


def test_an_empty_column_changes_no_digest() -> None:
    assert row_digest(Score(name="a", value=None)) != row_digest(Score(name="a", value=0.0))
    assert len(row_digest(Score(name="a", value=None))) == 64
