"""The outermost JSON objects of a model's text, and how long looking for them takes."""

import time

import pytest

from medhelm_spark.json_text import MAX_ATTEMPTS, objects


def values(text: str) -> list[object]:
    return [value for _, _, value in objects(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a {"v": 1} b {"v": {"v": 2}} c', [{"v": 1}, {"v": {"v": 2}}]),
        ('{"why": "it is } or { or \\"", "v": 1}', [{"why": 'it is } or { or "', "v": 1}]),
        ("{'why': 'the patient's } word', 'v': 1}", []),
        ("{'v': 1, 'dose': {'v': 5}}", [{"v": 1, "dose": {"v": 5}}]),
        ("{'v': \"it's } fine\", 'w': 'so'}", [{"v": "it's } fine", "w": "so"}]),
        ("{'v': None, 2: True}", [{"v": None, "2": True}]),
        ('{"v": 1, "dose": {"v": 5}', []),
        ('{"v": 1, "why": "so {"v": 5}', []),
        ('{"v": 1, "dose": {"v": 5},}', []),
        ('{"v": 1,} {"v": 2}', [{"v": 2}]),
        ('{"v": 1} {"v": {"v": 2}', [{"v": 1}]),
        ('The patient\'s "dose {see "below"} isn\'t {here: {"v": 1}', [{"v": 1}]),
        ('{{"v": 1}} in \\frac{1}{2}', [{"v": 1}]),
        ('[{"v": 1}, {"v": 2}]', [{"v": 1}, {"v": 2}]),
        ("{}", [{}]),
        ("", []),
    ],
)
def test_outermost_objects(text: str, expected: list[object]) -> None:
    assert values(text) == expected
    for begin, end, value in objects(text):
        assert values(text[begin:end]) == [value]


@pytest.mark.parametrize("size", [64, 65, 300])
def test_an_object_of_many_objects_is_one(size: int) -> None:
    inner = ", ".join('{"v": 1}' for _ in range(size))
    assert values(f'{{"m": [{inner}]}}') == [{"m": [{"v": 1}] * size}]
    assert values(f"{{'m': [{inner}]}}") == [{"m": [{"v": 1}] * size}]


def test_of_many_objects_the_last_count() -> None:
    text = " ".join(f'{{"v": {number}}}' for number in range(200))
    assert values(text) == [{"v": number} for number in range(200 - MAX_ATTEMPTS, 200)]


@pytest.mark.attack("inputs", "answers of 100,000 braces and quotes")
@pytest.mark.parametrize(
    "unit",
    ["{", "}", '"', "'", '{"', "{'", '{"a":', "{'a':", '{"a"}', "{'a'}", "{}", '"}', "'}", "\\",
     '{"\\', "{'\\", "' ", "{' :", '{"a":{}},', "{ " * 50],
)  # fmt: skip
@pytest.mark.parametrize("start", ["", '{"a": ', "{'a': "])
def test_hostile_text_ends_soon(unit: str, start: str) -> None:
    text = start + unit * (100_000 // len(unit))
    began = time.process_time()
    objects(text)
    objects(text + "}" * text.count("{"))
    assert time.process_time() - began < 2.0  # quadratic ones take ten and more


@pytest.mark.attack("inputs", "answers in Python's notation that its parser is built to fear")
@pytest.mark.parametrize(
    "value", ["-" * 15_000 + "1", "1" + "+1" * 7_000, "(" * 15_000, "[" * 7_000 + "]" * 7_000,
              "1" * 15_000, "'a' " * 3_000, "1j", "1 if 1 else " * 1_000 + "1"],
)  # fmt: skip
def test_what_pythons_parser_refuses_is_no_object(value: str) -> None:
    assert objects("{'a': " + value + "}") in ([], [(0, 12_007, {"a": "a" * 3_000})])


def test_what_is_written_anew_after_an_object_that_does_not_end_is_read() -> None:
    text = '{"answer": "B"}\nNo, the set {"x, y} is wrong.\n{"answer": "A"}'
    assert [value for _, _, value in objects(text)] == [{"answer": "B"}, {"answer": "A"}]
    assert [value for _, _, value in objects('{"size": "5" tall"}\n{"size": "5"}')] == [
        {"size": "5"}
    ]
    cut = '{"drugs": [\n  {"drug": "a"},\n  {"drug": "b"},\n'
    assert objects(cut) == []
