"""One writer per (suite, deployment): a lease row with an expiry, taken by compare-and-swap.

The swap is Delta's own idempotent append: application id = the suite, version = the suite's lease
count plus one. Two drivers that try the same version cannot both commit, so after an append the
holder of the newest rows is the winner. Heartbeats extend the lease; a crashed driver's ends by
itself, at once where its process is known to be gone.
"""

import os
import platform
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.lake import Lake, new_write_id
from medhelm_spark.lake.tables import Lease

LIFETIME = timedelta(seconds=120)
HEARTBEAT = 40.0
CLAIM_ATTEMPTS = 5


def this_holder() -> str:
    """Names this driver: host, process and a nonce, so that a reused process id is not mistaken."""
    return f"{platform.node()}:{os.getpid()}:{new_write_id()[:8]}"


def _is_gone(holder: str) -> bool:
    """Whether the holder ran on this host and its process has ended."""
    host, pid, *_ = [*holder.split(":"), "", ""]
    if host != platform.node() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _newest(lake: Lake, suite: str) -> tuple[int, dict[str, Lease]]:
    leases = [lease for lease in lake.rows("SELECT * FROM {leases}", Lease) if lease.suite == suite]
    newest: dict[str, Lease] = {}
    for lease in sorted(leases, key=lambda lease: lease.version):
        newest[lease.model_deployment] = lease
    return max((lease.version for lease in leases), default=0), newest


class _Claim:
    """A driver's claim to some deployments of a suite; `version` is the suite's last one known."""

    def __init__(self, lake: Lake, suite: str, deployments: Sequence[str], holder: str) -> None:
        self.lake, self.suite, self.holder = lake, suite, holder
        self.deployments = tuple(sorted(deployments))
        self.version = 0

    def take(self) -> None:
        """Claim, or raise LakeError when another driver holds one of the deployments."""
        for _ in range(CLAIM_ATTEMPTS):
            self.version, newest = _newest(self.lake, self.suite)
            for name in self.deployments:
                _refuse_if_held(newest.get(name), self.holder)
            self._commit(LIFETIME)
            if self._won():
                return
        raise LakeError(f"suite {self.suite!r}: too many drivers claim it at once; start again.")

    def extend(self, lifetime: timedelta = LIFETIME) -> None:
        """Move the expiry on; another deployment's driver may have taken versions meanwhile."""
        for _ in range(CLAIM_ATTEMPTS):
            self._commit(lifetime)
            if self._won():
                return

    def release(self) -> None:
        """Let the claim end now."""
        self.extend(timedelta(0))

    def _commit(self, lifetime: timedelta) -> None:
        at = datetime.now(UTC)
        rows = [
            Lease(
                suite=self.suite,
                version=self.version + 1,
                model_deployment=deployment,
                holder=self.holder,
                claimed_at=at,
                expires_at=at + lifetime,
            )
            for deployment in self.deployments
        ]
        swap = (content_id("lease", self.suite), self.version + 1)
        self.lake.append_rows("leases", rows, self.holder, txn=swap)

    def _won(self) -> bool:
        """Whether the version just committed is this driver's; reads the newest version."""
        committed = self.version + 1
        self.version, newest = _newest(self.lake, self.suite)
        return all(
            name in newest
            and newest[name].holder == self.holder
            and newest[name].version == committed
            for name in self.deployments
        )


def _refuse_if_held(lease: Lease | None, holder: str) -> None:
    if lease is None or lease.holder == holder or lease.expires_at <= datetime.now(UTC):
        return
    if _is_gone(lease.holder):
        return
    left = int((lease.expires_at - datetime.now(UTC)).total_seconds()) + 1
    raise LakeError(
        f"another driver ({lease.holder}) is asking {lease.model_deployment!r} for suite "
        f"{lease.suite!r}; wait for it, or, if it is dead, {left} s for its lease to end."
    )


@contextmanager
def lease(lake: Lake, suite: str, deployments: Sequence[str], holder: str) -> Iterator[None]:
    """Hold the right to ask these deployments for this suite; LakeError when another holds it."""
    claim = _Claim(lake, suite, deployments, holder)
    claim.take()
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(HEARTBEAT):
            claim.extend()

    thread = threading.Thread(target=beat, daemon=True, name="medhelm-spark-lease")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        claim.release()
