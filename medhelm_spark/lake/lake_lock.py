"""One driver at a time for a lake in S3, where two could overwrite each other's commits.

Delta's log store for S3 looks whether a version of a table's log is there and writes it then
(`S3SingleDriverLogStore`): of two drivers that commit at once, to any table, one may lose its rows.
So the first write of a driver claims the whole lake, by a lease that S3 itself gives to one alone
(`driver_files`). Databricks keeps drivers apart itself, and so does a log store that the site
configures, such as Delta's for DynamoDB; there nothing is claimed.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock

from medhelm_spark.domain.data_uri import SCHEME
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.lease import EVERY_TABLE, WHOLE_LAKE, LeaseHandle, lease, this_holder
from medhelm_spark.lake.settings import setting

SCHEMES = ("s3", "s3a", "s3n")
LOG_STORES = ("spark.delta.logStore.class", *(f"spark.delta.logStore.{s}.impl" for s in SCHEMES))
"""The settings by which a site names a log store that keeps drivers apart."""


class LakeLock:
    """This driver's claim to a lake: made by its first write, given up when its work is done."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._holder = say, this_holder()
        self._lake: Lake | None = None
        self._lease: LeaseHandle | None = None
        self._stack, self._lock, self._depth = ExitStack(), RLock(), 0
        self._has_warned = False

    def guard(self, lake: Lake) -> None:
        """Have a lake claimed before it is written."""
        self._lake = lake
        lake.before_writing = self._claim

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A piece of work, within which a claim is kept; pieces may be nested."""
        with self._lock:
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if not self._depth:
                    self._lease = None
                    self._stack.close()

    def _claim(self) -> None:
        """Claim the lake where it has to be; again, see that it still is this driver's.

        Raises:
            LakeError: another driver holds it.
            LeaseLostError: another driver took it over.
        """
        with self._lock:
            if self._lease:
                self._lease.refuse_lost()
            elif self._lake and self._may_claim(self._lake):
                claim = lease(self._lake, WHOLE_LAKE, [EVERY_TABLE], self._holder, say=self._say)
                self._lease = self._stack.enter_context(claim)

    def _may_claim(self, lake: Lake) -> bool:
        """Whether the lake has to be claimed and can be; where it cannot, that is printed once."""
        if self._has_warned or not needs_sole_driver(lake):
            return False
        if lake.driver_files is None:
            self._has_warned = True
            self._say(
                "this session has no file system of its own, so nothing keeps a second driver "
                "away: make sure that one alone writes this lake"
            )
        return not self._has_warned


def needs_sole_driver(lake: Lake) -> bool:
    """Whether nothing but a claim keeps two drivers of this lake apart."""
    scheme = SCHEME.match(lake.location.name)
    if scheme is None or lake.location.is_catalog or scheme["name"].lower() not in SCHEMES:
        return False
    has_log_store = any(setting(lake.spark, key) for key in LOG_STORES)
    return "databricks" not in lake.spark.version and not has_log_store
