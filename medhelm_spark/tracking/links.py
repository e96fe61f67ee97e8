"""From an MLflow run to the dashboard's page of the same numbers, and back.

Addresses contain names of suites and releases and ids of runs: no text, and no login.
"""

import shlex
from dataclasses import dataclass
from urllib.parse import urlencode

from medhelm_spark.board.sources import Kind
from medhelm_spark.domain.names import without_login


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """The dashboard of a lake: its base `address`, None if a site names none."""

    address: str | None
    location: str

    def page(self, kind: Kind, name: str, run_spec_id: str = "") -> str:
        """The address of a board, or of a run's answers; without one, the command for the board.

        >>> Dashboard(address="https://med.example.org/", location="lake").page(Kind.SUITE, "s 1")
        'https://med.example.org/?suite=s+1'
        >>> Dashboard(address=None, location="lake").page(Kind.RELEASE, "2026.1")
        'medhelm-spark serve --output-path lake --release 2026.1'
        """
        if self.address:
            return f"{self.address.rstrip('/')}/?{page_query(kind, name, run_spec_id)}"
        lake = shlex.quote(without_login(self.location))
        return f"medhelm-spark serve --output-path {lake} --{kind.value} {shlex.quote(name)}"


def page_query(kind: Kind, name: str, run_spec_id: str = "") -> str:
    """The board of a suite or release, or the answers of one of its runs.

    >>> page_query(Kind.RELEASE, "2026.1", "3f2a")
    'release=2026.1&view=Instances&run=3f2a'
    """
    run = {"view": "Instances", "run": run_spec_id} if run_spec_id else {}
    return urlencode({kind.value: name, **run})
