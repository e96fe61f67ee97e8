"""Which cells of a column may be compared, and the reason where one may not."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from medhelm_spark.domain.comparability import (
    DATA,
    EXTRACTION,
    IMPORTED,
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
"""Prefix of a setting's value that is a hash, because the value is too long to be shown."""

ADAPTER = "adapter."
"""Prefix of the names of AdapterSpec settings in a configuration."""

SIZE = "n"

_EPOCH = datetime.min.replace(tzinfo=UTC)
# Settings that are not shown where the other one, which is plainer, differs too.
_SHOWN_BY = {ADAPTER + "max_eval_instances": SIZE, "data": "perturbations"}


def key_of(cell: BoardCell) -> Key:
    """What must be equal between two cells that are compared.

    Where answers come from is left out: boards mark imported ones and say what is unknown.
    A mean of an older lake without recorded comparability is compared with other such means that
    were read by the same extraction, but not with further runs of a model.
    """
    if cell.comparability is None:
        reading = cell.configuration.get(EXTRACTION, "")
        recorded: tuple[tuple[str, str], ...] = ((EXTRACTION, reading), ("variant", cell.variant))
    else:
        recorded = tuple(sorted((k, v) for k, v in cell.comparability.items() if k != ORIGIN))
    return recorded, cell.total, tuple(sorted(part.part for part in cell.parts))


def common_key(cells: Iterable[BoardCell]) -> Key | None:
    """The key that most models share; of equals the one with most parts, then the newest.

    Runs that were scored again since do not count. None where no cell counts.
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
    """The newest cell with the common key, with which the others are compared."""
    key = common_key(cells)
    same = [cell for cell in cells if cell.is_current and key_of(cell) == key]
    return max(same, key=lambda cell: (cell.made_at or _EPOCH, repr(cell)), default=None)


def differences(cell: BoardCell, other: BoardCell) -> tuple[str, ...]:
    """How a run differs from another run of its model: `strict`, `n=3`, `imported`."""
    size = (f"n={cell.total}",) if cell.total != other.total else ()
    if cell.imported and not other.imported:
        size = (*size, IMPORTED)
    settings = _settings(cell, other, sorted({*cell.configuration, *other.configuration}))
    return (*size, *settings)


def is_asked_otherwise(cell: BoardCell, first: BoardCell) -> bool:
    """Whether a further run of a model differs from its first one in prompt or decoding alone.

    Runs of a sweep do: the same instances, read and scored in the same way.
    """
    if cell.comparability is None or first.comparability is None:
        return False
    (parts, *sizes), (others, *other_sizes) = key_of(cell), key_of(first)
    changed = {name for name, _ in set(parts) ^ set(others)}
    is_current = cell.is_current and first.is_current
    return is_current and sizes == other_sizes and changed == {PROMPT}


def why_not(cell: BoardCell, reference: BoardCell | None) -> str:
    """Why a cell is not comparable with its column's reference; empty where it is."""
    if not cell.is_current:
        return "scored again since, not summarised yet"
    if reference is None or key_of(cell) == key_of(reference):
        return ""
    return ", ".join(dict.fromkeys(_reasons(cell, reference)))


def _reasons(cell: BoardCell, reference: BoardCell) -> Iterable[str]:
    parts = {part.part for part in cell.parts}
    reference_parts = {part.part for part in reference.parts}
    if parts != reference_parts:
        yield from (f"lacks {name}" for name in sorted(reference_parts - parts))
        yield from (f"also has {name}" for name in sorted(parts - reference_parts))
        return
    recorded, others = cell.comparability, reference.comparability
    if recorded is None or others is None:
        if (recorded is None) != (others is None):
            lake = "older lake" if recorded is None else "newer lake"
            yield f"{lake}: what it may be compared with was {'not ' * (recorded is None)}recorded"
        else:
            yield from differences(cell, reference)
        return
    for part in PARTS:
        if part != ORIGIN and recorded.get(part) != others.get(part):
            yield _reason(part, cell, reference)
    if cell.total != reference.total and recorded.get(DATA) == others.get(DATA):
        yield f"other instances: n={cell.total}"


def _reason(part: str, cell: BoardCell, reference: BoardCell) -> str:
    if part == DATA:
        is_as_many = cell.total == reference.total
        return "other instances or labels" if is_as_many else f"other instances: n={cell.total}"
    names = [
        name
        for name in sorted({*cell.configuration, *reference.configuration})
        if name.startswith(_SETTINGS_BY_PART[part])
    ]
    changed = ", ".join(_settings(cell, reference, names))
    if part == PROMPT and changed:
        return f"asked otherwise: {', '.join(_settings(cell, reference, names, both=True))}"
    if part == EXTRACTION:
        return f"read by {changed}" if changed else f"read by {_age(cell, reference)} rules"
    if part == METRIC:
        return "other metric arguments" if changed else f"{_age(cell, reference)} metric version"
    if part == PROMPT:
        return "other prompt or decoding"
    return changed or "other jury or rubric"


_SETTINGS_BY_PART: Mapping[str, tuple[str, ...]] = {
    PROMPT: (ADAPTER, "prompt_variants"),
    EXTRACTION: (EXTRACTION,),
    METRIC: ("metrics",),
    JURY: (JURY,),
}


def _age(cell: BoardCell, reference: BoardCell) -> str:
    if not cell.made_at or not reference.made_at or cell.made_at == reference.made_at:
        return "other"
    return "older" if cell.made_at < reference.made_at else "newer"


def _settings(
    cell: BoardCell, other: BoardCell, names: Iterable[str], *, both: bool = False
) -> tuple[str, ...]:
    """The cell's settings that differ: `strict`, `max_tokens 1`, `other instructions`.

    With `both` also what the other cell has: `max_tokens 1, not 5`.
    """
    values, others = cell.configuration, other.configuration
    changed = [name for name in names if values.get(name, "") != others.get(name, "")]
    differing = {*changed, *([SIZE] if cell.total != other.total else [])}
    return tuple(
        _setting_text(name.removeprefix(ADAPTER), values.get(name, ""))
        + (f", not {others[name]}" if both and _is_shown(others.get(name, "")) else "")
        for name in changed
        if _SHOWN_BY.get(name) not in differing
    )


def _is_shown(value: str) -> bool:
    return bool(value) and not value.startswith(OTHER)


def _setting_text(name: str, value: str) -> str:
    label = "prompt variants" if name == "prompt_variants" else name
    if value.startswith(OTHER):
        return f"other {label}"
    if name == EXTRACTION:
        return value
    return f"{label} {value}" if value else f"no {label}"
