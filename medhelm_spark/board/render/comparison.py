"""Paired differences as a report: a decision per benchmark, and the numbers behind it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields

from medhelm_spark.board.practical import PracticalDifference
from medhelm_spark.board.render.meanings import meanings_of
from medhelm_spark.board.render.practical import practical_table, records as practical_records
from medhelm_spark.board.render.verdicts import COST_WORDS, margin_verdict, summary, verdicts
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.jury_evidence import mark_note
from medhelm_spark.domain.pluralize import counted, counted_by
from medhelm_spark.render.report import ROUNDED, Report, formatted
from medhelm_spark.render.table import TextTable, number_text
from medhelm_spark.statistics.board import clustered_text
from medhelm_spark.statistics.paired import PairedDifference, PairedTest
from medhelm_spark.statistics.pairs import Adjustment, BoardPair

EMPTY = "No benchmark has two of these models on the same instances."
_RATED, _WITHIN = "By ratings too", "Within margin"
HEADER = (
    "Benchmark",
    "First",
    "Second",
    "First is",
    "First - second",
    _RATED,
    "p adjusted",
    "n",
    "Win/tie/loss",
    "Can detect",
    _WITHIN,
)
SMALLEST_P = 0.001

_CHANCE = {
    Adjustment.HOLM: (
        "Primary endpoints: p is adjusted (Holm) for {}. Where models are equal, any of these is "
        "called better or worse by chance with a probability of at most 5 %."
    ),
    Adjustment.BENJAMINI_HOCHBERG: (
        "Comparisons that the suite file does not declare: p is adjusted (Benjamini and Hochberg) "
        "for {}. Of those called better or worse, at most 1 in 20 is expected to be chance."
    ),
}
"""What an adjusted p-value counts."""

_COMPUTED = ("decision", "is_not_inferior", "is_equivalent", "wins", "losses")
_PAIR_FIELDS = [field.name for field in fields(BoardPair) if field.name != "difference"]
_DIFFERENCE_FIELDS = [field.name for field in fields(PairedDifference)]
FIELDS = (*_PAIR_FIELDS, *_DIFFERENCE_FIELDS, *_COMPUTED)
"""The fields of `record`."""


def render(
    pairs: Sequence[BoardPair],
    output_format: str,
    *,
    practical: Sequence[PracticalDifference] = (),
    prices: Mapping[str, Prices] | None = None,
    banner: str = "",
    filters: str = "",
) -> str:
    """The comparison in one of `report.FORMATS`, with a newline at its end.

    Args:
        pairs: in the order in which they are shown.
        output_format: one of `report.FORMATS`; CSV has the pairs alone.
        practical: what two models differ by beside the main metric.
        prices: of deployments by name.
        banner: a line above.
        filters: which runs were left out.
    """
    records = [record(pair) for pair in pairs]
    more = [practical_table(practical, prices)] if practical else []
    report = Report(
        tables=[comparison_table(pairs, practical), *more],
        content={"pairs": records, "practical_differences": practical_records(practical)},
        fields=FIELDS,
        records=records,
        rounding=ROUNDED if pairs else "",
        if_empty="" if pairs else EMPTY,
        banner=banner,
        filters=filters,
    )
    return formatted(report, output_format)


def comparison_table(
    pairs: Sequence[BoardPair], practical: Iterable[PracticalDifference] = ()
) -> TextTable:
    """The pairs as a table; the columns of ratings and of the margin only where there are any.

    Args:
        pairs: in the order in which they are shown.
        practical: what two models differ by beside the main metric.
    """
    left_out = {
        _RATED: not any(pair.corrected_difference is not None for pair in pairs),
        _WITHIN: all(pair.margin is None for pair in pairs),
    }
    columns = [index for index, name in enumerate(HEADER) if not left_out.get(name)]
    rows = [_cells(pair) for pair in pairs]
    return TextTable(
        header=[HEADER[index] for index in columns],
        rows=[[cells[index] for index in columns] for cells in rows],
        notes=[*sentences(pairs, practical), *notes(pairs), *column_notes(pairs)],
        strong=COST_WORDS,
    )


def sentences(pairs: Sequence[BoardPair], practical: Iterable[PracticalDifference]) -> list[str]:
    """What the pairs come to, in sentences."""
    return [line for line in (summary(pairs), *verdicts(pairs, practical)) if line]


def _cells(pair: BoardPair) -> tuple[str, ...]:
    difference = pair.difference
    return (
        benchmark(pair),
        pair.first,
        pair.second,
        pair.decision.value,
        difference_text(difference),
        rated_text(pair),
        p_text(pair.adjusted_p),
        size_text(pair),
        wins_text(pair),
        number_text(difference.detectable),
        _margin_text(pair),
    )


def rated_text(pair: BoardPair) -> str:
    """`-0.020 [-0.310, 0.270], 40 rated`: the difference corrected by ratings."""
    if pair.corrected_difference is None:
        return "-"
    ends = f"[{pair.corrected_low:z.3f}, {pair.corrected_high:z.3f}]"
    return f"{pair.corrected_difference:+z.3f} {ends}, {pair.num_rated:,} rated"


def benchmark(pair: BoardPair) -> str:
    """`PubMedQA: exact_match (declared)`; `*`: scored by a judge without evidence."""
    declared = " (declared)" if pair.is_primary else ""
    imported = " (imported)" if pair.imported else ""
    return f"{pair.display_name}: {pair.main_metric}{pair.jury_evidence.mark}{declared}{imported}"


def difference_text(difference: PairedDifference) -> str:
    """`+0.120 [0.050, 0.190]`: it is read by whether 0, or a margin, lies within."""
    mean = "-" if difference.mean_difference is None else f"{difference.mean_difference:+z.3f}"
    if difference.ci_low is None or difference.ci_high is None:
        return mean
    return f"{mean} [{difference.ci_low:z.3f}, {difference.ci_high:z.3f}]"


def p_text(p_value: float | None) -> str:
    """Three decimals; `<0.001`."""
    is_tiny = p_value is not None and p_value < SMALLEST_P
    return f"<{SMALLEST_P}" if is_tiny else number_text(p_value)


def wins_text(pair: BoardPair) -> str:
    """`74/16/0`: on how many instances the first is better, both are equal, the second is."""
    return "-" if pair.wins is None else f"{pair.wins}/{pair.difference.num_equal}/{pair.losses}"


def size_text(pair: BoardPair) -> str:
    """`990 in 55 patients, 10 dropped`, by what the card's cluster column is of."""
    difference = pair.difference
    clusters = (
        difference.num_clusters
        and f" in {counted_by(difference.num_clusters, pair.cluster_column)}"
    )
    dropped = f", {difference.num_dropped} dropped" if difference.num_dropped else ""
    return f"{difference.n}{clusters or ''}{dropped}"


def _margin_text(pair: BoardPair) -> str:
    verdict = margin_verdict(pair)
    return f"{pair.margin:g}: {verdict}" if verdict else "-"


def notes(pairs: Sequence[BoardPair]) -> Iterator[str]:
    """How the numbers were made, of what occurs."""
    if not pairs:
        return
    tests = dict.fromkeys(pair.difference.test.label for pair in pairs)
    methods = dict.fromkeys(pair.difference.ci_method.label for pair in pairs)
    yield f"Tests: {'; '.join(tests)}. Intervals of differences: {'; '.join(methods)}."
    families = Counter((pair.adjustment, pair.num_adjusted or 0) for pair in pairs)
    for (adjustment, number), listed in families.items():
        if adjustment:
            whole = ": all pairs of models on the board, listed here or not" * (listed < number)
            yield _CHANCE[adjustment].format(counted(number, "comparison") + whole)
    yield from _cluster_notes(pairs)
    if any(pair.difference.test is PairedTest.NONE for pair in pairs):
        yield "Not tested: no pair, a single one or cluster, or differences that are all equal."


def _cluster_notes(pairs: Sequence[BoardPair]) -> Iterator[str]:
    """Of how many patients the answers are, by benchmark."""
    clustered = {pair.display_name: pair for pair in pairs if pair.difference.num_clusters}
    for name, pair in sorted(clustered.items()):
        answers, clusters = pair.difference.n, pair.difference.num_clusters or 0
        size = clustered_text(answers, clusters, pair.cluster_column)
        yield f"{name}: {size}; intervals and tests count these, not answers."


def column_notes(pairs: Sequence[BoardPair]) -> Iterator[str]:
    """What the columns mean that only a comparison's own table has."""
    if meanings := meanings_of({pair.main_metric: pair.main_metric for pair in pairs}):
        yield meanings
    if note := mark_note(pair.jury_evidence for pair in pairs):
        yield note
    for known in sorted({pair.imported for pair in pairs if pair.imported}):
        yield f"imported: answers of one of two models or both were made elsewhere; {known}."
    if any(pair.corrected_difference is not None for pair in pairs):
        yield (
            f"{_RATED}: the jury's difference, moved by how far the jury was off on the instances "
            "whose answers of both models people rated (prediction-powered inference), with an "
            "interval that counts ratings and verdicts; right if these instances are a random "
            "sample. Decision and p are those of the jury alone."
        )
    if any(pair.difference.detectable for pair in pairs):
        yield (
            "Can detect: the difference that is found with a power of 80 % where answers disagree "
            "as often as these do."
        )
    if any(pair.margin is not None for pair in pairs):
        yield (
            "Within margin: not inferior where the 95 % interval excludes a loss of the margin, "
            "equivalent where all of it lies within the margin on both sides; each row by itself, "
            "not adjusted for the others. A model that is shown to be better is not inferior at "
            "any margin."
        )


def record(pair: BoardPair) -> dict[str, object]:
    """Every number of a pair."""
    numbers = asdict(pair)
    difference = numbers.pop("difference")
    computed = {name: getattr(pair, name) for name in _COMPUTED}
    return {**numbers, **difference, **computed}
