"""Records of releases: restored tables, clocks that are behind, and names of user namespaces."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from medhelm_spark.domain import moments
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.sign_off import SignOff
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.errors import IntegrityError, ReleaseError
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.user import this_user
from medhelm_spark.releases.pinned import stored_releases
from medhelm_spark.releases.status import change_status
from medhelm_spark.releases.verify import verify
from medhelm_spark.stages.context import Context, now
from medhelm_spark.workspace.workspace import Workspace
from tests.unit.board.planted import plant
from tests.unit.board.planted_releases import plant_release

REVIEW, APPROVED = ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED
WITHDRAWN = ReleaseStatus.WITHDRAWN


def no_spark() -> Any:
    raise AssertionError("Spark is not needed before anything is hashed")


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    plant(tmp_path)
    plant_release(tmp_path)
    return tmp_path


def as_user(lake: Path, name: str) -> Context:
    return Context(lake=Lake(Session(no_spark, "local[1]"), str(lake)), suite="", user=name)


def status(lake: Path) -> ReleaseStatus:
    releases = {each.name: each for each in stored_releases(as_user(lake, "x").lake)}
    return releases["R2"].state.status


@pytest.mark.attack("integrity", "RESTORE TABLE that brings a withdrawn release back")
@pytest.mark.parametrize("table", ["release_changes", "policy_decisions"])
def test_a_restored_table_is_named_by_verify(lake: Path, table: str) -> None:
    change_status(as_user(lake, "ada"), "R2", REVIEW)
    change_status(as_user(lake, "bob"), "R2", WITHDRAWN, SignOff(note="wrong data"))
    FileTables(str(lake)).ensure(table)
    restored = DeltaTable(str(lake / table))
    restored.alter.set_table_properties({"delta.logRetentionDuration": "interval 31 days"})
    restored.restore(0)
    if table == "release_changes":
        assert status(lake) is not WITHDRAWN
    with pytest.raises(IntegrityError) as caught:
        verify(Workspace(str(lake), None), as_user(lake, "x"), "R2")
    version = DeltaTable(str(lake / table)).version()
    assert f"{table} (RESTORE at version {version})" in str(caught.value)
    assert "R2" in str(caught.value)


@pytest.mark.attack("integrity", "records of a machine whose clock is behind")
def test_the_order_of_records_is_the_order_of_commits(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_status(as_user(lake, "ada"), "R2", REVIEW)
    behind = datetime.now(UTC) - timedelta(days=400)

    class Behind(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return behind

    monkeypatch.setattr(moments, "datetime", Behind)
    change_status(as_user(lake, "bob"), "R2", APPROVED)
    change_status(as_user(lake, "cyd"), "R2", WITHDRAWN, SignOff(note="wrong data"))
    assert status(lake) is WITHDRAWN
    ctx = as_user(lake, "x")
    ctx.record(SCORE, {"u": "first"}, "w1", behind)
    ctx.record(SCORE, {"u": "second"}, "w2", behind)
    again = as_user(lake, "x")
    assert again.finished(SCORE, ["u"])["u"].fingerprint == "second"
    assert now() == behind


@pytest.mark.attack("integrity", "one's own release approved as another user, in a user namespace")
def test_nobody_approves_by_a_name_of_a_user_namespace(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_status(as_user(lake, "ada"), "R2", REVIEW)
    mapped = tmp_path / "uid_map"
    mapped.write_text("        33       1000          1\n")
    monkeypatch.setattr("medhelm_spark.namespaces.UID_MAP", mapped)
    monkeypatch.setattr(os, "geteuid", lambda: 33)
    approver = this_user()
    assert approver.endswith(" in a user namespace")
    with pytest.raises(ReleaseError, match="may be any user of this machine"):
        change_status(as_user(lake, approver), "R2", APPROVED)
    assert status(lake) is REVIEW


def test_nobody_approves_what_was_submitted_in_a_user_namespace(lake: Path) -> None:
    change_status(as_user(lake, "www-data in a user namespace"), "R2", REVIEW)
    with pytest.raises(ReleaseError, match="outside a user namespace"):
        change_status(as_user(lake, "bob"), "R2", APPROVED)
