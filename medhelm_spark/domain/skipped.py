"""Runs that are left out because the data of their scenario cannot be had."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRun:
    """A run that cannot be: its name, its scenario's, and why the data cannot be had.

    `is_listed` is the run's, as in ResolvedRun.
    """

    name: str
    scenario_name: str
    reason: str
    is_listed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Row of `left_out`: a run that was requested for a suite and was left out.

    The same run left out again for the same reason is no further row: `left_out_at` is the first
    time. `name` is HELM's run name, of a scenario that was never imported the run entry.
    `is_listed` is true where the suite file names the run, None without a suite file. `run_by` is
    the operating system's user of the process.
    """

    suite: str
    name: str
    scenario_name: str
    reason: str
    left_out_at: datetime
    is_listed: bool | None = None
    run_by: str | None = None
