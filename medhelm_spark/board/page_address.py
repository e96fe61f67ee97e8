"""The query of a page's address: what the dashboard reads from it, `dashboards/app.py` says."""

from urllib.parse import urlencode

from medhelm_spark.board.sources import Kind


def page_query(kind: Kind, name: str, run_spec_id: str = "") -> str:
    """The board of a suite or release, or the answers of one of its runs.

    >>> page_query(Kind.RELEASE, "2026.1", "3f2a")
    'release=2026.1&view=Instances&run=3f2a'
    """
    run = {"view": "Instances", "run": run_spec_id} if run_spec_id else {}
    return urlencode({kind.value: name, **run})
