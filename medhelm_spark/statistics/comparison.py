"""Which cells of a column may be compared, and in plain words why another may not."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from medhelm_spark.domain.comparability import (
    DATA,
    EXTRACTION,
    JURY,
    METRIC,
    ORIGIN,
    PARTS,
    PROMPT,
)
from medhelm_spark.statistics.cell import BoardCell

Key = tuple[tuple[tuple[str, str], ...], int, tuple[str, ...]]
"""Recorded comparability, number of answers, and the parts behind a mean."""

OTHER = "#"
"""What a configuration's value begins with where it is too long to be said: a hash follows."""

ADAPTER = "adapter."
"""What the name of an adapter's setting begins with in a configuration."""

SIZE = "n"

_EPOCH = datetime.min.replace(tzinfo=UTC)
# A size is said as the number of answers, and a copy's data version by its perturbations.
_SAID_BY = {ADAPTER + "max_eval_instances": SIZE, "data": "perturbations"}


def key_of(cell: BoardCell) -> Key:
    """What has to be equal between two cells that are compared.

    A mean of an older lake, which recorded nothing, is comparable with others of its kind that were
    read alike; further runs of one model are not.
    """
    if cell.comparability is None:
        reading = cell.configuration.get(EXTRACTION, "")
        recorded: tuple[tuple[str, str], ...] = ((EXTRACTION, reading), ("variant", cell.variant))
    else:
        recorded = tuple(sorted(cell.comparability.items()))
    return recorded, cell.total, tuple(sorted(part.part for part in cell.parts))


def common_key(cells: Iterable[BoardCell]) -> Key | None:
    """The key that most models share; of several the one of most parts, then the newest.

    A mean that no longer stands for its run's scores does not count; None where no other is there.
    """
    models: dict[Key, set[str]] = {}
    newest: dict[Key, datetime] = {}
    for cell in cells:
        if cell.is_current and cell.mean is not None:
            key = key_of(cell)
            models.setdefault(key, set()).add(cell.model_deployment)
            newest[key] = max(newest.get(key, _EPOCH), cell.made_at or _EPOCH)

    def order(key: Key) -> tuple[int, int, datetime, Key]:
        return (len(models[key]), len(key[2]), newest[key], key)

    return max(models, key=order, default=None)


def reference_of(cells: Sequence[BoardCell]) -> BoardCell | None:
    """The newest cell of those with the common key: what the others are described against."""
    key = common_key(cells)
    same = [cell for cell in cells if cell.is_current and key_of(cell) == key]
    return max(same, key=lambda cell: (cell.made_at or _EPOCH, repr(cell)), default=None)


def differences(cell: BoardCell, other: BoardCell) -> tuple[str, ...]:
    """How a run of a model differs from another of its runs, in few words: `strict`, `n=3`."""
    size = (f"n={cell.total}",) if cell.total != other.total else ()
    said = _settings(cell, other, sorted({*cell.configuration, *other.configuration}))
    return (*size, *said)


def why_not(cell: BoardCell, reference: BoardCell | None) -> str:
    """Why a cell is not comparable with its column's reference; empty where it is."""
    if not cell.is_current:
        return "scored again since, not summarised yet"
    if reference is None or key_of(cell) == key_of(reference):
        return ""
    return ", ".join(dict.fromkeys(_reasons(cell, reference)))


def _reasons(cell: BoardCell, reference: BoardCell) -> Iterable[str]:
    mine, theirs = ({part.part for part in one.parts} for one in (cell, reference))
    if mine != theirs:
        yield from (f"lacks {name}" for name in sorted(theirs - mine))
        yield from (f"also has {name}" for name in sorted(mine - theirs))
        return
    recorded, others = cell.comparability, reference.comparability
    if recorded is None or others is None:
        if (recorded is None) != (others is None):
            made = "older lake" if recorded is None else "newer lake"
            yield f"{made}: what it may be compared with was {'not ' * (recorded is None)}recorded"
        else:
            yield from differences(cell, reference)
        return
    for part in PARTS:
        if recorded.get(part) != others.get(part):
            yield _reason(part, cell, reference)
    if cell.total != reference.total and recorded.get(DATA) == others.get(DATA):
        yield f"other instances: n={cell.total}"


def _reason(part: str, cell: BoardCell, reference: BoardCell) -> str:
    if part == DATA:
        return f"other instances: n={cell.total}"
    if part == ORIGIN:
        is_imported = (cell.comparability or {}).get(ORIGIN) == "imported"
        return "imported answers" if is_imported else "answers that were asked for here"
    settings = _PARTS_OF_CONFIGURATION[part]
    names = [
        name
        for name in sorted({*cell.configuration, *reference.configuration})
        if name.startswith(settings)
    ]
    said = ", ".join(_settings(cell, reference, names))
    if part == EXTRACTION:
        return f"read by {said}" if said else f"read by {_age(cell, reference)} rules"
    if part == METRIC:
        return "other metric arguments" if said else f"{_age(cell, reference)} metric version"
    if part == PROMPT:
        return f"other prompt: {said}" if said else "other prompt or decoding"
    return said or "other jury or rubric"


_PARTS_OF_CONFIGURATION: Mapping[str, tuple[str, ...]] = {
    PROMPT: (ADAPTER, "prompt_variants"),
    EXTRACTION: (EXTRACTION,),
    METRIC: ("metrics",),
    JURY: (JURY,),
}


def _age(cell: BoardCell, reference: BoardCell) -> str:
    if not cell.made_at or not reference.made_at or cell.made_at == reference.made_at:
        return "other"
    return "older" if cell.made_at < reference.made_at else "newer"


def _settings(cell: BoardCell, other: BoardCell, names: Iterable[str]) -> tuple[str, ...]:
    """The cell's settings that differ: `strict`, `max_tokens 1`, `other instructions`."""
    mine, theirs = cell.configuration, other.configuration
    changed = [name for name in names if mine.get(name, "") != theirs.get(name, "")]
    known = {*changed, *([SIZE] if cell.total != other.total else [])}
    return tuple(
        _words(name.removeprefix(ADAPTER), mine.get(name, ""))
        for name in changed
        if _SAID_BY.get(name) not in known
    )


def _words(name: str, value: str) -> str:
    label = name.replace("_", " ") if name in ("prompt_variants",) else name
    if value.startswith(OTHER):
        return f"other {label}"
    if name == EXTRACTION:
        return value
    return f"{label} {value}" if value else f"no {label}"
