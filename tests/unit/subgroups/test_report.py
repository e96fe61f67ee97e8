"""What a report shows of two models in each group."""

from pathlib import Path

import pytest

from medhelm_spark.board import BoardSource, Kind, board_of, load_runs, paired
from medhelm_spark.board.render.report_file import Reported
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.render.table import TextTable
from medhelm_spark.subgroups.report import sections
from tests.unit.candidate_gate.planted import plant_private_sites


@pytest.mark.parametrize(("smallest_group", "is_hidden"), [(25, False), (26, True)])
def test_the_policy_decides_from_how_many_patients_on_a_pair_is_shown(
    tmp_path: Path, smallest_group: int, is_hidden: bool
) -> None:
    """Rows of stats_by_group have the minimum of their own run: 1 of a public one."""
    lake = plant_private_sites(tmp_path / "lake", ["north"] * 35 + ["south"] * 25)
    reader = open_reader(str(lake))
    runs = load_runs(reader, BoardSource(kind=Kind.SUITE, name="new"))
    pairs = paired(reader, runs, board_of(reader, runs, coverage_floor=0.5).rows)
    (section,) = sections(
        Reported(reader=reader, runs=runs, pairs=pairs, smallest_group=smallest_group)
    )
    table = next(part for part in reversed(section.parts) if isinstance(part, TextTable))
    assert {("hidden" in row) for row in table.rows if "site: south" in row} == {is_hidden}
