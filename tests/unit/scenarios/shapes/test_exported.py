"""Exports are read whole or not at all, and their instances taken as they are."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import RUBRIC_ITEMS, TAGS, RubricItem, rubric_items
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.imported import EXPORT_FIELDS, EXPORT_FORMAT, EXPORT_SHAPE
from medhelm_spark.domain.run import AdapterSpec
from medhelm_spark.domain.scenario import Instance, Message, Quarantined, Reference, ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import first_line, parse_records, read_card
from tests.exports import instance, write_export


def card_of(path: Path, **options: str) -> ScenarioCard:
    return ScenarioCard(
        name="ward@medhelm-0.8",
        display_name="Ward",
        description="",
        access_level=AccessLevel.PRIVATE,
        source=DataSource(format=EXPORT_FORMAT, files=(SourceFile(path=str(path), split=None),)),
        shape=EXPORT_SHAPE,
        fields=EXPORT_FIELDS,
        options=options,
        adapter_spec=AdapterSpec(),
        metrics=(),
        main_metric="exact_match",
    )


def read(path: Path, **options: str) -> list[Instance | Quarantined]:
    card = card_of(path, **options)
    return list(parse_records(read_card(card), card, "v1"))


def good(path: Path, **options: str) -> list[Instance]:
    found = read(path, **options)
    assert not [one for one in found if isinstance(one, Quarantined)]
    return [one for one in found if isinstance(one, Instance)]


def test_instances_keep_their_order_texts_and_splits(tmp_path: Path) -> None:
    made = [
        instance(0, split="train", sub_split="ward 3", extra_data={"category": "lab"}),
        instance(1, input="  spaces stay \n"),
        instance(2, split="valid", input=""),
    ]
    found = good(write_export(tmp_path / "e.jsonl", made))
    assert [one.source_index for one in found] == [0, 1, 2]
    assert [one.source_id for one in found] == ["id0", "id1", "id2"]
    assert [one.split for one in found] == [Split.TRAIN, Split.TEST, Split.VALID]
    assert [one.input for one in found] == ["Case 0?", "  spaces stay \n", ""]
    assert (found[0].sub_split, found[0].extra_data) == ("ward 3", {"category": "lab"})
    assert found[1].references == (
        Reference(text="fever"),
        Reference(text="cough", tags=("correct",)),
    )


def test_a_conversation_keeps_its_turns(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "I cough."},
    ]
    (found,) = good(write_export(tmp_path / "e.jsonl", [instance(0, input="", messages=turns)]))
    assert found.messages == tuple(Message(**turn) for turn in turns)
    assert found.input == "I cough."


def test_a_rubric_of_an_instance_goes_where_judges_look(tmp_path: Path) -> None:
    rubric = [{"criterion_text": "Says rest.", "points": -2, "tags": ["a"]}]
    extra = {
        "rubrics": json.dumps(rubric),
        "example_tags": json.dumps(["theme:x"]),
        "physician_response": "Rest.",
        "prompt_id": "p1",
    }
    path = write_export(tmp_path / "e.jsonl", [instance(0, references=[], extra_data=extra)])
    (found,) = good(path, criterion="criterion_text")
    item = RubricItem(criterion="Says rest.", points=-2.0, tags=("a",))
    assert rubric_items(found.extra_data) == (item,)
    assert found.extra_data[TAGS] == '["theme:x"]'
    assert set(found.extra_data) == {RUBRIC_ITEMS, TAGS, "prompt_id"}
    assert found.references == (Reference(text="Rest.", tags=("correct",)),)
    (as_it_is,) = good(path)
    assert as_it_is.extra_data == extra


def test_a_bad_instance_is_counted_and_the_others_stay(tmp_path: Path) -> None:
    made = [instance(0, references=None), instance(1), instance(2, split="other")]
    found = read(write_export(tmp_path / "e.jsonl", made))
    assert [getattr(one, "reason", None) for one in found] == [
        "not_a_list",
        None,
        "unknown_split",
    ]


@pytest.mark.parametrize("num_lines", [2, 3], ids=["an instance less", "no last line"])
def test_an_export_that_was_cut_off_is_refused(tmp_path: Path, num_lines: int) -> None:
    path = write_export(tmp_path / "e.jsonl", [instance(0), instance(1)])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:num_lines]))
    with pytest.raises(DataError, match=rf"cut off or changed: {num_lines - 1} instances of 2"):
        read(path)


def test_an_export_with_an_instance_more_is_refused(tmp_path: Path) -> None:
    path = write_export(tmp_path / "e.jsonl", [instance(0)])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], lines[1], lines[2]]))
    with pytest.raises(DataError, match="2 instances of 1"):
        read(path)


def test_other_files_are_no_exports(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('{"kind": "instance"}\n')
    with pytest.raises(DataError, match="its first line is no header"):
        read(path)
    path.write_text("secret text\n")
    with pytest.raises(DataError, match="line 1 is not a JSON object") as caught:
        read(path)
    assert "secret" not in str(caught.value)
    path.write_text("")
    with pytest.raises(DataError, match="the file is empty"):
        first_line(str(path))
    with pytest.raises(DataError, match="cannot be read"):
        first_line(str(tmp_path / "absent"))


def test_the_same_instances_have_the_same_ids_in_another_export(tmp_path: Path) -> None:
    first = good(write_export(tmp_path / "a.jsonl", [instance(0), instance(1)]))
    other = write_export(tmp_path / "b.jsonl", [instance(1), instance(0)], python="3.12.1")
    second = good(other)
    assert {one.instance_id for one in first} == {one.instance_id for one in second}
    assert replace(first[0], source_index=1) == second[1]
