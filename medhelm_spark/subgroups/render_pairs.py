"""Two models in each group as reports: which is worse there, and where its advantage differs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields

from medhelm_spark.board.render.comparison import p_text
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.table import TextTable, number_text
from medhelm_spark.subgroups.model_groups import group_label
from medhelm_spark.subgroups.pairs import GroupDecision, GroupPair
from medhelm_spark.subgroups.render import HIDDEN, difference_text
from medhelm_spark.subgroups.verdicts import GroupVerdict

NO_PAIRS = "No two of these models have groups on the same instances."
PAIR_HEADER = (
    "Benchmark",
    "First",
    "Second",
    "Group",
    "n",
    "Of the first",
    "Of the second",
    "In this group",
    "Difference",
    "p adjusted",
    "Compared with other patients",
    "by",
    "p adjusted",
)
PAIR_FIELDS = (*(field.name for field in fields(GroupPair)), "verdict", "decision")
"""The fields of `pair_record`."""


def render_pairs(pairs: Sequence[GroupPair], output_format: str) -> str:
    """The pairs in one of `report.FORMATS`, with a newline at its end."""
    return formatted(pairs_report(pairs), output_format)


def pairs_report(pairs: Sequence[GroupPair]) -> Report:
    """The pairs by group, in their order, and every number as data."""
    numbers, summary = [pair_record(pair) for pair in pairs], list(pair_sentences(pairs))
    return Report(
        tables=[pairs_table(pairs)],
        lead=summary,
        content={"summary": summary, "pairs": numbers},
        fields=PAIR_FIELDS,
        records=numbers,
        rounding=ROUNDED if pairs else "",
        if_empty="" if pairs else NO_PAIRS,
    )


def pairs_table(pairs: Sequence[GroupPair]) -> TextTable:
    """The pairs as a table; its title has the benchmark or models that all rows have in common."""
    names = [_pair_names(pair) for pair in pairs]
    header, title, columns = list(PAIR_HEADER), [], list(range(len(PAIR_HEADER)))
    if len({name for name, _, _ in names}) == 1:
        title.append(names[0][0])
        columns.remove(0)
    if len({(first, second) for _, first, second in names}) == 1:
        header[5:7] = names[0][1:]
        title.append(f"{names[0][1]} less {names[0][2]}")
        columns = [column for column in columns if column not in (1, 2)]
    rows = [(*named, *_pair_cells(pair)) for named, pair in zip(names, pairs, strict=True)]
    return TextTable(
        title=", ".join(title),
        header=[header[column] for column in columns],
        rows=[[row[column] for column in columns] for row in rows],
        notes=list(_pair_notes(pairs)),
    )


def _pair_names(pair: GroupPair) -> tuple[str, str, str]:
    return f"{pair.display_name}: {pair.main_metric}", pair.first, pair.second


def _pair_cells(pair: GroupPair) -> tuple[str, ...]:
    group = f"{pair.group_column}: {group_label(pair.group_value)}"
    if pair.is_hidden:
        return (group, HIDDEN, HIDDEN, HIDDEN, "", "", "", "", "", "")
    return (
        group,
        "" if pair.n is None else str(pair.n),
        number_text(pair.first_mean),
        number_text(pair.second_mean),
        pair.verdict.value,
        difference_text(pair.in_group, pair.in_group_low, pair.in_group_high),
        _p(pair.in_group_adjusted_p),
        pair.decision.value,
        difference_text(pair.difference, pair.difference_low, pair.difference_high),
        _p(pair.adjusted_p),
    )


def _p(value: float | None) -> str:
    return "" if value is None else p_text(value)


def pair_sentences(pairs: Sequence[GroupPair]) -> Iterator[str]:
    """For which groups the first model is worse, and where its advantage differs, in words.

    >>> list(pair_sentences([]))
    []
    """
    of_pair: dict[tuple[str, str, str], list[GroupPair]] = {}
    for pair in pairs:
        of_pair.setdefault(_pair_names(pair), []).append(pair)
    for (named, first, second), alike in of_pair.items():
        tested = [
            pair
            for pair in alike
            if pair.verdict not in (GroupVerdict.NOT_TESTED, GroupVerdict.HIDDEN)
        ]
        worse = [pair for pair in tested if pair.verdict is GroupVerdict.WORSE]
        if worse:
            groups = ", ".join(_pair_group(pair) for pair in worse)
            yield f"{first} is worse than {second} ({named}) for: {groups}."
        else:
            yield (
                f"{first} is not shown to be worse than {second} ({named}) for any of "
                f"{counted(len(tested), 'group')} tested."
            )
        for pair in alike:
            if pair.verdict is GroupVerdict.WORSE or pair.decision is GroupDecision.SMALLER:
                yield pair_sentence(pair)


def _pair_group(pair: GroupPair) -> str:
    return f"{pair.group_column} {group_label(pair.group_value)}"


_IN_WORDS = {
    GroupVerdict.WORSE: "worse is shown",
    GroupVerdict.BETTER: "better is shown",
    GroupVerdict.DIFFERENT: "a difference is shown",
    GroupVerdict.NOT_SHOWN: "no difference is shown",
    GroupVerdict.NOT_TESTED: "not tested",
}


def pair_sentence(pair: GroupPair) -> str:
    """`Of sex m (n 196), new scores 0.6 and old 0.5: ...`, and how it compares with the others."""
    p = "" if pair.in_group_adjusted_p is None else f" (p adjusted {_p(pair.in_group_adjusted_p)})"
    beside = {
        GroupDecision.SMALLER: "is smaller there than among all others: shown",
        GroupDecision.LARGER: "is larger there than among all others: shown",
        GroupDecision.DIFFERENT: "is another there than among all others: shown",
        GroupDecision.NOT_SHOWN: "is not shown to be another there than among all others",
    }.get(pair.decision)
    more = (
        f" Its advantage over {pair.second} {beside} (p adjusted {_p(pair.adjusted_p)})."
        if beside
        else ""
    )
    return (
        f"For {_pair_group(pair)}, {pair.first} scores {number_text(pair.first_mean)} and "
        f"{pair.second} {number_text(pair.second_mean)}, n {pair.n}: "
        f"{_IN_WORDS[pair.verdict]}{p}.{more}"
    )


def _pair_notes(pairs: Sequence[GroupPair]) -> Iterator[str]:
    yield (
        "Difference: first less second on the same instances of the group. Two questions are "
        "apart. In this group: whether the first model is worse or better than the second for "
        "these patients. Compared with other patients: whether its advantage over the second, "
        "which may be below 0, is smaller or larger than among all other groups of the column, and "
        "by how much; a model that is better for all has a smaller advantage somewhere. not shown: "
        "which does not say that there is no difference."
    )
    numbers = [pair.in_group_num_adjusted for pair in pairs if pair.in_group_num_adjusted]
    if numbers:
        yield (
            f"p adjusted for {numbers[0]:,} tests of each question by Benjamini and Hochberg: of "
            "the verdicts of each, at most 1 in 20 is expected to be chance."
        )
    if any(pair.is_hidden for pair in pairs):
        yield "hidden: too few patients, or a group from which such a one could be computed."


def pair_record(pair: GroupPair) -> dict[str, object]:
    """Every number of a pair."""
    return {**asdict(pair), "verdict": pair.verdict.value, "decision": pair.decision.value}
