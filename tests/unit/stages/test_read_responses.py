"""Lines of a file of answers, as they are read; no JVM is started."""

from pathlib import Path

import pytest

from medhelm_spark.errors import DataError
from medhelm_spark.stages.import_responses import File, ReadResponses, check_file


def test_a_number_without_end_is_no_count(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"source_id": "1", "completion": "A", "prompt_tokens": 1e999, "completion_tokens": "nan", '
        '"request_time": "inf"}'
    )
    (read,) = ReadResponses()([File(path=str(path), data_version="v")])
    assert (read.problem, read.completion) == (None, "A")
    assert (read.prompt_tokens, read.completion_tokens, read.request_time) == (None, None, None)


GOOD = '{"source_id": "q0", "completion": "Jane Roe"}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"source_id": "q0"}', "line 1: no completion."),
        ('{"completion": "yes"}', "line 1: neither source_id nor instance_id."),
        ('{"source_id": "q0", "completion": ["a"]}', "line 1: completion is not text."),
        (GOOD + GOOD.replace("Jane", "John"), "line 2: its id stands in line 1 too."),
        (GOOD + "{", "line 2: "),
        ("", "has no line."),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        check_file(path, {})
    assert str(caught.value).startswith(f"{path}: {said}")
    assert "Roe" not in str(caught.value)


def test_a_good_file_passes_by_the_names_of_its_own_fields(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"Row": 1, "Answer": "a"}\n{"Row": 2, "Answer": 3}\n')
    check_file(path, {"source_id": "Row", "completion": "Answer"})
    with pytest.raises(DataError, match="line 1: neither source_id"):
        check_file(path, {})
