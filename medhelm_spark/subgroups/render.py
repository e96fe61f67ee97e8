"""Groups as reports: what a model scores in each, and whether another one widens a gap."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace

from medhelm_spark.board.render.comparison import p_text
from medhelm_spark.domain.groups import PERTURBATION_COLUMN
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.table import TextTable, interval_text, number_text
from medhelm_spark.subgroups.gaps import Gap
from medhelm_spark.subgroups.model_groups import ModelGroups, group_label
from medhelm_spark.subgroups.pairs import GroupPair
from medhelm_spark.subgroups.tables import GroupStat
from medhelm_spark.subgroups.twins import is_twins

EMPTY = (
    "No groups: name columns of the data as `groups` in a benchmark's file, or add them to what "
    "was run by `medhelm-spark run --by COLUMN`; `data_augmentation=fairness` in a run entry asks "
    "of other patients."
)
NO_PAIRS = "No two of these models have groups on the same instances."
HIDDEN = "hidden"
TWINS_NOTE = (
    f"{PERTURBATION_COLUMN}NAME: the same questions, asked as they are and of another patient by "
    "that perturbation. The difference is that of the copies to their originals, pair by pair; the "
    "gap is its size."
)

HEADER = (
    "Benchmark",
    "Model",
    "Group",
    "n",
    "Score",
    "Difference to the rest",
    "p adjusted",
    "Gap",
)
TWINS_HEADER = (*HEADER[:5], "Difference to the originals", *HEADER[6:])
PAIR_HEADER = (
    "Benchmark",
    "First",
    "Second",
    "Group",
    "There the first",
    "n",
    "In the group",
    "In the rest",
    "Difference",
    "p adjusted",
)

_OF_RUN = (
    "scenario_name",
    "display_name",
    "model_deployment",
    "metric",
    "lower_is_better",
    "overall",
)
_OF_GROUP = tuple(
    field.name for field in fields(GroupStat) if field.name not in ("name", "access_level")
)
_OF_GAP = ("gap", "gap_low", "gap_high", "best_group", "worst_group", "opportunity_gap")
_MORE_OF_GAP = ("opportunity_low", "opportunity_high")
FIELDS = (*_OF_RUN, *_OF_GROUP, *_OF_GAP, *_MORE_OF_GAP)
"""The fields of `records`."""
PAIR_FIELDS = (*(field.name for field in fields(GroupPair)), "decision")
"""The fields of `pair_record`."""


def render_groups(groups: Sequence[ModelGroups], output_format: str, *, banner: str = "") -> str:
    """The groups in one of `report.FORMATS`, with a newline at its end."""
    return formatted(groups_report(groups, banner), output_format)


def render_pairs(pairs: Sequence[GroupPair], output_format: str) -> str:
    """The pairs in one of `report.FORMATS`, with a newline at its end."""
    return formatted(pairs_report(pairs), output_format)


def groups_report(groups: Sequence[ModelGroups], banner: str = "") -> Report:
    """A table for each column, and every number as data."""
    held = list(records(groups))
    columns = list(dict.fromkeys(each.group_column for each in groups))
    tables = [groups_table([each for each in groups if each.group_column == c]) for c in columns]
    if tables:
        tables[-1] = replace(tables[-1], notes=list(notes(groups)))
    return Report(
        tables=tables,
        content={"groups": held},
        fields=FIELDS,
        records=held,
        rounding=ROUNDED if held else "",
        if_empty="" if groups else EMPTY,
        banner=banner,
    )


def groups_table(groups: Sequence[ModelGroups]) -> TextTable:
    """What models score by the groups of one column; without the notes."""
    column = groups[0].group_column
    return TextTable(
        title=f"By {column}",
        header=TWINS_HEADER if is_twins(column) else HEADER,
        rows=[_cells(each, stat) for each in groups for stat in each.stats],
    )


def _cells(of: ModelGroups, stat: GroupStat) -> tuple[str, ...]:
    names = (benchmark(of), of.model_deployment, group_label(stat.group_value))
    if stat.is_hidden:
        return (*names, HIDDEN, HIDDEN, "", "", "")
    is_worst = of.gap is not None and of.gap.worst == stat.group_value
    gap = gap_text(of.gap) if is_worst else ""
    return (
        *names,
        size_text(stat),
        number_text(stat.mean) + interval_text(stat.ci_low, stat.ci_high),
        difference_text(stat.difference, stat.difference_low, stat.difference_high),
        p_text(stat.adjusted_p) if stat.adjusted_p is not None else "",
        gap,
    )


def benchmark(of: ModelGroups) -> str:
    """`Triage: exact_match`; that lower is better is said."""
    direction = " (lower is better)" if of.lower_is_better else ""
    return f"{of.display_name}: {of.metric}{direction}"


def size_text(stat: GroupStat) -> str:
    """`204 (148 patients), 3 failed`: the answers with a value, and what others lack one.

    `13 of 96 (12 patients)` of a share of a part of the answers, as of the positive ones.
    """
    is_part = stat.denominator not in (None, stat.count)
    of_whom = stat.num_clusters if is_part else stat.num_patients
    patients = f" ({counted(of_whom or 0, 'patient')})" if stat.num_clusters else ""
    part = f"{stat.denominator} of " if is_part else ""
    failed = f", {stat.num_failures} failed" if stat.num_failures else ""
    unread = f", {stat.num_unread} unread" if stat.num_unread else ""
    refused = f", {stat.num_refused} refused" if stat.num_refused else ""
    return f"{part}{stat.count}{patients}{failed}{unread}{refused}"


def difference_text(value: float | None, low: float | None, high: float | None) -> str:
    """`-0.120 [-0.190, -0.050]`, nothing where there is none."""
    if value is None:
        return ""
    ends = "" if low is None or high is None else f" [{low:z.3f}, {high:z.3f}]"
    return f"{value:+z.3f}{ends}"


def gap_text(gap: Gap | None) -> str:
    """`0.138 [0.047, 0.226] to f`: how far the worst group is from the best one."""
    if gap is None:
        return ""
    best = f" to {group_label(gap.best)}" if gap.value else ""
    return f"{gap.value:.3f} [{gap.low:.3f}, {gap.high:.3f}]{best}"


def notes(groups: Sequence[ModelGroups]) -> Iterator[str]:
    """What the numbers mean, of what occurs."""
    yield (
        "Gap: the best group's score less the worst group's, in the worst group's row, with a 95 % "
        "interval that allows for both being picked from all groups; it begins at 0 where the "
        "groups are not told apart."
    )
    if not all(is_twins(of.group_column) for of in groups):
        yield "Difference to the rest: the group less all other groups of the column."
    yield (
        "p adjusted by Benjamini and Hochberg for all groups and columns of that model and score."
    )
    if any(is_twins(of.group_column) for of in groups):
        yield TWINS_NOTE
    for of in groups:
        if of.opportunity:
            yield (
                f"{of.model_deployment}, {of.display_name} by {of.group_column}: equal-opportunity "
                f"gap (sensitivity) {gap_text(of.opportunity)}, worst "
                f"{group_label(of.opportunity.worst)}."
            )
    minimum = max(stat.minimum for of in groups for stat in of.stats)
    if any(of.num_hidden for of in groups):
        yield hidden_note(minimum)
    for of in groups:
        if not of.is_current:
            yield f"{of.model_deployment}, {of.display_name}: scored again since."


def hidden_note(minimum: int) -> str:
    """Why groups are hidden."""
    return (
        f"hidden: fewer than {minimum} patients (instances, where the card names no cluster "
        "column), or a group from which such a one could be computed."
    )


def records(groups: Sequence[ModelGroups]) -> Iterator[dict[str, object]]:
    """Every number of every group."""
    for of in groups:
        run = {name: getattr(of, name) for name in _OF_RUN}
        gap = {
            "gap": of.gap.value if of.gap else None,
            "gap_low": of.gap.low if of.gap else None,
            "gap_high": of.gap.high if of.gap else None,
            "best_group": of.gap.best if of.gap else None,
            "worst_group": of.gap.worst if of.gap else None,
            "opportunity_gap": of.opportunity.value if of.opportunity else None,
            "opportunity_low": of.opportunity.low if of.opportunity else None,
            "opportunity_high": of.opportunity.high if of.opportunity else None,
        }
        for stat in of.stats:
            held = asdict(stat)
            yield {**run, **{name: held[name] for name in _OF_GROUP}, **gap}


def pairs_report(pairs: Sequence[GroupPair]) -> Report:
    """The pairs by group, in the order given, and every number as data."""
    held = [pair_record(pair) for pair in pairs]
    return Report(
        tables=[pairs_table(pairs)],
        content={"pairs": held},
        fields=PAIR_FIELDS,
        records=held,
        rounding=ROUNDED if pairs else "",
        if_empty="" if pairs else NO_PAIRS,
    )


def pairs_table(pairs: Sequence[GroupPair]) -> TextTable:
    """The pairs as a table."""
    return TextTable(
        header=PAIR_HEADER, rows=[_pair_cells(pair) for pair in pairs], notes=[*_pair_notes(pairs)]
    )


def _pair_cells(pair: GroupPair) -> tuple[str, ...]:
    return (
        f"{pair.display_name}: {pair.main_metric}",
        pair.first,
        pair.second,
        f"{pair.group_column}: {group_label(pair.group_value)}",
        pair.decision.value,
        "" if pair.n is None else str(pair.n),
        difference_text(pair.in_group, pair.in_group_low, pair.in_group_high),
        difference_text(pair.in_rest, None, None),
        difference_text(pair.difference, pair.difference_low, pair.difference_high),
        p_text(pair.adjusted_p) if pair.adjusted_p is not None else "",
    )


def _pair_notes(pairs: Sequence[GroupPair]) -> Iterator[str]:
    yield (
        "In the group, in the rest: first less second on the same instances. Difference: the one "
        "less the other. falls behind: the first model is worse against the second in this group "
        "than in all others, so that it widens a gap to the group's loss."
    )
    number = next((pair.num_adjusted for pair in pairs if pair.num_adjusted), None)
    if number:
        yield (
            f"p adjusted for {number:,} questions by Benjamini and Hochberg: of those answered, at "
            "most 1 in 20 is expected to be chance."
        )
    if any(pair.is_hidden for pair in pairs):
        yield "hidden: too few patients, or a group from which such a one could be computed."


def pair_record(pair: GroupPair) -> dict[str, object]:
    """Every number of a pair."""
    return {**asdict(pair), "decision": pair.decision.value}
