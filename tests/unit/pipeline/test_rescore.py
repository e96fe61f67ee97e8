"""Which runs of a suite are the same run entry, asked of another model."""

from dataclasses import replace

import pytest

from medhelm_spark.pipeline.rescore import entry_of
from tests.unit.board.planted import ALPHA, run_spec

SPEC = replace(
    run_spec("r1", ALPHA, "triage_choice"),
    name="mmlu:subject=anatomy,model=host_a,max_tokens=5",
    model="host/a",
    model_deployment="host/a-v2",
)


@pytest.mark.parametrize(
    ("name", "model", "deployment"),
    [
        ("mmlu:subject=anatomy,max_tokens=5,model=host_b:8b", "host/b:8b", "host/b:8b"),
        (
            "mmlu:model=host_a,model_deployment=host_a-v2,subject=anatomy,max_tokens=5",
            "host/a",
            "host/a-v2",
        ),
    ],
)
def test_the_model_and_its_place_do_not_matter(name: str, model: str, deployment: str) -> None:
    other = replace(SPEC, name=name, model=model, model_deployment=deployment)
    assert entry_of(other) == entry_of(SPEC) == {"mmlu", "subject=anatomy", "max_tokens=5"}


def test_other_arguments_are_another_entry() -> None:
    other = replace(SPEC, name="mmlu:subject=virology,model=host_a,max_tokens=5")
    assert entry_of(other) != entry_of(SPEC)
