"""Files of a folder may be named by patients' record numbers: messages number them instead."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, DataError, MedhelmSparkError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.scenarios import read_card, with_known_hashes
from medhelm_spark.user_data.own_columns import check_own_columns
from medhelm_spark.user_data.own_data import OwnData, replaced
from medhelm_spark.user_data.own_rows import check_own_rows

NUMBER = "MRN-"
HEADER = "id,question,correct_answer\n"
ROW = HEADER + "1,Is it so?,yes\n"


def folder(path: Path, *contents: str, ending: str = "csv") -> Path:
    """A folder of files with these contents, each named by a record number."""
    path.mkdir()
    for number, content in enumerate(contents, 1):
        (path / f"{NUMBER}{number}.{ending}").write_text(content)
    return path


def benchmark(path: Path, dataset: str) -> ScenarioCard:
    """The card of a benchmark beside whose file the data set is."""
    (path / "prompt.txt").write_text("{question}\nAnswer yes or no:")
    (path / "benchmark.yaml").write_text(
        "name: CASES\ndescription: d\nprompt_file: prompt.txt\n"
        f"dataset_file: {dataset}\nmetrics: [{{name: exact_match}}]\n"
    )
    return load_benchmark(path / "benchmark.yaml").card


def own(path: Path, *contents: str, ending: str = "csv") -> ScenarioCard:
    """A benchmark's card with a folder of one's own files in place of its data."""
    (path / "base.csv").write_text(ROW)
    card = benchmark(path, "base.csv")
    return replaced(card, OwnData(paths=str(folder(path / "cases", *contents, ending=ending))))


def message_of(call: Callable[[], object], kind: type[MedhelmSparkError] = DataError) -> str:
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert NUMBER not in message
    return message


def test_a_reading_of_all_files_numbers_them(tmp_path: Path) -> None:
    card = own(tmp_path, ROW, "id,question\n2,q\n")
    message = message_of(lambda: list(read_card(card)))
    assert message.startswith(f"file 2 of 2 in {tmp_path / 'cases'}: needs column")


def test_a_file_without_rows_is_numbered(tmp_path: Path) -> None:
    card = own(tmp_path, ROW, HEADER)
    message = message_of(lambda: check_own_columns(card, print))
    assert message == f"file 2 of 2 in {tmp_path / 'cases'}: has no row."


def test_a_file_of_objects_without_a_column_is_numbered(tmp_path: Path) -> None:
    row = '{"id": "1", "question": "q", "correct_answer": "yes"}\n'
    card = own(tmp_path, row, row.replace("question", "quest"), ending="jsonl")
    message = message_of(lambda: check_own_columns(card, print))
    assert message.startswith(f"file 2 of 2 in {tmp_path / 'cases'}: needs column 'question'")


def test_rows_that_repeat_or_cannot_be_used_are_numbered_by_file(tmp_path: Path) -> None:
    card = own(tmp_path, ROW, ROW + "2,Is it so?,\n")
    card = replace(card, fields={**card.fields, "id": "id"})
    reported: list[str] = []
    where = tmp_path / "cases"
    assert f"data rows 1 of file 1 of 2 in {where}, 1 of file 2 of 2 in {where}" in message_of(
        lambda: check_own_rows(card, reported.append)
    )
    (report,) = reported
    assert report.endswith(f"empty_answer in 1 (data row 2 of file 2 of 2 in {where})")
    assert NUMBER not in report


def test_the_rows_of_the_only_file_of_a_folder(tmp_path: Path) -> None:
    reported: list[str] = []
    check_own_rows(own(tmp_path, ROW + "2,Is it so?,\n"), reported.append)
    assert reported[0].startswith(f"file 1 of 1 in {tmp_path / 'cases'}: 1 of 2 rows cannot")


def test_a_file_that_cannot_be_hashed_is_numbered(tmp_path: Path) -> None:
    card = own(tmp_path, ROW)
    pinning = replace(card.source, files=(replace(card.source.files[0], sha256="0" * 64),))
    Path(card.source.files[0].path).unlink()
    message = message_of(lambda: with_known_hashes(card, replace(card, source=pinning)))
    assert message.startswith(f"file 1 of 1 in {tmp_path / 'cases'}: cannot be read")


@pytest.mark.parametrize("content", [HEADER, 'id,question,correct_answer\n2,"q,yes\n', "id\n1\n"])
def test_the_header_of_a_benchmarks_folder(tmp_path: Path, content: str) -> None:
    folder(tmp_path / "cases", ROW, content)
    message = message_of(lambda: benchmark(tmp_path, "cases"), ConfigError)
    assert message.startswith(f"file 2 of 2 in {tmp_path / 'cases'}: ")


@pytest.mark.parametrize(
    ("text", "content", "message"),
    [
        ("questin", ROW, "--text is 'questin'"),
        ("question", HEADER + "1,q,\n", "none of the first 1 rows can be used"),
    ],
)
def test_init_numbers_the_files_of_a_folder(
    tmp_path: Path, text: str, content: str, message: str
) -> None:
    cases = folder(tmp_path / "cases", content)
    evaluation = Evaluation(tmp_path / "lake", site=None, tracking=False)
    received = message_of(
        lambda: evaluation.init_benchmark(
            str(cases), tmp_path / "new", text=text, label="correct_answer", id_column="id"
        )
    )
    assert received.startswith(f"file 1 of 1 in {cases}: {message}")
