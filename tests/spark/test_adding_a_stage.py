"""A stage is a `Stage`, and a function that passes `run_stage` what its units are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from pyspark.sql import functions as F

from medhelm_spark.domain.stages import INGEST, STAGES, Stage
from medhelm_spark.errors import LakeError
from medhelm_spark.lake import describe
from medhelm_spark.lake.tables import TABLES, Table
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.run_stage import Written, run_stage
from tests.spark.conftest import Site, questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """Row of `lengths`: the characters of a data version's inputs."""

    data_version: str
    num_characters: int


LENGTHS = Table(
    name="lengths",
    row=Length,
    key=("data_version",),
    indexed=("data_version",),
    description="How long the inputs are.",
)
MEASURE = Stage(
    name="measure",
    version="1",
    about="Count the characters of inputs.",
    reads=("instances", "runs"),
    writes=("lengths", "runs"),
    done="measured anew",
)


def measure(ctx: Context, versions: Sequence[str], stage: Stage = MEASURE) -> list[str]:
    """The stage: a data version never changes, so its name is all that its lengths are made of."""
    return run_stage(ctx, stage, {unit: stage.fingerprint(unit) for unit in versions}, write)


def write(ctx: Context, versions: Sequence[str], write_id: str) -> Written:
    inputs = ctx.current("instances", INGEST, versions, "data_version")
    sums = inputs.groupBy("data_version").agg(F.sum(F.length("input")).alias("characters"))
    lengths = {row["data_version"]: row["characters"] for row in sums.collect()}
    rows = [Length(data_version=unit, num_characters=lengths[unit]) for unit in versions]
    ctx.lake.append_rows("lengths", rows, write_id)
    return Written(counts={unit: {"characters": lengths[unit]} for unit in versions})


def test_a_stage_does_what_is_outdated_and_nothing_else(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLES._by_name, "lengths", LENGTHS)  # type: ignore[misc]
    model = site.deploy("acme/yes", text="yes")
    bench = site.benchmark("bench", questions(3), template="{question}")
    assert site.run("-r", f"{bench},model={model}", command="plan") == 0
    (version,) = {row["data_version"] for row in site.rows("instances")}
    lines: list[str] = []
    ctx = Context(lake=site.lake, suite="s", say=lines.append)

    assert measure(ctx, [version]) == [version]
    assert measure(ctx, [version]) == []
    later = Context(lake=site.lake, suite="s")
    assert measure(later, [version]) == [], "another driver reads the record"
    # "Is 0 a number?" is 14 characters.
    assert [row["num_characters"] for row in site.rows("lengths")] == [42]
    assert later.finished(MEASURE, [version])[version].counts == {"characters": 42}
    assert lines == [
        "measure: 1 of 1 run spec measured anew",
        "measure: 0 of 1 run spec measured anew",
    ]

    newer = replace(MEASURE, version="2")
    assert measure(later, [version], newer) == [version]
    assert len(site.rows("lengths")) == 2, "rows are only added"
    assert later.current("lengths", newer, [version], "data_version").count() == 1

    silent = replace(MEASURE, version="3", writes=("runs",))
    with pytest.raises(LakeError, match="stage 'measure' writes 'lengths'"):
        measure(later, [version], silent)


def test_the_page_of_tables_has_the_stages_that_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe, "STAGES", (*STAGES, MEASURE))
    line = next(line for line in describe.tables_markdown().splitlines() if "[instances]" in line)
    assert line.split("|")[-2] == " R "
