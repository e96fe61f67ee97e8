"""The first page of a run of very many answers, read without the scores of the others."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.board import choose, first_page, instances_of, load_runs
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import PerInstanceStats, Score
from medhelm_spark.lake.reader import Reader, open_reader
from tests.unit.board.planted import ALPHA, append, finish, plant, unit

CHOICE = unit(ALPHA, "triage_choice")


def spec_of(reader: Reader, run_spec_id: str) -> RunSpec:
    runs = load_runs(reader, choose(reader, "s1"))
    return next(run.run_spec for run in runs if run.run_spec.run_spec_id == run_spec_id)


@pytest.mark.parametrize("scenario", ["triage_choice", "medcalc_bench", "discharge_note"])
@pytest.mark.parametrize("limit", [1, 2])
def test_it_is_the_page_of_the_whole_list_without_counts(
    reader: Reader, scenario: str, limit: int
) -> None:
    spec = spec_of(reader, unit(ALPHA, scenario))
    whole = instances_of(reader, spec, limit=limit)
    assert first_page(reader, spec, limit=limit) == replace(whole, counts={})


def score(lake: Path, answers: list[tuple[str, int, float | None]]) -> Reader:
    """The lake whose newest scores of a run are these: instance, trial, value (None: no score)."""
    rows = [
        PerInstanceStats(
            run_spec_id=CHOICE,
            instance_id=f"triage_choice-{name}",
            perturbation="",
            train_trial_index=0,
            trial_index=trial,
            split="test",
            stats=(Score(name="exact_match" if value is not None else "other", value=value),),
        )
        for name, trial, value in answers
    ]
    append(plant(lake), "per_instance_stats", rows, "w-new")
    finish(lake, "score", CHOICE, "w-new", minutes=5)
    return open_reader(str(lake))


def test_trials_of_an_instance_follow_each_other(tmp_path: Path) -> None:
    reader = score(tmp_path, [("i1", 0, 1.0), ("i0", 1, 0.0), ("i1", 1, 0.0), ("i0", 0, 1.0)])
    spec = spec_of(reader, CHOICE)
    page = first_page(reader, spec, limit=3)
    assert page
    scores = [(each.key.instance_id[-2:], each.key.trial_index, each.value) for each in page.scores]
    assert scores == [("i0", 0, 1.0), ("i0", 1, 0.0), ("i1", 0, 1.0)]
    assert page == replace(instances_of(reader, spec, limit=3), counts={})


@pytest.mark.parametrize(
    ("answers", "limit"),
    [([("i3", 0, 1.0)], 2), ([("i0", 0, 1.0), ("i1", 0, None), ("i2", 0, 1.0)], 3)],
    ids=["too few answers", "an answer that the main metric says nothing of"],
)
def test_there_is_none_where_the_whole_list_alone_says_what_is_on_it(
    tmp_path: Path, answers: list[tuple[str, int, float | None]], limit: int
) -> None:
    reader = score(tmp_path, answers)
    assert first_page(reader, spec_of(reader, CHOICE), limit=limit) is None
