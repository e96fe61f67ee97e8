"""The same command on the same lake writes the same bytes, whatever lies how in which file."""

from pathlib import Path

import pytest

from medhelm_spark.cli import main
from tests.spark.conftest import Site, questions

MODELS = ("team/often", "team/seldom", "team/never")
TIMES = 6


def rows(count: int) -> list[dict[str, str]]:
    base_rows = questions(count, lambda i: "yes" if i % 3 else "no")
    return [{**row, "patient": f"p{i * i % 17}"} for i, row in enumerate(base_rows)]


def answered(site: Site) -> None:
    """Three models on clustered, repeated and plain answers, each by a run of its own."""
    args = {"labels": "yes|no", "positive": "yes", "costs": "yes>no=10"}
    entries = [
        site.benchmark("letters", rows(60), cluster_column="patient"),
        site.benchmark("plain", rows(40)),
        site.benchmark(
            "screening",
            rows(80),
            metrics=[
                {"name": "balanced_accuracy", "args": args},
                {"name": "diagnostic_accuracy", "args": args},
                {"name": "classification", "args": {"labels": "yes|no"}},
            ],
            cluster_column="patient",
        ),
    ]
    entries.append(f"{entries[1]},num_trials=3")
    for index, name in enumerate(MODELS):
        site.deploy(name, mode="choice", choices=["yes"] * (5 - 2 * index) + ["no", "perhaps"])
        assert site.run("-r", *(f"{entry},model={name}" for entry in entries)) == 0


def exports(site: Site) -> dict[str, bytes]:
    """The file of each command that writes one."""
    bytes_by_name = {}
    commands = {
        "leaderboard": ("json", "csv"),
        "compare": ("json", "csv"),
        "report": (None,),
    }
    for command, formats in commands.items():
        for each in formats:
            path = site.folder / f"{command}.{each or 'html'}"
            form = ("--format", each) if each else ()
            assert site.run(*form, "--output-file", str(path), command=command) == 0
            bytes_by_name[path.name] = path.read_bytes()
            path.unlink()
    return bytes_by_name


def differing(some: dict[str, bytes], others: dict[str, bytes]) -> list[str]:
    """The names of the files that are not the same in both."""
    return [name for name, content in some.items() if content != others[name]]


def num_files(lake: Path) -> int:
    """The data files of the tables that contain numbers, as their newest versions have them."""
    from deltalake import DeltaTable

    tables = ("stats", "per_instance_stats", "instances")
    return sum(len(DeltaTable(str(lake / table)).file_uris()) for table in tables)


@pytest.mark.long
def test_every_export_has_the_same_bytes_each_time(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(site)
    first = exports(site)
    assert len(first) == 5
    assert b"team/often" in first["leaderboard.json"]
    for _ in range(TIMES - 1):
        assert differing(exports(site), first) == []

    before = num_files(site.lake_path)
    monkeypatch.setattr("medhelm_spark.lake.table_maintenance.FEW_FILES", 2)
    assert main(["optimize", "-o", str(site.lake_path)]) == 0
    assert num_files(site.lake_path) < before
    assert differing(exports(site), first) == []
