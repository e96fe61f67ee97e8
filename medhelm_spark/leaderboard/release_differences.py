"""Two releases beside each other: runs in both, runs in one, means that differ, and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from medhelm_spark.leaderboard.runs import BoardRun
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.comparison import differences, why_not


class InReleases(StrEnum):
    """What became of a run from the first release to the second, what changed coming first.

    CHANGED: its mean, or what its mean rests on, is another one.
    """

    CHANGED = "changed"
    FIRST_ONLY = "only in the first"
    SECOND_ONLY = "only in the second"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """A run, by its name, in two releases.

    `difference` is the second mean less the first, in units of the metric; means, counts and it are
    None where a release lacks the run, or the run has no score. `why` says what differs in what the
    second mean rests on.
    """

    name: str
    scenario_name: str
    model_deployment: str
    main_metric: str
    change: InReleases
    first_mean: float | None = None
    second_mean: float | None = None
    difference: float | None = None
    first_count: int | None = None
    second_count: int | None = None
    why: str = ""


def release_differences(
    first: Iterable[BoardRun], second: Iterable[BoardRun]
) -> tuple[RunDifference, ...]:
    """All runs of two releases, what changed first and of that the largest difference."""
    before = {run.run_spec.name: run for run in first}
    after = {run.run_spec.name: run for run in second}
    rows = [_difference(before.get(name), after.get(name)) for name in {**before, **after}]
    return tuple(sorted(rows, key=_order))


def _difference(first: BoardRun | None, second: BoardRun | None) -> RunDifference:
    run = second or first
    assert run is not None
    old, new = (each.cell if each else None for each in (first, second))
    means = (old.mean if old else None, new.mean if new else None)
    why = ", ".join(_reasons(first, second)) if first and second else ""
    difference = None if None in means else (means[1] or 0.0) - (means[0] or 0.0)
    return RunDifference(
        name=run.run_spec.name,
        scenario_name=run.run_spec.scenario_name,
        model_deployment=run.run_spec.model_deployment,
        main_metric=run.run_spec.main_metric,
        change=_change(first, second, is_changed=means[0] != means[1] or bool(why)),
        first_mean=means[0],
        second_mean=means[1],
        difference=difference,
        first_count=old.count if old else None,
        second_count=new.count if new else None,
        why=why,
    )


def _change(first: BoardRun | None, second: BoardRun | None, *, is_changed: bool) -> InReleases:
    if second is None:
        return InReleases.FIRST_ONLY
    if first is None:
        return InReleases.SECOND_ONLY
    return InReleases.CHANGED if is_changed else InReleases.SAME


def _reasons(first: BoardRun, second: BoardRun) -> Iterator[str]:
    """What differs between the same run of two releases; nothing where nothing does."""
    old, new = first.cell, second.cell
    metrics = [
        f"{run.run_spec.main_metric} on {run.run_spec.main_split}" for run in (first, second)
    ]
    if metrics[0] != metrics[1]:
        yield f"other main metric: {metrics[1]}, before {metrics[0]}"
        return
    if old is None or new is None:
        if (old is None) != (new is None):
            yield f"no score in the {'first' if old is None else 'second'}"
        return
    yield from _why(old, new, is_same_run=first.run_spec == second.run_spec)


def _why(old: BoardCell, new: BoardCell, *, is_same_run: bool) -> Sequence[str]:
    if reason := why_not(new, old):
        return [reason]
    if settings := differences(new, old):
        return settings
    if old.mean == new.mean and old.count == new.count:
        return []
    return (
        ["other answers"]
        if not is_same_run
        else ["other answers or verdicts to the same questions"]
    )


def _order(row: RunDifference) -> tuple[int, float, str]:
    size = abs(row.difference) if row.difference is not None else 0.0
    return list(InReleases).index(row.change), -size, row.name
