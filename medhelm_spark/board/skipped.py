"""What a suite was asked for and its board lacks, because the data could not be had."""

from collections.abc import Iterable, Iterator, Sequence

from medhelm_spark.board.sources import BoardSource, Kind, releases
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import current_run_specs

RECORDED = "SELECT * FROM {left_out}"


def skipped_in(reader: Reader, source: BoardSource) -> tuple[LeftOut, ...]:
    """The runs that were left out of a suite and not run since, in the order of their record.

    Of a release: those left out of its suites before it was made, and not in it.
    """
    is_suite = source.kind is Kind.SUITE
    where = f" WHERE {among('suite', [source.name])}" if is_suite else ""
    rows = sorted(reader.rows(RECORDED + where, LeftOut), key=lambda row: row.left_out_at)
    if not rows:
        return ()
    frozen_by = releases() if source.kind is Kind.RELEASE else None
    if frozen_by:
        return tuple(frozen_by.left_out(reader, source.name, rows))
    current = reader.rows(current_run_specs([source.name]), SuiteRun)
    names = {row.name for row in current if row.suite == source.name}
    return tuple(row for row in rows if row.suite == source.name and row.name not in names)


def skipped_notes(rows: Sequence[LeftOut], scenario_names: Iterable[str]) -> Iterator[str]:
    """Notes about these rows; `scenario_names` are those that the board has runs of."""
    if not rows:
        return
    scenarios = set(scenario_names)
    yield f"LEFT OUT, because the data could not be had: {', '.join(_named(rows, scenarios))}."
    listed = [row for row in rows if row.is_listed]
    if listed:
        which = "these" if len(listed) == len(rows) else ", ".join(_named(listed, scenarios))
        yield f"The suite file lists {which}: ranks and win rates are made without."


def _named(rows: Iterable[LeftOut], scenarios: set[str]) -> list[str]:
    """Scenarios, each once; of one that other models ran, the runs."""
    return list(
        dict.fromkeys(
            row.name if row.scenario_name in scenarios else row.scenario_name for row in rows
        )
    )
