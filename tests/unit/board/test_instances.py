"""The answers behind a number."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.board import (
    AnswerFilter,
    InstanceKey,
    Order,
    Viewer,
    choose,
    instance_detail,
    instance_details,
    instances_of,
    load_runs,
)
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import FailureKind, VerdictStatus
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import UNREADABLE_STAT, PerInstanceStats, Score, ScoreStatus
from medhelm_spark.errors import LakeError, PolicyError
from medhelm_spark.lake.reader import Reader, open_reader
from tests.rewriting import rewritable
from tests.unit.board.planted import ALPHA, BETA, HOSTILE, append, finish, plant, unit


def spec_of(reader: Reader, scenario: str) -> RunSpec:
    runs = {run.run_spec.run_spec_id: run for run in load_runs(reader, choose(reader, "s1"))}
    return runs[unit(ALPHA, scenario)].run_spec


@pytest.mark.parametrize(
    ("order", "numbers"),
    [(Order.SOURCE, [1, 2, 3]), (Order.LOWEST, [2, 1, 3]), (Order.HIGHEST, [1, 2, 3])],
)
def test_instances_stand_in_the_order_asked_for(reader: Reader, order, numbers) -> None:
    page = instances_of(reader, spec_of(reader, "medcalc_bench"), limit=10, order=order)
    assert [score.number for score in page.scores] == numbers


def test_a_page_is_a_slice_and_knows_the_total(reader: Reader) -> None:
    page = instances_of(reader, spec_of(reader, "triage_choice"), limit=2, offset=2)
    assert page.total == 4
    assert [(score.key.instance_id, score.value) for score in page.scores] == [
        ("triage_choice-i2", 1.0),
        ("triage_choice-i3", 0.0),
    ]


@pytest.mark.parametrize(("index", "offset"), [(0, 0), (2, 2), (3, 2)])
def test_the_page_that_holds_an_answer_is_found(reader: Reader, index: int, offset: int) -> None:
    key = InstanceKey(instance_id=f"triage_choice-i{index}")
    page = instances_of(reader, spec_of(reader, "triage_choice"), limit=2, holding=key)
    assert page.offset == offset
    assert key in [score.key for score in page.scores]


def test_an_unscored_answer_says_why(reader: Reader) -> None:
    page = instances_of(reader, spec_of(reader, "medcalc_bench"), limit=10)
    assert (page.scores[2].value, page.scores[2].status) == (None, ScoreStatus.NO_ANSWER)


@pytest.mark.parametrize(
    ("scenario", "only", "numbers"),
    [
        ("triage_choice", AnswerFilter.WRONG, [4]),
        ("medcalc_bench", AnswerFilter.WRONG, [2]),
        ("medcalc_bench", AnswerFilter.FAILED, [3]),
        ("triage_choice", AnswerFilter.UNREAD, []),
        ("discharge_note", AnswerFilter.WRONG, []),
    ],
)
def test_some_answers_alone_are_listed_by_their_number(reader: Reader, scenario, only, numbers):
    page = instances_of(reader, spec_of(reader, scenario), limit=10, only=only)
    assert [score.number for score in page.scores] == numbers
    assert page.total == page.counts[only] == len(numbers)


def test_unread_answers_are_those_in_which_nothing_was_found(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    name = unit(ALPHA, "triage_choice")
    key = {"run_spec_id": name, "perturbation": "", "train_trial_index": 0, "trial_index": 0}
    values = {"triage_choice-i0": (0.0, 1.0), "triage_choice-i1": (1.0, 0.0)}
    rows = [
        PerInstanceStats(
            **key,
            instance_id=instance_id,
            split="test",
            stats=(
                Score(name="exact_match", value=main),
                Score(name=UNREADABLE_STAT, value=unread),
            ),
        )
        for instance_id, (main, unread) in values.items()
    ]
    append(tmp_path, "per_instance_stats", rows, "w-read")
    finish(tmp_path, "score", name, "w-read", minutes=5)
    page = instances_of(
        reader, spec_of(reader, "triage_choice"), limit=10, only=AnswerFilter.UNREAD
    )
    assert [score.key.instance_id for score in page.scores] == ["triage_choice-i0"]
    assert page.counts == {AnswerFilter.WRONG: 1, AnswerFilter.UNREAD: 1, AnswerFilter.FAILED: 0}


@pytest.mark.parametrize(
    ("matching", "numbers"),
    [
        ("CASE 1:", [2]),
        ("answer 2", [3]),
        (f"{BETA} says 3".upper(), [4]),
        ("{braces}", [1, 2, 3, 4]),
        ("\\1 {", [1, 2, 3, 4]),
        (ALPHA, []),
        ("%", []),
        ("_", []),
        ("' OR '1'='1", []),
        (".*", []),
        ("no such text", []),
    ],
)
def test_a_text_is_searched_in_the_data_and_in_the_answers(
    reader: Reader, matching: str, numbers: list[int]
) -> None:
    runs = load_runs(reader, choose(reader, "s1"))
    (spec,) = (
        run.run_spec for run in runs if run.run_spec.run_spec_id == unit(BETA, "triage_choice")
    )
    page = instances_of(reader, spec, limit=10, matching=matching)
    assert [score.number for score in page.scores] == numbers
    assert (page.total, page.num_answers) == (len(numbers), 4)


@pytest.mark.parametrize("text", ["100%", "a_b", "it's", "\\n", "\u00c4RZTIN", "a\nb"])
def test_a_search_takes_every_character_as_it_is(tmp_path: Path, text: str) -> None:
    reader = open_reader(str(plant(tmp_path)))
    instances = rewritable(tmp_path / "instances")
    quoted = text.lower().replace("'", "''")
    instances.update(
        {"input": f"'before {quoted} after'"}, predicate="instance_id = 'triage_choice-i2'"
    )
    page = instances_of(reader, spec_of(reader, "triage_choice"), limit=10, matching=text)
    assert [score.number for score in page.scores] == [3]


def test_a_search_keeps_the_filter_and_the_order(reader: Reader) -> None:
    spec = spec_of(reader, "triage_choice")
    page = instances_of(reader, spec, limit=10, matching="case", only=AnswerFilter.WRONG)
    assert [score.number for score in page.scores] == [4]
    page = instances_of(reader, spec, limit=10, matching="case", order=Order.LOWEST)
    assert [score.number for score in page.scores] == [4, 1, 2, 3]


def test_a_search_lists_no_perturbed_copy(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    spec, write_id = spec_of(reader, "triage_choice"), f"w-{unit(ALPHA, 'triage_choice')}"
    key = InstanceKey(instance_id="triage_choice-i1")
    detail = instance_detail(reader, spec, key, viewer=Viewer.THIS_MACHINE)
    assert detail and detail.instance and detail.request and detail.result and detail.stats
    copy = {"perturbation": "typos"}
    request = replace(detail.request, **copy, request_id="q-copy")
    completion = replace(detail.result.completions[0], text="zebra")
    result = replace(detail.result, request_id="q-copy", completions=(completion,))
    instance = replace(detail.instance, **copy, input="zebra")
    append(tmp_path, "instances", [instance], "triage_choice-w")
    append(tmp_path, "requests", [request], write_id)
    append(tmp_path, "request_results", [result], write_id)
    append(tmp_path, "per_instance_stats", [replace(detail.stats, **copy)], write_id)
    assert instance_detail(reader, spec, replace(key, **copy), viewer=Viewer.THIS_MACHINE)
    assert instances_of(reader, spec, limit=9, matching="zebra").total == 0
    assert instances_of(reader, spec, limit=9, matching="case").total == 4


@pytest.mark.attack("dashboard", "a search that would tell whether a text is in private data")
@pytest.mark.parametrize("scenario", ["medcalc_bench", "discharge_note"])
def test_a_viewer_elsewhere_cannot_search(reader: Reader, scenario: str) -> None:
    for matching in ("Case 1", "no such text"):
        with pytest.raises(PolicyError, match="shown only at the machine") as caught:
            instances_of(reader, spec_of(reader, scenario), limit=10, matching=matching)
        assert matching not in str(caught.value)


@pytest.mark.attack("dashboard", "a search in rows of a public run that became private")
@pytest.mark.parametrize("table", ["instances", "requests", "request_results"])
def test_the_strictest_row_that_is_searched_decides(tmp_path: Path, table: str) -> None:
    reader = open_reader(str(plant(tmp_path)))
    spec = spec_of(reader, "triage_choice")
    assert instances_of(reader, spec, limit=10, matching="case").total == 4
    rewritable(tmp_path / table).update({"access_level": "'private'"})
    with pytest.raises(PolicyError, match="private text is shown only"):
        instances_of(reader, spec, limit=10, matching="no such text")


def test_several_answers_are_read_at_once_in_the_order_asked_for(reader: Reader) -> None:
    spec = spec_of(reader, "discharge_note")
    keys = [InstanceKey(instance_id=f"discharge_note-i{number}") for number in (1, 7, 0)]
    details = instance_details(reader, spec, keys, viewer=Viewer.THIS_MACHINE)
    assert list(details) == [keys[0], keys[2]], "the run lacks one of them"
    for key, detail in details.items():
        assert detail == instance_detail(reader, spec, key, viewer=Viewer.THIS_MACHINE)
        assert detail.instance and detail.instance.instance_id == key.instance_id
        assert [verdict.instance_id for verdict in detail.annotations] == [key.instance_id] * 2


def test_an_instance_shows_request_answer_references_and_scores(reader: Reader) -> None:
    key = InstanceKey(instance_id="triage_choice-i1")
    detail = instance_detail(
        reader, spec_of(reader, "triage_choice"), key, viewer=Viewer.THIS_MACHINE
    )
    assert detail and detail.instance and detail.prompt and detail.result and detail.stats
    assert detail.prompt.text == f"Case 1: {HOSTILE}\nAnswer:"
    assert detail.result.completions[0].text == f"{ALPHA} says 1 {HOSTILE}"
    assert [r.text for r in detail.instance.references if r.is_correct] == ["answer 1"]
    assert {score.name: score.value for score in detail.stats.stats} == {
        "other": 0.0,
        "exact_match": 1.0,
    }
    assert detail.annotations == ()


def test_an_instance_shows_every_judges_verdict(reader: Reader) -> None:
    key = InstanceKey(instance_id="discharge_note-i1")
    detail = instance_detail(
        reader, spec_of(reader, "discharge_note"), key, viewer=Viewer.THIS_MACHINE
    )
    assert detail and detail.prompt
    assert [message.role for message in detail.prompt.messages] == ["system", "user"]
    first, second = detail.annotations
    assert (first.judge, first.scores[0].score) == ("j1", 4.0)
    assert (second.judge, second.status, second.scores) == ("j2", VerdictStatus.UNPARSEABLE, ())


def test_a_failed_request_has_a_kind_and_no_text(reader: Reader) -> None:
    key = InstanceKey(instance_id="medcalc_bench-i2")
    detail = instance_detail(
        reader, spec_of(reader, "medcalc_bench"), key, viewer=Viewer.THIS_MACHINE
    )
    assert detail and detail.result
    assert (detail.result.failure, detail.result.completions) == (FailureKind.TIMEOUT, ())


def test_an_instance_of_another_run_is_not_there(reader: Reader) -> None:
    key = InstanceKey(instance_id="triage_choice-i1")
    assert (
        instance_detail(reader, spec_of(reader, "medcalc_bench"), key, viewer=Viewer.THIS_MACHINE)
        is None
    )


@pytest.mark.parametrize("name", ["x' OR '1'='1", "a\\", "{runs}", "a b"])
def test_an_address_cannot_speak_sql(reader: Reader, name: str) -> None:
    with pytest.raises(LakeError, match="cannot be looked up"):
        instance_detail(
            reader,
            spec_of(reader, "triage_choice"),
            InstanceKey(instance_id=name),
            viewer=Viewer.THIS_MACHINE,
        )


@pytest.mark.attack("dashboard", "gated and private answers, read by a viewer elsewhere")
@pytest.mark.parametrize("scenario", ["medcalc_bench", "discharge_note"])
def test_text_is_withheld_from_a_viewer_elsewhere(reader: Reader, scenario: str) -> None:
    key = InstanceKey(instance_id=f"{scenario}-i1")
    with pytest.raises(PolicyError, match="shown only at the machine") as caught:
        instance_detail(reader, spec_of(reader, scenario), key, viewer=Viewer.ANYONE)
    assert HOSTILE not in str(caught.value)


def test_public_text_is_shown_to_anyone(reader: Reader) -> None:
    key = InstanceKey(instance_id="triage_choice-i1")
    assert instance_detail(reader, spec_of(reader, "triage_choice"), key, viewer=Viewer.ANYONE)


@pytest.mark.attack("dashboard", "a row of a public run that became private after the start")
@pytest.mark.parametrize(
    "table", ["instances", "prompts", "requests", "request_results", "annotations"]
)
def test_the_strictest_row_that_is_read_decides(tmp_path: Path, table: str) -> None:
    reader = open_reader(str(plant(tmp_path)))
    scenario = "discharge_note" if table == "annotations" else "triage_choice"
    spec = replace(spec_of(reader, scenario), access_level=AccessLevel.PUBLIC)
    key = InstanceKey(instance_id=f"{scenario}-i1")
    for name in ("instances", "prompts", "requests", "request_results", "annotations"):
        level = "private" if name == table else "public"
        rewritable(tmp_path / name).update({"access_level": f"'{level}'"})
    with pytest.raises(PolicyError, match="private text is shown only"):
        instance_detail(reader, spec, key, viewer=Viewer.ANYONE)
