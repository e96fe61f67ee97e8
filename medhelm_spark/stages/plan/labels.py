"""The right answers of data in the lake, for the check of the labels that metrics declare."""

from dataclasses import dataclass

from medhelm_spark.domain.scenario import CORRECT_TAG
from medhelm_spark.domain.stages import PLAN
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
