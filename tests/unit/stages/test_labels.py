"""The labels that an engine enforces: those that the prompt, or its variant, shows."""

import json
from dataclasses import replace
from typing import Any, cast

import pyarrow as pa
import pytest

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import PromptVariant
from medhelm_spark.lake.in_process import LocalFrame
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.labels import answer_schemas
from medhelm_spark.stages.plan.run_specs import run_spec_of
from medhelm_spark.stages.plan.samples import Sample
from medhelm_spark.stages.plan.stage import calls_of, form_parts
from tests.unit.runs import SMALL, expand_one

DIGITS = PromptVariant(name="digits", adapter_spec={"reference_prefix": "1. "})
TERSE = PromptVariant(name="terse", adapter_spec={"instructions": "Be brief."})


class OfFourOptions:
    """A context whose data has one version, with four options at most."""

    @property
    def lake(self) -> "OfFourOptions":
        return self

    def current(self, *_: Any) -> None:
        """No table is read."""

    def query(self, *_: Any, **__: Any) -> LocalFrame:
        return LocalFrame(pa.table({"data_version": ["v"], "options": [4]}))


def run_with(registry: Registry, form: str, *variants: PromptVariant) -> ResolvedRun:
    run = expand_one(registry, f"med_qa:{SMALL},answer_form={form}")
    return replace(run, card=replace(run.card, prompt_variants=variants))


@pytest.mark.parametrize(
    ("form", "path"), [("choice", ["enum"]), ("json", ["properties", "answer", "enum"])]
)
def test_each_prompt_is_answered_by_its_own_letters(
    registry: Registry, form: str, path: list[str]
) -> None:
    run = run_with(registry, form, DIGITS, TERSE)
    spec = run_spec_of(run, "v")
    draw = Sample(
        draw_id="d", data_version="v", seed="0", max_eval_instances=None, eval_splits=("test",)
    )
    forms = answer_schemas(cast(Context, OfFourOptions()), [spec])
    enforced = {}
    for call in calls_of(run, spec, draw, forms):
        schema = json.loads(call.decoding.response_schema or "")
        for key in path:
            schema = schema[key]
        enforced[call.variant] = "".join(schema)
    assert enforced == {"": "ABCD", "prompt.digits": "1234", "prompt.terse": "ABCD"}


@pytest.mark.parametrize(
    ("form", "variant", "is_planned_again"),
    [("choice", DIGITS, True), ("choice", TERSE, False), ("free", DIGITS, False)],
)
def test_only_runs_that_had_letters_of_another_prompt_are_planned_again(
    registry: Registry, form: str, variant: PromptVariant, is_planned_again: bool
) -> None:
    spec = run_spec_of(run_with(registry, form, variant), "v")
    assert bool(form_parts(spec)) is is_planned_again
