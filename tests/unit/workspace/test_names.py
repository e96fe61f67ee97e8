"""What suites and releases may be called."""

from pathlib import Path
from typing import Any, cast

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.board.sources import Kind, unknown
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.workspace.names import MOST, check_name

ENTRY = "pubmed_qa:model=huggingface/smollm2-135m-instruct"


ELSEWHERE = ["../x", "..", ".", "/x", "a//b", "a/../b", "a/", "..\\x"]


@pytest.mark.parametrize("name", ["first", "2026 q1", "étude/1", "v1.2", "..x", "x" * MOST])
def test_names_in_one_line_are_taken(name: str) -> None:
    assert check_name("suite", name) == name


@pytest.mark.parametrize(
    "name", [None, "", " ", "a ", "a\nb", 3, True, b"s", "x" * (MOST + 1), *ELSEWHERE]
)
def test_other_names_are_refused_before_anything_is_written(name: Any, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    here = Evaluation(lake, site=None, tracking=False, say=lambda line: None)
    calls = (
        lambda: here.run(ENTRY, suite=name),
        lambda: here.dry_run(ENTRY, suite=name),
        lambda: here.estimate(ENTRY, suite=name),
        lambda: here.import_responses(ENTRY, "absent.jsonl", suite=name),
        lambda: here.summarize([name]),
        lambda: here.releases.publish(name, "s"),
    )
    for call in calls:
        with pytest.raises(ConfigError, match=r" is .*; allowed: text of 1 to 200 characters"):
            call()
    assert not lake.exists()


def test_publishing_without_a_suite_says_how_to_run_one(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    here = Evaluation(lake, site=None, tracking=False, say=lambda line: None)
    with pytest.raises(LakeError, match=r"there is no lake at .*`medhelm-spark run"):
        here.releases.publish("R", "first")
    lake.mkdir()
    with pytest.raises(LakeError, match=r"no suite was run .*`medhelm-spark run` with --suite fir"):
        here.releases.publish("R", "first")
    assert not any(lake.iterdir())


def test_a_lake_with_a_suite_without_a_name_still_lists_its_suites() -> None:
    class Stored:
        location = "lake"

    names: list[Any] = ["a", None]
    message = str(unknown(cast(Reader, Stored()), Kind.SUITE, "b", names))
    assert message == "lake: no suite 'b'; the lake has 'a', None."
