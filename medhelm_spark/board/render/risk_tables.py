"""Tables of what models come to at a prevalence, and of their answers by class."""

from collections.abc import Iterator, Sequence

from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics, BenchmarkRuns, RunMetrics
from medhelm_spark.board.render.risk import (
    MISSED_NOTE,
    VERDICTS,
    Prevalence,
    Risk,
    all_differences,
    differences_of,
    estimated_text,
    number_of_cases,
    risks_of,
    signed_text,
    verdicts_of,
)
from medhelm_spark.render.table import TextTable
from medhelm_spark.statistics.two_by_two import CASES, NEGATIVE, NEITHER, POSITIVE

RISK = ("Model", "Missed", "False alarms", "Without an answer", "Declared cost", "PPV", "NPV")
_PREDICTIVE = 2
"""So many last columns of RISK are predictive values."""
PREVALENCES = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Of the table for readers who cannot state one."""
DIFFERENCES = ("Model", "Missed", "False alarms", "Declared cost", "Cases, positive + negative")
TWO_BY_TWO = (
    "Model",
    "True positive",
    "False negative",
    "Positive, none",
    "False positive",
    "True negative",
    "Negative, none",
    "Without a score",
)
RISK_NOTE = (
    f"{MISSED_NOTE} [low, high]: 95 % intervals that take this prevalence as known. always "
    "positive, always negative: no model, every case gets the same answer."
)
_PREDICTIVE_NOTES = {
    True: "PPV, NPV: the share of the positive (negative) answers that is right, at the stated "
    "prevalence. As measured, further down, they are those of the data's own prevalence.",
    False: "PPV and NPV at the prevalence of the data: in the table as measured.",
}
_VERDICT_NOTE = (
    "Verdict: what 95 % intervals of paired differences show at this prevalence, each by itself, "
    "not adjusted for the others; what they do not show is not named."
)
_RULE_NOTE = (
    "Use here, by declared cost: of no use where the model is shown to cost more than the cheaper "
    "of always positive and always negative; not shown where its interval includes that cost."
)


def risk_table(metrics: BenchmarkMetrics, prevalence: Prevalence) -> TextTable:
    """Misses, false alarms and cost of each model in CASES cases, with its verdict.

    Predictive values only at a stated prevalence: at the data's own the table of rates has them,
    with intervals that do not take the prevalence as known.
    """
    risks = risks_of(metrics, prevalence)
    verdicts = verdicts_of(risks, all_differences(metrics, prevalence))
    width = len(RISK) if prevalence.is_stated else len(RISK) - _PREDICTIVE

    def cells(texts: Sequence[str], verdict: str) -> tuple[str, ...]:
        return (texts[0], *([verdict] if verdicts else []), *texts[1:width])

    return TextTable(
        title=f"{metrics.benchmark.title}: {CASES:,} cases at a prevalence of {prevalence}",
        header=cells(RISK, "Verdict"),
        rows=[cells(_risk_cells(risk), verdicts.get(risk.name, "")) for risk in risks],
        notes=(
            *([_VERDICT_NOTE] if verdicts else []),
            RISK_NOTE,
            _PREDICTIVE_NOTES[prevalence.is_stated],
            *_cost_notes(metrics.benchmark),
        ),
        strong=VERDICTS,
    )


def prevalences_table(metrics: BenchmarkMetrics) -> TextTable:
    """The models at some prevalences, for a reader who cannot state one: of a file, or on paper."""
    return TextTable(
        title=f"{metrics.benchmark.title}: {CASES:,} cases at other prevalences",
        header=("Prevalence", *RISK),
        rows=[
            (f"{100 * share:g} %", *_risk_cells(risk))
            for share in PREVALENCES
            for risk in risks_of(metrics, Prevalence(share=share, is_stated=True))
            if risk.run
        ],
        notes=(
            "Read the rows of the prevalence that is nearest to where the model is to be used.",
        ),
    )


def _cost_notes(benchmark: BenchmarkRuns) -> Iterator[str]:
    """What an error costs by the benchmark's own statement."""
    if benchmark.costs:
        yield _RULE_NOTE
        yield (
            f"Declared cost: what {CASES:,} cases cost in the units of the benchmark's own "
            f"statement: {benchmark.costs}. An answer that could not be read costs as much as the "
            "costliest error of the case's class, unless its cost is stated."
        )


def _risk_cells(risk: Risk) -> tuple[str, ...]:
    at = risk.at
    return (
        risk.name,
        number_of_cases(at.missed),
        number_of_cases(at.false_alarms),
        number_of_cases(at.without_answer),
        estimated_text(at.cost, 1),
        estimated_text(at.ppv, 3),
        estimated_text(at.npv, 3),
    )


def difference_table(
    metrics: BenchmarkMetrics, prevalence: Prevalence, reference: str = ""
) -> TextTable:
    """What each model has more of in CASES cases than the reference of `differences_of`."""
    found = differences_of(metrics, prevalence, reference)
    reference = found[0].reference if found else ""
    return TextTable(
        title=f"{metrics.benchmark.title}: more than {reference}, in {CASES:,} cases",
        header=DIFFERENCES,
        rows=[
            (
                each.name,
                signed_text(each.less_reference.missed, 1),
                signed_text(each.less_reference.false_alarms, 1),
                signed_text(each.less_reference.cost, 1),
                f"{each.less_reference.num_positive:,} + {each.less_reference.num_negative:,}",
            )
            for each in found
        ],
        notes=(
            f"The model of the row less {reference}, on the cases that both answered; "
            "[low, high]: 95 % intervals of paired differences, each row by itself, not adjusted "
            "for the others. An interval without 0: the two are shown to differ.",
        ),
    )


def two_by_two_table(metrics: BenchmarkMetrics) -> TextTable:
    """How many cases of each class got which answer."""
    return TextTable(
        title=f"{metrics.benchmark.title}: answers (positive: {metrics.benchmark.positive})",
        header=TWO_BY_TWO,
        rows=[
            (run.name, *map(str, counts_of(run)), str(unscored_of(run)))
            for run in metrics.runs
            if run.answers
        ],
        notes=(
            "none: the answer is none of the labels, or could not be read. Without a score: there "
            "is no answer, or no right class to compare it with.",
        ),
    )


def unscored_of(run: RunMetrics) -> int:
    """How many cases have no score."""
    return next(
        (stat.num_unscored for name, stat in run.run.originals.items() if name == "accuracy"), 0
    )


def counts_of(run: RunMetrics) -> list[int]:
    """The two-by-two table, with those without an answer, in the order of TWO_BY_TWO."""
    answers = run.answers
    if answers is None:
        return []
    return [
        answers.count(is_positive, answer)
        for is_positive in (True, False)
        for answer in (POSITIVE, NEGATIVE, NEITHER)
    ]
