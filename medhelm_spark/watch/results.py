"""What the methods about watches return."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from medhelm_spark.domain.groups import NOT_STATED, NOT_STATED_LABEL
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.render.table import TextTable
from medhelm_spark.watch.lines import verdict_of
from medhelm_spark.watch.tables import DriftVerdict, WatchedPart, WatchResult

FIELDS = tuple(field.name for field in fields(WatchResult))
HEADER = ("Verdict", "Line", "Release", "Now", "Difference", "All looks", "p", "n", "Note")
LOOK_HEADER = ("Look", "At (UTC)", "Verdict", "Lines", "Moved", "Largest difference")
NOTES = (
    "Difference: the look less the release on the same instances, with the 95 % interval of this",
    "look. All looks: the interval that holds with those of all other lines and looks together.",
    "p: over all looks so far and all lines. Moved: p below .05 and a difference beyond the",
    "margin, or another fingerprint. Not moved: the interval of this look is within the margin.",
)
ORDER = (DriftVerdict.MOVED, DriftVerdict.OPEN, DriftVerdict.SAME, DriftVerdict.SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLook(Result):
    """What one look at a release found."""

    release: str
    look: int
    lines: tuple[WatchResult, ...]

    HEADER = FIELDS

    @property
    def verdict(self) -> DriftVerdict:
        """MOVED, OPEN or SAME, of the whole look."""
        return verdict_of(self.lines)

    @property
    def banner(self) -> str:
        """The verdict in one sentence."""
        moved = named_first([row for row in self.lines if row.verdict is DriftVerdict.MOVED])
        detail = f": {moved}" if moved else ""
        return f"{self.verdict.upper()}: look {self.look} at release {self.release}{detail}"

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per line."""
        yield from map(record, self.lines)

    def render(self, form: str = "table") -> str:
        """The lines as text, those that moved first: `table`, `md`, `csv`, `json` or `html`."""
        ordered = sorted(self.lines, key=lambda row: ORDER.index(row.verdict))
        records = [record(row) for row in ordered]
        return formatted(
            Report(
                tables=list(look_tables(ordered)),
                content={
                    "verdict": self.verdict.value,
                    "release": self.release,
                    "look": self.look,
                    "lines": records,
                },
                fields=FIELDS,
                records=records,
                rounding=ROUNDED,
                banner=self.banner,
            ),
            form,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLooks(Result):
    """All looks at a release, the newest first."""

    release: str
    looks: tuple[ReleaseLook, ...]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per line of each look."""
        for look in self.looks:
            yield from look.rows()

    def render(self, form: str = "table") -> str:
        """The looks as text, a row each; CSV and JSON have all their lines."""
        records = list(self.rows())
        return formatted(
            Report(
                tables=[TextTable(header=LOOK_HEADER, rows=[*map(look_cells, self.looks)])],
                content={"release": self.release, "lines": records},
                fields=FIELDS,
                records=records,
                if_empty="" if self.looks else f"Nobody has looked at release {self.release} yet.",
            ),
            form,
        )


def look_tables(rows: Sequence[WatchResult]) -> Iterator[TextTable]:
    """A table for each model; fingerprints that did not change are one note."""
    models = list(dict.fromkeys(row.model_deployment for row in rows))
    for index, model in enumerate(models):
        own = [row for row in rows if row.model_deployment == model]
        same = [
            row
            for row in own
            if row.part is WatchedPart.FINGERPRINT and row.verdict is DriftVerdict.SAME
        ]
        names = ", ".join(dict.fromkeys(row.name for row in same))
        notes = [f"Fingerprints that did not change: {names}."] if same else []
        yield TextTable(
            title=model,
            header=HEADER,
            rows=[cells(row) for row in own if row not in same],
            notes=[*notes, *(NOTES if index == len(models) - 1 else ())],
        )


def looks_of(release: str, rows: Sequence[WatchResult]) -> tuple[ReleaseLook, ...]:
    """The rows by look, the newest first."""
    by_look: dict[tuple[str, int], list[WatchResult]] = {}
    for row in rows:
        by_look.setdefault((row.manifest_hash, row.look), []).append(row)
    return tuple(
        ReleaseLook(release=release, look=number, lines=tuple(lines))
        for (_, number), lines in reversed(by_look.items())
    )


def record(row: WatchResult) -> dict[str, Any]:
    """A line as data."""
    return {**asdict(row), "looked_at": row.looked_at.isoformat()}


def line_text(row: WatchResult) -> str:
    """What a line is about: `pubmed_qa: exact_match, sex: f`."""
    if row.part is WatchedPart.FINGERPRINT:
        return f"{row.scenario_name}: fingerprint of {row.name}"
    if row.part is WatchedPart.GROUP:
        value = NOT_STATED_LABEL if row.group_value == NOT_STATED else row.group_value
        return f"{row.scenario_name}: {row.name}, {row.group_column}: {value}"
    return f"{row.scenario_name}: {row.name}"


def named_first(rows: Sequence[WatchResult]) -> str:
    """The first of some lines with its model, and how many more there are; empty of none."""
    if not rows:
        return ""
    more = f" and {counted(len(rows) - 1, 'more line')}" if len(rows) > 1 else ""
    return f"{line_text(rows[0])} of {rows[0].model_deployment}{more}"


def cells(row: WatchResult) -> tuple[str, ...]:
    """A line as a row of HEADER."""
    return (
        row.verdict.value,
        line_text(row),
        _number(row.before),
        _number(row.now),
        _value(row) + _ends(row.low, row.high),
        _ends(row.valid_low, row.valid_high).strip(),
        "" if row.p_value is None else _p_text(row.p_value),
        "" if row.n is None else f"{row.n:,}",
        "; ".join(filter(None, (_margin(row), row.reason))),
    )


def look_cells(look: ReleaseLook) -> tuple[str, ...]:
    """A look as a row of LOOK_HEADER."""
    scores = [row for row in look.lines if row.part is WatchedPart.SCORES]
    largest = max(
        (row for row in scores if row.difference is not None),
        key=lambda row: abs(row.difference or 0.0),
        default=None,
    )
    moved = [row for row in look.lines if row.verdict is DriftVerdict.MOVED]
    return (
        str(look.look),
        f"{look.lines[0].looked_at:%Y-%m-%d %H:%M}",
        look.verdict.value,
        str(len(look.lines)),
        named_first(moved) or "-",
        "-"
        if largest is None
        else f"{_signed(largest.difference)}{_ends(largest.low, largest.high)} "
        f"{largest.scenario_name}, {largest.model_deployment}",
    )


def _margin(row: WatchResult) -> str:
    return "" if row.margin is None else f"margin {row.margin:g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _value(row: WatchResult) -> str:
    """The difference; a share of answers has no sign."""
    is_share = row.part is WatchedPart.ANSWERS
    return _number(row.difference) if is_share else _signed(row.difference)


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+z.3f}"


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{low:z.3f}, {high:z.3f}]"


def _p_text(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}"
