"""Values of HELM's files, and the texts of an instance that a request is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from medhelm_spark.domain.helm_results import SUFFIX
from medhelm_spark.domain.ids import canonical_json, content_id, digest
from medhelm_spark.domain.scenario import Instance, Message, Reference
from medhelm_spark.domain.split import Split
from medhelm_spark.medhelm_results.states import REDACTED, HelmState
from medhelm_spark.medhelm_results.stream import BrokenFileError

SPLITS = frozenset(Split)


def number(value: object) -> float | None:
    """A number of a file; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def whole(value: object, default: int) -> int:
    """A whole number of a file, or the default."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The texts of an instance; those that are redacted, or in no file, are empty."""

    split: Split
    input: str = ""
    messages: tuple[Message, ...] = ()
    references: tuple[Reference, ...] = ()
    extra_data: Mapping[str, str]
    sub_split: str | None = None

    @property
    def is_blank(self) -> bool:
        return not self.input.strip() and not self.messages


def text_of(value: object) -> str:
    """A text as it can be stored; empty where it is redacted or none."""
    if not isinstance(value, str) or value == REDACTED:
        return ""
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode("utf-8")  # half a character becomes ?


def object_of(value: object) -> Mapping[str, Any]:
    """An object of a file; empty for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """A list of a file; empty for anything else."""
    return value if isinstance(value, list) else []


def content_from(state: HelmState) -> Content:
    """The instance of a request.

    Raises:
        BrokenFileError: its split is not one of HELM's.
    """
    if state.split not in SPLITS:
        raise BrokenFileError(f"an instance has another split than {', '.join(SPLITS)}")
    instance = object_of(state.instance)
    prompt = object_of(instance.get("input"))
    messages = messages_of(prompt.get("messages"))
    text = text_of(prompt.get("text"))
    references = tuple(
        Reference(
            text=text_of(object_of(object_of(reference).get("output")).get("text")),
            tags=tuple(map(str, list_of(object_of(reference).get("tags")))),
        )
        for reference in list_of(instance.get("references"))
    )
    extra = {
        str(key): text_of(value) if isinstance(value, str) else canonical_json(value)
        for key, value in object_of(instance.get("extra_data")).items()
        if value is not None
    }
    sub_split = instance.get("sub_split")
    return Content(
        split=Split(state.split),
        input=text if text.strip() or not messages else messages[-1].content,
        messages=messages,
        references=references,
        extra_data=extra,
        sub_split=str(sub_split) if sub_split is not None else None,
    )


def messages_of(value: object) -> tuple[Message, ...]:
    """The turns of a conversation that have a text."""
    turns = (object_of(turn) for turn in list_of(value))
    return tuple(
        Message(role=str(turn.get("role") or ""), content=text_of(turn.get("content")))
        for turn in turns
        if turn and text_of(turn.get("content"))
    )


def content_of(scenario_name: str, instance: Content | Instance) -> str:
    """What two instances of the same data have in common: text, references and split."""
    return content_id(
        scenario_name.removesuffix(SUFFIX),
        digest(instance.input.strip()),
        [[reference.text, *reference.tags] for reference in instance.references],
        [[message.role, message.content] for message in instance.messages],
        instance.split.value,
    )
