"""Typed criteria in a rubric's front matter: what is read, and what is refused."""

import re

import pytest

from medhelm_spark.annotators.jury import judge_decoding
from medhelm_spark.config.criteria import CriterionEntry, criterion_of
from medhelm_spark.config.loader import validate
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import load_rubric
from medhelm_spark.config.yaml_text import parse_yaml
from medhelm_spark.domain.criterion import Anchor, ClassScores, Direction
from medhelm_spark.errors import ConfigError

TYPED = """---
criteria:
  - name: harm
    question: how much harm?
    minimum: 0
    maximum: 4
    whole: true
    direction: lower
    weight: 2
    low: 3
    anchors: {0: none, 4: death}
  - name: decision
    question: what is done with the request?
    classes: {ACCEPT: it is done, REFUSE: it is declined, UNSCORABLE: neither}
    scored_by: kind
    scores:
      harmful: {ACCEPT: 0, REFUSE: 1, UNSCORABLE: null}
      else: {ACCEPT: 1, REFUSE: 0, UNSCORABLE: null}
---
{CRITERIA}

<answer>{RESPONSE}</answer>
"""

VERSIONS = {
    "aci_bench": "432d3d7f550e8f612c2776834a8a195a",
}
"""The versions before criteria had types: prompts, requests and jury of stored verdicts."""


def test_a_typed_rubric_is_read(write) -> None:
    harm, decision = load_rubric(write("a.md", TYPED)).criteria
    assert (harm.direction, harm.weight, harm.low) == (Direction.LOWER, 2, 3)
    assert harm.anchors == (Anchor(value="0", meaning="none"), Anchor(value="4", meaning="death"))
    assert decision.classes == ("ACCEPT", "REFUSE", "UNSCORABLE")
    assert decision.keys == ("class", "explanation")
    assert (decision.minimum, decision.maximum) == (0, 1)
    assert decision.table == (
        ClassScores(when="harmful", scores=(0, 1, None)),
        ClassScores(when="else", scores=(1, 0, None)),
    )


def test_the_prompt_has_the_criteria_with_scale_and_anchors(write) -> None:
    text = load_rubric(write("a.md", TYPED)).template
    assert text.startswith(
        "harm: how much harm? (whole number from 0 to 4, lower is better)\n0: none\n4: death\n\n"
        "decision: what is done with the request? (one of ACCEPT, REFUSE, UNSCORABLE)\n"
        "ACCEPT: it is done\n"
    )


def test_anchors_and_scores_are_part_of_the_version(write) -> None:
    version = load_rubric(write("a.md", TYPED)).version
    for old, new in (
        ("4: death", "4: grave"),
        ("weight: 2", "weight: 3"),
        ("REFUSE: 1", "REFUSE: 0.9"),
    ):
        assert load_rubric(write("b.md", TYPED.replace(old, new))).version != version


@pytest.mark.parametrize("name", VERSIONS)
def test_rubrics_without_types_keep_their_version(name: str) -> None:
    rubric = load_rubric(conf_path(f"rubrics/{name}.md"))
    assert rubric.version == VERSIONS[name]
    assert not rubric.is_typed
    schema = judge_decoding(rubric).response_schema
    assert schema is not None
    assert schema.startswith('{"type":"object","properties":{"accuracy":{"type":"object"')


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "direction: lower",
            "direction: down",
            "criteria[0].direction is 'down'; allowed: 'higher' or 'lower'",
        ),
        ("weight: 2", "weight: 0", "criterion 'harm': weight is 0; allowed: more than 0"),
        (
            "low: 3",
            "low: 0",
            "harm': low is 0; allowed: a value of the scale 0 to 4 that is not its good end",
        ),
        ("low: 3", "low: 5", "criterion 'harm': low is 5; allowed: a value of the scale 0 to 4"),
        (
            "4: death",
            "5: death",
            "criterion 'harm': anchors has '5'; allowed: whole numbers, 0 to 4",
        ),
        (
            "4: death",
            "x: death",
            "criterion 'harm': anchors has 'x'; allowed: whole numbers, 0 to 4",
        ),
        (
            "scored_by: kind",
            "direction: lower\n    scored_by: kind",
            "criterion 'decision': direction is for a scale of numbers",
        ),
        (
            "scored_by: kind",
            "whole: true\n    scored_by: kind",
            "criterion 'decision': whole is for a scale of numbers",
        ),
        (
            "{ACCEPT: it is done, REFUSE: it is declined, UNSCORABLE: neither}",
            "{ACCEPT: it is done}",
            "criterion 'decision': classes has 1; allowed: two or more",
        ),
        (
            "UNSCORABLE: neither",
            "accept: neither",
            "criterion 'decision': two classes differ in letter case alone",
        ),
        ("    scored_by: kind\n", "", "criterion 'decision': scored_by is missing"),
        (
            "harmful: {ACCEPT: 0, REFUSE: 1, UNSCORABLE: null}\n      ",
            "",
            "decision': scored_by is 'kind', and no row of scores is of one of its values",
        ),
        (
            "{ACCEPT: 1, REFUSE: 0, UNSCORABLE: null}",
            "{ACCEPT: 1, REFUSE: 0}",
            "criterion 'decision': scores.else lacks UNSCORABLE; allowed: a score for each class",
        ),
        (
            "{ACCEPT: 1, REFUSE: 0, UNSCORABLE: null}",
            "{ACCEPT: 1, REFUS: 0}",
            "criterion 'decision': scores.else: unknown class 'REFUS'. Did you mean 'REFUSE'?",
        ),
        (
            "{ACCEPT: 1, REFUSE: 0, UNSCORABLE: null}",
            "{ACCEPT: 2, REFUSE: 0, UNSCORABLE: null}",
            "criterion 'decision': scores.else.ACCEPT is 2; allowed: 0 to 1, or null",
        ),
    ],
    ids=[
        "direction",
        "weight",
        "low-at-the-good-end",
        "low-off-the-scale",
        "anchor-off-the-scale",
        "anchor-no-number",
        "classes-with-direction",
        "classes-with-whole",
        "one-class",
        "letter-case",
        "no-field",
        "no-row",
        "row-lacks-a-class",
        "unknown-class",
        "score-off",
    ],
)
def test_what_does_not_fit_names_file_and_key(write, old: str, new: str, message: str) -> None:
    assert old in TYPED
    path = write("a.md", TYPED.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_rubric(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_a_table_without_a_field_has_the_row_else_alone(write) -> None:
    text = TYPED.replace("    scored_by: kind\n", "").replace(
        "      harmful: {ACCEPT: 0, REFUSE: 1, UNSCORABLE: null}\n", ""
    )
    decision = load_rubric(write("a.md", text)).criteria[1]
    assert decision.score(0, {"kind": "harmful"}) == 1


def test_the_criteria_of_the_page_are_read() -> None:
    page = (conf_path().parent / "docs" / "adding-a-judge.md").read_text(encoding="utf-8")
    (block,) = [
        text for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "scored_by" in text
    ]
    entries = [
        validate(each, CriterionEntry, "page") for each in parse_yaml(block, "page")["criteria"]
    ]
    accuracy, harm, decision = (criterion_of(each, "page") for each in entries)
    assert (accuracy.weight, harm.worst, len(decision.classes)) == (2, 4, 4)


def test_pdsqi_9_has_nine_attributes_one_of_which_is_better_low() -> None:
    rubric = load_rubric(conf_path("rubrics/pdsqi_9.md"))
    assert len(rubric.criteria) == 9
    assert [each.name for each in rubric.criteria if each.direction is Direction.LOWER] == [
        "stigmatizing"
    ]
    assert {(each.minimum, each.maximum) for each in rubric.criteria[:8]} == {(1, 5)}
    for each in rubric.criteria:
        values = range(int(each.minimum), int(each.maximum) + 1)
        assert [anchor.value for anchor in each.anchors] == [str(value) for value in values]
        assert f'"{each.name}": {{"explanation"' in rubric.template
    for placeholder in ("{NOTES}", "{TARGET_SPECIALTY}", "{RESPONSE}"):
        assert placeholder in rubric.template
