"""The registry of shapes: how a record of each shape of data becomes an input and references."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.plugins import Registry
from medhelm_spark.scenarios import (
    conversation,
    free_text,
    multiple_choice,
    structured,
    tabular,
)
from medhelm_spark.scenarios.records import ParsedInput, Record

Parse = Callable[[Record, ScenarioCard], ParsedInput]
COMMON_ROLES = ("id", "split", "sub_split")
EXTRA = "extra."
NAMED = ".NAME"


def _no_columns(_: ScenarioCard) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """A shape: its function, the roles and options of its cards, columns needed beyond roles.

    `parse` raises BadRecord for a bad row. Every shape knows the roles `id`, `split`, `sub_split`
    and `extra.NAME` besides its own. With a changed `version` data is read anew.
    """

    parse: Parse
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    needed_options: tuple[str, ...] = ()
    columns: Callable[[ScenarioCard], tuple[str, ...]] = _no_columns
    version: str = ""


_OWN: Mapping[str, Parser] = {
    "multiple_choice": Parser(
        parse=multiple_choice.parse_multiple_choice,
        required=multiple_choice.REQUIRED,
        optional=multiple_choice.OPTIONAL,
        options=multiple_choice.OPTIONS,
    ),
    "free_text": Parser(
        parse=free_text.parse_free_text,
        required=free_text.REQUIRED,
        optional=free_text.OPTIONAL,
        options=free_text.OPTIONS,
    ),
    "conversation": Parser(
        parse=conversation.parse_conversation,
        required=conversation.REQUIRED,
        optional=conversation.OPTIONAL,
        options=conversation.OPTIONS,
    ),
    "structured": Parser(
        parse=structured.parse_structured,
        required=structured.REQUIRED,
        optional=structured.OPTIONAL,
        options=structured.OPTIONS,
    ),
    "tabular": Parser(
        parse=tabular.parse_tabular,
        optional=tabular.OPTIONAL,
        options=tabular.OPTIONS,
        needed_options=("template",),
        columns=tabular.tabular_columns,
    ),
}
PARSERS: Mapping[str, Parser] = Registry("PARSERS", Parser, _OWN)


def parser_of(card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS) -> Parser:
    """The parser of a card's shape.

    Raises:
        UnknownNameError: no parser has that name.
    """
    if card.shape not in parsers:
        raise UnknownNameError("shape", card.shape, parsers, where=f"scenario {card.name!r}")
    return parsers[card.shape]


def required_columns(
    card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS
) -> tuple[str, ...]:
    """Every column a table of this scenario must have; "a|b" is satisfied by either."""
    named = (*card.fields.values(), *parser_of(card, parsers).columns(card))
    return tuple(dict.fromkeys(named))


def check_card(card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS) -> None:
    """Refuse a card whose roles or options its shape does not understand.

    Raises:
        ConfigError: a role or option is missing or unknown.
    """
    parser = parser_of(card, parsers)
    where = f"scenario {card.name!r}, shape {card.shape!r}"
    roles = (*parser.required, *parser.optional, *COMMON_ROLES)
    for role in card.fields:
        if role not in roles and not role.startswith(EXTRA):
            raise UnknownNameError("field", role, (*roles, "extra.NAME"), where=where)
    for option in card.options:
        if not any(map(_names(option), parser.options)):
            raise UnknownNameError("option", option, parser.options, where=where)
    missing = [role for role in parser.required if role not in card.fields]
    missing += [option for option in parser.needed_options if option not in card.options]
    if missing:
        raise ConfigError(f"{where}: {', '.join(missing)} is missing; the shape needs it.")
    _check_choice(card, where)


def _names(option: str) -> Callable[[str], bool]:
    """Whether a shape's option is this one; `prompt.NAME` is every option that begins so."""
    return lambda known: (
        option == known or (known.endswith(NAMED) and option.startswith(known.removesuffix("NAME")))
    )


def _check_choice(card: ScenarioCard, where: str) -> None:
    form = card.options.get("answer_form", "text")
    if card.shape == "multiple_choice":
        if form not in multiple_choice.ANSWER_FORMS:
            raise UnknownNameError("answer_form", form, multiple_choice.ANSWER_FORMS, where=where)
        if "choices" not in card.options and "options" not in card.fields:
            raise ConfigError(f"{where}: give the options as `choices: a|b` or name their column.")
