"""The looks at a release as records, for the folder that a committee is handed (`features`)."""

from typing import Any

from medhelm_spark.lake.reader import Reader
from medhelm_spark.watch.look import results_of
from medhelm_spark.watch.results import LOOK_HEADER, look_cells, looks_of

LABELS = ("look", "looked_at", "verdict", "lines", "moved", "largest_difference")


def look_records(reader: Reader, release: str, manifest_hash: str) -> list[dict[str, Any]]:
    """One for each look at this manifest, the newest first."""
    looks = looks_of(release, results_of(reader, release, manifest_hash))
    return [dict(zip(LABELS, look_cells(look), strict=True)) for look in looks]


def look_labels() -> dict[str, str]:
    """The headings of the records."""
    return dict(zip(LABELS, LOOK_HEADER, strict=True))
