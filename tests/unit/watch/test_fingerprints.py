"""Which records of engines are other ones than the release's."""

import json

import pytest

from medhelm_spark.watch.fingerprints import ENGINE, engine_fingerprint


def record(build: str, version: str = "1") -> str:
    return json.dumps({"engine": "openai", "system_fingerprint": build, "version": version})


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        ([record("b")], [record("b")], ""),
        ([record("a"), record("b")], [record("b")], ""),
        (
            [record("b")],
            [record("c")],
            "was system_fingerprint b, is system_fingerprint c",
        ),
        # Some answers of the look are of the engine as it was, some of another one.
        (
            [record("b")],
            [record("a"), record("b")],
            "was system_fingerprint b, is system_fingerprint a or b",
        ),
        (
            [record("b")],
            [record("b"), record("c", "2")],
            "was system_fingerprint b, version 1, is system_fingerprint b or c, version 1 or 2",
        ),
        # The same engine refused a text: with that answer it states less.
        ([record("b")], [json.dumps({"engine": "openai", "version": "1"}), record("b")], ""),
        (
            [record("b")],
            [json.dumps({"engine": "openai", "version": "1"})],
            "was system_fingerprint b, is not recorded",
        ),
        # Known values, put together in another way.
        (
            [record("a", "1"), record("b", "2")],
            [record("a", "2"), record("b", "1")],
            f"was {record('a', '1')}; {record('b', '2')}, "
            f"is {record('a', '2')}; {record('b', '1')}",
        ),
        (["mine 1"], ["mine 1", "mine 0"], "was mine 1, is mine 0; mine 1"),
        ([], [record("b")], f"was not recorded, is {record('b')}"),
    ],
)
def test_an_engine_that_the_release_did_not_have(
    before: list[str], now: list[str], reason: str
) -> None:
    found = engine_fingerprint(set(before), set(now))
    assert (found.name, found.reason) == (ENGINE, reason)
