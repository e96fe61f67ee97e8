"""A gate's verdict and flips as reports."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields

from medhelm_spark.candidate_gate.flips import WORSE, FlipCount, FlippedInstance, FlipSet
from medhelm_spark.candidate_gate.verdict import GateLine, GateVerdict
from medhelm_spark.domain.groups import NOT_STATED, NOT_STATED_LABEL
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.render.report import ROUNDED, Report
from medhelm_spark.render.table import TextTable

LINE_FIELDS = tuple(field.name for field in fields(GateLine))
"""The fields of a line as data."""
INSTANCE_FIELDS = tuple(field.name for field in fields(FlippedInstance))
"""The fields of a flip as data."""
HEADER = ("Verdict", "Tier", "Line", "Candidate - baseline", "Limit", "n", "Needs", "Note")
COUNT_HEADER = ("Benchmark", "Group", "n", "Worse", "Better")
FLIP_HEADER = ("Benchmark", "Instance", "Change")
MOST_SHOWN = 20
"""The flips that a table lists; CSV and JSON have all."""
NO_FLIPS = "No instance on which one of the two is better."


def gate_report(
    banner: str,
    said: dict[str, object],
    lines: Sequence[GateLine],
    flips: FlipSet,
    *,
    is_summary: bool,
) -> Report:
    """The verdict, a table of the lines and what flipped; CSV has the lines alone.

    A summary has the counts of flips without the instances.
    """
    lost = [each for each in flips.instances if each.change == WORSE]
    records = [asdict(line) for line in lines]
    tables = [
        TextTable(header=HEADER, rows=[_line(each) for each in lines], notes=[*_notes(lines)]),
        *_flip_tables(flips, [] if is_summary else lost, ("candidate", "baseline")),
    ]
    return Report(
        tables=tables,
        content={**said, "lines": records, "flips": flips_content(flips)},
        fields=LINE_FIELDS,
        records=records,
        rounding=ROUNDED,
        banner=banner,
    )


def flips_report(flips: FlipSet) -> Report:
    """Counts and instances; CSV has the instances alone."""
    return Report(
        tables=_flip_tables(flips, flips.instances, ("first model", "second model")),
        content=flips_content(flips),
        fields=INSTANCE_FIELDS,
        records=[asdict(each) for each in flips.instances],
        if_empty="" if flips.instances else NO_FLIPS,
    )


def flips_content(flips: FlipSet) -> dict[str, object]:
    """All counts and instances as data."""
    return {
        "counts": [asdict(each) for each in flips.counts],
        "instances": [asdict(each) for each in flips.instances],
    }


def _flip_tables(
    flips: FlipSet, instances: Sequence[FlippedInstance], models: tuple[str, str]
) -> list[TextTable]:
    """The counts, and the first of these instances; `models`: what a reader calls the two."""
    if not flips.counts:
        return []
    tables = [
        TextTable(
            title=f"Flips: instances on which the {models[0]} is worse, or better",
            header=COUNT_HEADER,
            rows=[_count(each) for each in flips.counts],
            notes=[_HIDDEN] if any(each.is_hidden for each in flips.counts) else [],
        )
    ]
    more = len(instances) - MOST_SHOWN
    if instances:
        tables.append(
            TextTable(
                title=f"Instances on which the {models[0]} is "
                + " or ".join(sorted({each.change for each in instances}, reverse=True)),
                header=(*FLIP_HEADER, *(name.capitalize() for name in models)),
                rows=[_flip(each) for each in instances[:MOST_SHOWN]],
                notes=[f"{counted(more, 'more instance')}: JSON has all."] if more > 0 else [],
            )
        )
    return tables


_HIDDEN = "hidden: too few patients, or a group from which such a one could be computed."


def _count(count: FlipCount) -> tuple[str, ...]:
    value = NOT_STATED_LABEL if count.group_value == NOT_STATED else count.group_value
    group = f"{count.group_column}: {value}" if count.group_column else "all"
    names = (f"{count.display_name}: {count.metric}", group)
    if count.is_hidden:
        return (*names, "hidden", "", "")
    return (*names, str(count.n), str(count.worse), str(count.better))


def _flip(flip: FlippedInstance) -> tuple[str, ...]:
    return (
        f"{flip.display_name}: {flip.metric}",
        flip.instance_id,
        flip.change,
        f"{flip.first_value:g}",
        f"{flip.second_value:g}",
    )


def _line(line: GateLine) -> tuple[str, ...]:
    group = f"{line.group_value}" if line.group_value else ""
    ends = "" if line.low is None or line.high is None else f" [{line.low:z.3f}, {line.high:z.3f}]"
    sign = "" if line.kind == "coverage" else "+"
    value = "-" if line.value is None else f"{line.value:{sign}z.3f}{ends}"
    needed = "none" if line.needed is None else f"{line.needed:,}"
    is_open = line.verdict is GateVerdict.INCONCLUSIVE
    return (
        line.verdict.value,
        line.tier.value,
        f"{line.label}: {group}" if group else line.label,
        value,
        f"{line.limit:g}",
        "-" if line.n is None else str(line.n),
        needed if is_open else "",
        line.reason,
    )


def _notes(lines: Sequence[GateLine]) -> Iterator[str]:
    yield (
        "GO: the 95 % interval excludes a loss of the margin; NO-GO: it shows a larger loss; each "
        "line by itself, not adjusted for the others."
    )
    if any(line.kind == "no_wider_gap" for line in lines):
        yield (
            "no_wider_gap: the difference in the worst group less that in all other groups; NO-GO "
            "also needs a p below 5 %, adjusted for all groups of the line on that benchmark."
        )
    if any(line.verdict is GateVerdict.INCONCLUSIVE for line in lines):
        yield (
            "Needs: the instances that decide the line with a power of 80 %, if difference and "
            "spread stay as they are; none: no number does."
        )
