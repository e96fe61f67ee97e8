"""The labels of answers from the data in the lake: the right answers, and the allowed ones."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.adaptation.render import option_prefixes
from medhelm_spark.domain.answer_form import answer_schema
from medhelm_spark.domain.run import AdapterSpec, AnswerForm, RunSpec
from medhelm_spark.domain.scenario import CORRECT_TAG
from medhelm_spark.domain.stages import INGEST, PLAN
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.rows import Frame, rows_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import adapters_of

MOST_LABELS = 50
"""The largest number of labels that a classification may have."""

RIGHT = f"""
SELECT DISTINCT data_version, answer.text AS text
FROM (SELECT data_version, explode(references) AS answer
      FROM {{instances_now}} WHERE perturbation = '')
WHERE array_contains(answer.tags, '{CORRECT_TAG}')
"""

# Free-text answers may be as many as rows: one more than the limit is enough to refuse them.
FEW_RIGHT = f"""
SELECT data_version, text
FROM (SELECT data_version, text,
             row_number() OVER (PARTITION BY data_version ORDER BY text) AS place FROM ({RIGHT}))
WHERE place <= {MOST_LABELS + 1}
"""

OPTIONS = """
SELECT data_version, max(size(references)) AS options
FROM {instances_now} WHERE perturbation = '' GROUP BY data_version
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    data_version: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    data_version: str
    options: int


def right_answers(ctx: Context, data_version: str) -> list[str]:
    """The distinct right answers of a data version; for data that has few."""
    rows = ctx.within(PLAN).lake.query(RIGHT, instances_now=_instances(ctx, [data_version]))
    return [row.text for row in rows_of(rows, _Answer)]


def answer_schemas(ctx: Context, specs: Iterable[RunSpec]) -> dict[tuple[str, str], str | None]:
    """The schemas of answers by run_spec_id and prompt variant, for RunSpecs with an enforced form.

    Labels are the letters of the instance with the most options, as the prompt or its variant shows
    them; if it shows none, the distinct right answers of the data. The number of jobs does not grow
    with the RunSpecs.

    Raises:
        ConfigError: the data has no labels.
    """
    enforced = [spec for spec in specs if spec.adapter_spec.answer_form is not AnswerForm.FREE]
    with_options = [spec for spec in enforced if spec.adapter_spec.method.shows_options]
    without_options = [spec for spec in enforced if not spec.adapter_spec.method.shows_options]
    options, classes = _options(ctx, with_options), _classes(ctx, without_options)
    return {
        (spec.run_spec_id, variant): answer_schema(
            adapter.answer_form,
            _letters(adapter, options.get(spec.data_version, 0))
            if adapter.method.shows_options
            else classes[spec.run_spec_id],
        )
        for spec in enforced
        for variant, adapter in adapters_of(spec).items()
    }


def _options(ctx: Context, specs: Sequence[RunSpec]) -> Mapping[str, int]:
    """The largest number of options of an instance, by data version."""
    if not specs:
        return {}
    instances = _instances(ctx, {spec.data_version for spec in specs})
    rows = rows_of(ctx.lake.query(OPTIONS, instances_now=instances), _Options)
    return {row.data_version: row.options for row in rows}


def _letters(adapter: AdapterSpec, count: int) -> Sequence[str]:
    return option_prefixes(adapter.reference_prefix, adapter.reference_prefix_characters, count)[0]


def _classes(ctx: Context, specs: Sequence[RunSpec]) -> Mapping[str, Sequence[str]]:
    if not specs:
        return {}
    instances = _instances(ctx, {spec.data_version for spec in specs})
    classes: dict[str, list[str]] = {}
    for row in rows_of(ctx.lake.query(FEW_RIGHT, instances_now=instances), _Answer):
        classes.setdefault(row.data_version, []).append(row.text)
    found = {spec.run_spec_id: sorted(classes.get(spec.data_version, ())) for spec in specs}
    for spec in specs:
        many = len(found[spec.run_spec_id])
        if not 1 < many <= MOST_LABELS:
            number = f"over {MOST_LABELS}" if many > MOST_LABELS else str(many)
            raise ConfigError(
                f"{spec.name}: answer_form is {spec.adapter_spec.answer_form.value!r}, and the "
                f"data has {number} different right answers; allowed: options that the prompt "
                f"shows, or 2 to {MOST_LABELS} labels."
            )
    return found


def _instances(ctx: Context, versions: Collection[str]) -> Frame:
    return ctx.current("instances", INGEST, versions, "data_version")
