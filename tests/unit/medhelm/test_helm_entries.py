"""Entries as MedHELM writes them: its own names, arguments that change the adapter, model tags."""

from pathlib import Path

import pytest

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.run import AdapterMethod, ExtractionMethod
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.site import load_site
from tests.unit.runs import SMALL, expand_one

CHAIN = AdapterMethod.MULTIPLE_CHOICE_JOINT_CHAIN_OF_THOUGHT


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("medhelm_med_qa", "med_qa"),
        ("medhelm_med_mcqa", "med_mcqa"),
        ("med_dialog:subset=icliniq", "med_dialog,subset=icliniq"),
        ("head_qa:category=medicine", "head_qa:language=en,category=medicine"),
        ("medcalc_bench:version=v1.0", "medcalc_bench:version=v1.0"),
        ("sct_bench:reason=true", "sct_bench:reason=True"),
        ("sct_bench:few_shot=True,reason=true", "sct_bench:reason=True,few_shot=True"),
        ("sct_bench:reason=false", "sct_bench"),
        ("mmlu:subject=anatomy", "mmlu:subject=anatomy,method=multiple_choice_joint"),
        ("mmlu_pro", "mmlu_pro:subset=all,use_chain_of_thought=true,use_few_shot=false"),
        (
            "mmlu_pro:use_few_shot=True,use_chain_of_thought=False,subject=health",
            "mmlu_pro:subset=health,use_chain_of_thought=false,use_few_shot=true",
        ),
    ],
)
def test_names_of_helms_own_scenarios(registry: Registry, entry: str, name: str) -> None:
    run = expand_one(registry, f"{entry}{',' if ':' in entry else ':'}{SMALL}")
    assert run.name == f"{name}{',' if ':' in name else ':'}model=acme_small"


def test_arguments_that_change_the_adapter_leave_the_data_alone(registry: Registry) -> None:
    plain = expand_one(registry, f"mmlu_pro:subject=health,{SMALL}")
    short = expand_one(registry, f"mmlu_pro:subject=health,use_chain_of_thought=false,{SMALL}")
    few_shot = expand_one(registry, f"mmlu_pro:subject=health,use_few_shot=true,{SMALL}")
    assert {run.card.name for run in (plain, short, few_shot)} == {"mmlu_pro:subject=health"}
    assert {run.card.options["subject"] for run in (plain, short, few_shot)} == {"health"}
    assert (plain.adapter_spec.method, short.adapter_spec.method) == (
        CHAIN,
        AdapterMethod.MULTIPLE_CHOICE_JOINT,
    )
    assert plain.adapter_spec.global_suffix != short.adapter_spec.global_suffix
    assert [run.adapter_spec.max_train_instances for run in (plain, few_shot)] == [0, 5]
    assert plain.card.answer_extraction.method is ExtractionMethod.CHOICE


def test_a_method_that_asks_for_each_option_apart_is_refused(registry: Registry) -> None:
    with pytest.raises(ConfigError, match="method is 'ranking_binary'; allowed: multiple_choice_j"):
        expand_one(registry, f"mmlu:subject=anatomy,method=ranking_binary,{SMALL}")
    with pytest.raises(ConfigError, match=r"version is 'v1\.2'; allowed: v1\.0"):
        expand_one(registry, f"medcalc_bench:version=v1.2,{SMALL}")


def test_what_a_models_tags_change(site: Path, write) -> None:
    write(
        "site/model_metadata.yaml",
        "models:\n  - {name: acme/small, tags: [ANTHROPIC_CLAUDE_3_MODEL_TAG, BUGGY_TEMP_0_TAG]}\n",
    )
    tagged = load_site(site)
    spec = expand_one(tagged, f"triage:{SMALL}").adapter_spec
    assert (spec.stop_sequences, spec.temperature) == ((), 1e-4)
    adapter = expand_one(tagged, f"triage:{SMALL},stop=hash,temperature=0.5").adapter_spec
    assert (adapter.stop_sequences, adapter.temperature) == (("###",), 0.5)
