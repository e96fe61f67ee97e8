"""Leases in files: claimed once, renewed, lost, taken from the dead; clocks that differ."""

import os
import platform
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.driver_files import LocalFiles
from medhelm_spark.lake.lease import LeaseHandle, LeaseTimes
from medhelm_spark.lake.lease_store import KEPT_VERSIONS, FileLeases
from medhelm_spark.lake.tables import Lease

ELSEWHERE = "elsewhere:7:abc"
TIMES = LeaseTimes(lifetime=30.0, heartbeat=0.1, watched=0.3)


@pytest.fixture
def store(tmp_path):
    return FileLeases(LocalFiles(tmp_path))


def handle(store, holder="here:1:a", deployments=("m",), times=TIMES):
    return LeaseHandle(store, "s", deployments, holder, times)


def here(number):
    """A driver of this host that lives."""
    return f"{platform.node()}:{os.getpid()}:{number}"


def silent(line):
    return None


def write(store, holder, ends, name="m"):
    """A lease of another driver, by a clock of its own: it ends in so many seconds from now."""
    version, newest = store.newest("s")
    at = datetime.now(UTC) + timedelta(seconds=ends)
    lease = Lease(
        suite="s",
        version=version + 1,
        model_deployment=name,
        holder=holder,
        claimed_at=at - timedelta(seconds=30),
        expires_at=at,
    )
    store.add("s", version + 1, {**newest, name: lease})


def test_of_drivers_that_claim_at_once_one_holds_each_deployment(store):
    def claim(number):
        try:
            handle(store, here(number)).take(silent)
        except LakeError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(8) as pool:
        refusals = list(pool.map(claim, range(8)))
    assert refusals.count("") == 1
    holder = here(refusals.index(""))
    assert all(not one or f"({holder})" in one or "at once" in one for one in refusals)
    handle(store, "elsewhere:9:x", ["another"]).take(silent)


def test_a_released_lease_is_taken_at_once_and_a_renewed_one_is_refused(store):
    first = handle(store, here(1))
    first.take(silent)
    first.renew()
    with pytest.raises(LakeError, match=r"another driver \(.*:1\) is asking 'm' for "):
        handle(store).take(silent)
    first.release()
    messages = []
    handle(store).take(messages.append)
    assert not messages


def test_a_driver_notices_that_another_took_over_and_does_not_take_it_back(store):
    first = handle(store, ELSEWHERE)
    first.take(silent)
    write(store, "third:1:x", 30)
    first.renew()
    assert "another driver (third:1:x) has taken 'm' over, so this one stopped asking" in first.lost
    assert "answers that came are kept" in first.lost
    first.release()
    assert store.newest("s")[1]["m"].holder == "third:1:x"


def test_a_lease_that_cannot_be_renewed_is_lost_by_this_drivers_own_clock(store):
    first = handle(store, times=replace(TIMES, lifetime=0.05))
    first.take(silent)
    first.note_lapse()
    assert first.lost is None
    threading.Event().wait(0.1)
    first.note_lapse()
    assert "could not be renewed for 0 s, so it stopped asking" in first.lost


@contextmanager
def renewing(store, holder, ends):
    """A living driver whose clock differs: its leases end long ago by ours."""
    stop = threading.Event()

    def beat():
        while not stop.wait(0.05):
            write(store, holder, ends)

    thread = threading.Thread(target=beat)
    thread.start()
    yield
    stop.set()
    thread.join()


def test_a_living_driver_whose_clock_is_behind_keeps_its_lease(store):
    write(store, ELSEWHERE, -3600)
    with renewing(store, ELSEWHERE, -3600), pytest.raises(LakeError, match="is asking 'm'"):
        handle(store).take(silent)


def test_a_living_driver_of_another_host_is_refused_once_it_renews(store):
    write(store, ELSEWHERE, 30)
    messages = []
    with renewing(store, ELSEWHERE, 30), pytest.raises(LakeError, match="is asking 'm'"):
        handle(store).take(messages.append)
    assert messages == [f"waiting 30 s to see that {ELSEWHERE} asks no longer"]


def test_a_dead_driver_of_another_host_is_waited_for_until_its_lease_has_ended(store):
    write(store, ELSEWHERE, 0.5)
    began = time.monotonic()
    handle(store).take(silent)
    assert time.monotonic() - began >= 0.5
    assert store.newest("s")[1]["m"].holder == "here:1:a"


def test_what_another_host_gives_back_meanwhile_is_taken_at_once(store):
    first = handle(store, ELSEWHERE)
    first.take(silent)
    threading.Timer(0.2, first.release).start()
    handle(store).take(silent)
    assert store.newest("s")[1]["m"].holder == "here:1:a"


def test_a_dead_one_on_another_host_is_watched_and_then_followed(store):
    write(store, ELSEWHERE, -1)
    messages = []
    handle(store).take(messages.append)
    assert messages == [f"waiting 0 s to see that {ELSEWHERE} asks no longer"]
    assert store.newest("s")[1]["m"].holder == "here:1:a"


def test_a_process_of_this_host_that_is_gone_is_followed_at_once(store):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its parent has not looked yet
    write(store, f"{platform.node()}:{process.pid}:x", 30)
    handle(store).take(silent)
    write(store, f"{platform.node()}:{os.getpid()}:x", 30)
    with pytest.raises(LakeError):
        handle(store).take(silent)
    process.communicate()


def test_few_files_are_kept_and_what_others_hold_is_carried_on(store, tmp_path):
    write(store, ELSEWHERE, 3600, "other")
    own = handle(store)
    own.take(silent)
    for _ in range(10):
        own.renew()
    (folder,) = (tmp_path / "_leases").iterdir()
    assert len(list(folder.iterdir())) == KEPT_VERSIONS
    version, newest = store.newest("s")
    assert version == 12
    assert {name: lease.holder for name, lease in newest.items()} == {
        "m": "here:1:a",
        "other": ELSEWHERE,
    }


def test_a_version_whose_driver_died_in_writing_it_is_passed_over(store, tmp_path, monkeypatch):
    monkeypatch.setattr("medhelm_spark.lake.lease_store.READ_SECONDS", 0.0)
    write(store, ELSEWHERE, 30)
    (folder,) = (tmp_path / "_leases").iterdir()
    (folder / f"{2:012d}").touch()
    version, newest = store.newest("s")
    assert (version, newest["m"].holder) == (2, ELSEWHERE)


def test_another_driver_of_the_suite_lives_whatever_its_clock_until_it_is_silent(store):
    own = handle(store, deployments=["own"])
    own.take(silent)
    assert not own.others(silent)
    write(store, ELSEWHERE, -120)
    messages = []
    with renewing(store, ELSEWHERE, -120):
        assert own.others(messages.append) == {ELSEWHERE}
    assert messages == [f"waiting 0 s to see that {ELSEWHERE} asks no longer"]
    assert not own.others(silent, lambda holder: False)
    assert not own.others(silent), "it renews no longer"
    write(store, ELSEWHERE, 30)
    assert own.others(silent) == {ELSEWHERE}
    handle(store, here(2), ["third"]).take(silent)
    released = handle(store, here(3), ["fourth"])
    released.take(silent)
    released.release()
    assert own.others(silent) == {ELSEWHERE, here(2)}


class Slow(FileLeases):
    """A store whose every write is a Spark job."""

    needs_executor = True


def test_where_renewing_needs_an_executor_a_lease_covers_a_job(tmp_path):
    store = Slow(LocalFiles(tmp_path))
    handle(store, ELSEWHERE).take(silent)
    lease = store.newest("s")[1]["m"]
    assert lease.expires_at - lease.claimed_at == timedelta(seconds=3 * 600)
    write(store, ELSEWHERE, -30)
    other = handle(store, deployments=["other"])
    assert other.others(silent) == {ELSEWHERE}
    with pytest.raises(LakeError, match="if it is dead, 30 s for its lease to end"):
        handle(store).take(silent)
    write(store, ELSEWHERE, -61)
    assert not other.others(silent)
    handle(store).take(silent)
