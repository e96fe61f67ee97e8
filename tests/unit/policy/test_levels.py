"""No way of a row through the program lowers its level but a lowering that was recorded."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.adaptation.perturbations.perturbation import perturbed
from medhelm_spark.adaptation.render import render
from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.annotators.jury import judge_prompts
from medhelm_spark.config.policy import load_policy
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import load_rubric
from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.level_change import (
    Approval,
    LevelChange,
    lowering_of,
    lowest_approved,
    review,
)
from medhelm_spark.domain.policy import Decision, Policy
from medhelm_spark.domain.request import Completion, Decoding, FailureKind, FinishReason, Request
from medhelm_spark.domain.run import AdapterMethod, AdapterSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.split import Split
from medhelm_spark.engines.outcome import answered, failed
from medhelm_spark.errors import PolicyError
from medhelm_spark.policy.levels import stated_level, without_review
from medhelm_spark.scenarios import Record, parse_records, table_level, with_known_hashes
from medhelm_spark.scenarios.sources import sha256_of
from tests.unit.scenarios.cards import card, source

PUBLIC, GATED, PRIVATE = AccessLevel
levels = st.sampled_from(AccessLevel)
maybe = st.none() | levels
SHIPPED = load_policy(conf_path("policy.yaml"))
LOOSER = Policy(
    allowed=(
        (PUBLIC, tuple(Locality)),
        (GATED, (Locality.LOCAL, Locality.BAA)),
        (PRIVATE, (Locality.LOCAL,)),
    ),
    version="v",
)
NOTE = "The patient came with a cough of three weeks and was sent home with advice and a date."
RUBRIC = load_rubric(sorted(conf_path("rubrics").glob("*.md"))[0])


OWN_FILE = DataSource(files=(SourceFile(path="data.csv"),))


def parsed(
    level: AccessLevel,
    fields: dict[str, Any],
    *,
    is_table: bool = False,
    data: DataSource = OWN_FILE,
) -> Instance:
    scenario_card = card(
        metric="jury_score", access_level=level, options={"template": "Read: {note}"}, source=data
    )
    own = table_level(fields) if is_table else None
    record = Record(source_file="a", row=1, split=Split.TEST, fields=fields, access_level=own)
    (row,) = parse_records([record], scenario_card, "v")
    assert isinstance(row, Instance)
    return row


@pytest.mark.attack("levels", "own data said to be public where the card is gated or private")
@given(levels, maybe, st.booleans(), st.sampled_from([SHIPPED, LOOSER]))
def test_a_statement_never_lowers_a_card_and_is_asked_for_where_text_may_travel(
    level: AccessLevel, stated: AccessLevel | None, is_own: bool, policy: Policy
) -> None:
    try:
        came = stated_level(level, stated, name="s", is_own=is_own, policy=policy)
    except PolicyError as refused:
        if stated is None:
            assert is_own and level is not PRIVATE
            assert "--access-level public|gated|private" in str(refused)
        else:
            assert stated.strictness < level.strictness
            assert "medhelm-spark level lower" in str(refused)
        return
    assert came.strictness >= level.strictness
    assert came is (stated or level)
    assert stated or not is_own or level is not PUBLIC


def test_a_gated_card_asks_only_where_gated_text_travels_further_than_private() -> None:
    assert stated_level(GATED, None, name="s", is_own=True, policy=SHIPPED) is GATED
    with pytest.raises(PolicyError):
        stated_level(GATED, None, name="s", is_own=True, policy=LOOSER)


@given(levels, st.none() | levels | st.text(), st.booleans(), st.booleans())
def test_a_row_keeps_the_strictest_of_card_and_row(
    level: AccessLevel, own: str | None, is_table: bool, is_of_a_lake: bool
) -> None:
    fields = {"note": NOTE, "access_level": own, **({"write_id": "w"} if is_of_a_lake else {})}
    row = parsed(level, fields, is_table=is_table)
    named = (own or "").strip().casefold()
    known = AccessLevel(named) if named in list(AccessLevel) else PRIVATE
    assert row.access_level is strictest([level, known])
    del fields["access_level"]
    unsaid = parsed(level, fields, is_table=is_table)
    assert unsaid.access_level is (PRIVATE if is_table and is_of_a_lake else level)


@pytest.mark.parametrize(
    ("written", "own", "published"),
    [
        ("public", PUBLIC, PUBLIC),
        ("gated ", GATED, GATED),
        ("Gated", GATED, GATED),
        ("PRIVATE", PRIVATE, PRIVATE),
        ("restricted", PRIVATE, PUBLIC),
        ("", PRIVATE, PUBLIC),
        (None, PRIVATE, PUBLIC),
        (3, PRIVATE, PUBLIC),
    ],
)
def test_a_level_is_read_in_any_spelling_and_an_unknown_one_is_private(
    written: object, own: AccessLevel, published: AccessLevel
) -> None:
    fields = {"note": NOTE, "access_level": written}
    assert table_level(fields) is own
    assert parsed(PUBLIC, fields).access_level is own
    fetched = SourceFile(path="a.csv", url="https://example.org/a.csv")
    for files, is_own, level in (((fetched,), False, published), ((fetched,), True, own)):
        data = DataSource(files=files, is_own=is_own)
        assert parsed(PUBLIC, fields, data=data).access_level is level
    pinned = DataSource(files=(SourceFile(path="a.csv", sha256="0" * 64),))
    assert parsed(PUBLIC, fields, data=pinned).access_level is published
    assert parsed(PUBLIC, fields, data=DataSource(dataset="a/b")).access_level is published


@given(st.permutations(["note", "id", "more"]), st.sampled_from([str.upper, str.title, str]))
def test_text_is_known_again_by_another_template_order_and_spelling(
    columns: Sequence[str], spelled: Any
) -> None:
    one = parsed(PRIVATE, {"note": NOTE, "id": "1"})
    values = {"note": spelled(NOTE).replace(" ", "\n  "), "id": "2", "more": "x"}
    other = parsed(PUBLIC, {name: values[name] for name in columns})
    assert set(one.text_hashes or ()) & set(other.text_hashes or ())
    unlike = parsed(PUBLIC, {"note": NOTE[::-1], "id": "1"})
    assert not set(one.text_hashes or ()) & set(unlike.text_hashes or ())
    assert (
        parsed(PUBLIC, {"note": "Hi."}).text_hashes == parsed(PRIVATE, {"note": "Hi."}).text_hashes
    )


def test_a_plug_ins_perturbation_cannot_lower_a_level() -> None:
    one = parsed(PRIVATE, {"note": NOTE})
    copy = perturbed(one, "own", lambda row, _: replace(row, input="!", access_level=PUBLIC))
    assert copy is not None and copy.access_level is PRIVATE


OPERATIONS = ("few_shot", "perturb", "judge", "export", "ask", "restate")


@given(levels, st.lists(st.tuples(st.sampled_from(OPERATIONS), levels), max_size=12))
def test_no_sequence_of_operations_lowers_a_level(
    first: AccessLevel, sequence: list[tuple[str, AccessLevel]]
) -> None:
    row, least = parsed(first, {"note": NOTE}), first
    spec = AdapterSpec(method=AdapterMethod.GENERATION, max_train_instances=1)
    seen: dict[str, AccessLevel] = {}
    for operation, level in sequence:
        if operation == "few_shot":
            other = parsed(level, {"note": "Another note."})
            prompt = render(spec, row, [other], render_id="r")
            least = strictest([least, level])
            row = replace(row, input=prompt.text, access_level=prompt.access_level)
        elif operation == "perturb":
            copy = perturbed(row, "x", lambda one, _: replace(one, input=one.input + "."))
            assert copy is not None
            row = copy
        elif operation == "export":  # and in again, as a table under a card of another level
            fields = {"note": row.input, "access_level": row.access_level.value, "write_id": "w"}
            row, least = parsed(level, fields, is_table=True), strictest([least, level])
        elif operation == "restate":
            try:
                stated = stated_level(
                    row.access_level, level, name="s", is_own=True, policy=SHIPPED
                )
            except PolicyError:
                continue
            row, least = replace(row, access_level=stated), strictest([least, level])
        elif operation == "judge":
            judge_input = JudgeInput(
                question=row.input, response="yes", access_level=row.access_level
            )
            prompts = list(judge_prompts(RUBRIC, judge_input, judged_request_id="q", render_id="j"))
            assert all(one.access_level.strictness >= least.strictness for one in prompts)
        else:
            prompt = render(spec, row, render_id="r")
            request = _request(prompt.prompt_id, prompt.access_level)
            words = [Completion(text="yes", finish_reason=FinishReason.STOP)]
            results = (
                answered(request, words, "engine"),
                failed(request, FailureKind.TIMEOUT, "engine"),
            )
            assert all(one.access_level.strictness >= least.strictness for one in results)
            # An answer is found again by its prompt's id: one of another level is another.
            assert seen.setdefault(prompt.prompt_id, prompt.access_level) is prompt.access_level
        assert row.access_level.strictness >= least.strictness


def _request(request_id: str, level: AccessLevel) -> Request:
    return Request(
        request_id=request_id,
        model_deployment="m",
        messages=(),
        text="t",
        decoding=Decoding(max_tokens=1),
        access_level=level,
    )


def change(to: AccessLevel, by: str = "amy", version: str = "v") -> LevelChange:
    return LevelChange(
        scenario_name="s",
        data_version=version,
        from_level=PRIVATE,
        to_level=to,
        reason="r",
        changed_by=by,
        changed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


people = st.sampled_from(["amy", "Amy ", "bob", " ", ""])
changes = st.builds(change, levels, people, st.sampled_from(["v", "other"]))
approvals = st.builds(
    lambda to, by, version: Approval(
        scenario_name="s", data_version=version, to_level=to, approved_by=by
    ),
    levels,
    people,
    st.sampled_from(["v", "other"]),
)


@pytest.mark.attack("levels", "a lowering that is approved by nobody, or by who recorded it")
@given(levels, st.lists(changes, max_size=5), st.lists(approvals, max_size=5))
def test_only_a_recorded_lowering_that_somebody_else_approved_lowers(
    level: AccessLevel, recorded: list[LevelChange], approved: list[Approval]
) -> None:
    came = lowering_of(level, "v", recorded, approved)
    assert came.access_level.strictness <= level.strictness
    if came.access_level is not level:
        assert any(
            one.data_version == other.data_version == "v"
            and one.to_level is other.to_level is came.access_level
            and other.approved_by.strip().casefold() not in ("", one.changed_by.strip().casefold())
            for one in recorded
            for other in approved
        )
    assert lowering_of(level, "v", recorded).access_level is level
    for one in recorded:
        assert not review(one, ()).reviewed


@given(levels, st.lists(changes, max_size=5), st.lists(approvals, max_size=5))
def test_what_is_refused_before_data_is_read_would_be_refused_afterwards_too(
    level: AccessLevel, recorded: list[LevelChange], approved: list[Approval]
) -> None:
    before = min(
        level, lowest_approved(recorded, approved).get("s", level), key=lambda one: one.strictness
    )
    for version in ("v", "other"):
        came = lowering_of(level, version, recorded, approved).access_level
        assert before.strictness <= came.strictness
    assert lowest_approved(recorded, ()) == {}
    assert not any(review(one, approved).reviewed for one in recorded) or lowest_approved(
        recorded, approved
    )["s"] in {one.to_level for one in approved}


@given(st.sampled_from(Locality))
def test_text_of_an_unreviewed_level_stays_on_local(locality: Locality) -> None:
    came = without_review(Decision(allowed=True, rule="yes"), locality)
    assert came.allowed is (locality is Locality.LOCAL)


def test_bytes_that_a_card_pins_are_nobodys_own_and_are_held_to_the_pin(tmp_path: Path) -> None:
    pinned = tmp_path / "theirs.csv"
    pinned.write_text("id,note\n1,x\n")
    sha = "e0a7cf6c5c2ed24b6ff1c1f0a3f1ed3d"
    own = card(source=replace(source(pinned), is_own=True))
    assert with_known_hashes(own, _pinning(sha * 2)).source.is_own
    known = with_known_hashes(own, _pinning(sha256_of(str(pinned))))
    assert not known.source.is_own
    assert known.source.files[0].sha256 == sha256_of(str(pinned))
    table = card(source=replace(own.source, files=(), table="t"))
    assert with_known_hashes(table, _pinning(sha * 2)).source.is_own


def _pinning(sha256: str) -> Any:
    original = card()
    (file,) = original.source.files
    return replace(original, source=replace(original.source, files=(replace(file, sha256=sha256),)))
