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

    held: ComparedJuries

    @property
    def first(self) -> str:
        """What the first jury is called beside the second."""
        return _labels(self.held)[0]

    @property
    def second(self) -> str:
        """What the second jury is called beside the first."""
        return _labels(self.held)[1]

    @property
    def decisive(self) -> ComparedAgreement | None:
        """The measure that decides: the first one of the mean of criteria."""
        return next((each for each in self.held.found if each.criterion == MEAN), None)

    @property
    def first_is_better(self) -> bool | None:
        """Whether the first jury agrees better with the raters; None where nobody can say."""
        found = self.decisive
        if found is None or found.num_answers < FEWEST_RATED:
            return None
        return found.held.first_is_better

    @property
    def verdict(self) -> str:
        """Which jury agrees better with the raters, in a sentence."""
        found = self.decisive
        if found is None:
            more = RATINGS.of(FEWEST_RATED - self.held.num_rated)
            said = f"{self.held.num_rated:,} of the {self.held.num_both:,} answers that both judged"
            if self.held.num_rated >= FEWEST_RATED:
                more = "rate answers of different quality: these ratings do not vary"
            return f"INCONCLUSIVE: people rated {said}. What would decide: {more}."
        held = found.held
        difference = held.difference
        words = (
            f"{held.measure} {held.first:.3f} and {held.second:.3f}, difference "
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
        difference, n = found.held.difference, found.num_answers
        if difference.low is None or difference.high is None or n < FEWEST_RATED:
            return RATINGS.of(max(1, FEWEST_RATED - n))
        if difference.low == 0 == difference.high:
            return "answers on which the two differ: both give the rated ones the same values"
        return narrower(difference, n, abs(difference.value), RATINGS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per criterion and measure of agreement."""
        for each in self.held.found:
            held = each.held
            yield {
                "criterion": each.criterion,
                "measure": held.measure.value,
                "raters": each.ceiling,
                "raters_alpha": each.alpha,
                "first": held.first,
                "second": held.second,
                "difference": held.difference.value,
                "difference_low": held.difference.low,
                "difference_high": held.difference.high,
                "better": _better(held.first_is_better),
                "num_answers": each.num_answers,
                "num_raters": each.num_raters,
            }

    @property
    def notes(self) -> Sequence[str]:
        """The verdict, and how the numbers were made."""
        scale = () if self.held.has_unit or not self.held.found else (NO_UNIT,)
        return (
            self.verdict,
            f"First: {_described(self.held.first)}. Second: {_described(self.held.second)}. Both "
            f"judged {self.held.num_both:,} answers, people rated {self.held.num_rated:,} of them.",
            "Each jury beside the mean of the raters (kappa: beside each rater, the mean), on the "
            "answers that all three have; raters: among themselves, the ceiling. A short mean "
            "distance is good agreement. The first measure of the mean of criteria decides.",
            "[low, high]: 95 % interval of the difference, by bootstrap over patients, or over "
            "instances where nobody names patients; both juries have the same resamples.",
            *([ALPHA] if any(each.alpha is not None for each in self.held.found) else ()),
            *scale,
        )

    def render(self, form: str = "table") -> str:
        """The measures as text: `table`, `md`, `csv`, `json` or `html`."""
        records = list(self.rows())
        header = ("Criterion", "Measure", "Answers", "Raters", self.first, self.second)
        table = TextTable(
            header=(*header, "Difference", "Better"),
            rows=[self._cells(each) for each in self.held.found],
            notes=self.notes,
        )
        content = {
            "verdict": self.verdict,
            "better": _better(self.first_is_better),
            "first": _record(self.held.first),
            "second": _record(self.held.second),
            "num_both": self.held.num_both,
            "num_rated": self.held.num_rated,
            "agreement": records,
        }
        fields = list(records[0]) if records else ()
        report = Report(tables=[table], content=content, fields=fields, records=records)
        return formatted(report, form)

    def _cells(self, each: ComparedAgreement) -> tuple[str, ...]:
        held = each.held
        difference = held.difference
        is_better = held.first_is_better
        better = "-" if is_better is None else self.first if is_better else self.second
        return (
            each.criterion,
            held.measure.value,
            f"{each.num_answers:,}",
            number_text(each.ceiling) if each.alpha is None else f"alpha {each.alpha:.3f}",
            number_text(held.first),
            number_text(held.second),
            _difference_text(difference),
            better,
        )


ALPHA = "alpha: Krippendorff's, of the raters, where fewer than two answers have all raters."
NO_UNIT = "The juries' scales differ from each other or from the raters': only ranks are compared."


def _difference_text(held: Estimated) -> str:
    """`+0.120 [0.050, 0.190]`: it is read by whether 0 lies within."""
    if held.low is None or held.high is None:
        return f"{held.value:+z.3f}"
    return f"{held.value:+z.3f} [{held.low:z.3f}, {held.high:z.3f}]"


def _better(is_first: bool | None) -> str | None:
    return None if is_first is None else "first" if is_first else "second"


def _labels(held: ComparedJuries) -> tuple[str, str]:
    """What tells the two apart: the juries' names, else the rubrics', else the suites'."""
    first, second = (
        (jury.annotator.jury.name, jury.annotator.rubric.name, jury.suite)
        for jury in (held.first, held.second)
    )
    kinds = ("jury", "rubric", "suite")
    for kind, ours, theirs in zip(kinds, first, second, strict=True):
        if ours != theirs:
            return f"{kind} {ours}", f"{kind} {theirs}"
    names = (jury.annotator.spec.name for jury in (held.first, held.second))
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
