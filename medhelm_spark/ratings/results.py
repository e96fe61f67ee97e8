"""What the methods about ratings return."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from medhelm_spark.ratings.agreement import RATERS, Agreement
from medhelm_spark.ratings.compared import ALL
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.render.table import TextTable
from medhelm_spark.statistics.agreement import MeasurementLevel
from medhelm_spark.statistics.intraclass import NOTHING
from medhelm_spark.statistics.two_by_two import Estimated

_CORRELATIONS = {
    "icc_a1": "agreement",
    "icc_c1": "consistency",
    "icc_ak": "mean_agreement",
    "icc_ck": "mean_consistency",
}
FEW_CLUSTERS = 10
HEADER = (
    "Criterion",
    "Who",
    "Items",
    "ICC(A,1)",
    "ICC(C,1)",
    "ICC(C,k)",
    "Alpha",
    "Spearman",
    "Kendall",
    "Kappa",
    "Bias",
    "Alt-test",
)
NOTES = (
    "ICC: intraclass correlation, A of absolute agreement, C of consistency, 1 of one rater, k of "
    "the mean of all, on the answers that all raters rated; of a judge or jury, beside the mean of "
    "the raters. [low, high]: 95 % intervals.",
    "Spearman, Kendall: with the mean of the other raters, each rater left out in turn, for raters "
    "and judges alike: the row of the raters is the ceiling. Kappa: quadratic weights, mean over "
    "the pairs with a rater.",
    "Bias: a judge's value less the mean of the raters, with the limits of 95 % of differences.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements(Result):
    """The agreement of raters among themselves, and of judges, juries and metrics with them."""

    agreements: tuple[Agreement, ...]
    scale: MeasurementLevel
    cluster_column: str = ""
    """The column of the card by which answers belong together; empty where it names none."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per criterion, model, and compared judge, jury, metric or group of raters."""
        yield from map(_record, self.agreements)

    @property
    def notes(self) -> Sequence[str]:
        """How the numbers are computed, and why numbers are missing."""
        epsilons = sorted({each.alt_test.epsilon for each in self.agreements if each.alt_test})
        alt = [
            f"Alt-test (Calderon and others 2025), epsilon {epsilon:g}: omega, the share of raters "
            "whom the judge may replace (0.5 or more passes), and rho, the share of answers "
            "on which it is as near to the other raters or nearer."
            for epsilon in epsilons
        ]
        by_note: dict[str, list[str]] = {}
        for each in self.agreements:
            for note in each.notes:
                by_note.setdefault(note, []).append(
                    f"{each.criterion}, {each.who}{_on_model(each)}"
                )
        lines = [f"{'; '.join(rows)}: {note}." for note, rows in by_note.items()]
        means = f"{ALL}: of a rater's, judge's or jury's values of one answer."
        return (
            *NOTES,
            f"Alpha: Krippendorff's, {self.scale}, over all answers with two ratings.",
            *self._clusters(),
            *alt,
            *([means] if any(each.criterion == ALL for each in self.agreements) else ()),
            *lines,
        )

    def _clusters(self) -> Iterator[str]:
        numbers = {each.clustered.num_clusters for each in self.agreements if each.clustered}
        if not numbers:
            return
        least, most = min(numbers), max(numbers)
        number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        by = f" by {self.cluster_column}" if self.cluster_column else ""
        yield (
            f"Answers are clustered{by}: intervals are of a jackknife over {number} clusters. CSV "
            "and JSON have those that take answers as independent too (F quantiles; of alpha a "
            "bootstrap)."
        )
        if least < FEW_CLUSTERS:
            yield f"Fewer than {FEW_CLUSTERS} clusters: their intervals are rough."

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        by_model = any(each.model for each in self.agreements)
        header = (HEADER[0], HEADER[1], "Model", *HEADER[2:]) if by_model else HEADER
        table = TextTable(
            header=header,
            rows=[_cells(each, by_model=by_model) for each in self.agreements],
            notes=self.notes,
        )
        records = list(self.rows())
        report = Report(
            tables=[table],
            content={"agreement": records, "scale": self.scale.value},
            fields=list(records[0]) if records else (),
            records=records,
        )
        return formatted(report, form)


def _on_model(each: Agreement) -> str:
    return f" on {each.model}" if each.model else ""


def _cells(each: Agreement, *, by_model: bool) -> tuple[str, ...]:
    is_people = each.who == RATERS
    clustered = each.clustered
    icc = clustered.intraclass if clustered else each.intraclass
    who = f"{each.num_raters} raters" if is_people and each.num_raters != 1 else each.who
    bias = each.bias
    limits = "" if bias is None or bias.low is None else f" ({bias.low:+.2f} to {bias.high:+.2f})"
    alt = each.alt_test
    return (
        each.criterion,
        "1 rater" if is_people and each.num_raters == 1 else who,
        *([each.model or "all"] if by_model else ()),
        f"{each.num_items:,}",
        _text(icc.agreement),
        _text(icc.consistency),
        _text(icc.mean_consistency) if is_people else "-",
        _text(each.alpha_of_clusters),
        _number(each.spearman),
        _number(each.kendall),
        _text(clustered.kappa) if clustered else _number(each.kappa),
        "-" if bias is None else f"{bias.bias.value:+.2f}{limits}",
        "-" if alt is None else f"omega {alt.winning_rate:.2f}, rho {alt.advantage:.2f}",
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _text(estimate: Estimated | None) -> str:
    if estimate is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _record(each: Agreement) -> dict[str, Any]:
    record: dict[str, Any] = {
        "criterion": each.criterion,
        "who": each.who,
        "model": each.model or None,
        "num_items": each.num_items,
        "num_complete": each.num_complete,
        "num_raters": each.num_raters,
    }
    for name, field in _CORRELATIONS.items():
        record |= _ends(name, getattr(each.intraclass, field))
    record |= _ends("alpha", each.alpha)
    bias, alt, clustered = each.bias, each.alt_test, each.clustered
    of_clusters = clustered.intraclass if clustered else NOTHING
    ends: dict[str, float | None] = {}
    for name, field in _CORRELATIONS.items():
        ends |= _clustered_ends(name, getattr(of_clusters, field))
    for name in ("alpha", "kappa", "bias"):
        ends |= _clustered_ends(name, getattr(clustered, name) if clustered else None)
    return {
        **record,
        "spearman": each.spearman,
        "kendall": each.kendall,
        "kappa": each.kappa,
        **_ends("bias", bias.bias if bias else None),
        "limit_low": bias.low if bias else None,
        "limit_high": bias.high if bias else None,
        "alt_omega": alt.winning_rate if alt else None,
        "alt_rho": alt.advantage if alt else None,
        "alt_epsilon": alt.epsilon if alt else None,
        "alt_is_passed": alt.is_passed if alt else None,
        "num_clusters": clustered.num_clusters if clustered else None,
        **ends,
        "notes": "; ".join(each.notes),
    }


def _clustered_ends(name: str, estimate: Estimated | None) -> dict[str, float | None]:
    return {
        f"{name}_clustered_low": estimate.low if estimate else None,
        f"{name}_clustered_high": estimate.high if estimate else None,
    }


def _ends(name: str, estimate: Estimated | None) -> dict[str, float | None]:
    return {
        name: estimate.value if estimate else None,
        f"{name}_low": estimate.low if estimate else None,
        f"{name}_high": estimate.high if estimate else None,
    }
