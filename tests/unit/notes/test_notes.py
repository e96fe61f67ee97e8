"""Flags and notes on answers: what is stored, who sees it, and where it comes back."""

from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.board import (
    BoardSource,
    InstanceKey,
    Kind,
    Viewer,
    instance_detail,
    load_runs,
)
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import ConfigError, LakeError, PolicyError, UnknownNameError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.notes.stored import stored_notes, write_note
from medhelm_spark.notes.tables import AnswerNote, Flag
from tests.unit.board.planted import ALPHA, BETA, plant

TRIAGE, NOTE = "triage_choice", "discharge_note"
SAID = "the label is that of another letter"
HERE = Viewer.THIS_MACHINE


@pytest.fixture
def here(tmp_path: Path) -> Evaluation:
    return Evaluation(plant(tmp_path / "lake"), site=None, tracking=False, say=lambda line: None)


def key(scenario: str, number: int = 0) -> InstanceKey:
    return InstanceKey(instance_id=f"{scenario}-i{number}")


def notes_in(here: Evaluation, viewer: Viewer = HERE) -> list[AnswerNote]:
    reader = open_reader(here.location)
    runs = load_runs(reader, BoardSource(kind=Kind.SUITE, name="s1"))
    ids = [run.run_spec.run_spec_id for run in runs]
    return list(stored_notes(reader, ids, viewer=viewer).values())


def test_a_note_has_the_level_of_its_answer_and_is_hidden_from_who_may_not_see_it(here) -> None:
    assert notes_in(here) == []
    here.notes.write(TRIAGE, ALPHA, key(TRIAGE), suite="s1", flags=["harmful"], text=f" {SAID} ")
    here.notes.write(NOTE, ALPHA, key(NOTE), suite="s1", text="of a private letter")
    public, private = sorted(notes_in(here), key=lambda note: note.access_level == "private")
    assert (public.flags, public.text, public.access_level) == (("harmful",), SAID, "public")
    assert private.access_level is AccessLevel.PRIVATE
    assert notes_in(here, Viewer.ANYONE) == [public]


def test_the_newest_note_counts_and_an_empty_one_takes_it_back(here) -> None:
    for flags, text in ((["harmful"], "first"), ([Flag.MISREAD, "wrong_label"], "")):
        here.notes.write(TRIAGE, ALPHA, key(TRIAGE), suite="s1", flags=flags, text=text)
    (note,) = notes_in(here)
    assert (note.flags, note.text) == (("wrong_label", "misread"), "")
    here.notes.write(TRIAGE, ALPHA, key(TRIAGE), suite="s1")
    assert notes_in(here) == []
    rows = open_reader(here.location).rows("SELECT * FROM {answer_notes}", AnswerNote)
    assert len(rows) == 3


def full(*_: object) -> None:
    raise OSError(f"no space for {SAID}")


def test_what_cannot_be_noted_is_refused_and_nothing_is_stored(here, monkeypatch) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown flag 'harmfull'\. Did you mean 'harmful'"):
        here.notes.write(TRIAGE, ALPHA, key(TRIAGE), suite="s1", flags=["harmfull"])
    with pytest.raises(ConfigError, match=r"has no answer to instance 'triage_choice-i9'"):
        here.notes.write(TRIAGE, ALPHA, key(TRIAGE, 9), suite="s1", text="x")
    reader = open_reader(here.location)
    run = next(iter(load_runs(reader, BoardSource(kind=Kind.SUITE, name="s1"))))
    spec, note_key = run.run_spec, key(run.run_spec.scenario_name)
    detail = instance_detail(reader, spec, note_key, viewer=HERE)
    assert detail
    with pytest.raises(PolicyError, match="written only at the machine"):
        write_note(reader, spec, note_key, detail, flags=[], text=SAID, viewer=Viewer.ANYONE)
    assert notes_in(here) == []
    with monkeypatch.context() as patched:
        patched.setattr("medhelm_spark.notes.stored.FileTables.append", full)
        with pytest.raises(LakeError, match=r"a note was not stored \(OSError\)") as caught:
            write_note(reader, spec, note_key, detail, flags=[], text=SAID, viewer=HERE)
    assert SAID not in str(caught.value)


def test_answers_come_with_their_notes_and_those_alone_where_asked(here, capsys) -> None:
    here.notes.write(TRIAGE, BETA, key(TRIAGE, 2), suite="s1", flags=["wrong_label"], text=SAID)
    shown = here.answers(TRIAGE, suite="s1", noted=True)
    (answer,) = shown.answers
    assert (answer.model_deployment, answer.number) == (BETA, 3)
    assert (answer.flags, answer.note) == (("wrong label",), SAID)
    assert SAID in shown.html
    (row,) = shown.to_pandas().to_dict("records")
    assert (row["flags"], row["note"]) == (("wrong label",), SAID)
    every = here.answers(TRIAGE, suite="s1").answers
    assert [answer.note for answer in every].count(SAID) == 1
    assert len(every) > 1
    assert here.answers(TRIAGE, suite="s1", only="wrong", noted=True).answers == (answer,)
    none = here.answers(NOTE, suite="s1", noted=True)
    assert (none.answers, none.notes) == ((), ("No answer has flags or a note.",))
    words = ["answers", "-o", here.location, "--suite", "s1", "--benchmark", TRIAGE, "--noted"]
    assert main(words) == 0
    output = capsys.readouterr().out
    assert "[wrong label]" in output
    assert SAID in output
    assert output.count("answer  ") == 1


def test_a_private_note_is_not_written_to_a_pipe(here, capsys) -> None:
    here.notes.write(NOTE, ALPHA, key(NOTE), suite="s1", text=SAID)
    words = ["answers", "-o", here.location, "--suite", "s1", "--benchmark", NOTE, "--noted"]
    assert main(words) != 0
    seen = capsys.readouterr()
    assert "private text is shown in a terminal" in seen.err
    assert SAID not in seen.out + seen.err


def test_a_report_has_counts_of_notes_and_no_note(here) -> None:
    assert "Notes on answers" not in here.report("s1").html
    for number in (0, 1):
        here.notes.write(NOTE, ALPHA, key(NOTE, number), suite="s1", flags=["harmful"], text=SAID)
    report = here.report("s1").html
    assert "<h2>Notes on answers</h2>" in report
    assert f"<td>Discharge note</td><td>{ALPHA}</td><td>2</td><td>0</td><td>2</td>" in report
    assert SAID not in report


def test_a_purge_takes_the_text_and_leaves_the_flags(here) -> None:
    here.notes.write(NOTE, ALPHA, key(NOTE), suite="s1", flags=["harmful"], text=SAID)
    purging = TABLES["answer_notes"].purging
    assert purging and purging.by == "run_spec_id"
    reader = open_reader(here.location)
    (row,) = reader.rows("SELECT * FROM {answer_notes}", purging.row)
    after = purging.purged(row, "purged")
    assert (after.text, after.flags) == ("purged", ("harmful",))
