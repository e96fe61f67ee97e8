"""A purge waits for no driver of its suites: it refuses, and leaves what they have staged."""

from pathlib import Path

import pytest

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.lease import lease
from medhelm_spark.lake.staging import staged_name
from tests.unit.provenance.made import SUITE, Made


def test_a_purge_is_refused_while_another_driver_asks_for_its_suite(tmp_path: Path) -> None:
    made = Made.planned(tmp_path / "made")
    ctx = made.evaluation._workspace.context(SUITE, is_in_process=True)
    folder = made.lake / "_staged" / staged_name(SUITE, ctx.holder, "w1")
    (folder / "answers").mkdir(parents=True)
    with (
        lease(ctx.lake, SUITE, ["ward/judge"], ctx.holder),
        pytest.raises(LakeError, match=rf"another driver .* asks for suite '{SUITE}'"),
    ):
        made.evaluation.lake.purge("Cases", agreement="DUA")
    assert folder.is_dir()
    made.evaluation.lake.purge("Cases", agreement="DUA")
    assert not folder.is_dir()
