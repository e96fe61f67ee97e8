"""What the comparison of two juries returns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from medhelm_spark.judge_checks.juries import CheckedJury
from medhelm_spark.judge_checks.lines import RATINGS, narrower
from medhelm_spark.judge_checks.side_by_side import MEAN, ComparedAgreement, ComparedJuries
from medhelm_spark.judge_checks.stored_lines import FEWEST_RATED
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.render.table import TextTable, number_text
from medhelm_spark.statistics.two_by_two import Estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class JuriesSideBySide(Result):
    """How two juries agree with the raters on the same answers."""

    comparison: ComparedJuries

    @property
    def first(self) -> str:
        """The label of the first jury."""
        return _labels(self.comparison)[0]

    @property
    def second(self) -> str:
        """The label of the second jury."""
        return _labels(self.comparison)[1]

    @property
    def decisive(self) -> ComparedAgreement | None:
        """The measure that decides: the first one of the mean of criteria."""
        return next((each for each in self.comparison.found if each.criterion == MEAN), None)

    @property
    def first_is_better(self) -> bool | None:
        """Whether the first jury agrees better with the raters; None where this is not decided."""
        found = self.decisive
        if found is None or found.num_answers < FEWEST_RATED:
            return None
        return found.agreement.first_is_better

    @property
    def verdict(self) -> str:
        """Which jury agrees better with the raters, in a sentence."""
        found = self.decisive
        if found is None:
            num_rated, num_both = self.comparison.num_rated, self.comparison.num_both
            more = RATINGS.text(FEWEST_RATED - num_rated)
            if num_rated >= FEWEST_RATED:
                more = "rate answers of different quality: these ratings do not vary"
            return (
                f"INCONCLUSIVE: people rated {num_rated:,} of the {num_both:,} answers that both "
                f"judged. What would decide: {more}."
            )
        agreement = found.agreement
        difference = agreement.difference
        words = (
            f"{agreement.measure} {agreement.first:.3f} and {agreement.second:.3f}, difference "
            f"{_difference_text(difference)} on "
            f"{found.num_answers:,} answers of {found.num_raters:,} "
            f"rater{'s' if found.num_raters != 1 else ''}"
        )
        if self.first_is_better is None:
            return (
                f"INCONCLUSIVE: {self.first} and {self.second} are not told apart: {words}. "
                f"What would decide: {self._cure(found)}."
            )
        better, other = self.first, self.second
        if not self.first_is_better:
            better, other = other, better
        return f"{better} agrees better with the raters than {other}: {words}."

    def _cure(self, found: ComparedAgreement) -> str:
        difference, n = found.agreement.difference, found.num_answers
        if difference.low is None or difference.high is None or n < FEWEST_RATED:
            return RATINGS.text(max(1, FEWEST_RATED - n))
        if difference.low == 0 == difference.high:
            return "answers on which the two differ: both give the rated ones the same values"
        return narrower(difference, n, abs(difference.value), RATINGS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per criterion and measure of agreement."""
        for each in self.comparison.found:
            agreement = each.agreement
            yield {
                "criterion": each.criterion,
                "measure": agreement.measure.value,
                "raters": each.ceiling,
                "raters_alpha": each.alpha,
                "first": agreement.first,
                "second": agreement.second,
                "difference": agreement.difference.value,
                "difference_low": agreement.difference.low,
                "difference_high": agreement.difference.high,
                "better": _better(agreement.first_is_better),
                "num_answers": each.num_answers,
                "num_raters": each.num_raters,
            }

    @property
    def notes(self) -> Sequence[str]:
        """The verdict, and how the numbers are computed."""
        compared = self.comparison
        scale = () if compared.has_unit or not compared.found else (NO_UNIT,)
        return (
            self.verdict,
            f"First: {_described(compared.first)}. Second: {_described(compared.second)}. Both "
            f"judged {compared.num_both:,} answers, people rated {compared.num_rated:,} of them.",
            "Each jury beside the mean of the raters (kappa: beside each rater, the mean), on the "
            "answers that all three have; raters: among themselves, the ceiling. A short mean "
            "distance is good agreement. The first measure of the mean of criteria decides.",
            "[low, high]: 95 % interval of the difference, by bootstrap over patients, or over "
            "instances where nobody names patients; both juries have the same resamples.",
            *([ALPHA] if any(each.alpha is not None for each in compared.found) else ()),
            *scale,
        )

    def render(self, form: str = "table") -> str:
        """The measures as text: `table`, `md`, `csv`, `json` or `html`."""
        records = list(self.rows())
        header = ("Criterion", "Measure", "Answers", "Raters", self.first, self.second)
        table = TextTable(
            header=(*header, "Difference", "Better"),
            rows=[self._cells(each) for each in self.comparison.found],
            notes=self.notes,
        )
        content = {
            "verdict": self.verdict,
            "better": _better(self.first_is_better),
            "first": _record(self.comparison.first),
            "second": _record(self.comparison.second),
            "num_both": self.comparison.num_both,
            "num_rated": self.comparison.num_rated,
            "agreement": records,
        }
        fields = list(records[0]) if records else ()
        report = Report(tables=[table], content=content, fields=fields, records=records)
        return formatted(report, form)

    def _cells(self, each: ComparedAgreement) -> tuple[str, ...]:
        agreement = each.agreement
        difference = agreement.difference
        is_better = agreement.first_is_better
        better = "-" if is_better is None else self.first if is_better else self.second
        return (
            each.criterion,
            agreement.measure.value,
            f"{each.num_answers:,}",
            number_text(each.ceiling) if each.alpha is None else f"alpha {each.alpha:.3f}",
            number_text(agreement.first),
            number_text(agreement.second),
            _difference_text(difference),
            better,
        )


ALPHA = "alpha: Krippendorff's, of the raters, where fewer than two answers have all raters."
NO_UNIT = "The juries' scales differ from each other or from the raters': only ranks are compared."


def _difference_text(difference: Estimated) -> str:
    """`+0.120 [0.050, 0.190]`; the reader looks whether the interval contains 0."""
    if difference.low is None or difference.high is None:
        return f"{difference.value:+z.3f}"
    return f"{difference.value:+z.3f} [{difference.low:z.3f}, {difference.high:z.3f}]"


def _better(is_first: bool | None) -> str | None:
    return None if is_first is None else "first" if is_first else "second"


def _labels(comparison: ComparedJuries) -> tuple[str, str]:
    """Labels that differ: the juries' names, else the rubrics', else the suites'."""
    first, second = (
        (jury.annotator.jury.name, jury.annotator.rubric.name, jury.suite)
        for jury in (comparison.first, comparison.second)
    )
    kinds = ("jury", "rubric", "suite")
    for kind, ours, theirs in zip(kinds, first, second, strict=True):
        if ours != theirs:
            return f"{kind} {ours}", f"{kind} {theirs}"
    names = (jury.annotator.spec.name for jury in (comparison.first, comparison.second))
    ours, theirs = names
    return f"annotator {ours}", f"annotator {theirs}"


def _described(jury: CheckedJury) -> str:
    annotator = jury.annotator
    return (
        f"jury {annotator.jury.name} ({', '.join(jury.judges)}), rubric {annotator.rubric.name} "
        f"{annotator.rubric.version[:8]}, suite {jury.suite}"
    )


def _record(jury: CheckedJury) -> dict[str, Any]:
    annotator = jury.annotator
    return {
        "jury": annotator.jury.name,
        "judges": list(jury.judges),
        "rubric": annotator.rubric.name,
        "rubric_version": annotator.rubric.version,
        "annotator": annotator.spec.name,
        "suite": jury.suite,
        "scenario_name": jury.scenario_name,
    }
