"""The settings at the head of a GGUF file: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MAGIC = b"GGUF"
LONGEST = 1 << 16
"""Most bytes of a key or text, and most values of a list, that a model's settings have."""

Value = int | float | bool | str
_FORMS = "BbHhIif?"
_NUMBERS = {**dict(enumerate(_FORMS)), 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
VOCABULARY = "tokenizer."
"""How the keys begin that follow those of the model."""


def head(path: Path) -> dict[str, Value]:
    """The numbers and texts before the vocabulary, without lists.

    Empty where the file is no GGUF file of version 2 or 3, or ends in its head.
    """
    try:
        with path.open("rb") as file:
            return dict(_pairs(file))
    except (OSError, ValueError, struct.error):
        return {}


def _pairs(file: BinaryIO) -> Iterator[tuple[str, Value]]:
    if file.read(4) != MAGIC or _number(file, "I") not in (2, 3):
        return
    _number(file, "Q")  # how many tensors
    for _ in range(int(_number(file, "Q"))):
        key, kind = _text(file), int(_number(file, "I"))
        if key.startswith(VOCABULARY):
            return
        if kind == _LIST:
            _skip_list(file)
        else:
            yield key, _value(file, kind)


def _value(file: BinaryIO, kind: int) -> Value:
    if kind == _TEXT:
        return _text(file)
    if kind not in _NUMBERS:
        raise ValueError(f"the kind of a value is {kind}")
    return _number(file, _NUMBERS[kind])


def _skip_list(file: BinaryIO) -> None:
    kind, length = int(_number(file, "I")), int(_number(file, "Q"))
    if length > LONGEST:
        raise ValueError(f"a list has {length} values")
    for _ in range(length):
        _value(file, kind)


def _number(file: BinaryIO, form: str) -> Value:
    (value,) = struct.unpack(f"<{form}", file.read(struct.calcsize(form)))
    number: Value = value
    return number


def _text(file: BinaryIO) -> str:
    length = int(_number(file, "Q"))
    if length > LONGEST:
        raise ValueError(f"a text has {length} bytes")
    return file.read(length).decode()
