"""Tabular: MedHELM's configurable benchmark, a prompt template filled from the columns of a row."""

from medhelm_spark.domain.run import PROMPT
from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.scenarios.compose import correct
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_text,
    texts,
)
from medhelm_spark.scenarios.template import render, template_columns

OPTIONS = ("template", "id_column", f"{PROMPT}NAME")
OPTIONAL = ("reference", "incorrect")
JURY_METRIC = "jury_score"


def needs_reference(card: ScenarioCard) -> bool:
    """Whether a metric compares with a right answer: all do but the jury."""
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
    return ParsedInput(
        input=render(card.options["template"], fields),
        references=(*right, *[Reference(text=text) for text in wrong]),
        source_id=as_text(fields.get(card.options.get("id_column", "id"))),
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
