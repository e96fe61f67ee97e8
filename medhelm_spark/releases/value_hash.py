"""Hashes of rows' values: what a release pins, so that a changed value is found.

A row's digest is the SHA-256 of its canonical JSON without empty columns and without later fields
at their default (`domain.ids.LATER`), so that a column or field that is added later changes no
digest. The hash of several rows is made of their sorted digests, in groups that begin alike: the
order does not count, a repeated row does, and no group has to be large.
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from medhelm_spark.domain.ids import identity_of
from medhelm_spark.domain.release import ReleaseManifest
from medhelm_spark.lake.canonical_columns import canonical_texts
from medhelm_spark.lake.tables import WRITE_ID
from medhelm_spark.releases.tables import ReleaseMember

DIGITS = 64
"""The hexadecimal digits of a digest."""

GROUP_DIGITS = 3


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        values = identity_of(value)
        values.pop(WRITE_ID, None)
        return {name: item for name, item in values.items() if item is not None}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"no canonical form for {type(value).__name__}")


_ENCODER = json.JSONEncoder(
    default=_plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False
)


def row_digest(row: Any) -> str:
    """The digest of a table's row, 64 hexadecimal characters; its `write_id` does not count."""
    return hashlib.sha256(_ENCODER.encode(row).encode("utf-8", "surrogatepass")).hexdigest()


def batch_digests(kind: type, batch: pa.RecordBatch) -> list[str]:
    """What `row_digest` gives for each row of a batch of a type's columns, several times faster."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    texts = canonical_texts(kind, columns, without=(WRITE_ID,)).cast(pa.binary())
    return [hashlib.sha256(text).hexdigest() for text in texts.to_pylist()]


def values_hash(rows: Iterable[Any], before: Mapping[str, str] | None = None) -> str:
    """The hash of rows in any order; of none it is the hash of nothing.

    Args:
        rows: the rows.
        before: by the digest of a row whose text was purged the digest from before.
    """
    digests = map(row_digest, rows)
    return hash_of_digests("".join((before or {}).get(now, now) for now in digests))


def hash_of_digests(digests: str) -> str:
    """The hash of rows whose digests are concatenated, in any order."""
    ordered = np.sort(np.frombuffer(digests.encode("ascii"), f"S{DIGITS}"))
    begins = ordered.astype(f"S{GROUP_DIGITS}")
    starts = np.flatnonzero(begins[1:] != begins[:-1]) + 1
    edges = [0, *(starts * DIGITS).tolist(), len(digests)] if digests else [0]
    text = ordered.tobytes()
    groups = (hashlib.sha256(text[a:b]).hexdigest() for a, b in pairwise(edges))
    return hashlib.sha256("".join(sorted(groups)).encode("ascii")).hexdigest()


def manifest_hash(members: Sequence[ReleaseMember], manifest: ReleaseManifest | None = None) -> str:
    """The hash of all that the rows of a release say, but for this hash itself.

    Releases of earlier versions have no `manifest` beside their members.
    """
    rows = [dataclasses.replace(member, manifest_hash="") for member in members]
    return values_hash([*rows, *([manifest] if manifest else [])])
