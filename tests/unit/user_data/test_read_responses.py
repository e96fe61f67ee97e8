"""Answers as they are read, from files of every form; no JVM is started."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from medhelm_spark.errors import ConfigError, DataError, UnknownNameError
from medhelm_spark.user_data.read_responses import (
    File,
    ReadResponses,
    Response,
    answers_at,
    check_file,
    parse_fields,
)

Rows = Sequence[Mapping[str, Any]]


def written(path: Path, rows: Rows) -> Path:
    """The rows in a file of the form that its suffix names."""
    if path.suffix in (".csv", ".tsv"):
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter=",\t"[path.suffix == ".tsv"])
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for cells in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(cells)
        book.save(path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(list(rows)))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, fields: str = "") -> list[Response]:
    answers = answers_at(str(path), parse_fields(fields))
    check_file(answers)
    return list(ReadResponses(answers)([File(paths=answers.parts)]))


def test_a_number_without_end_is_no_count(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"source_id": "1", "completion": "A", "prompt_tokens": 1e999, "completion_tokens": "nan", '
        '"request_time": "inf"}'
    )
    (answer,) = read(path)
    assert (answer.problem, answer.completion) == (None, "A")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.request_time) == (None,) * 3


ENDINGS = ("jsonl", "json", "csv", "tsv", "parquet", "xlsx")


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_form_of_file_gives_the_same_answers(tmp_path: Path, ending: str) -> None:
    rows = [
        {"letter": "a1", "answer": "yes,\nurgent", "try": 0, "seconds": 0.5},
        {"letter": "a1", "answer": "no", "try": 1, "seconds": 1.5},
        {"letter": "a2", "answer": "żółć", "try": 0, "seconds": 2.5},
    ]
    path = written(tmp_path / f"answers.{ending}", rows)
    answers = read(path, "source_id=letter,completion=answer,trial=try,request_time=seconds")
    assert [(a.source_id, a.completion, a.trial, a.request_time) for a in answers] == [
        tuple(row.values()) for row in rows
    ]


def test_lines_of_json_may_lie_in_a_file_that_is_called_json_or_anything(tmp_path: Path) -> None:
    for name in ("answers.json", "answers.out"):
        path = tmp_path / name
        path.write_text('{"source_id": "a", "completion": "b"}\n')
        assert [answer.completion for answer in read(path)] == ["b"]


@pytest.mark.parametrize("ending", ("csv", "parquet", "xlsx"))
def test_a_table_without_the_needed_columns_is_refused_before_its_rows(
    tmp_path: Path, ending: str
) -> None:
    path = written(tmp_path / f"answers.{ending}", [{"letter": "Jane Roe", "answer": "yes"}])
    with pytest.raises(DataError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: needs column 'source_id' or 'instance_id', 'completion'")
    assert message.endswith("--fields names the columns.")
    assert "Roe" not in message


GOOD = '{"source_id": "q0", "completion": "Jane Roe"}\n'
SECOND = '{"source_id": "q0", "completion": "a", "trial": 1}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"source_id": "q0"}', "line 1: no completion."),
        ('{"completion": "yes"}', "line 1: neither source_id nor instance_id."),
        ('{"source_id": "", "completion": "yes"}', "line 1: neither source_id nor instance_id."),
        ('{"source_id": "q0", "completion": ["a"]}', "line 1: completion is not text."),
        (GOOD + GOOD.replace("Jane", "John"), "line 2: its id is in line 1 too."),
        (GOOD + SECOND * 2, "line 3: its id is in line 2 too for trial 1."),
        (SECOND.replace("1}", "-1}"), "line 1: trial is no whole number from 0 on."),
        (SECOND.replace("1}", '"first"}'), "line 1: trial is no whole number from 0 on."),
        (SECOND.replace("1}", "1e30}"), "line 1: trial is no whole number from 0 on."),
        (
            '{"source_id": "q0", "completion": "\\ud800"}',
            "line 1: completion contains half a character (a lone surrogate).",
        ),
        (
            GOOD + GOOD.replace('"q0"', '"q0", "instance_id": "of the log"'),
            "line 2: its id is in line 1 too.",
        ),
        (GOOD + "{", "line 2: broken_json."),
        ("", "has no line."),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {message}"


def test_a_bad_row_of_a_csv_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("source_id,completion\nq0,yes\nq0,no\n")
    with pytest.raises(DataError, match="row 2: its id is in row 1 too"):
        read(path)


def test_a_good_file_passes_by_the_names_of_its_own_fields(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"Row": 1, "Answer": "a"}\n{"Row": 2, "Answer": 3}\n')
    assert len(read(path, "source_id=Row,completion=Answer")) == 2
    with pytest.raises(DataError, match="line 1: neither source_id"):
        read(path)
    with pytest.raises(UnknownNameError, match="unknown field 'answer'"):
        answers_at(str(path), {"answer": "Answer"})


def completion(text: str) -> dict[str, Any]:
    """What a server of OpenAI's protocol sends back."""
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 211, "completion_tokens": 3, "total_tokens": 214},
    }


def test_an_inference_table_of_a_deployed_application(tmp_path: Path) -> None:
    """Requests and responses as JSON texts, beside the caller's own id of the request."""
    rows = [
        {
            "client_request_id": name,
            "databricks_request_id": f"d-{name}",
            "request_time": "2026-03-02T08:00:00Z",
            "status_code": 200,
            "execution_duration_ms": 812,
            "request": json.dumps({"messages": [{"role": "user", "content": "Jane Roe"}]}),
            "response": json.dumps(completion("yes")),
        }
        for name in ("q0", "q1")
    ]
    answers = read(
        written(tmp_path / "logged.parquet", rows),
        "source_id=client_request_id,completion=response.choices.0.message.content,"
        "prompt_tokens=response.usage.prompt_tokens",
    )
    assert [(a.source_id, a.completion, a.prompt_tokens) for a in answers] == [
        ("q0", "yes", 211),
        ("q1", "yes", 211),
    ]
    assert answers[0].request_time is None, "the moment of a request is not its duration"


@pytest.mark.parametrize(
    ("answer", "path"),
    [("yes", "answer"), ({"result": "yes", "errorMessage": None}, "answer.result")],
)
def test_the_output_of_ai_query_is_a_text_or_a_struct(
    tmp_path: Path, answer: object, path: str
) -> None:
    file = written(tmp_path / "answered.parquet", [{"letter_id": 7, "answer": answer}])
    (read_answer,) = read(file, f"source_id=letter_id,completion={path}")
    assert (read_answer.source_id, read_answer.completion) == ("7", "yes")


def test_traces_that_mlflow_exports(tmp_path: Path) -> None:
    """A table of traces: the output as it was returned, tags by name, times in milliseconds."""
    rows = [
        {
            "trace_id": f"tr-{number}",
            "client_request_id": None,
            "state": "OK",
            "request_time": 1795451286856,
            "execution_duration": 52,
            "request": {"letter": "Jane Roe"},
            "response": response,
            "trace_metadata": {"mlflow.traceOutputs": json.dumps(response)},
            "tags": {"mlflow.traceName": "triage", "letter_id": f"q{number}"},
        }
        for number, response in enumerate(["yes", completion("no")])
    ]
    first = written(tmp_path / "plain.jsonl", rows[:1])
    (plain,) = read(first, "source_id=tags.letter_id,completion=response")
    assert (plain.source_id, plain.completion, plain.request_time) == ("q0", "yes", None)
    second = written(tmp_path / "nested.jsonl", rows[1:])
    for path in ("response", "trace_metadata.mlflow.traceOutputs"):
        fields = f"source_id=tags.letter_id,completion={path}.choices.0.message.content"
        (nested,) = read(second, fields)
        assert (nested.source_id, nested.completion) == ("q1", "no")


def test_an_absent_value_is_no_word(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    for line, problem in (
        ('{"source_id": "r2", "completion": NaN}', "line 2: no completion"),
        ('{"source_id": NaN, "completion": "yes"}', "line 2: neither source_id nor instance_id"),
        ('{"source_id": "r2", "completion": ["yes"]}', "line 2: completion is not text"),
        ('{"source_id": {"a": 1}, "completion": "yes"}', "line 2: source_id is not text"),
        ('{"source_id": "r2", "completion": "yes \\ud83d"}', "line 2: completion contains half a"),
    ):
        path.write_text('{"source_id": "r1", "completion": "yes"}\n' + line + "\n")
        with pytest.raises(DataError, match=problem):
            read(path)


def test_bytes_and_truths_are_the_text_that_data_would_have(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    ids = pa.array([1.0, 2.0, 3.0])
    completions = [b"yes", "für alle".encode(), b"true"]
    parquet.write_table(pa.table({"source_id": ids, "completion": completions}), path)
    assert [(each.source_id, each.completion) for each in read(path)] == [
        ("1", "yes"),
        ("2", "für alle"),
        ("3", "true"),
    ]
    parquet.write_table(pa.table({"source_id": ["1"], "completion": [b"\xff\xfe"]}), path)
    with pytest.raises(DataError, match="row 1: completion is not text"):
        read(path)
    lines = tmp_path / "answers.jsonl"
    lines.write_text('{"source_id": "1", "completion": true}')
    assert [each.completion for each in read(lines)] == ["true"]


def test_an_id_is_its_text_and_a_whole_number_of_a_floating_type_has_no_point(
    tmp_path: Path,
) -> None:
    written_out = tmp_path / "answers.csv"
    written_out.write_text("source_id,completion\n1.0,yes\n")
    assert [each.source_id for each in read(written_out)] == ["1.0"]
    rows = [{"source_id": 1.0, "completion": "yes"}]
    for ending in ("parquet", "xlsx"):
        path = written(tmp_path / f"answers.{ending}", rows)
        assert [each.source_id for each in read(path)] == ["1"]


def test_a_failed_line_of_a_batch_file_is_refused_until_it_is_left_out(tmp_path: Path) -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}
    lines: list[dict[str, Any]] = [
        {"custom_id": f"r{n}", "response": {"status_code": 200, "body": body}} for n in (1, 2, 3)
    ]
    refused = {"status_code": 400, "body": {"error": {"message": "too long"}}}
    lines[1] = {"custom_id": "r2", "response": refused}
    fields = "source_id=custom_id,completion=response.body.choices.0.message.content"
    path = written(tmp_path / "batch.jsonl", lines)
    with pytest.raises(DataError, match="line 2: no completion"):
        read(path, fields)
    answered = [line for line in lines if line["response"]["status_code"] == 200]
    found = read(written(path, answered), fields)
    assert [(each.source_id, each.completion) for each in found] == [("r1", "yes"), ("r3", "yes")]


def test_a_column_whose_name_has_a_comma_stands_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text('Case no.,"Answer, final",Answer = short\nr1,yes,no\n')
    for fields, completion in (
        ("source_id=Case no.,completion='Answer, final'", "yes"),
        ('completion="Answer, final", source_id=Case no.', "yes"),
        ("source_id=Case no.,completion=Answer = short", "no"),
    ):
        assert [each.completion for each in read(path, fields)] == [completion]
    with pytest.raises(ConfigError, match="is not NAME=COLUMN"):
        parse_fields("completion=Answer, final")


def test_a_folder_of_parts_is_one_file_of_answers(tmp_path: Path) -> None:
    folder = tmp_path / "answers.csv"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.csv.crc").write_bytes(b"crc")
    for name in ("~$part-0.csv", "Thumbs.db", "desktop.ini"):
        (folder / name).write_bytes(b"\xd0\xcf\x11\xe0")
    for part in (0, 1):
        (folder / f"part-0000{part}.csv").write_text(f"source_id,completion\nr{part},yes\n")
    assert [(each.row, each.source_id) for each in read(folder)] == [(1, "r0"), (2, "r1")]
    before = answers_at(str(folder), {}).revision
    (folder / "part-00001.csv").write_text("source_id,completion\nr1,no\n")
    assert answers_at(str(folder), {}).revision != before
    (folder / "_delta_log").mkdir()
    with pytest.raises(DataError, match="is a Delta table; name it table:"):
        answers_at(str(folder), {})


def test_nameless_columns_blank_rows_and_semicolons_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("source_id;completion;;\nr1;yes, now;;\n;;;\nr2;no;;\n")
    notes: list[str] = []
    check_file(answers_at(str(path), {}), notes.append)
    assert notes == [f"{path}: recognised columns separated by ';'"]
    assert [each.completion for each in read(path)] == ["yes, now", "no"]
