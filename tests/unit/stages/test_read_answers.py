"""Answers as metrics see them: thinking off, the answer read, what is unreadable by its policy."""

import dataclasses

import pytest

from medhelm_spark.domain import thinking
from medhelm_spark.domain.request import (
    Completion,
    FailureKind,
    FinishReason,
    RequestState,
    TokenLogprob,
)
from medhelm_spark.domain.run import (
    AdapterMethod,
    AdapterSpec,
    AnswerExtraction,
    ExtractionMethod,
    MedhelmReading,
    MetricSpec,
    RunSpec,
    Unreadable,
)
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.engines.outcome import completion
from medhelm_spark.stages.score.stage import score_batch
from medhelm_spark.stages.states import read_answers, read_state, reading_needs

REFERENCES = (Reference(text="aspirin"), Reference(text="heparin", tags=("correct",)))
SPEC = RunSpec(
    run_spec_id="r",
    name="bench",
    scenario_name="bench",
    data_version="v",
    model="acme/m",
    model_deployment="acme/m",
    deployment_fingerprint="f",
    adapter_spec=AdapterSpec(method=AdapterMethod.MULTIPLE_CHOICE_JOINT),
    metrics=(MetricSpec(name="exact_match"), MetricSpec(name="answer_unreadable")),
    annotators=(),
    groups=(),
    access_level="public",
    main_metric="exact_match",
    main_split="test",
)


def read_as(method: ExtractionMethod, unreadable: Unreadable = Unreadable.WRONG) -> RunSpec:
    how = AnswerExtraction(method=method, unreadable=unreadable)
    return dataclasses.replace(SPEC, answer_extraction=how)


CHOICE = read_as(ExtractionMethod.CHOICE)
UNSCORED = read_as(ExtractionMethod.CHOICE, Unreadable.UNSCORED)


def state(*texts: str, reason: FinishReason = FinishReason.STOP) -> RequestState:
    return RequestState(
        run_spec_id="r",
        instance_id="i",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        split="test",
        references=REFERENCES,
        completions=tuple(Completion(text=text, finish_reason=reason) for text in texts) or None,
    )


def scores(spec: RunSpec, one: RequestState) -> dict[str, tuple[float | None, ScoreStatus]]:
    (row,) = score_batch(spec, [read_state(one, spec)])
    return {score.name: (score.value, score.status) for score in row.stats}


@pytest.mark.parametrize(
    ("spec", "text", "exact_match", "unreadable"),
    [
        (SPEC, "B", 1.0, 0.0),
        (SPEC, " B\n", 1.0, 0.0),
        (SPEC, "A", 0.0, 0.0),
        (SPEC, "<think>A</think>B", 1.0, 0.0),
        (SPEC, "(B)", 0.0, 1.0),
        (SPEC, "", 0.0, 1.0),
        (CHOICE, "(B)", 1.0, 0.0),
        (CHOICE, "<think>B</think>The answer is A.", 0.0, 0.0),
        (CHOICE, "<think>The answer is B", 0.0, 1.0),
        (CHOICE, "no idea", 0.0, 1.0),
        (CHOICE, "", 0.0, 1.0),
        (UNSCORED, "Heparin", 1.0, 0.0),
    ],
)
def test_an_answer_is_read_and_its_reading_recorded(
    spec: RunSpec, text: str, exact_match: float, unreadable: float
) -> None:
    found = scores(spec, state(text))
    assert found["exact_match"] == (exact_match, ScoreStatus.OK)
    assert found["answer_unreadable"] == (unreadable, ScoreStatus.OK)


def test_an_unreadable_answer_that_is_unscored_says_so() -> None:
    found = scores(UNSCORED, state("no idea"))
    assert found["exact_match"] == (None, ScoreStatus.UNREADABLE)
    assert found["answer_unreadable"] == (1.0, ScoreStatus.OK)


@pytest.mark.parametrize("spec", [SPEC, CHOICE, UNSCORED])
def test_where_there_is_no_answer_there_is_nothing_unreadable(spec: RunSpec) -> None:
    found = scores(spec, state())
    assert found["exact_match"] == (None, ScoreStatus.NO_ANSWER)
    assert found["answer_unreadable"] == (None, ScoreStatus.NO_ANSWER)


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (FailureKind.TOO_LONG, ScoreStatus.TOO_LONG),
        (FailureKind.TIMEOUT, ScoreStatus.NO_ANSWER),
        (FailureKind.ENGINE_ERROR, ScoreStatus.NO_ANSWER),
    ],
)
def test_failures_of_the_models_own_window_have_their_own_status(
    failure: FailureKind, status: ScoreStatus
) -> None:
    found = scores(SPEC, dataclasses.replace(state(), failure=failure))
    assert {each_status for _, each_status in found.values()} >= {status}
    assert found["exact_match"] == (None, status)


def test_free_text_has_nothing_to_read() -> None:
    free = dataclasses.replace(SPEC, adapter_spec=AdapterSpec())
    assert scores(free, state("heparin"))["exact_match"] == (1.0, ScoreStatus.OK)
    assert scores(free, state("heparin"))["answer_unreadable"] == (
        None,
        ScoreStatus.NOT_APPLICABLE,
    )
    assert reading_needs(free) == frozenset()


@pytest.mark.parametrize(
    "how",
    [
        AnswerExtraction(method=ExtractionMethod.CHOICE),
        AnswerExtraction(method=ExtractionMethod.REGEX, pattern="Answer: (.*)"),
        AnswerExtraction(method=ExtractionMethod.JSON_FIELD, field="answer"),
    ],
    ids=lambda how: str(how.method),
)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("All of these are anticoagulants EXCEPT:", ("A", False)),
        ("Which of these is an anticoagulant?", ("B", False)),
    ],
)
def test_stages_that_read_options_get_the_question_that_says_which_is_meant(
    how: AnswerExtraction, question: str, expected: tuple[str, bool]
) -> None:
    spec = dataclasses.replace(SPEC, answer_extraction=how)
    sentence = "Aspirin is not an anticoagulant."
    reply = {
        ExtractionMethod.REGEX: f"Answer: {sentence}",
        ExtractionMethod.JSON_FIELD: f'{{"answer": "{sentence}"}}',
    }.get(how.method, sentence)
    stored = dataclasses.replace(state(reply), input=question)
    fetched = {"input": stored.input if "input" in reading_needs(spec) else ""}
    read = read_state(dataclasses.replace(stored, **fetched), spec)
    assert read.completions
    assert (read.completions[0].text, read.unreadable) == expected


def test_an_answer_that_is_compared_as_it_is_needs_no_question() -> None:
    assert reading_needs(SPEC) == frozenset({"references"})


def test_a_wrong_split_is_undone_by_scoring_the_stored_answer_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = completion("<think>A?</think>B", "stop")
    stored = dataclasses.replace(state(), completions=(answer,))
    with monkeypatch.context() as wrong:
        wrong.setattr(thinking, "split_thinking", lambda text: ("A", "what follows A"))
        assert scores(SPEC, stored)["exact_match"] == (0.0, ScoreStatus.OK)
    assert scores(SPEC, stored)["exact_match"] == (1.0, ScoreStatus.OK)


def test_every_completion_is_read_and_the_first_decides() -> None:
    found = read_state(state("(B)", "no idea"), CHOICE)
    assert [one.text for one in found.completions or ()] == ["B", ""]
    assert found.unreadable is False
    assert read_state(state("no idea", "(B)"), UNSCORED).completions is None


def test_weak_evidence_does_not_count_in_a_text_that_was_cut() -> None:
    text = "The patient was given heparin"
    whole = read_answers(state(text).completions, CHOICE, REFERENCES, "")
    cut = read_answers(state(text, reason=FinishReason.LENGTH).completions, CHOICE, REFERENCES, "")
    assert (whole.unreadable, cut.unreadable) == (False, True)


def test_multiple_choice_always_records_what_was_unreadable() -> None:
    plain = dataclasses.replace(SPEC, metrics=(MetricSpec(name="exact_match"),))
    assert scores(plain, state("The answer is (B)."))["answer_unreadable"][0] == 1.0
    assert scores(plain, state("B"))["answer_unreadable"][0] == 0.0
    free = dataclasses.replace(plain, adapter_spec=AdapterSpec(method=AdapterMethod.GENERATION))
    assert "answer_unreadable" not in scores(free, state("heparin"))


def with_tokens(text: str, *tokens: str) -> RequestState:
    """A state whose completion has its tokens."""
    (one,) = state(text).completions or ()
    known = tuple(TokenLogprob(text=token, logprob=-0.5) for token in tokens)
    return dataclasses.replace(
        state(text), completions=(dataclasses.replace(one, tokens=known, logprob=-1.0),)
    )


BOTH = dataclasses.replace(
    CHOICE,
    adapter_spec=dataclasses.replace(CHOICE.adapter_spec, max_tokens=64),
    medhelm=MedhelmReading(max_tokens=1),
)
MEDHELMS = "exact_match@medhelm-0.8"


@pytest.mark.parametrize(
    ("one", "read", "medhelms"),
    [
        (with_tokens("B", "B", ""), 1.0, 1.0),
        (with_tokens("B. heparin", "B", ".", " heparin"), 1.0, 1.0),
        (with_tokens("The answer is (B).", "The", " answer", " is", " (", "B", ")."), 1.0, 0.0),
        (
            with_tokens("A patient needs heparin.", "A", " patient", " needs", " heparin", "."),
            1.0,
            0.0,
        ),
        (with_tokens("", ""), 0.0, 0.0),
        (state("B"), 1.0, None),
    ],
)
def test_one_answer_is_read_both_ways(
    one: RequestState, read: float, medhelms: float | None
) -> None:
    found = scores(BOTH, one)
    assert found["exact_match"] == (read, ScoreStatus.OK)
    status = ScoreStatus.NOT_APPLICABLE if medhelms is None else ScoreStatus.OK
    assert found[MEDHELMS] == (medhelms, status)
    assert "quasi_prefix_exact_match@medhelm-0.8" in found
    assert "answer_unreadable@medhelm-0.8" not in found


def test_medhelms_value_has_its_own_reasons_to_be_absent() -> None:
    left_out = dataclasses.replace(
        BOTH, answer_extraction=UNSCORED.answer_extraction, metrics=SPEC.metrics
    )
    vague = with_tokens("no idea", "no", " idea")
    assert scores(left_out, vague)["exact_match"] == (None, ScoreStatus.UNREADABLE)
    assert scores(left_out, vague)[MEDHELMS] == (0.0, ScoreStatus.OK)
    assert scores(left_out, state("no idea"))[MEDHELMS] == (None, ScoreStatus.NOT_APPLICABLE)
    assert scores(BOTH, state())[MEDHELMS] == (None, ScoreStatus.NO_ANSWER)


def test_the_same_request_is_read_both_ways_without_tokens() -> None:
    same = dataclasses.replace(BOTH, medhelm=MedhelmReading(max_tokens=64))
    found = scores(same, state("The answer is (B)."))
    assert (found["exact_match"][0], found[MEDHELMS][0]) == (1.0, 0.0)
    assert scores(same, state("B"))[MEDHELMS][0] == 1.0


def test_in_compat_medhelms_reading_is_the_only_one() -> None:
    compat = dataclasses.replace(SPEC, medhelm=MedhelmReading(max_tokens=1))
    found = scores(compat, with_tokens("B", "B"))
    assert found["exact_match"] == (1.0, ScoreStatus.OK)
    assert MEDHELMS not in found
