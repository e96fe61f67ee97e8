"""The ledger of finished work: which write of which unit is current, by stage."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import INFER, Stage
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.tables import refuse_newer
from medhelm_spark.lake.views import CURRENT_RUNS, current_runs

_PLAIN = re.compile(r"[\w.-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Newest:
    schema_version: int | None


class Ledger:
    """The current records of units, each read when it is first needed, and updated by `note`.

    It does not see what another driver finishes later: then that work is repeated.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._records: dict[tuple[str, str], RunRecord] = {}
        self._units: set[str] = set()
        self._is_whole = self._is_checked = False

    def check(self) -> None:
        """Refuse a lake that a newer package wrote.

        Raises:
            NewerLakeError: it did.
        """
        if not self._is_checked:
            sql = "SELECT max(schema_version) AS schema_version FROM {runs}"
            refuse_newer(self._lake.rows(sql, _Newest)[0].schema_version)
            self._is_checked = True

    def of(self, stage: Stage, units: Iterable[str]) -> dict[str, RunRecord]:
        """The current record of each of these units, where there is one."""
        units = list(units)
        self._read(set(units) - self._units)
        found = {unit: self._records.get((stage.name, unit)) for unit in units}
        return {unit: record for unit, record in found.items() if record}

    def note(self, records: Iterable[RunRecord]) -> None:
        """Make records that were just written the current ones of their units."""
        self._records.update({(record.stage, record.unit_id): record for record in records})

    def all(self) -> Mapping[tuple[str, str], RunRecord]:
        """The current records of all units, by stage and unit."""
        if not self._is_whole:
            self.check()
            self._take(self._lake.rows(CURRENT_RUNS, RunRecord))
            self._is_whole = True
        return self._records

    def inference_records(self, suite: str) -> list[RunRecord]:
        """The records of a suite's jobs of inference, and of each executor in them."""
        of_suite = among("suite", [suite])
        sql = f"SELECT * FROM {{runs}} WHERE stage LIKE '{INFER.name}%' AND {of_suite}"
        return [row for row in self._lake.rows(sql, RunRecord) if row.suite == suite]

    def _read(self, missing: set[str]) -> None:
        if self._is_whole or not missing:
            return
        self.check()
        if all(map(_PLAIN.fullmatch, missing)):
            self._take(
                self._lake.rows(current_runs(f"unit_id IN ({literals(missing)})"), RunRecord)
            )
            self._units |= missing
        else:
            self.all()

    def _take(self, records: Iterable[RunRecord]) -> None:
        """Add records that were read, except where this process wrote newer ones."""
        read = {(record.stage, record.unit_id): record for record in records}
        self._records = {**read, **self._records}
