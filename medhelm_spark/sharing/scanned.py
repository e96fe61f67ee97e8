"""Whether a release has been scanned: its gate asks."""

from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.reader import Reader

_SHARES = "SELECT count(*) AS shares FROM {{shares}} WHERE release_manifest = {manifest}"


def is_scanned(reader: Reader, manifest_hash: str) -> bool:
    """Whether a share was made of a release as it is now, and its scan found nothing."""
    sql = _SHARES.format(manifest=literal(manifest_hash))
    return bool(reader.query(sql).to_pylist()[0]["shares"])
