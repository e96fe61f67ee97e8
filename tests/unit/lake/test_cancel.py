"""Work of this process that another thread ends, and the work after it."""

from pathlib import Path

import pytest

from medhelm_spark.domain.stages import INFER
from medhelm_spark.errors import LeaseLostError
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from tests.unit.stages.test_commits import never


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(Session(never, "local"), str(tmp_path)).in_process()


def test_work_that_is_ended_does_not_end_what_comes_after_it(lake: Lake) -> None:
    stage = lake.within(INFER)
    with pytest.raises(LeaseLostError), lake.cancellable() as cancel:
        assert not stage.is_cancelled()
        cancel()
        assert stage.is_cancelled()
        raise LeaseLostError("another driver has taken over")
    assert not stage.is_cancelled()
    with lake.cancellable():
        assert not stage.is_cancelled()


def test_the_end_of_work_within_other_work_ends_neither_more_nor_less(lake: Lake) -> None:
    with lake.cancellable() as cancel:
        with lake.cancellable() as cancel_inner:
            cancel_inner()
            assert lake.is_cancelled()
        assert not lake.is_cancelled()
        with lake.cancellable():
            cancel()
        assert lake.is_cancelled()
    assert not lake.is_cancelled()
