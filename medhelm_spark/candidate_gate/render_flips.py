"""Flips as reports."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from medhelm_spark.candidate_gate.flips import FlipCount, FlippedInstance, FlipSet
from medhelm_spark.domain.groups import NOT_STATED, NOT_STATED_LABEL
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.render.report import Report
from medhelm_spark.render.table import TextTable

INSTANCE_FIELDS = tuple(field.name for field in fields(FlippedInstance))
"""The fields of a flip as data."""
COUNT_HEADER = ("Benchmark", "Group", "n", "Worse", "Better")
FLIP_HEADER = ("Benchmark", "Instance", "Change")
MOST_SHOWN = 20
"""The flips that a table lists; CSV and JSON have all."""
PAIR_HEADER = ("Benchmark", "First", "Second", "Group", "n", "First worse", "First better")
MOST_COUNTS = 100
"""The counts of several pairs that a table lists."""
NO_FLIPS = "No instance on which one of the two is better."


def flips_report(flips: FlipSet) -> Report:
    """Counts and instances; CSV has the instances alone."""
    return Report(
        tables=flip_tables(flips, flips.instances, ("first model", "second model")),
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


def flip_tables(
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


def pair_counts_table(counts: Sequence[FlipCount]) -> TextTable:
    """The counts of several pairs, the worst first: benchmarks as a whole before their groups."""
    ordered = sorted(counts, key=lambda count: bool(count.group_column))
    listed, more = ordered[:MOST_COUNTS], len(ordered) - MOST_COUNTS
    rows = [
        (name, count.first, count.second, *rest)
        for count in listed
        for name, *rest in [_count(count)]
    ]
    notes = [_HIDDEN] if any(each.is_hidden for each in listed) else []
    notes += [f"{counted(more, 'more count')}."] if more > 0 else []
    return TextTable(header=PAIR_HEADER, rows=rows, notes=notes)


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
