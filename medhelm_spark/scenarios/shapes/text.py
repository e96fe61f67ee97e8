"""Shapes whose record gives one input text and one right answer, by the name of the shape.

`tabular` is the shape of MedHELM's configurable benchmark, which may list wrong answers too.
"""

import json
import math
import re
from dataclasses import replace
from functools import lru_cache

from medhelm_spark.domain.run import PROMPT
from medhelm_spark.domain.scenario import OPTIONAL, REFERENCE, Reference, ScenarioCard
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_text,
    optional_text,
    optional_value,
    required_text,
    texts,
)
from medhelm_spark.scenarios.shapes.parser import Parser
from medhelm_spark.scenarios.template import (
    TEMPLATE,
    correct,
    filled,
    passage_question,
    render,
    template_columns,
)

RIGHT = "CORRECT"
CREATE = re.compile(r"CREATE\s+TABLE\b[^;]*;", re.IGNORECASE)
TRUE = ("true", "1")
WEIGHT = "weight."
DISTRIBUTION = "expert_distribution"
JURY_METRIC = "jury_score"


def parse_free_text(record: Record, card: ScenarioCard) -> ParsedInput:
    """The text under the card's `heading`, or its template; and its reference where there is one.

    The reference is the role `reference`, a list in it joined by the option `reference_join`, or
    the option `reference_text`. The option `cut_reference` names a column that contains the
    reference somewhere: it is removed from the column before the template is filled.
    """
    reference = _reference(record, card)
    if TEMPLATE in card.options:
        text = filled(_without(reference, record, card), card)
    else:
        text = required_text(record, card, "input", BadReason.EMPTY_INPUT)
        heading = card.options.get("heading")
        text = text if heading is None else f"{heading}\n\n{text}"
    references: tuple[Reference, ...] = () if reference is None else (correct(reference),)
    return ParsedInput(input=text, references=references)


def _reference(record: Record, card: ScenarioCard) -> str | None:
    if "reference" not in card.fields:
        return card.options.get("reference_text")
    value = optional_value(record, card, "reference")
    if "reference_join" not in card.options or isinstance(value, str):
        return required_text(record, card, "reference", BadReason.EMPTY_ANSWER)
    joined = card.options["reference_join"].join(texts(value))
    if not joined:
        raise BadRecord(BadReason.EMPTY_ANSWER)
    return joined


def _without(reference: str | None, record: Record, card: ScenarioCard) -> Record:
    column = card.options.get("cut_reference")
    if column is None or reference is None:
        return record
    value = record.fields.get(column)
    if not isinstance(value, str):
        raise BadRecord(BadReason.MISSING_FIELD)
    return replace(record, fields={**record.fields, column: value.replace(reference, "")})


def parse_structured(record: Record, card: ScenarioCard) -> ParsedInput:
    """The passage with its question; the card's roles `extra.NAME` become `extra_data[NAME]`."""
    passage = required_text(record, card, "context", BadReason.EMPTY_INPUT)
    question = required_text(record, card, "question", BadReason.EMPTY_INPUT)
    reference = required_text(record, card, "reference", BadReason.EMPTY_ANSWER)
    return ParsedInput(
        input=passage_question(passage, question, card), references=(correct(reference),)
    )


def parse_sections(record: Record, card: ScenarioCard) -> ParsedInput:
    """The document up to the first of the headings `cut_at`; a reference of one line.

    The reference is the rest of the line after the first heading of `reference_after` (in the
    card's order) that has one. Headings are written `PLAN:|SUMMARY:` and matched as written.
    """
    text = required_text(record, card, "input", BadReason.EMPTY_INPUT)
    for heading in card.options["reference_after"].split("|"):
        reference = text.partition(heading)[2].split("\n", 1)[0].strip()
        if reference:
            break
    else:
        raise BadRecord(BadReason.EMPTY_ANSWER)
    before = _headings(card.options["cut_at"]).split(text, maxsplit=1)[0]
    if not before.strip():
        raise BadRecord(BadReason.EMPTY_INPUT)
    return ParsedInput(input=before, references=(correct(reference),))


@lru_cache(maxsize=16)
def _headings(headings: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, headings.split("|"))))


def parse_error_correction(record: Record, card: ScenarioCard) -> ParsedInput:
    """The sentences, stripped; the reference is CORRECT or `<sentence id> <corrected sentence>`."""
    text = required_text(record, card, "input", BadReason.EMPTY_INPUT).strip()
    flag = required_text(record, card, "flag", BadReason.EMPTY_ANSWER).strip()
    if flag == "0":
        return ParsedInput(input=text, references=(correct(RIGHT),))
    if flag != "1":
        raise BadRecord(BadReason.UNKNOWN_ANSWER)
    sentence_id = required_text(record, card, "sentence_id", BadReason.EMPTY_ANSWER).strip()
    if not sentence_id.isdecimal():
        raise BadRecord(BadReason.UNKNOWN_ANSWER)
    mended = required_text(record, card, "correction", BadReason.EMPTY_ANSWER)
    return ParsedInput(input=text, references=(correct(f"{sentence_id} {mended}"),))


def parse_text_to_sql(record: Record, card: ScenarioCard) -> ParsedInput:
    """The schema's CREATE TABLE statements and the question, each under an SQL comment.

    The gold statement is the reference; `extra_data["is_impossible"]` is true where the database
    cannot answer the question.
    """
    question = required_text(record, card, "question", BadReason.EMPTY_INPUT)
    query = required_text(record, card, "query", BadReason.EMPTY_ANSWER)
    schema = _create_statements(required_text(record, card, "schema", BadReason.EMPTY_INPUT))
    if not schema:
        raise BadRecord(BadReason.EMPTY_INPUT)
    is_impossible = str(optional_value(record, card, "is_impossible")).lower() in TRUE
    return ParsedInput(
        input=f"-- Tables of the database\n{schema}\n\n-- Question\n{question}\n",
        references=(correct(query),),
        extra_data={"is_impossible": str(is_impossible).lower()},
    )


@lru_cache(maxsize=4)
def _create_statements(schema: str) -> str:
    return "\n\n".join(CREATE.findall(schema))


def parse_panel(record: Record, card: ScenarioCard) -> ParsedInput:
    """The filled template; the reference is the point of the largest weight, the first on ties.

    Roles `weight.POINT` name the columns in the order of the scale. The weights become
    `extra_data["expert_distribution"]`, a JSON list; an empty cell is 0.
    """
    roles = [role for role in card.fields if role.startswith(WEIGHT)]
    weights = [_weight(optional_text(record, card, role)) for role in roles]
    best = max(weights)
    if best <= 0:
        raise BadRecord(BadReason.EMPTY_ANSWER)
    point = roles[weights.index(best)].removeprefix(WEIGHT)
    return ParsedInput(
        input=filled(record, card),
        references=(correct(point),),
        extra_data={DISTRIBUTION: json.dumps(weights)},
    )


def _weight(text: str | None) -> float:
    if text is None or not text.strip():
        return 0.0
    try:
        weight = float(text)
    except ValueError:
        raise BadRecord(BadReason.UNKNOWN_ANSWER) from None
    if not math.isfinite(weight) or weight < 0:
        raise BadRecord(BadReason.UNKNOWN_ANSWER)
    return weight


def needs_reference(card: ScenarioCard) -> bool:
    """Whether a metric compares with a right answer: all do but the jury, or as the card says."""
    if card.options.get(REFERENCE) == OPTIONAL:
        return False
    return any(metric.name != JURY_METRIC for metric in card.metrics)


def tabular_columns(card: ScenarioCard) -> tuple[str, ...]:
    """The columns a data file must have: the template's, the id column, the right answer's."""
    templates = [text for name, text in card.options.items() if name.startswith(PROMPT)]
    columns = list(template_columns(card.options["template"]))
    columns += [column for text in templates for column in template_columns(text)]
    if "id_column" in card.options:
        columns.append(card.options["id_column"])
    if needs_reference(card):
        columns.append(card.fields.get("reference", "correct_answer"))
    return tuple(dict.fromkeys(columns))


def parse_tabular(record: Record, card: ScenarioCard) -> ParsedInput:
    """The rendered template; `correct_answer` and then `incorrect_answers` as references.

    Templates of prompt variants, options named `prompt.NAME`, are rendered into `extra_data`.
    """
    fields = record.fields
    answer = as_text(fields.get(card.fields.get("reference", "correct_answer")))
    if (answer is None or not answer.strip()) and needs_reference(card):
        raise BadRecord(BadReason.EMPTY_ANSWER)
    wrong = _incorrect(fields.get(card.fields.get("incorrect", "incorrect_answers")))
    right = (correct(answer),) if answer else ()
    source_id = as_text(fields.get(card.options.get("id_column", "id")))
    if source_id is None and "id_column" in card.options:  # its row's number may be another's id
        raise BadRecord(BadReason.EMPTY_ID)
    return ParsedInput(
        input=render(card.options["template"], fields),
        references=(*right, *[Reference(text=text) for text in wrong]),
        source_id=source_id,
        extra_data={
            name: render(template, fields)
            for name, template in card.options.items()
            if name.startswith(PROMPT)
        },
    )


def _incorrect(value: object) -> tuple[str, ...]:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ()
    try:
        return texts(loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError, BadRecord):
        raise BadRecord(BadReason.BROKEN_INCORRECT_ANSWERS) from None


PARSERS = {
    "free_text": Parser(
        parse=parse_free_text,
        optional=("input", "reference"),
        untemplated=("input",),
        options=("heading", TEMPLATE, "reference_text", "reference_join", "cut_reference"),
    ),
    "structured": Parser(
        parse=parse_structured,
        required=("context", "question", "reference"),
        options=("passage_prefix", "question_prefix"),
    ),
    "sections": Parser(
        parse=parse_sections,
        required=("input",),
        options=("cut_at", "reference_after"),
        needed_options=("cut_at", "reference_after"),
    ),
    "error_correction": Parser(
        parse=parse_error_correction,
        required=("input", "flag", "sentence_id", "correction"),
    ),
    "text_to_sql": Parser(
        parse=parse_text_to_sql,
        required=("question", "query", "schema"),
        optional=("is_impossible",),
    ),
    "panel": Parser(
        parse=parse_panel,
        family=WEIGHT,
        options=(TEMPLATE,),
        needed_options=(TEMPLATE,),
    ),
    "tabular": Parser(
        parse=parse_tabular,
        optional=("reference", "incorrect"),
        options=(TEMPLATE, "id_column", REFERENCE, f"{PROMPT}NAME"),
        needed_options=(TEMPLATE,),
        columns=tabular_columns,
        by_name=("id", "correct_answer", "incorrect_answers"),
    ),
}
