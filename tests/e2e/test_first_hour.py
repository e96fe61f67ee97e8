"""One's own table, model and answers, from nothing to a board in three commands, with the wheel.

What is typed and what is printed is written to `MEDHELM_SPARK_TRANSCRIPT` where that names a file.
"""

import csv
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.installed import checked
from tests.spark.model_server import ModelServer

pytestmark = pytest.mark.long

SMALL = "huggingface/smollm2-135m-instruct"
NOTES = (
    ("L1", "Chest pain since an hour, sweating.", "yes"),
    ("L2", "Wishes a copy of last year's report.", "no"),
    ("L3", "Fever of 39.5 after chemotherapy.", "yes"),
    ("L4", "Repeat prescription of vitamin D.", "no"),
)

Typed = Callable[[str], str]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """A model that others serve behind OpenAI's protocol; it answers `yes`."""
    server = ModelServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def typed(command: Path, tmp_path: Path) -> Typed:
    """What a person types in an empty folder, and sees."""
    transcript = os.environ.get("MEDHELM_SPARK_TRANSCRIPT", os.devnull)

    def run(line: str) -> str:
        output = checked(command, *shlex.split(line)[1:], folder=tmp_path)
        with Path(transcript).open("a", encoding="utf-8") as stream:
            stream.write(f"$ {line}\n{output}\n")
        return output

    return run


def write_csv(path: Path, header: tuple[str, ...], *rows: tuple[str, ...]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])


def write_letters(folder: Path) -> None:
    write_csv(folder / "letters.csv", ("letter_id", "note", "urgent"), *NOTES)


def entry(folder: str, model: str) -> str:
    return f"'medhelm_configurable_benchmark:config_path={folder}/benchmark.yaml,model={model}'"


def test_my_delta_table(typed: Typed, tmp_path: Path) -> None:
    columns = dict(zip(("letter_id", "note", "urgent"), zip(*NOTES, strict=True), strict=True))
    write_deltalake(tmp_path / "letters_table", pa.table(columns))
    columns_said = "--text note --label urgent --id letter_id"
    output = typed(f"medhelm-spark init letters --table ./letters_table {columns_said}")
    assert not any(note in output for _, note, _ in NOTES), "private rows are shown in a terminal"
    assert "medhelm-spark run" in output
    output = typed(f"medhelm-spark run --suite first -r {entry('letters', SMALL)}")
    assert "4 model calls" in output
    assert "n=4" in output
    output = typed("medhelm-spark answers --suite first --text-levels private")
    assert all(note in output for _, note, _ in NOTES)


def test_my_csv_and_my_server(typed: Typed, tmp_path: Path, server: ModelServer) -> None:
    write_letters(tmp_path)
    model = f"vllm/ward@http://127.0.0.1:{server.port}/v1"
    typed("medhelm-spark init --file letters.csv --text note --label urgent --id letter_id")
    assert "answered, " in typed(f"medhelm-spark models --check {model}")
    output = typed(
        f"medhelm-spark run --suite first -r {entry('letters', model)} --attest-locality local"
    )
    assert "0.500" in output
    assert "n=4" in output


def test_my_answers(typed: Typed, tmp_path: Path) -> None:
    write_letters(tmp_path)
    answers = [(name, "Yes, **urgent**." if right == "yes" else "No.") for name, _, right in NOTES]
    write_csv(tmp_path / "answers.csv", ("letter", "reply"), *answers)
    typed("medhelm-spark init --file letters.csv --text note --label urgent --id letter_id")
    output = typed(
        f"medhelm-spark import-responses --suite first -r {entry('letters', 'ward/pilot')} "
        "--file answers.csv --fields source_id=letter,completion=reply --attest-locality local"
    )
    assert "1.000" in output
    assert "n=4" in output
    output = typed("medhelm-spark answers --suite first --text-levels private")
    assert "Yes, **urgent**." in output
