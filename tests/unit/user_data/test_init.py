"""A benchmark folder on one's own file, as `init` writes it; no JVM is started."""

import csv
import subprocess
import sys
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake
from pyarrow import parquet

from medhelm_spark import Evaluation, InitializedBenchmark
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.cli import main
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.scenarios import parse_records, read_card

MARK = "Jane Roe"
CHOICE = "choice"
TWENTY = [str(number) for number in range(20)]
WORDS = [f"word{number}" for number in range(25)]
SENTENCES = [f"sentence number {number}" for number in range(40)]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def letters(labels: list[str], *, header: tuple[str, ...] = ("letter_id", "note", "urgent")) -> str:
    with Path("letters.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows([i, f"{MARK}, letter {i}", label] for i, label in enumerate(labels))
    return "letters.csv"


def init(location: str, folder: str | None = None, **columns: str) -> InitializedBenchmark:
    names = {"text": "note", "label": "urgent", "id_column": "letter_id", **columns}
    return Evaluation("lake", site=None, tracking=False).init_benchmark(location, folder, **names)


def configuration() -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load(Path("letters/benchmark.yaml").read_text())
    return loaded


def test_the_folder_names_the_data_and_holds_nothing_of_its_rows(here: Path) -> None:
    made = init(letters(["yes", "no", "no", "yes"]))
    assert configuration() == {
        "name": "LETTERS",
        "description": f"The column urgent of {here / 'letters.csv'}.",
        "access_level": "private",
        "prompt_file": "prompt.txt",
        "dataset_file": str(here / "letters.csv"),
        "columns": {"id": "letter_id", "correct_answer": "urgent"},
        "answer_extraction": "yes_no",
        "max_tokens": 16,
        "metrics": [{"name": "exact_match"}],
    }
    first_line = Path("letters/benchmark.yaml").read_text("utf-8").split("\n", 1)[0]
    assert first_line.endswith("$schema=benchmark.schema.json")
    assert sorted(path.name for path in Path("letters").iterdir()) == [
        "benchmark.schema.json",
        "benchmark.yaml",
        "prompt.txt",
    ]
    assert not [path for path in Path("letters").iterdir() if MARK in path.read_text()]
    assert (made.rows, made.labels) == (4, ("no", "yes"))
    assert f"{MARK}, letter 0" in made.prompt
    assert "Reply with one of these alone: no, yes." in made.prompt
    assert MARK not in repr(made)


def test_the_next_command_is_one_that_runs() -> None:
    made = init(letters(["yes", "no", "no"]), "my letters")
    words = made.next_command.split(" -r ")
    assert words[0] == "medhelm-spark run --suite 'my letters' -m 10"
    runs = Evaluation("lake", site=None, tracking=False).dry_run(
        words[1].strip("'"), suite="my letters"
    )
    assert [run.card.access_level for run in runs.runs] == ["private"]


@pytest.mark.parametrize(
    ("labels", "listed", "reading", "metrics"),
    [
        (["A", "B", "C", "A"], ("A", "B", "C"), CHOICE, ["exact_match"]),
        (["low", "high", "low"], ("high", "low"), CHOICE, ["exact_match"]),
        (["Y", "N ", " Y"], ("N", "Y"), CHOICE, ["exact_match"]),
        (["yes", "no", "unclear", "no"], ("no", "unclear", "yes"), CHOICE, ["exact_match"]),
        (["Yes", "no", "no"], ("Yes", "no"), "yes_no", ["exact_match"]),
        (["<65", "65 or more", "<65"], ("65 or more", "<65"), None, ["exact_match"]),
        (["A", "AB", "A"], ("A", "AB"), None, ["exact_match"]),
        (["low", "Low", "low"], ("Low", "low"), None, ["exact_match"]),
        (["low", "high", "", " "], (), None, ["exact_match"]),
        (["", " ", *TWENTY, "0"], tuple(sorted(TWENTY)), CHOICE, ["exact_match"]),
        ([*TWENTY, "20", "0"], (), None, ["exact_match"]),
        ([str(number) for number in range(30)], (), None, ["exact_match"]),
        (["see a doctor", "wait a week"], (), None, ["rouge_l", "exact_match"]),
        ([*WORDS, *SENTENCES], (), None, ["rouge_l", "exact_match"]),
        ([*WORDS, *SENTENCES[:10]], (), None, ["exact_match", "rouge_l"]),
        (["x" * 41, "y", "y"], (), None, ["exact_match"]),
    ],
)
def test_few_answers_are_listed_and_read_as_what_they_are(
    labels: list[str], listed: tuple[str, ...], reading: str | None, metrics: list[str]
) -> None:
    made = init(letters(labels))
    assert made.labels == listed
    options = {"method": CHOICE, "options": list(listed)}
    extraction = options if reading == CHOICE else reading
    assert configuration().get("answer_extraction") == extraction
    assert configuration()["metrics"] == [{"name": name} for name in metrics]


@pytest.mark.parametrize(
    ("labels", "max_tokens"),
    [(["low", "high"], 16), (["x" * 40, "y"], 48), (["\u5b89" * 40, "y"], 128)],
)
def test_the_longest_label_has_room(labels: list[str], max_tokens: int) -> None:
    init(letters([*labels, *labels]))
    assert configuration()["max_tokens"] == max_tokens


def test_an_answer_that_names_another_label_is_read() -> None:
    init(letters(["urgent", "emergency", "urgent"]))
    entry = "medhelm_configurable_benchmark:config_path=letters/benchmark.yaml"
    (run,) = (
        Evaluation("lake", site=None, tracking=False)
        .dry_run(f"{entry},model=huggingface/smollm2-135m-instruct", suite="s")
        .runs
    )
    how = run.card.answer_extraction
    for right in ("urgent", "emergency"):
        for named, other in (("urgent", "emergency"), ("emergency", "urgent")):
            completion = f"I choose {named} over {other}."
            assert read_answer(completion, how, output_mapping={}, references=[right]) == named


def test_columns_of_any_name_can_be_the_text() -> None:
    path = letters(["yes", "no", "no"], header=("id", "note {free: text}", "correct_answer"))
    made = init(path, text="note {free: text}", label="correct_answer", id_column="id")
    assert configuration()["columns"] == {"text": "note {free: text}"}
    assert f"{MARK}, letter 0" in made.prompt


def test_a_folder_that_is_there_is_left_alone() -> None:
    path = letters(["yes", "no", "no"])
    Path("letters").mkdir()
    with pytest.raises(ConfigError, match="letters: is there already"):
        init(path)
    assert not list(Path("letters").iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"text": "nota"},
            "letters.csv: --text is 'nota', which is none of its 3 columns; "
            "columns: 'letter_id', 'note', 'urgent'; is 'note' meant?",
        ),
        (
            {"label": "severity"},
            "--label is 'severity', which is none of its 3 columns; columns: 'letter_id',",
        ),
        (
            {"id_column": "case"},
            "--id is 'case', which is none of its 3 columns; columns: 'letter_id',",
        ),
        ({"label": " "}, "label (--label) is empty"),
        ({"folder": "a,b"}, "folder is 'a,b'; allowed"),
    ],
)
def test_what_cannot_be_a_benchmark_leaves_no_folder(options: dict[str, str], message: str) -> None:
    data_file = letters(["yes", "no", "no"])
    with pytest.raises((ConfigError, DataError)) as caught:
        init(data_file, **options)
    assert message in str(caught.value)
    assert MARK not in str(caught.value)
    assert [path.name for path in Path().iterdir()] == ["letters.csv"]


KILLED = """
import os, signal
from medhelm_spark.user_data import init
from medhelm_spark.cli import main
init._filled = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main(["init", "--file", "letters.csv", "--text", "note", "--label", "urgent"])
"""


def test_one_that_is_killed_leaves_no_folder_and_the_same_command_makes_it(here: Path) -> None:
    letters(["yes", "no", "no"])
    assert subprocess.run([sys.executable, "-c", KILLED], check=False).returncode == -SIGKILL
    assert (here / ".letters.unfinished").is_dir(), "it was killed as it wrote"
    assert not (here / "letters").exists()
    command = ["init", "--file", "letters.csv", "--text", "note", "--label", "urgent"]
    assert main(command) == 0
    names = sorted(path.name for path in here.iterdir())
    assert names == ["letters", "letters.csv"]


def test_an_error_names_the_folder_that_was_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"^ mine/benchmark.yaml: name is ' MINE'"):
        init(letters(["yes", "no", "no"]), " mine")


def test_the_first_line_of_a_file_without_a_header_is_not_shown() -> None:
    Path("letters.csv").write_text(f"1,{MARK},yes\n2,{MARK},no\n")
    with pytest.raises(
        DataError, match="none of its 3 columns; is the header line missing"
    ) as error:
        init("letters.csv")
    assert MARK not in str(error.value)


def test_the_flag_is_named_for_a_table_too(here: Path) -> None:
    write_deltalake("clinic/letters", pa.table({"letter_id": [1], "note": ["x"], "urgent": ["no"]}))
    with pytest.raises(
        DataError, match=r"'letter_id', 'note', 'urgent'. 'note' may be meant. Given: --text 'nota'"
    ):
        init("table:clinic/letters", text="nota")


def test_rows_without_an_answer_are_counted_and_numbered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = init(letters(["yes", "", "no", " ", "yes"]))
    printed = capsys.readouterr().err
    assert printed == (
        f"{Path('letters.csv').absolute()}: 2 of 5 rows cannot be used and would be left out: "
        "empty_answer in 2 (data rows 2, 4)\n"
    )
    assert MARK not in printed
    evaluation = Evaluation("lake", site=None, tracking=False)
    evaluation.dry_run(f"{made.entry},model=huggingface/smollm2-135m-instruct", suite="s")
    assert capsys.readouterr().err == printed


def test_ids_that_repeat_are_counted_and_numbered_before_anything_is_written() -> None:
    path = letters(["yes", "no", "no", "yes"])
    lines = Path(path).read_text().splitlines()
    made = init(path, "kept")
    Path(path).write_text("\n".join([*lines, lines[2], lines[4], lines[4]]) + "\n")
    message = r"2 ids in more than one of 7 rows: 5 \(data rows 2, 5, 4, 6, 7\); each row needs"
    with pytest.raises(DataError, match=message):
        init(path)
    assert not Path("letters").exists()
    with pytest.raises(DataError, match=message):
        Evaluation("lake", site=None, tracking=False).dry_run(
            f"{made.entry},model=huggingface/smollm2-135m-instruct", suite="s"
        )


def test_rows_that_cannot_be_used_are_refused_with_their_reason() -> None:
    with pytest.raises(DataError, match=r"none of the first 2 rows can be used \(empty_answer\)"):
        init(letters(["", ""]))
    assert not Path("letters").exists()


def references(folder: str = "letters") -> list[tuple[str, str, str]]:
    """Id, prompt and right answer of each row, as a run reads them."""
    scenario = load_benchmark(Path(folder, "benchmark.yaml")).card
    found = parse_records(read_card(scenario), scenario, "v")
    return [
        (each.source_id, each.input.split("\n\n")[1], each.references[0].text)
        for each in found
        if isinstance(each, Instance)
    ]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        (("rid", "correct_answer", "urgent"), {"text": "correct_answer", "id_column": "rid"}),
        (("rid", "id", "urgent"), {"text": "id", "id_column": "rid"}),
        (("id", "text", "correct_answer"), {"text": "correct_answer", "label": "text"}),
        (("correct_answer", "note", "id"), {"id_column": "correct_answer", "label": "id"}),
    ],
)
def test_columns_that_are_called_as_ours_keep_their_meaning(
    header: tuple[str, ...], columns: dict[str, str]
) -> None:
    named = {"id_column": header[0], **columns}
    init(letters(["yes", "no", "no"], header=header), **named)
    names = {"text": "note", "label": "urgent", **named}
    notes = [f"{MARK}, letter {number}" for number in range(3)]
    by_name = {header[0]: ["0", "1", "2"], header[1]: notes, header[2]: ["yes", "no", "no"]}
    expected = [by_name[names[key]] for key in ("id_column", "text", "label")]
    assert references() == list(zip(*expected, strict=True))


@pytest.mark.parametrize(
    ("header", "columns", "message"),
    [
        (("n", "id", "urgent"), {"text": "id", "id_column": None}, "text .* has the ids"),
        (("n", "note", "id"), {"label": "id", "id_column": None}, "label .* has the ids"),
        (("n", "incorrect_answers", "urgent"), {"text": "incorrect_answers"}, "has the wrong"),
        (("n", "note", "urgent"), {"text": "urgent"}, "the prompt would contain the right answer"),
    ],
)
def test_columns_whose_names_rule_a_meaning_out_are_refused(
    header: tuple[str, ...], columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        init(letters(["yes", "no", "no"], header=header), **{"id_column": "n", **columns})
    assert not Path("letters").exists()


def test_labels_that_differ_by_case_or_blanks_are_told() -> None:
    assert init(letters(["Yes", "no", "yes ", "no"])).alike == (("Yes", "yes "),)
    assert not init(letters(["yes", "no", "no"]), "other").alike


def test_whole_labels_lose_the_point_that_only_their_type_gave_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    columns = {"letter_id": ["1", "2", "3"], "note": ["a", "b", "c"], "urgent": [1.0, 0.0, 1.0]}
    parquet.write_table(pa.table(columns), "letters.parquet")
    assert init("letters.parquet").labels == ("0", "1")
    path = letters(["1.0", "0.0", "1.0"])
    assert main(["init", "written", "--file", path, "--text", "note", "--label", "urgent"]) == 0
    printed = capsys.readouterr().err
    assert "whole numbers with a point, as 1.0: a reply of 1 is none of them; write them" in printed


def test_an_export_of_a_spreadsheet_is_recognised_and_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "Briefe\n\nletter_id;note;urgent\nn1;müde, fiebrig;ja\nn2;gesund;nein\nn3;Husten;ja\n"
    Path("letters.csv").write_bytes(text.encode("cp1252"))
    made = init("letters.csv")
    assert (made.rows, made.labels) == (3, ("ja", "nein"))
    printed = capsys.readouterr().err
    assert "encoding Windows-1252, columns separated by ';', column names in row 2" in printed
    assert references()[0] == ("n1", "müde, fiebrig", "ja")


def test_what_is_said_of_a_file_stands_in_the_configuration() -> None:
    Path("letters.csv").write_bytes(
        "letter_id^note^urgent\n1^Łódź^tak\n2^x^nie\n3^y^nie\n".encode("cp1250")
    )
    evaluation = Evaluation("lake", site=None, tracking=False)
    evaluation.init_benchmark(
        "letters.csv", text="note", label="urgent", separator="^", encoding="Windows-1250"
    )
    assert configuration()["separator"] == "^"
    assert configuration()["encoding"] == "Windows-1250"
    assert references()[0][1:] == ("Łódź", "tak")
    with pytest.raises(ConfigError, match="encoding is 'klingon'; allowed"):
        evaluation.init_benchmark(
            "letters.csv", "b", text="note", label="urgent", encoding="klingon"
        )


def test_a_folder_that_spark_wrote_is_one_table() -> None:
    folder = Path("letters.parquet")
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for part in (0, 1):
        rows = {"letter_id": [part * 2, part * 2 + 1], "note": ["a", "b"], "urgent": [True, False]}
        parquet.write_table(pa.table(rows), folder / f"part-0000{part}.c000.snappy.parquet")
    made = init(str(folder))
    assert (made.rows, made.labels) == (4, ("false", "true"))
    assert [row[0] for row in references()] == ["0", "1", "2", "3"]


def test_a_delta_folder_of_the_bare_name_is_found(here: Path) -> None:
    write_deltalake("letters", pa.table({"letter_id": [1], "note": ["x"], "urgent": ["no"]}))
    with pytest.raises(DataError, match=r"needs column 'nota'.* 'note' may be meant"):
        init("table:letters", "made", text="nota")


@pytest.mark.attack("errors", "a csv without a header, one of whose first cells is a name given")
@pytest.mark.parametrize(
    "first", [["MRN-0042", "note", "no"], ["7", "note", MARK], ["x", "note", f"{MARK} came in ill"]]
)
def test_the_first_row_of_a_file_without_a_header_is_not_shown(first: list[str]) -> None:
    letters(["yes", "no"], header=(first[0], first[1], first[2]))
    with pytest.raises(DataError) as caught:
        init("letters.csv")
    assert "is the header line missing?" in str(caught.value)
    assert not [cell for cell in first if cell != "note" and repr(cell) in str(caught.value)]


@pytest.mark.attack("errors", "init's filled prompt of a private row in a pipe or a job's log")
def test_the_filled_prompt_goes_to_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ["--file", letters(["yes", "no", "no"]), "--text", "note", "--label", "urgent"]
    options = ["-o", "lake", "--local-path", "site"]
    Path("site").mkdir()
    assert main(["init", "piped", *flags, *options]) == 0
    printed = capsys.readouterr()
    assert MARK not in printed.out + printed.err
    assert "the filled prompt is shown in a terminal" in printed.err
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["init", "typed", *flags, *options]) == 0
    assert MARK in capsys.readouterr().out


def test_question_positive_label_cluster_and_metric_are_written(here: Path) -> None:
    columns = ("letter_id", "note", "urgent")
    path = letters(["yes", "no", "no", "yes"], header=columns)
    made = init(
        path,
        question="Is {this} letter urgent?",
        positive="yes",
        cluster="letter_id",
        metric="sensitivity",
    )
    assert made.prompt.startswith("Is {this} letter urgent?\n")
    written = configuration()
    assert written["cluster_column"] == "letter_id"
    classes = {"labels": "no|yes", "positive": "yes"}
    assert written["metrics"] == [{"name": "sensitivity", "args": classes}, {"name": "exact_match"}]
    card = load_benchmark(Path("letters/benchmark.yaml")).card
    assert card.main_metric == "sensitivity"


def test_a_positive_label_alone_adds_the_two_by_two_table(here: Path) -> None:
    init(letters(["yes", "no", "no", "yes"]), positive="yes")
    classes = {"labels": "no|yes", "positive": "yes"}
    assert configuration()["metrics"] == [
        {"name": "exact_match"},
        {"name": "diagnostic_accuracy", "args": classes},
    ]


@pytest.mark.parametrize(
    ("labels", "more", "why"),
    [
        (["yes", "no", "no", "yes"], {"positive": "Yes"}, "none of the data's 2 right answers"),
        (WORDS, {"positive": "word1"}, "no 2 to 20 short ones"),
        (["yes", "no", "no", "yes"], {"cluster": "patient"}, "patient"),
        (["yes", "no", "no", "yes"], {"metric": "exactmatch"}, "exactmatch"),
    ],
    ids=["another spelling", "many answers", "no such column", "no such metric"],
)
def test_what_the_data_or_the_package_does_not_have_is_refused_and_nothing_is_written(
    here: Path, labels: list[str], more: dict[str, str], why: str
) -> None:
    with pytest.raises((ConfigError, DataError), match=why):
        init(letters(labels), **more)
    assert not Path("letters").exists()
