"""Where leases are kept: small numbered files of the lake's folder, or the table `leases`.

Both are the same log: a suite's next version can be written once, so that of two drivers which try
it one wins. Files need no executor, and a lake that Spark reads by a path has them, however its
drivers run: all of them see the same leases. A catalog has them in the staging folder that its
settings name. Without one it has, as a session of Spark Connect has, the table, whose every row is
a Spark job.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.driver_files import DriverFiles
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.tables import Lease

FOLDER = "_leases"
KEPT_VERSIONS = 4
KEPT_FOR = timedelta(days=1)
READ_ATTEMPTS = 20
READ_SECONDS = 0.1
TIMES = ("claimed_at", "expires_at")


class LeaseStore(Protocol):
    """The leases of suites.

    `needs_executor` says whether writing waits for a core that a job may occupy.
    """

    needs_executor: bool

    def newest(self, suite: str) -> tuple[int, dict[str, Lease]]:
        """The suite's last version, 0 for none, and the newest lease of each deployment."""
        ...

    def add(self, suite: str, version: int, leases: Mapping[str, Lease]) -> None:
        """Try to write a version: the leases of all deployments as they are from then on.

        Another driver's may be there instead: read again, by `newest`.
        """
        ...


def lease_store(lake: Lake) -> LeaseStore:
    """The store that all drivers of this lake use."""
    files = lake.driver_files or lake.staging.named_files
    return TableLeases(lake) if files is None else FileLeases(files)


class FileLeases:
    """A file per version, in a folder per suite; the last few are kept."""

    needs_executor = False

    def __init__(self, files: DriverFiles) -> None:
        self._files = files

    def newest(self, suite: str) -> tuple[int, dict[str, Lease]]:
        """See LeaseStore.

        A version whose driver died while it wrote it is passed over.
        """
        for _ in range(READ_ATTEMPTS):
            names = self._files.names(_folder(suite))
            if not names:
                return 0, {}
            if (leases := self._read(suite, names[-1])) is not None:
                return int(names[-1]), leases
            time.sleep(READ_SECONDS)
        for name in reversed(names[:-1]):
            if (leases := self._read(suite, name)) is not None:
                return int(names[-1]), leases
        raise LakeError(f"the leases of suite {suite!r} cannot be read: {_folder(suite)}.")

    def add(self, suite: str, version: int, leases: Mapping[str, Lease]) -> None:
        """See LeaseStore."""
        recent = datetime.now(UTC) - KEPT_FOR
        records = [_record(lease) for lease in leases.values() if lease.expires_at > recent]
        if self._files.create(_file(suite, version), json.dumps(records).encode()):
            for name in self._files.names(_folder(suite))[:-KEPT_VERSIONS]:
                self._files.remove(f"{_folder(suite)}/{name}")

    def _read(self, suite: str, name: str) -> dict[str, Lease] | None:
        try:
            records = json.loads(self._files.read(f"{_folder(suite)}/{name}") or b"")
        except ValueError:  # empty: its driver has not written it yet, or died before
            return None
        return {lease.model_deployment: lease for lease in map(_lease, records)}


class TableLeases:
    """Rows of the table `leases`; the version is that of Delta's own idempotent append."""

    needs_executor = True

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def newest(self, suite: str) -> tuple[int, dict[str, Lease]]:
        """See LeaseStore."""
        rows = self._lake.rows("SELECT * FROM {leases}", Lease)
        leases = [lease for lease in rows if lease.suite == suite]
        newest = {
            lease.model_deployment: lease for lease in sorted(leases, key=lambda one: one.version)
        }
        return max((lease.version for lease in leases), default=0), newest

    def add(self, suite: str, version: int, leases: Mapping[str, Lease]) -> None:
        """See LeaseStore."""
        rows = [lease for lease in leases.values() if lease.version == version]
        swap = (content_id("lease", suite), version)
        self._lake.append_rows("leases", rows, rows[0].holder, txn=swap)


def _folder(suite: str) -> str:
    return f"{FOLDER}/{content_id(suite)[:16]}"


def _file(suite: str, version: int) -> str:
    return f"{_folder(suite)}/{version:012d}"


def _record(lease: Lease) -> dict[str, Any]:
    times = {name: getattr(lease, name).isoformat() for name in TIMES}
    return {**asdict(lease), **times}


def _lease(record: Mapping[str, Any]) -> Lease:
    times = {name: datetime.fromisoformat(record[name]) for name in TIMES}
    return Lease(**{**record, **times})
