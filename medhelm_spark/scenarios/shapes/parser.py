"""What a shape is: its function, and the roles and options of its cards."""

from collections.abc import Callable
from dataclasses import dataclass

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios.records import ParsedInput, Record
from medhelm_spark.scenarios.template import columns_of_template

Parse = Callable[[Record, ScenarioCard], ParsedInput]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """A shape: its function, the roles and options of its cards, columns needed beyond roles.

    `parse` raises BadRecord for a bad row. Every shape has the roles `id`, `split`, `sub_split`,
    `cluster` (what instances share that are no independent tries: a patient, a note) and
    `extra.NAME` besides its own, and `id.NAME` for an id of several columns; `family` begins
    further roles of its own, as `option.` does. With a template the roles of `untemplated` may be
    left out, without one they are needed. `made` are columns that the shape itself gives to the
    template, `by_name` columns that it reads where they are there, without a role. With a changed
    `version` data is read anew.
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
    by_name: tuple[str, ...] = ()
    version: str = ""
