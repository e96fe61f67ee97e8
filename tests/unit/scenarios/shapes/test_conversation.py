"""Conversations with a rubric of their own: made rows, and the real ones of HealthBench."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.annotation import RubricItem, rubric_items
from medhelm_spark.domain.run import AdapterMethod
from medhelm_spark.domain.scenario import Message, ScenarioCard, Verified
from medhelm_spark.scenarios import (
    PARSERS,
    BadRecord,
    ParsedInput,
    Record,
    check_card,
    fingerprint_records,
    read_card,
    with_source,
)
from tests.unit.scenarios.cards import CONF, card, instances, parsed, source

FIELDS = {"id": "id", "messages": "turns", "rubric": "rubric", "tags": "tags"}
OWN = card("conversation", fields=FIELDS, metric="health_bench")
TURNS = [
    {"role": "user", "content": "Is it bad?"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "My knee."},
]
RUBRIC = [
    {"criterion": "Asks since when", "points": "5", "tags": ["axis:context_awareness"]},
    {"criterion": "Names a diagnosis", "points": -2.5},
]


def parse(scenario: ScenarioCard = OWN, **fields: object) -> ParsedInput:
    row = {"id": "1", "turns": TURNS, "rubric": RUBRIC, "tags": ["theme:hedging"], **fields}
    return PARSERS[scenario.shape].parse(Record(source_file="f", row=1, fields=row), scenario)


def test_turns_rubric_and_tags() -> None:
    found = parse()
    assert found.input == "My knee."
    assert [(one.role, one.content) for one in found.messages] == [
        (turn["role"], turn["content"]) for turn in TURNS
    ]
    assert rubric_items(found.extra_data) == (
        RubricItem(criterion="Asks since when", points=5.0, tags=("axis:context_awareness",)),
        RubricItem(criterion="Names a diagnosis", points=-2.5),
    )
    assert found.extra_data["tags"] == '["theme:hedging"]'
    assert found.references == ()


def test_a_conversation_without_a_rubric_is_one_too() -> None:
    scenario = card("conversation", fields={"messages": "turns", "reference": "gold"})
    found = parse(scenario, gold="See a doctor.")
    assert found.extra_data == {}
    assert [one.is_correct for one in found.references] == [True]
    assert parse(scenario, gold=" ").references == ()


def test_the_form_of_healthbench_professional() -> None:
    scenario = load("health_bench_professional")
    fields = {
        "id": "p1",
        "conversation": {"messages": TURNS},
        "rubric_items": [{"criterion_text": "Gives a dose", "points": 7}],
        "physician_response": "500 mg.",
    }
    found = PARSERS[scenario.shape].parse(Record(source_file="f", row=1, fields=fields), scenario)
    assert found.messages[-1] == Message(role="user", content="My knee.")
    assert rubric_items(found.extra_data) == (RubricItem(criterion="Gives a dose", points=7.0),)
    assert [one.text for one in found.references] == ["500 mg."]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"turns": None}, "missing_field"),
        ({"turns": {}}, "missing_field"),
        ({"turns": "Is it bad?"}, "not_a_list"),
        ({"turns": []}, "broken_conversation"),
        ({"turns": ["Is it bad?"]}, "broken_conversation"),
        ({"turns": TURNS[:2]}, "broken_conversation"),
        ({"turns": [{"role": "user"}]}, "broken_conversation"),
        ({"turns": [{"role": "robot", "content": "x"}, TURNS[0]]}, "broken_conversation"),
        ({"turns": [{"role": "user", "content": ["x"]}]}, "not_text"),
        ({"turns": [{"role": "user", "content": " "}]}, "empty_input"),
        ({"rubric": None}, "missing_field"),
        ({"rubric": {"criterion": "x"}}, "not_a_list"),
        ({"rubric": []}, "broken_rubric"),
        ({"rubric": ["x"]}, "broken_rubric"),
        ({"rubric": [{"criterion": "x"}]}, "broken_rubric"),
        ({"rubric": [{"criterion": "x", "points": "many"}]}, "broken_rubric"),
        ({"rubric": [{"criterion": "x", "points": "nan"}]}, "broken_rubric"),
        ({"rubric": [{"criterion": "x", "points": float("inf")}]}, "broken_rubric"),
        ({"rubric": [{"criterion": " ", "points": 1}]}, "broken_rubric"),
        ({"rubric": [{"points": 1}]}, "broken_rubric"),
        ({"rubric": [{"criterion": "x", "points": 1, "tags": "axis:x"}]}, "not_a_list"),
        ({"tags": "theme:hedging"}, "not_a_list"),
    ],
)
def test_bad_rows_say_why(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadRecord, match=f"^{reason}$"):
        parse(**change)


def load(name: str) -> ScenarioCard:
    return load_yaml(CONF / "scenarios" / f"{name}.yaml", ScenarioCard)


def test_the_cards_have_medhelms_adapter_values() -> None:
    for name, verified in (
        ("health_bench", Verified.REAL),
        ("health_bench_professional", Verified.SAME_FORM),
    ):
        scenario = load(name)
        check_card(scenario)
        spec = scenario.adapter_spec
        assert (spec.method, spec.max_tokens, spec.temperature) == (AdapterMethod.CHAT, 512, 0.0)
        assert (spec.num_outputs, spec.stop_sequences, spec.max_train_instances) == (1, (), 0)
        assert scenario.main_metric == f"{name}_score"
        assert scenario.verified is verified


def test_real_health_bench(real_data: Path) -> None:
    path = real_data / "healthbench" / "hive_lite_hard50.jsonl"
    scenario = with_source(load("health_bench"), [str(path)])
    found = instances(scenario)
    rubrics = [rubric_items(each.extra_data) for each in found]
    assert (len(found), sum(map(len, rubrics))) == (50, 559)
    assert len({each.instance_id for each in found}) == 50
    assert Counter(len(each.messages) for each in found) == {1: 26, 3: 7, 5: 10, 7: 5, 9: 2}
    assert Counter(item.points < 0 for items in rubrics for item in items) == {
        True: 194,
        False: 365,
    }
    points = [item.points for items in rubrics for item in items]
    assert (min(points), max(points), sum(each for each in points if each > 0)) == (-10, 10, 2423)
    assert min(sum(item.points for item in items if item.points > 0) for items in rubrics) > 0
    axes = Counter(tag for items in rubrics for item in items for tag in item.tags)
    assert (axes["axis:completeness"], axes["axis:accuracy"]) == (213, 177)
    assert sum('"theme:global_health"' in each.extra_data["tags"] for each in found) == 14


def test_first_and_last_row_of_real_health_bench(real_data: Path) -> None:
    path = real_data / "healthbench" / "hive_lite_hard50.jsonl"
    found = instances(with_source(load("health_bench"), [str(path)]))
    first, last = found[0], found[-1]
    assert first.source_id == "7f5c7533-68d6-4d89-a20b-7f8e69537a60"
    assert last.source_id == "fd59b9c2-4750-453a-a3de-a995220cce04"
    assert first.messages[0].content.startswith("why that dermatologist gave me that cream?")
    assert first.input == first.messages[-1].content
    items = rubric_items(first.extra_data)
    assert [item.points for item in items][:3] == [6, 8, -8]
    assert items[0].tags == ("level:example", "axis:context_awareness")
    assert (len(items), len(rubric_items(last.extra_data))) == (12, 19)


def test_a_changed_rubric_is_another_instance(tmp_path: Path) -> None:
    line = '{"id": "1", "turns": [{"role": "user", "content": "x"}], "rubric": [RUBRIC]}\n'
    keys = []
    for points in ("5", "6"):
        path = tmp_path / f"{points}.jsonl"
        path.write_text(line.replace("RUBRIC", f'{{"criterion": "a", "points": {points}}}'))
        scenario = card("conversation", fields={**FIELDS}, source=source(path, "jsonl"))
        (key,) = fingerprint_records(read_card(scenario), scenario)
        keys.append(key.content_hash)
        assert len(parsed(scenario)) == 1
    assert keys[0] != keys[1]
