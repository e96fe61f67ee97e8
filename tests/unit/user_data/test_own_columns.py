"""One's own data without a needed column is refused before Spark is started."""

from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyarrow import parquet

from medhelm_spark import Evaluation
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import DataError, LakeError, PolicyError, UnknownNameError

PUBLIC = AccessLevel.PUBLIC
MODEL = "huggingface/smollm2-135m-instruct"


def dry_run(folder: Path, dataset: str, level: str = "private", **options: object) -> None:
    (folder / "prompt.txt").write_text("{note}")
    (folder / "benchmark.yaml").write_text(
        f"name: LETTERS\ndescription: Made up.\nprompt_file: prompt.txt\n"
        f"dataset_file: '{dataset}'\naccess_level: {level}\n"
        "columns: {id: letter_id, correct_answer: urgent}\nmetrics: [{name: exact_match}]\n"
    )
    entry = f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'},model={MODEL}"
    Evaluation(folder / "lake", site=None, tracking=False).dry_run(entry, suite="s", **options)


def written(folder: Path, form: str, row: dict[str, object]) -> str:
    """A row in data of a form; returns what benchmark.yaml calls it."""
    path = folder / f"letters.{form}"
    if form == "jsonl":
        path.write_text(str(row).replace("'", '"') + "\n")
    elif form == "parquet":
        parquet.write_table(pa.Table.from_pylist([row]), path)
    elif form == "xlsx":
        book = openpyxl.Workbook()
        book.active.append(list(row))
        book.active.append(list(row.values()))
        book.save(path)
    else:
        write_deltalake(path, pa.Table.from_pylist([row]))
        return f"table:{path}"
    return path.name


FORMS = ("jsonl", "parquet", "xlsx", "delta")
LETTER = {"letter_id": "7", "note": "Jane Roe", "urgent": "yes"}


@pytest.mark.parametrize("form", FORMS)
def test_data_of_every_form_passes_with_its_columns_and_not_without(
    tmp_path: Path, form: str
) -> None:
    (tmp_path / "bad").mkdir()
    dry_run(tmp_path, written(tmp_path, form, LETTER))
    lacking = {name: value for name, value in LETTER.items() if name != "urgent"}
    with pytest.raises(DataError, match="needs column 'urgent'") as caught:
        dry_run(tmp_path / "bad", written(tmp_path / "bad", form, lacking))
    assert "Roe" not in str(caught.value)


def test_a_table_is_public_only_where_the_person_who_runs_says_so(tmp_path: Path) -> None:
    table = written(tmp_path, "delta", LETTER)
    with pytest.raises(PolicyError, match="say who may have it and add --access-level"):
        dry_run(tmp_path, table, "public")
    dry_run(tmp_path, table, "public", access_level=PUBLIC)


def test_a_folder_that_is_no_delta_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    with pytest.raises(LakeError, match="there is no Delta table in this folder"):
        dry_run(tmp_path, "table:./letters")


def test_data_in_place_of_a_cards_is_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"question": "Jane Roe"}\n')
    evaluation = Evaluation(tmp_path / "lake", site=None, tracking=False)
    with pytest.raises(DataError, match="needs column") as caught:
        evaluation.dry_run(f"med_qa:model={MODEL}", suite="s", source=path, access_level=PUBLIC)
    assert "Roe" not in str(caught.value)


@pytest.mark.parametrize("name", ["answer", "corect_answer"])
def test_a_name_for_a_column_that_the_card_does_not_read_is_refused(
    tmp_path: Path, name: str
) -> None:
    """The data may have another column of the right name, which would be read in silence."""
    row = {"letter_id": "7", "note": "Jane Roe", "urgent": "yes", "second_reader": "no"}
    source = str(tmp_path / written(tmp_path, "jsonl", row))
    with pytest.raises(UnknownNameError, match=f"'{name}'. Did you mean 'correct_answer'"):
        dry_run(tmp_path, "letters.jsonl", source=source, columns={name: "second_reader"})
    dry_run(tmp_path, "letters.jsonl", source=source, columns={"correct_answer": "second_reader"})
