"""Answers in a terminal: what is printed from the planted lake, and for whom."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.board import (
    BoardSource,
    InstanceKey,
    Kind,
    Viewer,
    chosen_option,
    instance_detail,
    load_runs,
)
from medhelm_spark.board.render.answers import end_of, printable
from medhelm_spark.cli import main
from medhelm_spark.domain.request import Completion, FinishReason
from medhelm_spark.domain.run import (
    AdapterMethod,
    AdapterSpec,
    AnswerExtraction,
    ExtractionMethod,
    MetricSpec,
    RunSpec,
)
from medhelm_spark.domain.stats import PerInstanceStats, Score, ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.metrics import run_metric_for
from medhelm_spark.metrics.metric import scored, unscored
from tests.unit.board.planted import (
    ALPHA,
    HOSTILE,
    append,
    finish,
    planned,
    plant,
    run_spec,
    unit,
)

SOURCE = BoardSource(kind=Kind.SUITE, name="s1")


def command(lake: Path, *flags: str) -> list[str]:
    return ["answers", "--suite", "s1", "-o", str(lake), "--local-path", str(lake.parent), *flags]


def evaluation(lake: Path) -> Evaluation:
    return Evaluation(lake, site=None, tracking=False, say=lambda line: None)


def test_an_answer_stands_below_its_prompt_and_above_its_references(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--benchmark", "triage_choice", "--model", ALPHA)
    assert main(command(lake, *flags, "-n", "1")) == 0
    printed = capsys.readouterr()
    assert printed.out == (
        f"#1  MRN-0042  triage_choice  {ALPHA}  exact_match 1.000\n"
        "  ward       ward 0\n"
        f"  prompt     Case 0: {HOSTILE}\n"
        "             Answer:\n"
        f"  answer     {ALPHA} says 0 {HOSTILE}\n"
        "  reference  answer 0\n"
        "\n"
        f"triage_choice of {ALPHA}: 4 answers, 1 wrong, 0 unread, 0 failed\n"
        "1 of 4 answers shown; --limit all shows all\n"
    )
    assert printed.err == ""


def test_the_limit_counts_over_all_runs_and_every_run_has_its_note(lake: Path) -> None:
    page = evaluation(lake).answers("triage_choice", suite="s1", only="wrong", limit=2)
    numbers = [(answer.model_deployment, answer.number) for answer in page.answers]
    assert numbers == [(ALPHA, 4), ("beta/medium", 3)]
    assert page.notes[-1].endswith("answers shown; --limit all shows all")
    assert [note.partition(": ")[2] for note in page.notes[:-1]] == [
        f"4 answers, {wrong} wrong, 0 unread, 0 failed" for wrong in (1, 1, 3)
    ]
    assert list(page.to_pandas()["instance_id"]) == ["triage_choice-i3", "triage_choice-i2"]
    assert "<img" not in page._repr_html_(), "a text of the data is no markup in a notebook"


@pytest.mark.parametrize(
    ("reply", "option"), [("B", "wrong"), ("a", None), ("The answer is (A).", None)]
)
def test_the_option_behind_a_letter_is_shown(lake: Path, reply: str, option: str | None) -> None:
    """A prompt of options: B is `wrong`; what the run does not read as a letter names none."""
    spec = next(run.run_spec for run in load_runs(open_reader(str(lake)), SOURCE) if run.cell)
    letters = AdapterSpec(method=AdapterMethod.MULTIPLE_CHOICE_JOINT, reference_prefix="A. ")
    key = InstanceKey(instance_id=f"{spec.scenario_name}-i0")
    detail = instance_detail(open_reader(str(lake)), spec, key, viewer=Viewer.THIS_MACHINE)
    assert detail.result
    answered = Completion(text=reply, finish_reason=FinishReason.STOP)
    detail = replace(detail, result=replace(detail.result, completions=(answered,)))
    assert chosen_option(spec, detail) is None, "this prompt shows no options"
    assert chosen_option(replace(spec, adapter_spec=letters), detail) == option
    reads = replace(
        spec,
        adapter_spec=letters,
        answer_extraction=AnswerExtraction(method=ExtractionMethod.CHOICE),
    )
    assert chosen_option(reads, detail) == {"B": "wrong"}.get(reply, "answer 0")


def test_a_failed_request_says_why_there_is_no_answer(lake: Path) -> None:
    page = evaluation(lake).answers("medcalc_bench", ALPHA, suite="s1", only="failed")
    (answer,) = page.answers
    assert (answer.answer, answer.value, answer.status) == (None, None, "timeout")
    assert "medcalc_bench_accuracy timeout" in str(page)


def test_a_run_that_compares_answers_as_they_stand_says_why_none_is_unread(lake: Path) -> None:
    page = evaluation(lake).answers("triage_choice", ALPHA, suite="s1", only="unread")
    assert page.answers == ()
    assert str(page).endswith("(strict), so that none counts as unread")


@pytest.mark.attack("dashboard", "gated and private answers, written to a pipe or a job's log")
@pytest.mark.parametrize("scenario", ["medcalc_bench", "discharge_note"])
def test_text_goes_to_a_terminal_alone(
    lake: Path,
    scenario: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed = command(lake, "--benchmark", scenario, "--model", ALPHA)
    assert main(typed) == 1
    printed = capsys.readouterr()
    assert "the output is none; --text-levels" in printed.err
    assert HOSTILE not in printed.out + printed.err
    assert main([*typed, "--text-levels", "gated", "private"]) == 0
    assert HOSTILE in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(typed) == 0
    assert HOSTILE in capsys.readouterr().out


def test_what_is_not_on_the_board_is_named(lake: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown scenario 'triage'"):
        evaluation(lake).answers("triage", suite="s1")
    with pytest.raises(UnknownNameError, match="unknown model 'alpha/huge'"):
        evaluation(lake).answers(model="alpha/huge", suite="s1")
    with pytest.raises(UnknownNameError, match="unknown only 'right'"):
        evaluation(lake).answers(suite="s1", only="right")
    with pytest.raises(ConfigError, match="limit is 0; allowed"):
        evaluation(lake).answers(suite="s1", limit=0)


def test_a_terminal_is_shown_control_characters_and_does_not_get_them() -> None:
    assert (
        printable("a\x1b]0;title\x07b\r\u202ec\ud800") == "a\\x1b]0;title\\x07b\\r\\u202ec\\ud800"
    )
    assert printable("Müller\t5\u00a0mg\n") == "Müller\t5\u00a0mg\n"


def test_of_a_long_prompt_the_end_is_shown() -> None:
    end = end_of("x" * 5_000 + " Answer:")
    assert end.startswith("... x")
    assert end.endswith(" Answer:")
    assert len(end) == 404


def planted_as(lake: Path, spec: RunSpec, stats: Sequence[tuple[Score, ...]]) -> None:
    """The run of ALPHA planned and scored anew, by these metrics."""
    append(lake, "run_specs", [planned(spec, minutes=5)], "p-again")
    rows = [
        PerInstanceStats(
            run_spec_id=spec.run_spec_id,
            instance_id=f"triage_choice-i{number}",
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            split="test",
            stats=scores,
        )
        for number, scores in enumerate(stats)
    ]
    append(lake, "per_instance_stats", rows, "w-again")
    finish(lake, "score", spec.run_spec_id, "w-again", minutes=6)


def test_answers_behind_a_metric_of_the_run_are_right_or_wrong(tmp_path: Path) -> None:
    lake = plant(tmp_path)
    args = {"labels": "Y|N", "positive": "Y"}
    spec = replace(
        run_spec(unit(ALPHA, "triage_choice"), ALPHA, "triage_choice"),
        metrics=(MetricSpec(name="sensitivity", args=args),),
        main_metric="sensitivity",
    )
    names = ("right_class", "given_class")
    codes = [scored(names, pair) for pair in ((1, 1), (2, 1), (1, 0))]
    planted_as(lake, spec, [*codes, unscored(names, ScoreStatus.NO_ANSWER)])
    page = evaluation(lake).answers("triage_choice", ALPHA, suite="s1")
    assert [(each.metric, each.value, each.status) for each in page.answers] == [
        ("right", 1.0, "ok"),
        ("right", 0.0, "ok"),
        ("right", 0.0, "ok"),
        ("right", None, "no_answer"),
    ]
    assert page.notes == (
        f"triage_choice of {ALPHA}: 4 answers, 2 wrong, 1 missed, 1 false alarm, 0 unread, 1 "
        "failed; sensitivity is of the whole run, right 1 or 0 of each answer",
    )
    listed_by = {
        "wrong": [2, 3],
        "missed": [3],
        "false-alarm": [2],
        "failed": [4],
        "unread": [],
    }
    for only, numbers in listed_by.items():
        listed = evaluation(lake).answers("triage_choice", ALPHA, suite="s1", only=only)
        assert [answer.number for answer in listed.answers] == numbers


def test_a_metric_of_the_run_that_compares_no_answers_says_so(tmp_path: Path) -> None:
    lake = plant(tmp_path)
    spec = replace(
        run_spec(unit(ALPHA, "triage_choice"), ALPHA, "triage_choice"),
        metrics=(MetricSpec(name="perplexity"),),
        main_metric="perplexity",
    )
    names = run_metric_for("perplexity").reads({})
    planted_as(lake, spec, [scored(names, [1.0] * len(names))] * 4)
    page = evaluation(lake).answers("triage_choice", ALPHA, suite="s1", limit=2)
    assert [(each.value, each.status) for each in page.answers] == [(None, "not_applicable")] * 2
    assert page.notes[:-1] == (
        f"triage_choice of {ALPHA}: 4 answers, 0 unread, 0 failed; "
        "perplexity is of the whole run, and no answer is right or wrong by it",
    )
    wrong = evaluation(lake).answers("triage_choice", ALPHA, suite="s1", only="wrong")
    assert wrong.answers == ()


def test_all_answers_carry_the_ids_of_the_data(lake: Path) -> None:
    whole = evaluation(lake).answers("triage_choice", ALPHA, suite="s1", limit=None)
    assert len(whole.answers) == 4
    assert not [note for note in whole.notes if "shown" in note]
    assert "MRN-0042" in set(whole.to_pandas()["source_id"])
    page = evaluation(lake).instances("triage_choice", ALPHA, suite="s1", limit=None)
    assert list(page.to_pandas()["source_id"]) == list(whole.to_pandas()["source_id"])
    assert "MRN" not in str(page)


def test_answers_are_written_as_one_page_that_holds_whole_texts_and_no_markup(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "answers.html"
    flags = ("--benchmark", "triage_choice", "--model", ALPHA, "--html", str(page))
    assert main(command(lake, *flags)) == 0
    assert capsys.readouterr().err == f"answers: wrote {page}\n"
    written = page.read_text("utf-8")
    assert written.count("<article>") == 4
    assert "<img" not in written
    assert "<script" not in written
    assert escape(HOSTILE) in written
    assert "<p>Levels of the texts: public</p>" in written
    assert "4 answers, 1 wrong, 0 unread, 0 failed" in written


@pytest.mark.attack("dashboard", "a page of private answers, written from a terminal to a file")
def test_a_page_of_private_answers_needs_the_level_named(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    page = tmp_path / "answers.html"
    flags = ("--benchmark", "discharge_note", "--html", str(page))
    assert main(command(lake, *flags)) == 1
    assert not page.exists()
    assert main(command(lake, *flags, "--text-levels", "private")) == 0
    assert page.exists()
