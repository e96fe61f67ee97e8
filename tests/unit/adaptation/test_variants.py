"""Prompt variants: which there may be, and what they change."""

import dataclasses

import pytest

from medhelm_spark.adaptation.variants import adapter_of, check_variants, copy_for
from medhelm_spark.domain.run import AdapterSpec, PromptVariant
from medhelm_spark.errors import ConfigError
from tests.unit.adaptation.rows import row

TERSE = PromptVariant(name="terse", adapter_spec={"instructions": "Be brief.", "input_prefix": ""})


def test_a_variant_words_the_adapter_anew_and_asks_the_same_way() -> None:
    spec = AdapterSpec(instructions="Take your time.", max_tokens=7)
    worded = adapter_of(spec, TERSE)
    assert worded == dataclasses.replace(spec, instructions="Be brief.", input_prefix="")


def test_the_copy_of_a_variant_is_the_instance_under_its_label() -> None:
    copy = copy_for(TERSE, row(1, "Fever?"))
    assert copy == dataclasses.replace(row(1, "Fever?"), perturbation="prompt.terse")


def test_another_template_gives_the_copy_its_text() -> None:
    extra = {"prompt.terse": "short", "prompt.other": "long"}
    copy = copy_for(TERSE, dataclasses.replace(row(1, "Fever?"), extra_data=extra))
    assert (copy.input, copy.extra_data) == ("short", extra)


@pytest.mark.parametrize(
    ("variants", "message"),
    [
        ([TERSE, TERSE], "the name 'terse'; allowed: letters"),
        ([PromptVariant(name="a.b")], "the name 'a.b'"),
        ([PromptVariant(name="")], "the name ''"),
        ([PromptVariant(name="hot", adapter_spec={"temperature": "1"})], "sets 'temperature'"),
        ([PromptVariant(name="m", adapter_spec={"method": "chat"})], "sets 'method'; allowed: glo"),
    ],
)
def test_variants_that_cannot_be_asked(variants: list[PromptVariant], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_variants(variants, "card x")
    assert message in str(caught.value)
