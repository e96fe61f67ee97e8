"""A gate's verdict as a report."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields

from medhelm_spark.candidate_gate.flips import WORSE, FlipSet
from medhelm_spark.candidate_gate.render_flips import flip_tables, flips_content
from medhelm_spark.candidate_gate.verdict import GateLine, GateVerdict
from medhelm_spark.render.report import ROUNDED, Report
from medhelm_spark.render.table import TextTable

LINE_FIELDS = tuple(field.name for field in fields(GateLine))
"""The fields of a line as data."""
HEADER = ("Verdict", "Tier", "Line", "Candidate - baseline", "Limit", "n", "Needs", "Note")


def gate_report(
    banner: str,
    facts: dict[str, object],
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
        *flip_tables(flips, [] if is_summary else lost, ("candidate", "baseline")),
    ]
    return Report(
        tables=tables,
        content={**facts, "lines": records, "flips": flips_content(flips)},
        fields=LINE_FIELDS,
        records=records,
        rounding=ROUNDED,
        banner=banner,
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
