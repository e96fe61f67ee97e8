"""Perturbation: a pure function from an Instance to a changed copy, and where the copy is valid.

The only source of randomness is a generator seeded by (seed, perturbation, instance id). A change
calls only the generator's method `random`, whose sequence is the same in every Python release: a
copy is therefore the same on every machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from medhelm_spark.domain.access import strictest
from medhelm_spark.domain.ids import digest
from medhelm_spark.domain.plan import WordLists
from medhelm_spark.domain.run import PerturbationSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.errors import ConfigError

SEED = 0

Args = Mapping[str, str]
Change = Callable[[Instance, Random], Instance | None]
Rewrite = Callable[[str], str]
Begin = Callable[[Random], Rewrite]
"""Makes the random choices for one instance and returns the rewrite that applies them."""
Build = Callable[[Args, WordLists], Change]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """One entry of `PERTURBATIONS`."""

    build: Build
    """Makes the change, once per partition; the change returns None for an unsuitable instance."""

    lists: tuple[str, ...] = ()
    """The names of the word lists that `build` reads."""

    args: Mapping[str, str] = field(default_factory=dict)
    """The arguments of `build`, with their defaults."""

    robustness: bool = False
    """Whether HELM's collection `robustness` has it."""

    fairness: bool = False
    """Whether HELM's collection `fairness` has it."""

    keeps_meaning: bool = True
    """False: the copy has another right answer, and no metric computes invariance."""

    needs_options: bool = False
    """Whether it works on multiple-choice instances only."""

    moves_options: bool = False
    """Whether it needs multiple-choice instances in which an option may have any letter."""

    version: str = ""
    """A new version makes all copies again, and the next run sends them again."""


def build(entry: Perturbation, spec: PerturbationSpec, word_lists: WordLists) -> Change:
    """The change that a PerturbationSpec describes.

    Raises:
        ConfigError: An argument or a word list is unknown, missing or wrong.
    """
    for key in spec.args:
        if key not in entry.args:
            allowed = ", ".join(entry.args) or "none"
            raise ConfigError(
                f"perturbation {spec.name!r} has the argument {key!r}; allowed: {allowed}."
            )
    for name in entry.lists:
        if not word_lists.get(name):
            raise ConfigError(
                f"perturbation {spec.name!r} reads the word list {name!r}, which is absent or "
                f"empty; put one at perturbations/{name}.yaml in the folder of --local-path."
            )
    return entry.build({**entry.args, **spec.args}, word_lists)


def perturbed(
    instance: Instance, name: str, change: Change, *, label: str = "", seed: int = SEED
) -> Instance | None:
    """The instance's perturbed copy, or None if there is no useful copy.

    There is none if the change returns None, leaves the instance as it is, or makes the text of a
    wrong option equal to that of a right option. `label` replaces `name` in the copy.
    """
    copy = change(instance, random_for(seed, name, instance.instance_id))
    if copy is None or copy == instance or _is_ambiguous(copy) > _is_ambiguous(instance):
        return None
    level = strictest([copy.access_level, instance.access_level])  # a plug-in's copy may claim less
    return replace(copy, perturbation=label or name, access_level=level)


def random_for(seed: int, name: str, instance_id: str) -> Random:
    """The random generator for one instance's copy."""
    return Random(int(digest(f"{seed}|{name}|{instance_id}"), 16))


def _is_ambiguous(instance: Instance) -> bool:
    right = {ref.text.strip().casefold() for ref in instance.references if ref.is_correct}
    return any(
        ref.text.strip().casefold() in right for ref in instance.references if not ref.is_correct
    )


def on_text(begin: Begin, *, references: bool = False) -> Change:
    """A change of the text that a person wrote: the input, or all user turns of a conversation.

    With `references` the change also rewrites references and the assistant's turns, by the same
    random choices. This is for changes of content, not of spelling. System turns never change.
    """
    roles = ("user", "assistant") if references else ("user",)

    def change(instance: Instance, rng: Random) -> Instance:
        rewrite = begin(rng)
        if not instance.messages:
            return _with_references(
                replace(instance, input=rewrite(instance.input)), rewrite, references
            )
        turns = tuple(
            replace(turn, content=rewrite(turn.content)) if turn.role in roles else turn
            for turn in instance.messages
        )
        last = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=None)
        is_input = last is not None and instance.messages[last].content == instance.input
        text = turns[last].content if is_input and last is not None else rewrite(instance.input)
        return _with_references(replace(instance, input=text, messages=turns), rewrite, references)

    return change


def _with_references(instance: Instance, rewrite: Rewrite, references: bool) -> Instance:
    if not references:
        return instance
    return replace(
        instance,
        references=tuple(replace(ref, text=rewrite(ref.text)) for ref in instance.references),
    )


def texts_of(instance: Instance) -> list[str]:
    """Every text of an instance: input, messages and references."""
    return [
        instance.input,
        *(turn.content for turn in instance.messages),
        *(ref.text for ref in instance.references),
    ]


def unless(is_excluded: Callable[[Instance], bool], change: Change) -> Change:
    """A change that returns None for excluded instances and calls `change` for the others."""
    return lambda instance, rng: None if is_excluded(instance) else change(instance, rng)


def number(args: Args, name: str, *, least: float = 0.0, most: float = 1.0) -> float:
    """A numeric argument.

    Raises:
        ConfigError: The argument is not a number, or is out of range.
    """
    try:
        value = float(args[name])
    except ValueError:
        value = most + 1
    if not least <= value <= most:
        raise ConfigError(
            f"a perturbation's {name} is {args[name]!r}; allowed: {least:g} to {most:g}."
        )
    return value


def pick(rng: Random, items: tuple[str, ...]) -> str:
    """One of the items, drawn by `rng.random`."""
    return items[int(rng.random() * len(items))]
