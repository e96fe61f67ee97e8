"""Arguments of a card: values in paths and rules, words in template and instructions."""

from dataclasses import replace
from typing import Any

import pytest

from medhelm_spark.domain.binding import bind
from medhelm_spark.domain.data_source import DataSource, Lookup, SourceFile
from medhelm_spark.domain.run import AdapterSpec
from medhelm_spark.domain.scenario import ScenarioCard, Variant
from medhelm_spark.errors import ConfigError
from tests.unit.scenarios.cards import card

CHOICES = {"organ": {"heart": "the heart {pump}", "lung": "a lung"}}


def unbound(**changes: Any) -> ScenarioCard:
    file = SourceFile(path="own/{organ}/{other}.csv", member="{organ.words}")
    source = DataSource(
        files=(file,),
        dataset="org/name:{organ}",
        paths={"met": "TAGS/{organ}@met"},
        lookups=(Lookup(name="l", path="own/{organ}.csv", key="k", columns=("c",)),),
        texts={"schema": "own/{organ}.sql"},
    )
    fields: dict[str, Any] = {
        "args": ("organ", "limit"),
        "choices": CHOICES,
        "source": source,
        "fields": {"answer": "{organ}_label"},
        "options": {"template": "On {organ}: {note}", "choices": "{organ}", "organ": "heart"},
        "variants": (Variant(name="v", options={"template": "{organ}?"}),),
        "keep": {"a": ("{organ}",), "b": ("{limit}", "x")},
        "drop": {"c": ("",)},
        "adapter_spec": AdapterSpec(instructions="About {organ} and {note}.\n"),
    }
    return card("free_text", **{**fields, **changes})


def test_values_go_into_paths_and_rules_and_words_into_texts() -> None:
    bound = bind(unbound())
    (file,) = bound.source.files
    assert (file.path, file.member) == ("own/heart/{other}.csv", "the heart {pump}")
    assert bound.source.dataset == "org/name:heart"
    assert bound.source.paths == {"met": "TAGS/heart@met"}
    assert (bound.source.lookups[0].path, bound.source.texts["schema"]) == (
        "own/heart.csv",
        "own/heart.sql",
    )
    assert bound.fields == {"answer": "heart_label"}
    assert bound.options["template"] == "On the heart {{pump}}: {note}"
    assert bound.options["choices"] == "{organ}"
    assert bound.variants[0].options == {"template": "the heart {{pump}}?"}
    assert bound.adapter_spec.instructions == "About the heart {pump} and {note}.\n"


def test_a_rule_over_an_argument_that_is_not_given_is_left_out() -> None:
    assert bind(unbound()).keep == {"a": ("heart",)}
    assert bind(unbound()).drop == {"c": ("",)}
    options = {**unbound().options, "limit": "10"}
    assert bind(unbound(options=options)).keep == {"a": ("heart",), "b": ("10", "x")}


def test_binding_again_changes_nothing() -> None:
    once = bind(unbound())
    assert bind(once) == once
    plain = card("free_text")
    assert bind(plain) is plain


def test_an_argument_that_is_missing_or_unknown_is_refused() -> None:
    options = {"template": "On {organ}: {note}"}
    with pytest.raises(ConfigError, match=r"'own' needs organ=VALUE; allowed: heart, lung\."):
        bind(unbound(options=options))
    with pytest.raises(ConfigError, match=r"organ is 'Lung'; allowed: heart, lung\."):
        bind(unbound(options={**options, "organ": "Lung"}))
    scenario = unbound(options={"organ": "heart"})
    scenario = replace(
        scenario, source=replace(scenario.source, files=(SourceFile(path="{limit}.csv"),))
    )
    with pytest.raises(ConfigError, match=r"needs limit=VALUE; allowed: any text\."):
        bind(scenario)
