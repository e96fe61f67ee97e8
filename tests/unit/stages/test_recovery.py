"""Who commits the staged answers of a driver: its successor, and nobody while it lives."""

from pathlib import Path

import pytest

from medhelm_spark.domain.stages import INFER
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.lease import LeaseTimes, lease
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.staging import staged_name
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.commits import Commits
from medhelm_spark.stages.infer.order_folder import OrderFolder
from medhelm_spark.stages.infer.recovery import commit_interrupted
from tests.unit.stages.test_commits import answer, never, rows
from tests.unit.stages.test_pulling import POLICY

TIMES = LeaseTimes(watched=0.1)


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    return driver(tmp_path)


def driver(tmp_path: Path) -> Context:
    lake = Lake(Session(never, "local"), str(tmp_path / "lake")).in_process()
    ctx = Context(lake=lake, suite="s").within(INFER)
    ctx.lake.ensure("request_results")
    _ = ctx.ledger
    return ctx


def staged(ctx: Context, holder: str, write_id: str, *names: str) -> OrderFolder:
    """The folder of a driver's order with answers that are not committed."""
    assert ctx.lake.staging.shared
    folder = OrderFolder(str(ctx.lake.staging.shared / staged_name("s", holder, write_id)))
    folder.make()
    answer(folder, "0-0", *names)
    return folder


def recover(ctx: Context) -> bool:
    with lease(ctx.lake, "s", [f"acme/{ctx.holder}"], ctx.holder, times=TIMES) as handle:
        return commit_interrupted(ctx, handle, {}, POLICY)


def test_the_folder_of_a_living_driver_of_another_deployment_is_left_to_it(
    ctx: Context, tmp_path: Path
) -> None:
    living = driver(tmp_path)
    with lease(living.lake, "s", ["acme/judge"], living.holder, times=TIMES):
        folder = staged(living, living.holder, "w1", "a")
        assert not recover(ctx)
        assert folder.answered() == {"a"}
        staged(ctx, "elsewhere:7:gone", "w2", "b")
        assert recover(ctx)
        assert rows(ctx) == ["b"]
        assert folder.answered() == {"a"}
    assert recover(ctx)
    assert rows(ctx) == ["a", "b"]
    assert not folder.is_one


def test_what_another_driver_recovered_meanwhile_is_no_error(
    ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [staged_name("s", "elsewhere:7:gone", each) for each in ("w1", "w2")]
    for write_id, answered in (("w1", "a"), ("w2", "b")):
        staged(ctx, "elsewhere:7:gone", write_id, answered)
    other = driver(tmp_path)
    commit = Commits.commit

    def slow(self: Commits) -> int:
        monkeypatch.undo()
        assert recover(other)
        return commit(self)

    monkeypatch.setattr(Commits, "commit", slow)
    assert recover(ctx)
    assert rows(ctx) == ["a", "b"]
    assert not set(names) & set(ctx.lake.staging.names())
