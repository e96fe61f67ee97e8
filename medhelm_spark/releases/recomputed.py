"""Whether stored stats are what the scores behind them give: checked before a release pins them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from math import isclose

from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.domain.stages import IMPORT_HELM, SCORE
from medhelm_spark.domain.stats import Stat
from medhelm_spark.errors import IntegrityError
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.releases.parts import parts_of
from medhelm_spark.releases.pinned import Change, ReleaseRows, key_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.summarize.stage import stats_of

# Another processor or numpy may round the last digits of a sum otherwise.
TOLERANCE = 1e-9

TABLE = "per_instance_stats"
KEY = TABLES["stats"].key
LATER = frozenset(field.name for field in fields(Stat) if field.default is not MISSING)
"""The columns that older lakes lack: one without a value is not compared."""


def refuse_unfounded(ctx: Context, release: str, rows: ReleaseRows) -> None:
    """Refuse to pin stats that do not follow from the current scores of their runs.

    Scores that were changed too are not seen: nothing is scored again here. A run whose stats alone
    were imported has no scores to follow from.

    Raises:
        IntegrityError: It names the runs.
    """
    planned = {row.run_spec_id: row.run_spec for row in rows.planned.values()}
    taken_over = ctx.finished(IMPORT_HELM, planned).keys() - ctx.finished(SCORE, planned).keys()
    scored = planned.keys() - taken_over
    recomputed: dict[str, list[Stat]] = {}
    for part in parts_of(ctx.lake, TABLE, scored) if scored else ():
        for stat in rows_of(stats_of(ctx, [planned[unit] for unit in part]), Stat):
            recomputed.setdefault(stat.run_spec_id, []).append(stat)
    changed = [str(change) for change in _unfounded(rows, recomputed, taken_over)]
    if changed:
        raise IntegrityError(
            f"release {release!r} is not made: not what the scores in {TABLE} give: "
            f"{first_of(changed, 8)}. Restore the lake."
        )


def _unfounded(
    rows: ReleaseRows, recomputed: Mapping[str, Sequence[Stat]], taken_over: Collection[str]
) -> Iterator[Change]:
    for member in rows.members:
        unit = member.run_spec_id
        if unit in taken_over and key_of(member) in rows.planned:
            continue
        if key_of(member) not in rows.planned or not are_alike(
            rows.stats.get(unit, ()), recomputed.get(unit, ())
        ):
            yield Change(table="stats", name=member.name)


def are_alike(stored: Iterable[Stat], recomputed: Iterable[Stat]) -> bool:
    """Whether these are the same stats, in any order."""
    pairs = (sorted(stored, key=_key), sorted(recomputed, key=_key))
    return len(pairs[0]) == len(pairs[1]) and all(map(_is_alike, *pairs))


def _key(stat: Stat) -> tuple[str, ...]:
    return tuple(str(getattr(stat, name)) for name in KEY)


def _is_alike(stored: Stat, recomputed: Stat) -> bool:
    return all(
        _is_equal(getattr(stored, field.name), getattr(recomputed, field.name))
        for field in fields(Stat)
        if field.name not in LATER or getattr(stored, field.name) is not None
    )


def _is_equal(stored: object, recomputed: object) -> bool:
    if isinstance(stored, float) and isinstance(recomputed, float):
        return isclose(stored, recomputed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(stored, tuple) and isinstance(recomputed, tuple):
        return len(stored) == len(recomputed) and all(map(_is_equal, stored, recomputed))
    return stored == recomputed
