"""Lines of a file of answers, as they are read; no JVM is started."""

from pathlib import Path

from medhelm_spark.stages.import_responses import File, ReadResponses


def test_a_number_without_end_is_no_count(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"source_id": "1", "completion": "A", "prompt_tokens": 1e999, "completion_tokens": "nan", '
        '"request_time": "inf"}'
    )
    (read,) = ReadResponses()([File(path=str(path), data_version="v")])
    assert (read.problem, read.completion) == (None, "A")
    assert (read.prompt_tokens, read.completion_tokens, read.request_time) == (None, None, None)
