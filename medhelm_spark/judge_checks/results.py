"""What the methods about judges return."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from medhelm_spark.judge_checks.cards import status_of
from medhelm_spark.judge_checks.check import lines_of, uses_of
from medhelm_spark.judge_checks.lines import EvidenceLine, LineOutcome, Trust, Use, UseVerdict
from medhelm_spark.judge_checks.physicians import VerdictAgreement
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.render.html_page import TABLES_STYLE, html_page
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.render.table import TextTable, html_table, interval_text

HEADER = ("Evidence", "Outcome", "Value", "Items", "Allowed", "Uses", "Note")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCheck(Result):
    """The outcome of the check of a jury."""

    card: JudgeCard
    requested: tuple[Use, ...]
    """The uses that the caller requested."""

    @property
    def lines(self) -> list[EvidenceLine]:
        """The lines of evidence that decide about a requested use, and the reported lines."""
        return [
            line
            for line in lines_of(self.card)
            if not line.uses or set(line.uses) & set(self.requested)
        ]

    @property
    def uses(self) -> list[UseVerdict]:
        """The verdict on each requested use."""
        return [use for use in uses_of(self.card) if use.use in self.requested]

    @property
    def trust(self) -> Trust:
        """The weakest verdict: UNTRUSTED, else INCONCLUSIVE, else TRUSTED."""
        verdicts = {use.trust for use in self.uses}
        order = (Trust.UNTRUSTED, Trust.INCONCLUSIVE)
        return next((trust for trust in order if trust in verdicts), Trust.TRUSTED)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per line of evidence."""
        for line in self.lines:
            yield {**asdict(line), "uses": " ".join(line.uses), "outcome": line.outcome.value}

    @property
    def notes(self) -> Sequence[str]:
        """The verdict on each use, what the card is about, and until when it counts."""
        return *self._verdicts, *self._bounds

    @property
    def _verdicts(self) -> tuple[str, ...]:
        return tuple(map(_use_text, self.uses))

    @property
    def _bounds(self) -> tuple[str, ...]:
        card = self.card
        return (
            f"Card {card.card_id} of jury {card.jury} ({', '.join(card.judges)}), rubric "
            f"{card.rubric} {card.rubric_version[:8]}, scenario {card.scenario_name}, suite "
            f"{card.suite}; counts until {card.ends_at:%Y-%m-%d}.",
            "[low, high]: 95 % intervals. Distances are in units of the rubric's scale.",
        )

    @property
    def html(self) -> str:
        """The judge card as a page of its own, verdicts first; it runs no script."""
        title = f"Judge card: jury {self.card.jury} on {self.card.scenario_name}"
        body = [
            f"<h1>{html.escape(title)}</h1>",
            *(f"<p><strong>{html.escape(line)}</strong></p>" for line in self._verdicts),
            html_table(HEADER, map(_cells, self.lines), self._bounds, strong=[LineOutcome.FAILED]),
        ]
        return html_page(title, TABLES_STYLE, "\n".join(body))

    def render(self, form: str = "table") -> str:
        """The lines as text: `table`, `md`, `csv`, `json` or `html`."""
        records = list(self.rows())
        rows = [_cells(line) for line in self.lines]
        return formatted(
            Report(
                tables=[TextTable(header=HEADER, rows=rows, notes=self.notes)],
                content={
                    "card": _record(self.card),
                    "trust": self.trust.value,
                    "uses": [asdict(use) for use in self.uses],
                    "lines": records,
                },
                fields=list(records[0]) if records else (),
                records=records,
            ),
            form,
        )


def _use_text(use: UseVerdict) -> str:
    because = f": {', '.join(use.because)}" if use.because else ""
    cures = f". What would decide: {'; '.join(use.cures)}" if use.cures else ""
    return f"{use.use}: {use.trust}{because}{cures}."


def _cells(line: EvidenceLine) -> tuple[str, ...]:
    value = "-" if line.value is None else f"{line.value:.2f}{interval_text(line.low, line.high)}"
    note = "; ".join(filter(None, (line.note, line.cure)))
    return (
        line.name,
        line.outcome.value,
        value,
        f"{line.num_items:,}",
        line.allowed,
        ", ".join(line.uses) or "-",
        note,
    )


def _record(card: JudgeCard) -> dict[str, Any]:
    record = asdict(card)
    del record["content"]
    dates = {name: record[name].isoformat() for name in ("checked_at", "ends_at")}
    return {**record, **dates}


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicianAgreement(Result):
    """Macro F1 of judges' verdicts on single criteria with physicians, and of the physicians."""

    agreements: tuple[VerdictAgreement, ...]
    jury: str
    rubric: str

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per category and per compared judge, jury or group of physicians."""
        for each in self.agreements:
            f1 = each.f1
            yield {
                "who": each.who,
                "category": each.category or None,
                "num_records": each.num_records,
                "num_without": each.num_without,
                "met": each.met,
                "macro_f1": f1.value if f1 else None,
                "macro_f1_low": f1.low if f1 else None,
                "macro_f1_high": f1.high if f1 else None,
            }

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        records = list(self.rows())
        header = ("Who", "Category", "Records", "Without", "Met", "Macro F1")
        notes = (
            f"Jury {self.jury}, rubric {self.rubric}. Macro F1: the mean of the F1 of met and of "
            "not met, each verdict beside each physician's; [low, high]: 95 %, by bootstrap over "
            "conversations. Physicians: each beside each other one, the ceiling.",
            "Without: records without a usable verdict, or on which as many judges say yes as no.",
        )
        table = TextTable(header=header, rows=[_row(each) for each in self.agreements], notes=notes)
        return formatted(
            Report(
                tables=[table],
                content={"agreement": records, "jury": self.jury, "rubric": self.rubric},
                fields=list(records[0]) if records else (),
                records=records,
            ),
            form,
        )


def _row(each: VerdictAgreement) -> tuple[str, ...]:
    f1 = each.f1
    return (
        each.who,
        each.category or "all",
        f"{each.num_records:,}",
        f"{each.num_without:,}",
        "-" if each.met is None else f"{each.met:.2f}",
        "-" if f1 is None else f"{f1.value:.3f}{interval_text(f1.low, f1.high)}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCards(Result):
    """The judge cards of a lake, the newest first."""

    cards: tuple[JudgeCard, ...]
    at: datetime
    """The moment at which they count or have ended."""

    HEADER: ClassVar[Sequence[str]] = (
        "card_id",
        "scenario_name",
        "jury",
        "trusted",
        "untrusted",
        "status",
        "checked_at",
        "ends_at",
    )

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per card."""
        for card in self.cards:
            record = _record(card)
            yield {
                **{name: record[name] for name in self.HEADER if name in record},
                "trusted": " ".join(card.trusted),
                "untrusted": " ".join(card.untrusted),
                "status": status_of(card, self.at),
            }
