"""What the methods about judges return."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from medhelm_spark.judge_checks.cards import status_of
from medhelm_spark.judge_checks.check import lines_of, uses_of
from medhelm_spark.judge_checks.lines import EvidenceLine, Trust, Use, UseVerdict
from medhelm_spark.judge_checks.tables import JudgeCard
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.render.table import TextTable, interval_text


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCheck(Result):
    """What the check of a jury came to."""

    card: JudgeCard
    asked: tuple[Use, ...]
    """The uses that were asked about."""

    @property
    def lines(self) -> list[EvidenceLine]:
        """The lines of evidence that decide about a use that was asked about, and the reports."""
        return [
            line
            for line in lines_of(self.card)
            if not line.uses or set(line.uses) & set(self.asked)
        ]

    @property
    def uses(self) -> list[UseVerdict]:
        """The verdict on each use that was asked about."""
        return [use for use in uses_of(self.card) if use.use in self.asked]

    @property
    def trust(self) -> Trust:
        """The weakest verdict: UNTRUSTED, else INCONCLUSIVE, else TRUSTED."""
        held = {use.trust for use in self.uses}
        order = (Trust.UNTRUSTED, Trust.INCONCLUSIVE)
        return next((trust for trust in order if trust in held), Trust.TRUSTED)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per line of evidence."""
        for line in self.lines:
            yield {**asdict(line), "uses": " ".join(line.uses), "outcome": line.outcome.value}

    @property
    def notes(self) -> Sequence[str]:
        """On what the card rests and until when, and what each use comes to."""
        card = self.card
        return (
            *map(_said, self.uses),
            f"Card {card.card_id} of jury {card.jury} ({', '.join(card.judges)}), rubric "
            f"{card.rubric} {card.rubric_version[:8]}, scenario {card.scenario_name}, suite "
            f"{card.suite}; counts until {card.ends_at:%Y-%m-%d}.",
            "[low, high]: 95 % intervals. Distances are in units of the rubric's scale.",
        )

    def render(self, form: str = "table") -> str:
        """The lines as text: `table`, `md`, `csv`, `json` or `html`."""
        records = list(self.rows())
        header = ("Evidence", "Outcome", "Value", "Items", "Allowed", "Uses", "Note")
        rows = [_cells(line) for line in self.lines]
        return formatted(
            Report(
                tables=[TextTable(header=header, rows=rows, notes=self.notes)],
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


def _said(use: UseVerdict) -> str:
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
