"""What a report prints of flips: counts of all benchmarks, text of public instances alone."""

from pathlib import Path

import pytest

from medhelm_spark.board import BoardSource, Kind, board_of, load_runs, paired
from medhelm_spark.board.render.report_file import Reported, Section
from medhelm_spark.candidate_gate import report
from medhelm_spark.candidate_gate.report import sections
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.render.table import TextTable
from tests.unit.board import planted as clinic
from tests.unit.board.planted import ALPHA, BETA, GAMMA
from tests.unit.candidate_gate.planted import plant_private_sites


def flips_in(
    lake: Path, suite: str, *, has_public_text: bool = True, smallest_group: int = 11
) -> Section:
    """The section of a suite whose board ranks every mean."""
    reader = open_reader(str(lake))
    runs = load_runs(reader, BoardSource(kind=Kind.SUITE, name=suite))
    pairs = paired(reader, runs, board_of(reader, runs, coverage_floor=0.5).rows)
    reported = Reported(
        reader=reader,
        runs=runs,
        pairs=pairs,
        smallest_group=smallest_group,
        has_public_text=has_public_text,
    )
    (section,) = sections(reported)
    return section


def tables_in(section: Section) -> list[TextTable]:
    return [part for part in section.parts if isinstance(part, TextTable)]


def test_public_instances_stand_side_by_side_and_of_gated_ones_the_counts_alone(
    tmp_path: Path,
) -> None:
    section = flips_in(clinic.plant(tmp_path), "s1")
    counts, *beside = tables_in(section)
    found = {tuple(row[:3]): tuple(row[4:]) for row in counts.rows}
    assert found["Triage choice: exact_match", BETA, ALPHA] == ("4", "1", "1")
    assert found["MedCalc-Bench: medcalc_bench_accuracy", BETA, ALPHA] == ("2", "0", "1")
    assert [table.title for table in beside] == [
        f"Triage choice: {one} and {two}"
        for one, two in ((BETA, ALPHA), (BETA, GAMMA), (ALPHA, GAMMA))
    ]
    first, second = beside[0].rows
    assert first[0] == "triage_choice-i2", "the first model is worse"
    assert first[1].startswith("Case 2: ")
    assert first[2] == "answer 2"
    assert first[3].startswith(f"0: {BETA} says 2")
    assert first[4].startswith(f"1: {ALPHA} says 2")
    assert second[0] == "triage_choice-i3"


def test_who_sees_numbers_alone_is_shown_counts(tmp_path: Path) -> None:
    section = flips_in(clinic.plant(tmp_path), "s1", has_public_text=False)
    (counts,) = tables_in(section)
    assert len(counts.rows) == 4


def test_the_first_of_every_pair_comes_before_the_second_of_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MOST_SHOWN", 4)
    monkeypatch.setattr(report, "MOST_CHARACTERS", 10)
    _, *beside = tables_in(flips_in(clinic.plant(tmp_path), "s1"))
    assert [len(table.rows) for table in beside] == [2, 1, 1]
    assert all(len(text) <= 10 for table in beside for row in table.rows for text in row[1:3])


def test_counts_of_a_small_private_group_are_hidden(
    tmp_path: Path,
) -> None:
    sites = ["north"] * 30 + ["south"] * 25 + ["west"] * 5
    lake = plant_private_sites(tmp_path / "lake", sites)
    (counts,) = tables_in(flips_in(lake, "new"))
    found = {row[3]: tuple(row[4:]) for row in counts.rows}
    assert found == {
        "all": ("60", "0", "40"),
        "site: north": ("30", "0", "30"),
        "site: south": ("hidden", "", ""),
        "site: west": ("hidden", "", ""),
    }


def test_the_policy_decides_from_how_many_patients_on_a_group_is_shown(tmp_path: Path) -> None:
    """Stored groups may be of public runs alone, which have a minimum of 1."""
    lake = plant_private_sites(tmp_path / "lake", ["north"] * 35 + ["south"] * 25)
    for smallest, south in ((25, "25"), (26, "hidden")):
        (counts,) = tables_in(flips_in(lake, "new", smallest_group=smallest))
        assert {row[3]: row[4] for row in counts.rows}["site: south"] == south
