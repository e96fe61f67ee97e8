"""How long a lake keeps what no reader shows any more."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Days that rows and files are kept for after nothing current needs them.

    `superseded_days`: verdicts, scores and stats that were made again since, with their records in
    `runs`, from when they were replaced. `lease_days`: ended leases. `file_days`: files that no
    current version of a table has; a job or reader that began longer ago may lose them.
    """

    superseded_days: int = 30
    lease_days: int = 7
    file_days: int = 7


LEAST = Retention(superseded_days=1, lease_days=1, file_days=7)
"""A running job may still read what was current when it began; Delta refuses fewer than 7 days."""
