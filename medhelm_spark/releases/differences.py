"""Two releases beside each other: runs in both, runs in one, numbers that differ, and why.

A number differs because another thing was asked, because the answers are others, or because the
same answers were read, scored or summarised by a changed method: `why` says which.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from medhelm_spark.board.runs import BoardRun
from medhelm_spark.domain.comparability import EXTRACTION, METRIC
from medhelm_spark.releases.pinned import StoredRelease
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.comparison import differences, why_not

ANSWERS, VERDICTS, SCORES = "request_results", "annotations", "per_instance_stats"


class InReleases(StrEnum):
    """What became of a run from the first release to the second, what changed coming first.

    CHANGED: its mean, interval or count, or what its mean rests on, is another one.
    """

    CHANGED = "changed"
    FIRST_ONLY = "only in the first"
    SECOND_ONLY = "only in the second"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """What a release has on record behind a run's numbers.

    `hashes` are those of its rows by table, `stages` the versions of the stages that made the
    numbers: empty of numbers that were taken over, None where nothing is on record.
    """

    hashes: Mapping[str, str]
    stages: Mapping[str, str] | None


NOTHING = Behind(hashes={}, stages=None)


def behind(release: StoredRelease) -> dict[str, Behind]:
    """What is on record behind the runs of a release, by their names."""
    stages = release.manifest.stage_versions if release.manifest else None
    return {
        member.name: Behind(
            hashes=member.value_hashes or {},
            stages={} if stages and not (member.writes or {}).get(SCORES) else stages,
        )
        for member in release.members
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """A run, by its name, in two releases.

    `difference` is the second mean less the first, in units of the metric; means, ends of their
    95 % intervals, counts and it are None where a release lacks the run, or the run has no score.
    `why` says what differs in what the second mean rests on.
    """

    name: str
    scenario_name: str
    model_deployment: str
    main_metric: str
    change: InReleases
    first_mean: float | None = None
    first_ci_low: float | None = None
    first_ci_high: float | None = None
    second_mean: float | None = None
    second_ci_low: float | None = None
    second_ci_high: float | None = None
    difference: float | None = None
    first_count: int | None = None
    second_count: int | None = None
    why: str = ""


def release_differences(
    first: Iterable[BoardRun],
    second: Iterable[BoardRun],
    behind_first: Mapping[str, Behind],
    behind_second: Mapping[str, Behind],
) -> tuple[RunDifference, ...]:
    """All runs of two releases, what changed first and of that the largest difference."""
    before = {run.run_spec.name: run for run in first}
    after = {run.run_spec.name: run for run in second}
    rows = [
        _difference(
            before.get(name),
            after.get(name),
            (behind_first.get(name, NOTHING), behind_second.get(name, NOTHING)),
        )
        for name in {**before, **after}
    ]
    return tuple(sorted(rows, key=_order))


def _difference(
    first: BoardRun | None, second: BoardRun | None, records: tuple[Behind, Behind]
) -> RunDifference:
    run = second or first
    assert run is not None
    old, new = (each.cell if each else None for each in (first, second))
    means = (old.mean if old else None, new.mean if new else None)
    why = ", ".join(_reasons(first, second, records)) if first and second else ""
    difference = None if None in means else (means[1] or 0.0) - (means[0] or 0.0)
    return RunDifference(
        name=run.run_spec.name,
        scenario_name=run.run_spec.scenario_name,
        model_deployment=run.run_spec.model_deployment,
        main_metric=run.run_spec.main_metric,
        change=_change(first, second, is_changed=_numbers(old) != _numbers(new) or bool(why)),
        first_mean=means[0],
        first_ci_low=old.ci_low if old else None,
        first_ci_high=old.ci_high if old else None,
        second_mean=means[1],
        second_ci_low=new.ci_low if new else None,
        second_ci_high=new.ci_high if new else None,
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


def _numbers(cell: BoardCell | None) -> tuple[float | None, ...]:
    return (cell.mean, cell.ci_low, cell.ci_high, cell.count) if cell else ()


def _reasons(first: BoardRun, second: BoardRun, records: tuple[Behind, Behind]) -> Iterator[str]:
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
    settings, is_other = _other_settings(old, new), _numbers(old) != _numbers(new)
    changed = _changed_method(old, new, records)
    yield from settings
    if is_other and not settings:
        yield from _answers(records, is_explained=bool(changed))
    is_known = not is_other or all(record.stages is not None for record in records)
    if changed:
        more = () if is_known else ("other versions unknown",)
        yield f"method changed ({', '.join((*changed, *more))})"
    elif not is_known:
        yield "method unknown"


def _other_settings(old: BoardCell, new: BoardCell) -> Sequence[str]:
    """What differs in the settings, or in what else a mean rests on but for the code."""
    if reason := why_not(_as_coded(new, old), old):
        return [reason]
    return differences(new, old)


def _as_coded(new: BoardCell, old: BoardCell) -> BoardCell:
    """The new cell with the old one's versions of what reads and measures by equal settings."""
    if new.comparability is None or old.comparability is None:
        return new
    alike = {part: old.comparability.get(part, "") for part in _code_parts(old, new)}
    return replace(new, comparability={**new.comparability, **alike})


def _code_parts(old: BoardCell, new: BoardCell) -> list[str]:
    """The parts that the same settings fill otherwise: another version of the code behind them."""
    recorded, others = new.comparability or {}, old.comparability or {}
    return [
        part
        for part, setting in {EXTRACTION: EXTRACTION, METRIC: "metrics"}.items()
        if part in recorded
        and part in others
        and recorded[part] != others[part]
        and new.configuration.get(setting) == old.configuration.get(setting)
    ]


def _answers(records: tuple[Behind, Behind], *, is_explained: bool) -> Iterator[str]:
    """Whether answers or verdicts are others, where the release has the hashes of both."""
    old, new = (record.hashes for record in records)
    if ANSWERS not in old or ANSWERS not in new:
        if not is_explained:
            yield "other answers or verdicts to the same questions"
    elif old[ANSWERS] != new[ANSWERS]:
        yield "answers changed"
    elif old.get(VERDICTS) != new.get(VERDICTS):
        yield "verdicts changed"


def _changed_method(old: BoardCell, new: BoardCell, records: tuple[Behind, Behind]) -> list[str]:
    """The versions of the code by which the same answers gave other numbers, as far as recorded."""
    recorded, others = new.comparability or {}, old.comparability or {}
    changed = [f"{part} {_step(others[part], recorded[part])}" for part in _code_parts(old, new)]
    if not changed and _numbers(old) == _numbers(new):
        return []
    before, after = (record.stages or {} for record in records)
    pairs = [(name, before[name], after[name]) for name in sorted({*before} & {*after})]
    return [*changed, *(f"{name} {_step(was, now)}" for name, was, now in pairs if was != now)]


def _step(before: str, after: str) -> str:
    """From one text to another, without the words before a version that both have.

    >>> _step("yes_no, unreadable wrong, v4", "yes_no, unreadable wrong, v5")
    'v4 -> v5'
    """
    (shared, _, old), (other, _, new) = (text.rpartition(" ") for text in (before, after))
    return f"{old} -> {new}" if shared == other else f"{before} -> {after}"


def _order(row: RunDifference) -> tuple[int, float, str]:
    size = abs(row.difference) if row.difference is not None else 0.0
    return list(InReleases).index(row.change), -size, row.name
