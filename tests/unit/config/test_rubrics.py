"""Rubrics in both forms."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import Scale, load_judge_prompt, load_rubric
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.errors import ConfigError

MARKDOWN = """---
criteria:
  - {name: accuracy, minimum: 1, maximum: 5}
  - {name: clarity, keys: [score]}
max_tokens: 512
---
Judge {RESPONSE} to {QUESTION}; --- is no front matter here, nor is {"a": $5}.
"""


def test_front_matter_and_body(write) -> None:
    rubric = load_rubric(write("notes.md", MARKDOWN))
    assert rubric.name == "notes"
    assert rubric.max_tokens == 512
    assert rubric.criteria == (
        Criterion(name="accuracy", minimum=1, maximum=5),
        Criterion(name="clarity", keys=("score",)),
    )
    assert rubric.template.startswith("Judge {RESPONSE}")
    assert rubric.template.endswith('{"a": $5}.')


def test_the_version_is_of_template_and_criteria_only(write) -> None:
    rubric = load_rubric(write("a.md", MARKDOWN))
    assert rubric.version == load_rubric(write("b.md", MARKDOWN.replace("512", "64"))).version
    assert rubric.version != load_rubric(write("c.md", MARKDOWN.replace("Judge", "Rate"))).version
    assert rubric.version != load_rubric(write("d.md", MARKDOWN.replace("5}", "4}", 1))).version


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\ncriteria", "criteria", "must begin with YAML between two lines of ---"),
        ("name: accuracy", "nam: accuracy", "unknown key criteria[0].nam; did you mean 'name'?"),
        ("minimum: 1", "minimum: 7", "criterion 'accuracy' has the scale 7 to 5"),
        ("minimum: 1", "minimum: 5", "criterion 'accuracy' has the scale 5 to 5"),
        ("maximum: 5", "maximum: .inf", "criteria[0].maximum is '.inf'; allowed: a number"),
        ("minimum: 1", "minimum: .nan", "criteria[0].minimum is '.nan'; allowed: a number"),
        ("name: clarity", "name: accuracy", "a criterion is named twice"),
        ("{RESPONSE}", "the answer", "has no {RESPONSE}"),
        ("keys: [score]", "keys: score", "criteria[1].keys is 'score'; allowed: a list"),
        ("keys: [score]", "keys: [points]", "criterion 'clarity' has no key 'score'"),
        ("max_tokens: 512", "max_tokens: 0", "max_tokens is 0"),
    ],
)
def test_bad_rubrics_name_the_file(write, old: str, new: str, message: str) -> None:
    path = write("a.md", MARKDOWN.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_rubric(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_a_rubric_of_the_instances_own_has_no_criteria(write) -> None:
    front = "---\nkind: rubric\nmax_tokens: 9\n---\n"
    rubric = load_rubric(write("a.md", front + "{RESPONSE} by {CRITERION}"))
    assert (rubric.criteria, rubric.is_per_item, rubric.max_tokens) == ((), True, 9)
    for text in (front + "{RESPONSE}", MARKDOWN.replace("criteria:", "kind: rubric\ncriteria:")):
        with pytest.raises(ConfigError, match="of kind rubric names no criteria, and its text"):
            load_rubric(write("b.md", text))


def test_a_plug_ins_kind_is_part_of_the_version_and_needs_no_criteria(write) -> None:
    text = "---\nkind: own\n---\n{RESPONSE}"
    own, other = (load_rubric(write("a.md", text.replace("own", kind))) for kind in ("own", "two"))
    assert (own.kind, own.criteria) == ("own", ())
    assert own.version != other.version


@pytest.mark.parametrize("name", ["health_bench", "health_bench_comparison"])
def test_shipped_health_bench_prompts_end_with_what_differs(name: str) -> None:
    rubric = load_rubric(conf_path("rubrics", f"{name}.md"))
    marks = re.findall(r"\{[A-Z_]+\}", rubric.template)
    last = "{CRITERION}" if rubric.is_per_item else "{GOLD_RESPONSE}"
    assert marks == ["{CONVERSATION}", "{RESPONSE}", last]


def test_a_rubric_without_criteria_is_refused(write) -> None:
    with pytest.raises(ConfigError, match="without criteria"):
        load_rubric(write("a.md", "---\ncriteria: []\n---\n{RESPONSE}"))


def _prompt(block: str) -> str:
    return f"Judge {{RESPONSE}}.\n<rubric_criteria>\n{block}\n</rubric_criteria>\nReply in JSON."


def test_the_block_of_a_judge_prompt_stays_in_it(write) -> None:
    text = _prompt('{"accuracy": ["score", "explanation"], "tone": ["score"]}')
    rubric = load_judge_prompt(write("judge.txt", text), "MINE", Scale())
    assert (rubric.name, rubric.template) == ("MINE", text)
    assert rubric.criteria == (
        Criterion(name="accuracy", keys=("score", "explanation"), minimum=0, maximum=5),
        Criterion(name="tone", keys=("score",), minimum=0, maximum=5),
    )


def test_a_tag_that_the_prompt_only_speaks_of_is_no_block(write) -> None:
    block = '{"accuracy": ["score"]}'
    text = f"Score what stands inside <rubric_criteria>: one number each.\n{_prompt(block)}"
    for spaced in (text, text.replace(f"\n{block}\n", block), f"{text}\nSee </rubric_criteria>."):
        rubric = load_judge_prompt(write("judge.txt", spaced), "MINE", Scale())
        assert [criterion.name for criterion in rubric.criteria] == ["accuracy"]
        assert rubric.template == spaced


def test_nested_braces_are_read_whole(write) -> None:
    block = '{"a": {"score": {"type": "int"}, "why": "say {why}"}, "b}": ["score"]}'
    rubric = load_judge_prompt(write("judge.txt", _prompt(block)), "MINE", Scale())
    assert [(one.name, one.keys) for one in rubric.criteria] == [
        ("a", ("score", "why")),
        ("b}", ("score",)),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Judge {RESPONSE}.", "has no <rubric_criteria>...</rubric_criteria> block"),
        (_prompt("{}"), "without criteria"),
        (_prompt(""), "<rubric_criteria> is not valid JSON"),
        (_prompt('{"a": ["score"]'), "<rubric_criteria> is not valid JSON"),
        (_prompt('["a"]'), "<rubric_criteria> is a list of 1; allowed: a JSON object"),
        (_prompt('{"a": []}'), "criterion 'a' is a list of 0"),
        (_prompt('{"a": ["points"]}'), "criterion 'a' is a list of 1; allowed: a list of keys"),
        (_prompt('{"a": 5}'), "criterion 'a' is 5"),
        (_prompt('{"a": ["score", 1]}'), "criterion 'a' is a list of 2"),
        (_prompt('{"a": ["score"]}').replace("{RESPONSE}", ""), "has no {RESPONSE}"),
    ],
)
def test_bad_judge_prompts_name_the_file(write, text: str, message: str) -> None:
    path = write("judge.txt", text)
    with pytest.raises(ConfigError) as caught:
        load_judge_prompt(path, "MINE", Scale())
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


NAMES = st.text(min_size=1, max_size=8).filter(lambda name: "</rubric_criteria>" not in name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.dictionaries(NAMES, st.just(["score", "explanation"]), min_size=1, max_size=4))
def test_any_json_object_of_criteria_is_read(write, criteria) -> None:
    path = write("judge.txt", _prompt(json.dumps(criteria)))
    rubric = load_judge_prompt(path, "MINE", Scale())
    assert [criterion.name for criterion in rubric.criteria] == list(criteria)
