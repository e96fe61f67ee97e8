"""The small rules that nouns carry: strictness, outcomes, correctness, immutability."""

from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime

import pytest

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.deployment import Deployment, Locality, OnFailure
from medhelm_spark.domain.request import (
    Completion,
    FailureKind,
    FinishReason,
    RequestResult,
    RequestState,
)
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import Score, ScoreStatus


def deployment(**fields: object) -> Deployment:
    return Deployment(name="m", model="m", engine="canned", locality=Locality.LOCAL, **fields)


PUBLIC, GATED, PRIVATE = AccessLevel.PUBLIC, AccessLevel.GATED, AccessLevel.PRIVATE


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([PUBLIC], PUBLIC),
        ([PUBLIC, GATED], GATED),
        ([GATED, PRIVATE, PUBLIC], PRIVATE),
        ([PRIVATE, PRIVATE], PRIVATE),
        ([], PRIVATE),
    ],
)
def test_a_derived_row_takes_the_strictest_level(
    levels: list[AccessLevel], expected: AccessLevel
) -> None:
    assert strictest(levels) is expected
    assert strictest(reversed(levels)) is expected


def test_an_unknown_access_level_is_refused() -> None:
    with pytest.raises(ValueError, match="internal"):
        AccessLevel("internal")


def result(**changes: object) -> RequestResult:
    fixed = {
        "request_id": "r",
        "model_deployment": "local/x",
        "access_level": PUBLIC,
        "completed_at": datetime(2026, 1, 1, tzinfo=UTC),
        "engine_fingerprint": "e",
    }
    return RequestResult(**{**fixed, **changes})


@pytest.mark.parametrize("reason", list(FinishReason))
def test_every_finish_reason_is_an_answer(reason: FinishReason) -> None:
    assert result(completions=(Completion(text="", finish_reason=reason),)).is_answer


@pytest.mark.parametrize("kind", list(FailureKind))
def test_no_failure_is_an_answer(kind: FailureKind) -> None:
    assert not result(failure=kind).is_answer


def test_what_another_try_cannot_cure_is_given_up_unless_configured() -> None:
    own = {
        FailureKind.TOO_LONG,
        FailureKind.DENIED,
        FailureKind.INVALID_REQUEST,
        FailureKind.INVALID_REPLY,
    }
    assert deployment().not_retried == own
    assert own == {kind for kind in FailureKind if not kind.is_infrastructure}
    settled = deployment(on_failure={FailureKind.TIMEOUT: OnFailure.GIVE_UP})
    assert settled.not_retried == own | {FailureKind.TIMEOUT}


def test_an_outage_is_all_that_is_open_at_once_twice_unless_configured() -> None:
    assert deployment(max_concurrency=16).failures_in_a_row == 32
    assert deployment(max_concurrency=1).failures_in_a_row == 4
    assert deployment(max_concurrency=1, max_failures_in_a_row=50).failures_in_a_row == 50


def test_a_prompts_window_is_the_narrowest_limit_beside_the_answer() -> None:
    assert deployment().window(100) is None
    assert deployment(max_sequence_length=2048).window(100) == 2048
    limits = {"max_sequence_length": 2048, "max_request_length": 2100}
    assert deployment(**limits).window(100) == 2000
    assert deployment(**limits, max_sequence_and_generated_tokens_length=900).window(100) == 800


def test_how_a_deployment_fails_does_not_decide_its_answers() -> None:
    truncating = deployment(on_failure={FailureKind.TOO_LONG: OnFailure.TRUNCATE})
    assert truncating.identity == deployment().identity


def test_a_reference_is_correct_by_its_tag() -> None:
    assert Reference(text="yes", tags=("correct",)).is_correct
    assert not Reference(text="correct").is_correct


def test_never_asked_differs_from_an_empty_answer() -> None:
    key = {"run_spec_id": "s", "instance_id": "i", "perturbation": "", "split": "test"}
    state = RequestState(**key, train_trial_index=0, trial_index=0)
    assert state.completions is None
    assert state.failure is None


def test_nouns_are_immutable_and_keyword_only() -> None:
    score = Score(name="exact_match", value=None, status=ScoreStatus.NO_ANSWER)
    with pytest.raises(FrozenInstanceError):
        score.value = 0.0
    with pytest.raises(TypeError):
        Score("exact_match", 1.0)
    assert [field.name for field in fields(score)] == ["name", "value", "status"]
