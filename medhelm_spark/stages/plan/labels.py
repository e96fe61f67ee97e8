"""The labels of answers by the data in the lake: the right ones, and those that may be given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from medhelm_spark.adaptation.render import option_prefixes
from medhelm_spark.domain.answer_form import answer_schema
from medhelm_spark.domain.run import AnswerForm, RunSpec
from medhelm_spark.domain.scenario import CORRECT_TAG
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.stages.context import Context

RIGHT = f"""
SELECT DISTINCT answer.text AS text
FROM (SELECT explode(references) AS answer FROM {{{{instances}}}}
      WHERE data_version = '{{version}}')
WHERE array_contains(answer.tags, '{CORRECT_TAG}')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    text: str


def right_answers(ctx: Context, data_version: str) -> list[str]:
    """The different right answers of a data version; for data that has few."""
    sql = RIGHT.format(version=data_version)
    return [row.text for row in rows_of(ctx.within(PLAN).lake.query(sql), _Answer)]


MOST_LABELS = 50
"""More labels than a benchmark of classes has."""

OPTIONS = "SELECT max(size(references)) AS options FROM {instances_now} WHERE perturbation = ''"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Most:
    options: int | None


def answer_schemas(ctx: Context, specs: Iterable[RunSpec]) -> dict[str, str]:
    """The schemas of answers by run_spec_id, of the RunSpecs whose form is enforced.

    Labels are the letters of the instance that has most options; where none are shown the different
    right answers of the data.

    Raises:
        ConfigError: the data has no labels.
    """
    found = {}
    for spec in specs:
        form = spec.adapter_spec.answer_form
        if form is not AnswerForm.FREE and (schema := answer_schema(form, _labels(ctx, spec))):
            found[spec.run_spec_id] = schema
    return found


def _labels(ctx: Context, spec: RunSpec) -> Sequence[str]:
    adapter, version = spec.adapter_spec, spec.data_version
    if adapter.method.shows_options:
        instances = ctx.current("instances", INGEST, [version], "data_version")
        (most,) = rows_of(ctx.lake.query(OPTIONS, instances_now=instances), _Most)
        return option_prefixes(
            adapter.reference_prefix, adapter.reference_prefix_characters, most.options or 0
        )[0]
    labels = sorted(right_answers(ctx, version))
    if not 1 < len(labels) <= MOST_LABELS:
        raise ConfigError(
            f"{spec.name}: answer_form is {adapter.answer_form.value!r}, and the data has "
            f"{len(labels)} different right answers; allowed: options that the prompt shows, or 2 "
            f"to {MOST_LABELS} labels."
        )
    return labels
