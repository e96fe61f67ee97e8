"""Text to SQL: a question over a database schema, answered by a statement."""

import re
from functools import lru_cache

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios.compose import correct
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    optional_value,
    required_text,
)

REQUIRED = ("question", "query", "schema")
OPTIONAL = ("is_impossible",)
CREATE = re.compile(r"CREATE\s+TABLE\b[^;]*;", re.IGNORECASE)
TRUE = ("true", "1")


def parse_text_to_sql(record: Record, card: ScenarioCard) -> ParsedInput:
    """The schema's CREATE TABLE statements and the question, each under an SQL comment.

    The gold statement is the reference; `extra_data["is_impossible"]` is true where the database
    cannot answer the question.
    """
    question = required_text(record, card, "question", BadReason.EMPTY_INPUT)
    query = required_text(record, card, "query", BadReason.EMPTY_ANSWER)
    schema = _tables(required_text(record, card, "schema", BadReason.EMPTY_INPUT))
    if not schema:
        raise BadRecord(BadReason.EMPTY_INPUT)
    is_impossible = str(optional_value(record, card, "is_impossible")).lower() in TRUE
    return ParsedInput(
        input=f"-- Tables of the database\n{schema}\n\n-- Question\n{question}\n",
        references=(correct(query),),
        extra_data={"is_impossible": str(is_impossible).lower()},
    )


@lru_cache(maxsize=4)
def _tables(schema: str) -> str:
    return "\n\n".join(CREATE.findall(schema))
