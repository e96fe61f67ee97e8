"""Groups as reports: what models score in each, and for which one is worse."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace

from medhelm_spark.board.render.comparison import p_text
from medhelm_spark.domain.groups import PERTURBATION_COLUMN
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.table import TextTable, interval_text, number_text
from medhelm_spark.subgroups.gaps import Gap
from medhelm_spark.subgroups.model_groups import SENSITIVITY, ModelGroups, group_label
from medhelm_spark.subgroups.tables import GroupStat
from medhelm_spark.subgroups.twins import ORIGINAL, is_twins
from medhelm_spark.subgroups.verdicts import GroupVerdict

EMPTY = (
    "No groups: name columns of the data as `groups` in a benchmark's file, or add them to what "
    "was run by `medhelm-spark run --by COLUMN`; `data_augmentation=fairness` in a run entry asks "
    "of other patients."
)
HIDDEN = "hidden"
MAX_NAMED = 5
"""How many groups a sentence names."""
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
    "Verdict",
    "Difference to the rest",
    "p adjusted",
    "Gap",
)
TWINS_HEADER = (*HEADER[:6], "Difference to the originals", *HEADER[7:])

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
_OF_TEST = ("verdict", "num_adjusted")
FIELDS = (*_OF_RUN, *_OF_GROUP, *_OF_GAP, *_MORE_OF_GAP, *_OF_TEST)
"""The fields of `records`."""


def render_groups(groups: Sequence[ModelGroups], output_format: str, *, banner: str = "") -> str:
    """The groups in one of `report.FORMATS`, with a newline at its end."""
    return formatted(groups_report(groups, banner), output_format)


def groups_report(groups: Sequence[ModelGroups], banner: str = "") -> Report:
    """Which groups are worse in one line, a table for each column, and every number as data."""
    numbers = list(records(groups))
    columns = list(dict.fromkeys(each.group_column for each in groups))
    tables = [groups_table([each for each in groups if each.group_column == c]) for c in columns]
    if tables:
        tables[-1] = replace(tables[-1], notes=list(notes(groups)))
    summary = list(watched(groups))
    return Report(
        tables=tables,
        lead=summary,
        content={"summary": summary, "groups": numbers},
        fields=FIELDS,
        records=numbers,
        rounding=ROUNDED if numbers else "",
        if_empty="" if groups else EMPTY,
        banner=banner,
    )


def groups_table(groups: Sequence[ModelGroups]) -> TextTable:
    """What models score by the groups of one column; without the notes.

    The benchmark is in the title where there is only one.
    """
    column, title = groups[0].group_column, benchmark(groups[0])
    header = TWINS_HEADER if is_twins(column) else HEADER
    rows = [_cells(each, stat) for each in groups for stat in each.stats]
    if any(benchmark(each) != title for each in groups):
        return TextTable(title=f"By {column}", header=header, rows=rows)
    without = [row[1:] for row in rows]
    return TextTable(title=f"{title}, by {column}", header=header[1:], rows=without)


def untested(stat: GroupStat) -> str:
    """Why a group that is shown was not compared with its rest; empty where it was.

    >>> from medhelm_spark.domain.access import AccessLevel
    >>> row = {"run_spec_id": "r", "name": "sensitivity", "split": "test", "group_column": "sex"}
    >>> level = {"access_level": AccessLevel.PUBLIC, "minimum": 1, "is_hidden": False}
    >>> untested(GroupStat(**row, **level, group_value="f", count=9, denominator=0))
    'no answer counts in it'
    """
    if stat.p_value is not None:
        return ""
    if stat.mean is None:
        return "no answer counts in it"
    if stat.ci_low is None or stat.ci_high is None or not stat.ci_low < stat.ci_high:
        return "too few patients for an interval"
    if stat.rest_mean is None:
        return "no other group has a value, or the summary is older than this test"
    return "too few other patients for an interval"


def _cells(model: ModelGroups, stat: GroupStat) -> tuple[str, ...]:
    names = (benchmark(model), model.model_deployment, group_label(stat.group_value))
    if stat.is_hidden:
        return (*names, HIDDEN, HIDDEN, "", "", "", "")
    is_worst = model.gap is not None and model.gap.worst == stat.group_value
    gap = gap_text(model.gap) if is_worst else ""
    return (
        *names,
        size_text(stat),
        number_text(stat.mean) + interval_text(stat.ci_low, stat.ci_high),
        _verdict_text(model, stat),
        difference_text(stat.difference, stat.difference_low, stat.difference_high),
        p_text(stat.adjusted_p) if stat.adjusted_p is not None else "",
        gap,
    )


def _verdict_text(model: ModelGroups, stat: GroupStat) -> str:
    """A verdict with the reason where nothing was tested; the originals of twins have none."""
    if is_twins(model.group_column) and stat.group_value == ORIGINAL:
        return ""
    verdict = model.verdict(stat)
    reason = f": {untested(stat)}" if verdict is GroupVerdict.NOT_TESTED else ""
    return f"{verdict.value}{reason}"


def watched(groups: Sequence[ModelGroups]) -> Iterator[str]:
    """Over all columns, models and benchmarks: the groups that are shown to be worse, or none.

    Then the largest difference where none is shown, and what was not tested.
    """
    tested = [
        (model.scenario_name, stat.group_column, stat.group_value)
        for model in groups
        for stat in model.patients
        if stat.p_value is not None
    ]
    scope = (
        f"Of {counted(len({*tested}), 'group')} tested with "
        f"{counted(len({model.model_deployment for model in groups}), 'model')}"
    )
    worse = [(model, stat) for model in groups for stat in model.worse]
    several = len({model.display_name for model in groups}) > 1
    if worse:
        named = ", ".join(
            f"{_who(model, stat)} ({_of_model(model, several)})" for model, stat in worse
        )
        yield f"Watch: {named}. {scope}, no other group is shown to be worse."
        yield from (f"{comparison_text(model, stat)}." for model, stat in worse)
    elif tested:
        yield f"{scope}, no model is shown to be worse for any."
        if largest := _largest(groups):
            yield f"The largest difference, which is not shown: {comparison_text(*largest)}."
    elif groups:
        yield "No group was tested."
    yield from _not_tested(groups)


def _of_model(model: ModelGroups, several: bool) -> str:
    """The model that a line is about, with the benchmark where there are several."""
    return f"{model.model_deployment}, {model.display_name}" if several else model.model_deployment


def _who(model: ModelGroups, stat: GroupStat) -> str:
    """A group in a sentence; of twins with the perturbation that made the copies."""
    label = group_label(stat.group_value)
    if is_twins(model.group_column):
        return f"the {label} questions of {model.group_column}"
    return f"{model.group_column} {label}"


def _largest(groups: Sequence[ModelGroups]) -> tuple[ModelGroups, GroupStat] | None:
    """The tested group that is behind its rest with the smallest p-value."""
    behind = [
        (model, stat)
        for model in groups
        for stat in model.patients
        if stat.p_value is not None
        and model.lower_is_better is not None
        and stat.difference
        and (stat.difference > 0) == model.lower_is_better
    ]
    # By p-value: differences of two scores have no common unit, and small groups differ most.
    return min(behind, key=lambda pair: pair[1].p_value or 0.0, default=None)


def comparison_text(model: ModelGroups, stat: GroupStat) -> str:
    """A group's score beside the others' score, in words; of a sensitivity how many were missed."""
    p = f"p adjusted {p_text(stat.adjusted_p)}" if stat.adjusted_p is not None else ""
    others = [other for other in model.patients if other is not stat]
    counts = [_missed(other) for other in (stat, *others)]
    if model.metric == SENSITIVITY and all(counts) and len(counts) <= MAX_NAMED:
        parts = [
            f"{count} for {group_label(other.group_value)}"
            for count, other in zip(counts[1:], others, strict=True)
        ]
        parts = [f"{counts[0]} for {_who(model, stat)}", *parts]
        return f"{model.model_deployment} missed {', '.join(parts)} ({model.display_name}; {p})"
    rest = "the originals" if is_twins(model.group_column) else "all others"
    return (
        f"{model.model_deployment}, {_who(model, stat)}: {model.metric} {number_text(stat.mean)} "
        f"of {size_text(stat)}, {rest} {number_text(stat.rest_mean)} ({model.display_name}; {p})"
    )


def _missed(stat: GroupStat) -> str:
    """`5 of 12`: how many who have the condition were not found; empty for hidden rows."""
    if stat.mean is None or stat.denominator is None:
        return ""
    return f"{round((1 - stat.mean) * stat.denominator)} of {stat.denominator}"


def _not_tested(groups: Sequence[ModelGroups]) -> Iterator[str]:
    """Which groups have no verdict, and why."""
    by_reason: dict[str, list[str]] = {}
    for model in groups:
        for stat in model.patients:
            reason = HIDDEN if stat.is_hidden else untested(stat)
            if reason:
                named = f"{_who(model, stat)} ({model.model_deployment})"
                by_reason.setdefault(reason, []).append(named)
    for reason, groups_named in by_reason.items():
        left = len(groups_named) - MAX_NAMED
        more = f" and {left} more" if left > 0 else ""
        yield f"Not tested, {reason}: {', '.join(groups_named[:MAX_NAMED])}{more}."


def lead(groups: Sequence[ModelGroups]) -> Iterator[str]:
    """A sentence for each model on one column: which groups are shown to be worse, or none."""
    for model in groups:
        tested = sum(stat.p_value is not None for stat in model.patients)
        if model.worse:
            named = ", ".join(_who(model, stat) for stat in model.worse)
            yield f"{model.model_deployment} is worse for {named}."
        elif tested == len(model.patients):
            yield (
                f"{model.model_deployment}: none of {counted(tested, 'group')} of "
                f"{model.group_column} is shown to be worse."
            )
        elif tested:
            yield (
                f"{model.model_deployment}: none of the {tested} groups of {model.group_column} "
                f"that were tested, of {len(model.patients)}, is shown to be worse."
            )
        else:
            yield f"{model.model_deployment}: no group of {model.group_column} was tested."


def benchmark(model: ModelGroups) -> str:
    """`Triage: exact_match`, with ` (lower is better)` where it is."""
    direction = " (lower is better)" if model.lower_is_better else ""
    return f"{model.display_name}: {model.metric}{direction}"


def size_text(stat: GroupStat) -> str:
    """`204 (148 patients), 3 failed`: the answers with a value, and those without one.

    `13 of 96 (12 patients)` for a share of a part of the answers, as of the positive ones.
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
    """What the numbers of these groups mean."""
    yield (
        "Gap: the best group's score less the worst group's, in the worst group's row, with a 95 % "
        "interval that allows for both being picked from all groups; it begins at 0 where the "
        "groups are not told apart."
    )
    if not all(is_twins(model.group_column) for model in groups):
        yield "Difference to the rest: the group less all other groups of the column."
    number = max(model.num_adjusted for model in groups)
    yield (
        "Verdict: worse or better than all other groups of the column where p adjusted is below "
        f"0.05. p is adjusted for all {number:,} tests of these models, benchmarks and columns by "
        "Benjamini and Hochberg: of the verdicts worse and better, at most 1 in 20 is expected to "
        "be chance. not shown: no difference is shown, which does not say that there is none."
    )
    if any(is_twins(model.group_column) for model in groups):
        yield TWINS_NOTE
    for model in groups:
        if model.opportunity:
            yield (
                f"{model.model_deployment}, {model.display_name} by {model.group_column}: "
                f"equal-opportunity gap (sensitivity) {gap_text(model.opportunity)}, worst "
                f"{group_label(model.opportunity.worst)}."
            )
    yield hidden_note(max(stat.minimum for model in groups for stat in model.stats))
    for model in groups:
        if not model.is_current:
            yield f"{model.model_deployment}, {model.display_name}: scored again since."


def hidden_note(minimum: int) -> str:
    """Which groups are hidden and why."""
    if minimum == 1:
        return "These rows are public: no group is hidden, however few its patients are."
    return (
        f"hidden: fewer than {minimum} patients (instances, where the card names no cluster "
        "column), or a group from which such a one could be computed. Groups of gated and private "
        "rows alone are hidden; those of public rows never are."
    )


def records(groups: Sequence[ModelGroups]) -> Iterator[dict[str, object]]:
    """Every number of every group."""
    for model in groups:
        run = {name: getattr(model, name) for name in _OF_RUN}
        gap = {
            "gap": model.gap.value if model.gap else None,
            "gap_low": model.gap.low if model.gap else None,
            "gap_high": model.gap.high if model.gap else None,
            "best_group": model.gap.best if model.gap else None,
            "worst_group": model.gap.worst if model.gap else None,
            "opportunity_gap": model.opportunity.value if model.opportunity else None,
            "opportunity_low": model.opportunity.low if model.opportunity else None,
            "opportunity_high": model.opportunity.high if model.opportunity else None,
        }
        for stat in model.stats:
            values = asdict(stat)
            test = {"verdict": model.verdict(stat).value, "num_adjusted": model.num_adjusted}
            yield {**run, **{name: values[name] for name in _OF_GROUP}, **gap, **test}
