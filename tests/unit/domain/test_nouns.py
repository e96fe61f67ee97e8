"""The small rules that nouns carry: strictness, outcomes, correctness, immutability."""

from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime

import pytest

from medhelm_spark.domain.request import (
    Completion,
    FailureKind,
    FinishReason,
    RequestResult,
    RequestState,
)
from medhelm_spark.domain.scenario import AccessLevel, Reference, strictest
from medhelm_spark.domain.stats import Score, ScoreStatus

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


def test_only_a_changed_request_or_policy_cures_a_permanent_failure() -> None:
    permanent = {kind for kind in FailureKind if kind.is_permanent}
    assert permanent == {FailureKind.TOO_LONG, FailureKind.DENIED}


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
