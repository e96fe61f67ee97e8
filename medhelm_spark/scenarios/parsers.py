"""`PARSERS`, the registry of shapes, and the check of a scenario card against its shape.

A shape is a way to make instances from records; a card names its shape. Each module of
`scenarios/shapes` declares its shapes in a mapping `PARSERS`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from medhelm_spark import plugins
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.scenario import TABULAR, ScenarioCard, Variant
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.plugins import PluginRegistry
from medhelm_spark.scenarios.histories import check_history
from medhelm_spark.scenarios.levels import LEVEL_COLUMN
from medhelm_spark.scenarios.raw_files import ARCHIVES, is_archive
from medhelm_spark.scenarios.shapes.multiple_choice import ANSWER_FORMS, OPTION
from medhelm_spark.scenarios.shapes.parser import Parser
from medhelm_spark.scenarios.template import TEMPLATE

ID = "id"
ID_PART = "id."
CLUSTER = "cluster"
COMMON_ROLES = (ID, "split", "sub_split", CLUSTER)
EXTRA = "extra."
NAMED = ".NAME"

PARSERS: Mapping[str, Parser] = PluginRegistry("PARSERS", Parser, "medhelm_spark.scenarios.shapes")


def parser_of(card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS) -> Parser:
    """The parser of a card's shape.

    Raises:
        UnknownNameError: no parser has the name of the shape.
    """
    if card.shape not in parsers:
        raise UnknownNameError("shape", card.shape, parsers, where=f"scenario {card.name!r}")
    return parsers[card.shape]


def varied(card: ScenarioCard, variant: Variant) -> ScenarioCard:
    """The card with a variant's fields and options added; these replace the card's own."""
    return replace(
        card,
        fields={**card.fields, **variant.fields},
        options={**card.options, **variant.options},
        variants=(),
    )


def required_columns(
    card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS
) -> tuple[str, ...]:
    """Every column that a table of this scenario must have, by the source's own name if it has one.

    For "a|b" one of the two columns is enough.
    """
    parser = parser_of(card, parsers)
    named = [*card.keep, *card.drop]
    for variant in [varied(card, variant) for variant in card.variants] or [card]:
        columns = [column for column in parser.columns(variant) if column not in parser.made]
        named = [*variant.fields.values(), *columns, *named]
    named += [column for group in card.group_columns for column in group.columns]
    source_names = card.source.columns
    return tuple(dict.fromkeys(source_names.get(name, name) for name in named))


def check_renamed(card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS) -> None:
    """Refuse a source's name for a column that the card does not read: it would mean nothing.

    A plug-in's shape may read columns that only its code names.

    Raises:
        UnknownNameError: there is such a column.
    """
    if card.shape in plugins.added("PARSERS"):
        return
    parser = parser_of(card, parsers)
    known = [*parser.by_name, LEVEL_COLUMN, *card.keep, *card.drop]
    for variant in [varied(card, variant) for variant in card.variants] or [card]:
        known += [*variant.fields.values(), *parser.columns(variant)]
    known += [column for group in card.group_columns for column in group.columns]
    known = list(dict.fromkeys(part for name in known for part in (name, *name.split("|"))))
    for name in card.source.columns:
        if name not in known:
            raise UnknownNameError("column", name, known, where=f"scenario {card.name!r}: columns")


def check_card(card: ScenarioCard, parsers: Mapping[str, Parser] = PARSERS) -> None:
    """Refuses a card with roles (keys of `fields`) or options that its shape does not have.

    The expansion of a run entry checks the card once; readers and parsers rely on this check.

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
        _refuse_visible_groups(variant, parser.columns(variant), where)
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


def _refuse_visible_groups(card: ScenarioCard, columns: Iterable[str], where: str) -> None:
    """Refuse groups by a column of the question, of its answer or of record ids.

    `columns` are all that the shape reads.
    """
    own_names = card.source.columns
    roles = {column for role, column in card.fields.items() if not _is_unseen(role)}
    own_id = card.options.get("id_column", ID if card.shape == TABULAR else None)
    ids = {own_id, *(column for role, column in card.fields.items() if _is_id(role))}
    visible = {part for name in (*columns, *roles) for part in (name, *name.split("|"))}
    ids |= {own_names.get(name) for name in ids if name}
    visible |= {own_names[name] for name in visible if name in own_names}
    for group in card.group_columns:
        if group.column in ids:
            raise ConfigError(f"{where}: the group {group.name!r} is the column of ids.")
        if group.column in visible:
            raise ConfigError(
                f"{where}: the group {group.name!r} is column {group.column!r}, which the prompt "
                "or the right answer shows; allowed: columns that no model sees."
            )


def _is_unseen(role: str) -> bool:
    """Whether a role's column is neither part of a question nor of its answer."""
    return role in ("split", "sub_split", CLUSTER) or role.startswith(EXTRA) or _is_id(role)


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
    """A test whether a shape's option is `option`; `prompt.NAME` matches all `prompt.*`."""
    return lambda known: (
        option == known or (known.endswith(NAMED) and option.startswith(known.removesuffix("NAME")))
    )


def _check_choice(card: ScenarioCard, where: str) -> None:
    form = card.options.get("answer_form", "text")
    if card.shape in ("multiple_choice", "patient_notes"):
        if form not in ANSWER_FORMS:
            raise UnknownNameError("answer_form", form, ANSWER_FORMS, where=where)
        sources = ("choices" in card.options, "options" in card.fields, "embedded" in card.options)
        if not any(sources) and not any(role.startswith(OPTION) for role in card.fields):
            raise ConfigError(f"{where}: give the options as `choices: a|b` or name their column.")
