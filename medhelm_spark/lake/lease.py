"""One driver at a time asks a (suite, deployment): a lease with an expiry, renewed while it asks.

A driver claims by writing the suite's next version (`lease_store`), which one driver only can. It
renews in a thread of its own. When another driver has taken over, or its own lease has run out
unrenewed, it has lost the right: its Spark jobs are cancelled, so that nothing more is
sent. How long its own lease lasts it measures on its own monotonic clock.

Clocks of two drivers may differ. A lease that has run out by this driver's clock is therefore
watched for longer than a heartbeat before it is taken: a living holder renews it meanwhile. Where
renewing needs an executor (a catalog, Spark Connect) a job may keep it waiting: there the lease is
made out for longer than a job should take, and is taken only a while after its end.
"""

import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from medhelm_spark.errors import LakeError, LeaseLostError
from medhelm_spark.lake.lake import Lake, new_write_id
from medhelm_spark.lake.lease_store import LeaseStore, lease_store
from medhelm_spark.lake.tables import Lease
from medhelm_spark.operating_system import is_running

LOG = logging.getLogger(__name__)

WHOLE_LAKE = ""
"""In place of a suite, which has a name: the right to write any table of a lake (`sole_driver`)."""

EVERY_TABLE = "every table"
"""In place of a deployment there."""

CLAIM_ATTEMPTS = 5
POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTimes:
    """How long things about a lease last, in seconds.

    `lifetime` is how long a lease lasts unrenewed; `heartbeat` passes between two renewals;
    `watched` is how long a lease that ran out is watched before it is taken. Where renewing needs
    an executor, a lease lasts `busy`, many times what a round takes, and `skew` longer for others.
    """

    lifetime: float = 120.0
    heartbeat: float = 40.0
    watched: float = 60.0
    busy: float = 1800.0
    skew: float = 60.0


TIMES = LeaseTimes()


def this_holder() -> str:
    """Names this driver: host, process and a nonce, so that a reused process id is not mistaken."""
    return f"{platform.node()}:{os.getpid()}:{new_write_id()[:8]}"


def is_gone(holder: str) -> bool:
    """Whether the holder ran on this host and its process has ended."""
    host, pid, *_ = [*holder.split(":"), "", ""]
    return host == platform.node() and pid.isdecimal() and not is_running(int(pid))


class LeaseHandle:
    """The right to ask some deployments for a suite; `lost` says why it is no longer held."""

    def __init__(
        self,
        store: LeaseStore,
        suite: str,
        deployments: Sequence[str],
        holder: str,
        times: LeaseTimes,
    ) -> None:
        self._store, self._suite, self._holder, self._times = store, suite, holder, times
        self._deployments = tuple(sorted(deployments))
        self._lifetime = times.busy if store.needs_executor else times.lifetime
        self._deadline = 0.0
        self._lock = threading.Lock()
        self.lost: str | None = None

    def check(self) -> None:
        """Renew, and raise LeaseLostError where another driver has taken over."""
        if self.lost is None:
            self.renew()
        self.refuse_lost()

    def refuse_lost(self) -> None:
        """Raise LeaseLostError where it is known that another driver has taken over, or may."""
        if self.lost is not None:
            raise LeaseLostError(self.lost)

    def take(self, say: Callable[[str], None]) -> None:
        """Claim, or raise LakeError when another driver holds one of the deployments.

        A driver of another host may be dead: its lease is watched until it has ended.
        """
        for _ in range(CLAIM_ATTEMPTS):
            version, newest = self._store.newest(self._suite)
            others = [lease for name in self._deployments if (lease := newest.get(name))]
            for lease in others:
                self._refuse_if_held(lease)
            silent = [lease for lease in others if self._may_live(lease)]
            for renewed in self._renewals(silent, say):
                raise _refusal(renewed, "if it is dead, start again later")
            if self._write(version, newest, self._lifetime):
                return
        raise LakeError(
            f"{_scope_name(self._suite)}: too many drivers claim it at once; start again."
        )

    def renew(self) -> None:
        """Move the expiry on; notes where another driver holds one of the deployments."""
        with self._lock:
            for _ in range(CLAIM_ATTEMPTS):
                version, newest = self._store.newest(self._suite)
                if self._note_others(newest) or self._write(version, newest, self._lifetime):
                    return

    def release(self) -> None:
        """Let the claim end now; nothing where it is another's."""
        with self._lock:
            for _ in range(CLAIM_ATTEMPTS):
                version, newest = self._store.newest(self._suite)
                if self._note_others(newest) or self._write(version, newest, 0.0):
                    return

    def note_lapse(self) -> None:
        """Note where this lease has run out unrenewed: another driver may have taken over."""
        if not self._store.needs_executor and time.monotonic() > self._deadline:
            self.lost = self.lost or (
                f"{_scope_name(self._suite)}: this driver's lease could not be renewed for "
                f"{self._lifetime:.0f} s, so it stopped asking; answers that came are "
                "kept. The same command goes on."
            )

    def others(
        self, say: Callable[[str], None], is_asked: Callable[[str], bool] = lambda holder: True
    ) -> frozenset[str]:
        """Other drivers that have a lease of this suite and may live.

        One whose lease has run out by this driver's clock is watched first, as by `take`.
        `is_asked` says of a holder whether the caller needs it: others are not waited for.
        """
        _, newest = self._store.newest(self._suite)
        others = [
            lease
            for lease in newest.values()
            if lease.holder != self._holder
            and not _is_released(lease)
            and not is_gone(lease.holder)
            and is_asked(lease.holder)
        ]
        alive = {lease.holder for lease in others if self._seconds_left(lease) > 0}
        silent = [lease for lease in others if lease.holder not in alive and self._may_live(lease)]
        return frozenset(alive | {lease.holder for lease in self._renewals(silent, say)})

    def _write(self, version: int, newest: dict[str, Lease], lifetime: float) -> bool:
        """Write the version after this one; whether it is this driver's."""
        began, at = time.monotonic(), datetime.now(UTC)
        own = {
            name: Lease(
                suite=self._suite,
                version=version + 1,
                model_deployment=name,
                holder=self._holder,
                claimed_at=at,
                expires_at=at + timedelta(seconds=lifetime),
            )
            for name in self._deployments
        }
        self._store.add(self._suite, version + 1, newest | own)
        _, after = self._store.newest(self._suite)
        won = all(
            name in after
            and after[name].holder == self._holder
            and after[name].version == version + 1
            for name in self._deployments
        )
        if won:
            self._deadline = began + lifetime
        return won

    def _note_others(self, newest: dict[str, Lease]) -> bool:
        for name in self._deployments:
            if name in newest and newest[name].holder != self._holder:
                self.lost = self.lost or (
                    f"{_scope_name(self._suite)}: another driver ({newest[name].holder}) has taken "
                    f"{name!r} over, so this one stopped asking; answers that came are "
                    "kept, and the other driver goes on from them."
                )
                return True
        return False

    def _refuse_if_held(self, lease: Lease) -> None:
        left = self._seconds_left(lease)
        if lease.holder == self._holder or left <= 0 or is_gone(lease.holder):
            return
        if self._store.needs_executor or _is_of_this_host(lease.holder):
            raise _refusal(lease, f"if it is dead, {int(left) + 1} s for its lease to end")

    def _may_live(self, lease: Lease) -> bool:
        return not (
            self._store.needs_executor
            or lease.holder == self._holder
            or _is_released(lease)
            or is_gone(lease.holder)
        )

    def _seconds_left(self, lease: Lease) -> float:
        """Until the lease of another driver has surely ended, where renewing needs an executor."""
        has_skew = self._store.needs_executor and not _is_released(lease)
        return _seconds_left(lease) + (self._times.skew if has_skew else 0.0)

    def _renewals(self, silent: Sequence[Lease], say: Callable[[str], None]) -> Iterator[Lease]:
        """Watch leases; yields each that is renewed: its holder lives, whatever its clock."""
        if not silent:
            return
        holders = ", ".join(sorted({lease.holder for lease in silent}))
        seconds = self._times.watched + max(0.0, *map(_seconds_left, silent))
        say(f"waiting {seconds:.0f} s to see that {holders} asks no longer")
        waiting = {lease.model_deployment: lease for lease in silent}
        until = time.monotonic() + seconds
        while waiting and time.monotonic() < until:
            time.sleep(min(POLL_SECONDS, self._times.watched))
            _, newest = self._store.newest(self._suite)
            for name, lease in list(waiting.items()):
                renewed = newest.get(name, lease)
                if _is_released(renewed):
                    del waiting[name]
                elif renewed.version != lease.version:
                    del waiting[name]
                    yield renewed


def _seconds_left(lease: Lease) -> float:
    return (lease.expires_at - datetime.now(UTC)).total_seconds()


def _is_of_this_host(holder: str) -> bool:
    return holder.partition(":")[0] == platform.node()


def _is_released(lease: Lease) -> bool:
    return lease.expires_at <= lease.claimed_at


def _scope_name(suite: str) -> str:
    return "the lake" if suite == WHOLE_LAKE else f"suite {suite!r}"


def _refusal(lease: Lease, cure: str) -> LakeError:
    if lease.suite == WHOLE_LAKE:
        return LakeError(
            f"another driver ({lease.holder}) writes this lake, and S3 keeps no two drivers apart: "
            f"one driver at a time; wait for it, or, {cure}."
        )
    return LakeError(
        f"another driver ({lease.holder}) is asking {lease.model_deployment!r} for suite "
        f"{lease.suite!r}; wait for it, or, {cure}."
    )


@contextmanager
def lease(
    lake: Lake,
    suite: str,
    deployments: Sequence[str],
    holder: str,
    *,
    say: Callable[[str], None] = lambda line: None,
    times: LeaseTimes | None = None,
) -> Iterator[LeaseHandle]:
    """Hold the right to ask these deployments for this suite; LakeError when another holds it.

    What the body's thread has under way is ended when the right is lost.

    Raises:
        LakeError: another driver holds it.
        LeaseLostError: it was lost while the body ran.
    """
    times = times or TIMES
    handle = LeaseHandle(lease_store(lake), suite, deployments, holder, times)
    handle.take(say)
    with lake.cancellable() as cancel:
        stop = threading.Event()
        threads = [
            threading.Thread(target=part, daemon=True, name=f"medhelm-spark-{part.__name__}")
            for part in (_renewing(handle, stop, times), _watching(handle, stop, times, cancel))
        ]
        for thread in threads:
            thread.start()
        try:
            yield handle
        except Exception:
            if handle.lost is None:
                raise
            raise LeaseLostError(handle.lost) from None
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            if handle.lost is None:
                handle.release()


def _renewing(handle: LeaseHandle, stop: threading.Event, times: LeaseTimes) -> Callable[[], None]:
    def lease_renewal() -> None:
        pause = times.heartbeat
        while not stop.wait(pause) and handle.lost is None:
            try:
                handle.renew()
                pause = times.heartbeat
            except Exception as error:  # the store's own; it may be back before the lease ends
                pause = times.heartbeat / 8
                LOG.warning("the lease could not be renewed: %s", type(error).__name__)

    return lease_renewal


def _watching(
    handle: LeaseHandle, stop: threading.Event, times: LeaseTimes, cancel: Callable[[], None]
) -> Callable[[], None]:
    """Apart from renewing, which may hang in a store that does not answer."""

    def lease_watch() -> None:
        while not stop.wait(min(1.0, times.heartbeat / 4)):
            handle.note_lapse()
            if handle.lost is not None:
                cancel()  # and again: the body may have been between two jobs

    return lease_watch
