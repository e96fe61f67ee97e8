"""A release's status follows from its manifest and the changes on record, by one table."""

from datetime import UTC, datetime, timedelta

import pytest

from medhelm_spark.domain.release import (
    COMMANDS,
    TRANSITIONS,
    ReleaseChange,
    ReleaseStatus,
    check_transition,
    state_of,
)
from medhelm_spark.domain.release_requirements import (
    Finding,
    GateOutcome,
    ReleaseRequirements,
    refuse_blocked,
)
from medhelm_spark.domain.sign_off import refuse_involved
from medhelm_spark.errors import GateError, ReleaseError

DRAFT, REVIEW, APPROVED = ReleaseStatus.DRAFT, ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED
PUBLISHED, WITHDRAWN = ReleaseStatus.PUBLISHED, ReleaseStatus.WITHDRAWN
EXTERNAL = ReleaseStatus.EXTERNAL
START = datetime(2026, 3, 1, tzinfo=UTC)


def change(to: ReleaseStatus, minute: int, manifest: str = "m1", note: str = "") -> ReleaseChange:
    return ReleaseChange(
        release="r",
        manifest_hash=manifest,
        from_status=DRAFT,
        to_status=to,
        changed_by="ada",
        changed_at=START + timedelta(minutes=minute),
        note=note,
    )


LIFE = (change(DRAFT, 0), change(REVIEW, 1), change(APPROVED, 2))


def test_every_status_has_its_row_in_the_table() -> None:
    assert set(TRANSITIONS) == set(ReleaseStatus)
    assert {to for targets in TRANSITIONS.values() for to in targets} == set(COMMANDS)


def test_a_status_is_what_the_changes_of_the_manifest_come_to_in_their_order() -> None:
    assert state_of(DRAFT, "m1", ()).status is DRAFT
    assert state_of(DRAFT, "m1", LIFE[:2]).status is REVIEW
    state = state_of(DRAFT, "m1", reversed(LIFE))
    assert (state.status, state.changes, state.void) == (APPROVED, LIFE, "")
    published = state_of(DRAFT, "m1", (*LIFE, change(PUBLISHED, 3)))
    assert published.status is PUBLISHED
    assert state_of(EXTERNAL, "m1", ()).status is EXTERNAL


def test_another_manifest_voids_what_was_said_of_the_one_before() -> None:
    again = (*LIFE, change(DRAFT, 3, "m2"))
    state = state_of(DRAFT, "m2", again)
    assert state.status is DRAFT
    assert state.void == (
        "approved by ada (unverified) at 2026-03-01 00:02 UTC is void: that was manifest m1, and "
        "the release was pinned anew as m2"
    )
    # Nobody recorded that it was pinned anew: the manifest itself shows it.
    assert state_of(DRAFT, "m2", LIFE).void == state.void
    assert state_of(DRAFT, "m2", LIFE[:1]).void == ""
    assert state_of(DRAFT, "m3", again).void == "", "what was lost with a draft is no approval"


def test_a_withdrawal_holds_and_gives_its_reason() -> None:
    withdrawn = (*LIFE, change(WITHDRAWN, 3, note="wrong key"))
    state = state_of(DRAFT, "m1", (*withdrawn, change(PUBLISHED, 4)))
    assert (state.status, state.reason) == (WITHDRAWN, "wrong key")
    assert state_of(DRAFT, "m2", withdrawn).status is WITHDRAWN


def test_a_change_that_does_not_follow_has_no_effect() -> None:
    assert state_of(DRAFT, "m1", [change(APPROVED, 1)]).status is DRAFT
    assert state_of(DRAFT, "m1", [change(PUBLISHED, 1)]).changes == ()


@pytest.mark.parametrize(
    ("status", "to", "message"),
    [
        (DRAFT, APPROVED, "release 'r' is draft, so `approve` does not apply to it; allowed: "
         "publish --suites, submit, withdraw."),
        (PUBLISHED, DRAFT, "allowed: withdraw."),
        (WITHDRAWN, REVIEW, "allowed: nothing: make a release of another name."),
        (EXTERNAL, REVIEW, "release 'r' is external, so `submit` does not apply"),
    ],
)  # fmt: skip
def test_what_does_not_follow_is_refused_with_what_does(
    status: ReleaseStatus, to: ReleaseStatus, message: str
) -> None:
    with pytest.raises(ReleaseError) as caught:
        check_transition("r", status, to)
    assert message in str(caught.value)


def test_who_had_a_hand_in_a_release_does_not_approve_it() -> None:
    involved = {"made": {"ada"}, "ran": {"bob", "Eve "}, "submitted": {"ada"}}
    refuse_involved("r", "carol", involved)
    for name, message in (("ADA", "'ADA' made and submitted it"), ("eve", "'eve' ran it")):
        with pytest.raises(ReleaseError, match=message):
            refuse_involved("r", name, involved)


def test_what_is_required_and_not_shown_blocks() -> None:
    required = ReleaseRequirements(provenance=True, judge_coverage=0.0, min_instances=30)
    assert required.required == {"judge_coverage": 0.0, "provenance": True, "min_instances": 30}
    assert ReleaseRequirements().required == {}
    passed = Finding(requirement="provenance", outcome=GateOutcome.PASSED)
    unknown = Finding(requirement="comparable", outcome=GateOutcome.UNCHECKED, run="a", reason="x")
    refuse_blocked("r", "approved", [passed])
    with pytest.raises(GateError, match="not approved: comparable of a cannot be checked: x"):
        refuse_blocked("r", "approved", [passed, unknown])
