"""What is true of every perturbation on every text."""

import dataclasses

import pytest
from hypothesis import given, settings, strategies as st

from medhelm_spark.adaptation.perturbations import (
    PERTURBATIONS,
    Change,
    change_of,
    perturbation,
    perturbed,
)
from medhelm_spark.domain.run import PerturbationSpec
from medhelm_spark.domain.scenario import Instance, Message
from tests.unit.adaptation.perturbations.lists import shipped
from tests.unit.adaptation.rows import refs, row

SAID = (
    "He isn't HTN 500 mg Brad Advil warfarin Which of the following is yes no do not fever 38 °C "
    "fully't x’s \\1 $0 {x} \u0130 \U0001f9ec ? ."
)
WORDS = st.sampled_from((*SAID.split(), "", "\n"))
TEXTS = st.one_of(st.lists(WORDS, max_size=30).map(" ".join), st.text(max_size=60))
INSTANCES = st.builds(
    lambda index, text, options, turns: row(
        index,
        text,
        refs(*options, correct=0),
        messages=tuple(Message(role=role, content=content) for role, content in turns),
    ),
    st.integers(0, 5),
    TEXTS,
    st.lists(TEXTS, max_size=4, unique=True),
    st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXTS), max_size=4),
)
CHANGES: dict[str, Change] = {
    name: change_of(PerturbationSpec(name=name), shipped()) for name in PERTURBATIONS
}


@pytest.mark.parametrize("name", PERTURBATIONS)
@settings(max_examples=40)
@given(instance=INSTANCES)
def test_a_copy_is_the_same_every_time_and_changes_only_what_it_may(
    name: str, instance: Instance
) -> None:
    copy = perturbed(instance, name, CHANGES[name])
    again = perturbed(instance, name, change_of(PerturbationSpec(name=name), shipped()))
    assert copy == again
    if copy is None:
        return
    text = {"input", "messages", "references", "perturbation"}
    for field in dataclasses.fields(Instance):
        if field.name not in text:
            assert getattr(copy, field.name) == getattr(instance, field.name)
    assert copy.perturbation == name
    assert (copy.input, copy.messages, copy.references) != (
        instance.input,
        instance.messages,
        instance.references,
    )
    assert [turn.role for turn in copy.messages] == [turn.role for turn in instance.messages]
    systems = [turn for turn in instance.messages if turn.role == "system"]
    assert [turn for turn in copy.messages if turn.role == "system"] == systems
    if perturbation(name).keeps_meaning:
        tags = sorted(ref.tags for ref in instance.references)
        assert sorted(ref.tags for ref in copy.references) == tags


@pytest.mark.parametrize("name", ["lowercase", "contraction", "abbreviation", "drug_generic"])
@settings(max_examples=40)
@given(instance=INSTANCES)
def test_a_copy_of_a_copy_is_skipped_where_there_is_nothing_left_to_change(
    name: str, instance: Instance
) -> None:
    copy = perturbed(instance, name, CHANGES[name])
    if copy is not None:
        plain = dataclasses.replace(copy, perturbation="")
        assert perturbed(plain, name, CHANGES[name]) is None


@settings(max_examples=40)
@given(seed=st.integers(0, 3), instance=INSTANCES)
def test_seed_and_instance_decide(seed: int, instance: Instance) -> None:
    change = CHANGES["typos"]
    copy = perturbed(instance, "typos", change, seed=seed)
    assert copy == perturbed(instance, "typos", change, seed=seed)


def test_another_instance_or_seed_is_another_draw() -> None:
    change = CHANGES["typos"]
    text = "the quick brown fox " * 10
    copies = [
        perturbed(row(index, text), "typos", change, seed=seed)
        for index in range(3)
        for seed in range(3)
    ]
    assert len({copy.input for copy in copies if copy}) == 9
