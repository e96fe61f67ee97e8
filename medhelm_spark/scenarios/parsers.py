"""The registry of shapes: how a record of each shape of data becomes an input and references."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from medhelm_spark.domain.imported import EXPORT_SHAPE
from medhelm_spark.domain.run import PROMPT
from medhelm_spark.domain.scenario import REFERENCE, DataSource, ScenarioCard, Variant
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.plugins import PluginRegistry
from medhelm_spark.scenarios.conversation import parse_conversation
from medhelm_spark.scenarios.exported import parse_exported
from medhelm_spark.scenarios.histories import check_history
from medhelm_spark.scenarios.multiple_choice import (
    ANSWER_FORMS,
    CHOICE_OPTIONS,
    NOTES_COLUMNS,
    OPTION,
    parse_multiple_choice,
    parse_patient_notes,
)
from medhelm_spark.scenarios.raw_files import ARCHIVES, is_archive
from medhelm_spark.scenarios.records import ParsedInput, Record
from medhelm_spark.scenarios.template import TEMPLATE, columns_of_template
from medhelm_spark.scenarios.text_shapes import (
    WEIGHT,
    parse_error_correction,
    parse_free_text,
    parse_panel,
    parse_sections,
    parse_structured,
    parse_tabular,
    parse_text_to_sql,
    tabular_columns,
)

Parse = Callable[[Record, ScenarioCard], ParsedInput]
ID = "id"
ID_PART = "id."
CLUSTER = "cluster"
COMMON_ROLES = (ID, "split", "sub_split", CLUSTER)
EXTRA = "extra."
NAMED = ".NAME"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """A shape: its function, the roles and options of its cards, columns needed beyond roles.

    `parse` raises BadRecord for a bad row. Every shape knows the roles `id`, `split`, `sub_split`,
    `cluster` (what instances share that are no independent tries: a patient, a note) and
    `extra.NAME` besides its own, and `id.NAME` for an id of several columns; `family` begins
    further roles of its own, as `option.` does. With a template the roles of `untemplated` may be
    left out, without one they are needed. `made` are columns that the shape itself gives to the
    template. With a changed `version` data is read anew.
    """

    parse: Parse
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    untemplated: tuple[str, ...] = ()
    family: str | None = None
    options: tuple[str, ...] = ()
    needed_options: tuple[str, ...] = ()
    columns: Callable[[ScenarioCard], tuple[str, ...]] = columns_of_template
    made: tuple[str, ...] = ()
    version: str = ""


_OWN: Mapping[str, Parser] = {
    "multiple_choice": Parser(
        parse=parse_multiple_choice,
        required=("answer",),
        optional=("question", "context", "labels", "options"),
        untemplated=("question",),
        family=OPTION,
        options=CHOICE_OPTIONS,
    ),
    "patient_notes": Parser(
        parse=parse_patient_notes,
        required=("notes", "answer"),
        options=CHOICE_OPTIONS,
        needed_options=(TEMPLATE, "choices"),
        made=NOTES_COLUMNS,
    ),
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
    ),
    "conversation": Parser(
        parse=parse_conversation,
        required=("messages",),
        optional=("rubric", "tags", "reference"),
        options=("criterion",),
    ),
    EXPORT_SHAPE: Parser(parse=parse_exported, options=("criterion",)),
}
PARSERS: Mapping[str, Parser] = PluginRegistry("PARSERS", Parser, _OWN)


def parser_of(card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS) -> Parser:
    """The parser of a card's shape.

    Raises:
        UnknownNameError: no parser has that name.
    """
    if card.shape not in parsers:
        raise UnknownNameError("shape", card.shape, parsers, where=f"scenario {card.name!r}")
    return parsers[card.shape]


def varied(card: ScenarioCard, variant: Variant) -> ScenarioCard:
    """The card as a variant wants it."""
    return replace(
        card,
        fields={**card.fields, **variant.fields},
        options={**card.options, **variant.options},
        variants=(),
    )


def required_columns(
    card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS
) -> tuple[str, ...]:
    """Every column a table of this scenario must have, by the source's own name where it has one.

    "a|b" is satisfied by either.
    """
    parser = parser_of(card, parsers)
    named = [*card.keep, *card.drop]
    for variant in [varied(card, variant) for variant in card.variants] or [card]:
        columns = [column for column in parser.columns(variant) if column not in parser.made]
        named = [*variant.fields.values(), *columns, *named]
    source_names = card.source.columns
    return tuple(dict.fromkeys(source_names.get(name, name) for name in named))


def check_card(card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS) -> None:
    """Refuse a card whose roles or options its shape does not understand.

    A run's card is checked once, where its entry is expanded; what reads and parses relies on it.

    Raises:
        ConfigError: a role or option is missing or unknown.
    """
    parser = parser_of(card, parsers)
    where = f"scenario {card.name!r}, shape {card.shape!r}"
    if card.source.history:
        check_history(card.source.history)
        _refuse_hub(card, where)
    _check_addresses(card.source, where)
    if card.merge_identical and any(map(_is_id, card.fields)):
        raise ConfigError(f"{where}: merge_identical is for records without an id; fields has one.")
    for variant in [varied(card, variant) for variant in card.variants] or [card]:
        _check_roles(variant, parser, where)
        _check_options(variant, parser, where)
        parser.columns(variant)
        _check_choice(variant, where)


def _check_addresses(source: DataSource, where: str) -> None:
    for file in source.files:
        if file.archive and not (file.url and is_archive(file.archive)):
            raise ConfigError(
                f"{where}: archive is {file.archive!r}; allowed: beside a url, a name that ends in "
                f"{', '.join(ARCHIVES)}."
            )
    for column in source.text_urls:
        if column not in source.texts:
            raise UnknownNameError("text", column, source.texts, where=f"{where}: text_urls")


def _is_id(role: str) -> bool:
    return role == ID or role.startswith(ID_PART)


def _refuse_hub(card: ScenarioCard, where: str) -> None:
    if card.source.dataset is not None:
        raise ConfigError(f"{where}: a history is made for records of files, not of a data set.")


def _check_roles(card: ScenarioCard, parser: Parser, where: str) -> None:
    roles = (*parser.required, *parser.optional, *COMMON_ROLES)
    starts = tuple(start for start in (EXTRA, ID_PART, parser.family) if start)
    for role in card.fields:
        if role not in roles and not role.startswith(starts):
            known = (*roles, *(f"{start}NAME" for start in starts))
            raise UnknownNameError("field", role, known, where=where)
    needed = parser.required if TEMPLATE in card.options else parser.required + parser.untemplated
    _refuse_missing([role for role in needed if role not in card.fields], where)


def _check_options(card: ScenarioCard, parser: Parser, where: str) -> None:
    for option in card.options:
        if option not in card.args and not any(map(_names(option), parser.options)):
            raise UnknownNameError("option", option, parser.options, where=where)
    _refuse_missing([name for name in parser.needed_options if name not in card.options], where)


def _refuse_missing(missing: list[str], where: str) -> None:
    if missing:
        raise ConfigError(f"{where}: {', '.join(missing)} is missing; the shape needs it.")


def _names(option: str) -> Callable[[str], bool]:
    """Whether a shape's option is this one; `prompt.NAME` is every option that begins so."""
    return lambda known: (
        option == known or (known.endswith(NAMED) and option.startswith(known.removesuffix("NAME")))
    )


def _check_choice(card: ScenarioCard, where: str) -> None:
    form = card.options.get("answer_form", "text")
    if card.shape in ("multiple_choice", "patient_notes"):
        if form not in ANSWER_FORMS:
            raise UnknownNameError("answer_form", form, ANSWER_FORMS, where=where)
        given = ("choices" in card.options, "options" in card.fields, "embedded" in card.options)
        if not any(given) and not any(role.startswith(OPTION) for role in card.fields):
            raise ConfigError(f"{where}: give the options as `choices: a|b` or name their column.")
