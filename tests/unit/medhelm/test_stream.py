"""JSON files of any form: a deep or huge one is refused by name, before memory is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.medhelm_results import stream
from medhelm_spark.medhelm_results.stream import MOST_DEPTH, BrokenFileError, items

TEXT = st.text(alphabet='ab"\\[]{},: \n\u00e9')
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)


@given(st.lists(VALUES), st.integers(1, 40), st.sampled_from([None, 1]))
def test_any_document_is_read_as_it_is(documents: list[Any], block: int, indent: int) -> None:
    path = Path(stream.__file__).parent  # a name alone: the bytes come from memory
    text = json.dumps(documents, indent=indent)
    plain = stream._Plain(_Blocks(text.encode(), block), path.name)
    read = b"".join(iter(lambda: plain.read(1), b""))
    assert json.loads(read) == documents
    assert (plain._depth, plain._is_in_text) == (0, False)


class _Blocks:
    """A binary file that gives few bytes at a time."""

    def __init__(self, data: bytes, block: int) -> None:
        self._data, self._block, self._at = data, block, 0

    def read(self, _: int) -> bytes:
        self._at += self._block
        return self._data[self._at - self._block : self._at]


def nested(levels: int) -> str:
    return '[{"a": ' * levels + "0" + "}]" * levels


@pytest.mark.parametrize("prefix", ["item", "no.such.place"])
def test_a_deep_file_is_refused_and_a_less_deep_one_is_not(tmp_path: Path, prefix: str) -> None:
    path = tmp_path / "deep.json"
    for levels in (MOST_DEPTH, 500_000):
        path.write_text(f'["[[[ {"[" * 999}", {nested(levels)}]')
        with pytest.raises(
            BrokenFileError, match=rf"^deep.json is nested deeper than {MOST_DEPTH}"
        ):
            list(items(path, prefix))
    path.write_text(f'["{"[" * 999}", {nested(MOST_DEPTH // 2 - 1)}]')
    assert len(list(items(path))) == 2


@pytest.mark.parametrize("inner", ['"{}"', "[{}]"])
def test_a_huge_item_is_refused_and_many_items_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    monkeypatch.setattr(stream, "MOST_BYTES", 1 << 20)
    path = tmp_path / "huge.json"
    one = inner.format(",".join("1" * 1_000))
    path.write_text(f"[{one}]".replace(one, inner.format("1, " * 500_000 + "1")))
    with pytest.raises(
        BrokenFileError, match=r"huge.json has an item of more than 1,048,576 bytes"
    ):
        list(items(path))
    path.write_text(json.dumps(["x" * 9_000] * 400))
    assert len(list(items(path))) == 400


@pytest.mark.parametrize("number", ["9" * 5_000, "1e999"])
def test_a_number_that_python_has_not_is_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "numbers.json"
    path.write_text(f"[1, {number}]")
    with pytest.raises(BrokenFileError, match=r"^numbers.json "):
        list(items(path))
