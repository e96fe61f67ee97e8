"""The configured models as a report."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from medhelm_spark.domain.listed_model import ListedModel
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import TextTable

HEADER = ("Name", "Model", "Engine", "Where", "From", "Prices", "Key", "For demos", "Check")
NOT_CHECKED = "not checked"
GUESSED = "?"
GUESS = f"{GUESSED} nobody stated where it runs: gated and private text is not sent there."
NOTHING_SENT = "Nobody was asked; --check asks each one short question of public nature."
EMPTY = "No model is known."


def render_models(rows: Sequence[ListedModel], output_format: str) -> str:
    """The rows in one of `report.FORMATS`, with a newline at its end."""
    records = [asdict(row) for row in rows]
    notes = list(_notes(rows))
    report = Report(
        tables=[TextTable(header=HEADER, rows=[_cells(row) for row in rows], notes=notes)],
        content={"rows": records, "notes": notes},
        fields=[field.name for field in fields(ListedModel)],
        records=records,
        if_empty="" if rows else EMPTY,
    )
    return formatted(report, output_format)


def _cells(row: ListedModel) -> tuple[str, ...]:
    prices = row.prices
    destination = f" ({row.destination})" if row.destination else ""
    return (
        row.name,
        row.model if row.model != row.name else "",
        row.engine,
        f"{row.locality}{'' if row.is_locality_stated else GUESSED}{destination}",
        Path(row.origin).name,
        f"{prices.prompt:g} / {prices.completion:g}" if prices else "",
        row.key,
        "demo only" if row.demo else "",
        _answers(row),
    )


def _answers(row: ListedModel) -> str:
    if row.answers is None:
        return "cannot be asked" if row.lacks else NOT_CHECKED
    if not row.answers:
        return "no answer"
    tokens = [count for count in (row.prompt_tokens, row.completion_tokens) if count is not None]
    used = f", {counted(sum(tokens), 'token')}" if tokens else ""
    return f"answered, {row.seconds or 0:.1f} s{used}"


def _notes(rows: Sequence[ListedModel]) -> Iterator[str]:
    for row in rows:
        if reason := row.failure or row.lacks:
            yield f"{row.name}: {reason}"
    yield from filter(None, (row.memory for row in rows))
    if any(row.engine and not row.is_locality_stated for row in rows):
        yield GUESS
    days = {row.prices.as_of for row in rows if row.prices and row.prices.as_of}
    if any(row.prices for row in rows):
        known = f", list prices as of {', '.join(sorted(days))}: check them" if days else ""
        yield f"Prices: of a million prompt and a million output tokens{known}."
    if all(row.answers is None for row in rows):
        yield NOTHING_SENT
