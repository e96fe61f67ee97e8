"""Run expanders: what each key of an entry makes of the adapter."""

from typing import Any

import pytest

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.run import (
    STRICT,
    AdapterSpec,
    AnswerExtraction,
    ExtractionMethod,
    MetricSpec,
    Substitution,
)
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.expanders import EXPANDERS, UNSUPPORTED
from tests.unit.runs import SMALL, expand_one, expand_texts


def test_the_adapter_takes_card_then_flag_then_entry(registry: Registry) -> None:
    plain = expand_one(registry, f"triage:{SMALL}")
    assert plain.adapter_spec == registry.cards["triage"].adapter_spec
    flag = expand_one(registry, f"triage:{SMALL}", max_eval_instances=10)
    assert flag.adapter_spec.max_eval_instances == 10
    entry = expand_one(registry, f"triage:{SMALL},max_eval_instances=3", max_eval_instances=10)
    assert entry.adapter_spec.max_eval_instances == 3


@pytest.mark.parametrize(
    ("argument", "changes"),
    [
        ("num_output_tokens=4000", {"max_tokens": 4000}),
        ("max_train_instances=2", {"max_train_instances": 2}),
        ("num_trials=3", {"num_trials": 3}),
        ("num_outputs=4", {"num_outputs": 4}),
        ("temperature=1", {"temperature": 1.0}),
        ("eval_split=valid", {"eval_splits": ("valid",)}),
        ("stop=none", {"stop_sequences": ()}),
        ("stop=hash", {"stop_sequences": ("###",), "instance_prefix": "###\n\n"}),
        ("stop=semicolon", {"stop_sequences": (";",), "instance_prefix": ";\n\n"}),
        ("stop=br", {"stop_sequences": ("<br>",), "instance_prefix": "<br>\n\n"}),
        ("instructions=none", {"instructions": ""}),
        ("num_train_trials=3", {"num_train_trials": 1}),  # nothing to draw without examples
        ("max_train_instances=1,num_train_trials=3", {"num_train_trials": 3}),
        ("max_train_instances=one", {"max_train_instances": 1}),
        ("max_eval_instances=default", {"max_eval_instances": 1000}),
        ("num_trials=heim_efficiency", {"num_trials": 5}),
        ("increase_max_tokens=100", {"max_tokens": 105}),
        ("increase_temperature=0.5", {"temperature": 0.5}),
        ("temperature=0.5,increase_temperature=0.25", {"temperature": 0.75}),
        ("stop=hash,add_to_stop=newline", {"stop_sequences": ("###", "\n")}),
        ("stop=none,add_to_stop=END", {"stop_sequences": ("END",)}),
        ("newline=br", {"substitutions": (Substitution(source="\n", target="<br>\n"),)}),
        ("newline=semicolon", {"substitutions": (Substitution(source="\n", target=";\n"),)}),
        ("global_prefix=nlg", {"global_prefix": "[NLG]"}),
        ("format_prompt=Case", {"input_prefix": "Case", "output_prefix": ""}),
        ("prompt=qa", {"input_prefix": "Q: ", "output_prefix": "A: "}),
        ("prompt=i_o", {"input_prefix": "I: ", "output_prefix": "O: "}),
        ("prompt=input_output", {"input_prefix": "Input: ", "output_prefix": "Output: "}),
        ("prompt=question_answer", {"input_prefix": "Question: ", "output_prefix": "Answer: "}),
        (
            "prompt=input_output_html",
            {
                "input_prefix": "<input>",
                "input_suffix": "</input>\n",
                "output_prefix": "<output>",
                "output_suffix": "</output>\n",
            },
        ),
        (
            "prompt=human_assistant",
            {
                "input_prefix": 'Human: What is the answer to "',
                "input_suffix": '"?\n',
                "output_prefix": 'Assistant: The answer is "',
                "output_suffix": '".\n',
                "stop_sequences": ('".',),
            },
        ),
    ],
)
def test_expanders_set_one_value(
    registry: Registry, argument: str, changes: dict[str, Any]
) -> None:
    spec = expand_one(registry, f"triage:{argument},{SMALL}").adapter_spec
    assert {key: getattr(spec, key) for key in changes} == changes


@pytest.mark.parametrize(
    ("argument", "allowed"),
    [
        ("num_output_tokens=0", "a whole number, 1 or more"),
        ("num_output_tokens=many", "a whole number, 1 or more"),
        ("max_train_instances=-1", "a whole number, 0 or more"),
        ("max_train_instances=few", "a whole number, 0 or more"),
        ("max_eval_instances=1.5", "a whole number, 1 or more"),
        ("temperature=hot", "a number, 0 or more"),
        ("temperature=-1", "a number, 0 or more"),
        ("eval_split=train", "test or valid"),
        ("stop=dot", "none, hash, semicolon, br"),
        ("instructions=short", "none, expert"),
        ("prompt=x", "human_assistant, question_answer, qa, input_output_html, input_output, i_o"),
        ("newline=x", "semicolon, br"),
        ("global_prefix=x", "nlg"),
        ("increase_max_tokens=-5", "a whole number that leaves max_tokens at 1 or more"),
        ("increase_temperature=-1", "a number that leaves the temperature at 0 or more"),
        ("follow_format_instructions=some", "all, instruct"),
        ("answer_extraction=loose", "strict, choice, yes_no"),
        ("answer_extraction=regex", "strict, choice, yes_no"),
    ],
)
def test_values_that_an_expander_does_not_take(registry, argument: str, allowed: str) -> None:
    key = argument.partition("=")[0]
    with pytest.raises(ConfigError) as caught:
        expand_one(registry, f"triage:{argument},{SMALL}")
    assert str(caught.value).startswith("--run-entries: run entry 'triage': " + key)
    assert str(caught.value).endswith(f"allowed: {allowed}.")


def test_flags_are_checked_like_entries(registry: Registry) -> None:
    with pytest.raises(ConfigError, match=r"--max-eval-instances: .* is 0; allowed: a whole"):
        expand_one(registry, f"triage:{SMALL}", max_eval_instances=0)


@pytest.mark.parametrize("key", UNSUPPORTED)
def test_helms_other_expanders_are_refused_by_name(registry: Registry, key: str) -> None:
    assert key not in EXPANDERS
    with pytest.raises(ConfigError, match=f"{key} is a run expander of HELM's not supported yet"):
        expand_one(registry, f"triage:{key}=x,{SMALL}")


def test_named_numbers_make_a_run_each_in_their_order(registry: Registry) -> None:
    runs = expand_texts(
        registry, f"triage:max_train_instances=melt,num_outputs=copyright_sweep,{SMALL}"
    )
    values = [(r.adapter_spec.max_train_instances, r.adapter_spec.num_outputs) for r in runs]
    assert values == [(0, 1), (0, 10), (1, 1), (1, 10), (5, 1), (5, 10)]
    assert runs[2].name == "triage:max_train_instances=1,num_outputs=1,model=acme_small"


def test_an_experts_instructions_come_before_the_scenarios(registry: Registry) -> None:
    spec = expand_one(registry, f"triage:instructions=expert,{SMALL}").adapter_spec
    assert spec.instructions.endswith(" Answer with one letter.")
    assert len(spec.instructions) > len(" Answer with one letter.")


def test_following_the_format_goes_around_the_prompt(registry: Registry) -> None:
    key = "follow_format_instructions"
    plain = expand_one(registry, f"triage:{SMALL}").adapter_spec
    adapter = expand_one(registry, f"triage:{key}=all,{SMALL}").adapter_spec
    assert adapter.global_prefix.endswith("\n\n")
    assert adapter.global_suffix.startswith("\n\n")
    assert adapter.global_suffix.endswith("\nOutput:")
    assert adapter.instructions == plain.instructions
    for model, follows in (("huggingface/smollm2-135m-instruct", True), ("acme/small", False)):
        spec = expand_one(registry, f"triage:{key}=instruct,model={model}").adapter_spec
        assert (spec.global_prefix == adapter.global_prefix) is follows
    with pytest.raises(ConfigError, match="this one is multiple_choice_joint"):
        expand_one(registry, f"pubmed_qa:{key}=all,{SMALL}")


def test_the_form_of_the_output_is_asked_for_before_or_after(registry: Registry) -> None:
    def spec(scenario: str, value: str) -> AdapterSpec:
        entry = f"{scenario}:output_format_instructions={value},{SMALL}"
        return expand_one(registry, entry).adapter_spec

    own = registry.cards["pubmed_qa"].adapter_spec.instructions
    before = spec("pubmed_qa", "mcqa").instructions
    assert before.endswith(f"\n\n{own}")
    wording = before.removesuffix(f"\n\n{own}")
    assert "letter" in wording
    after = spec("pubmed_qa", "mcqa_suffix")
    assert (after.instructions, after.global_suffix) == (own, f"\n\n{wording}")
    assert spec("pubmed_qa", "anything_else").instructions == before
    bare = spec("pubmed_qa", "mcqa_no_prefix_suffix").global_suffix
    assert bare.startswith(f"\n\n{wording} ")
    assert "'Answer:'" in bare
    assert "yes or no" in spec("triage", "yes_or_no").instructions
    with pytest.raises(ConfigError, match=r"allowed: narrative_qa, .*method generation"):
        spec("triage", "mcqa")


def test_answer_extraction_of_an_entry_wins_and_stands_in_the_name(registry: Registry) -> None:
    strict = expand_one(registry, f"triage:{SMALL}")
    run = expand_one(registry, f"triage:answer_extraction=choice,{SMALL}")
    assert strict.card.answer_extraction == STRICT
    assert run.card.answer_extraction == AnswerExtraction(method=ExtractionMethod.CHOICE)
    assert run.name == "triage:answer_extraction=choice,model=acme_small"
    assert run.metrics == (*strict.metrics, MetricSpec(name="answer_unreadable"))
