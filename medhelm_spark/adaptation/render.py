"""Instance + AdapterSpec + train rows -> Prompt, composed exactly as HELM composes it.

A prompt is `instance_prefix.join([instructions] + training blocks + [evaluation block])` between
`global_prefix` and `global_suffix`. Text is only ever concatenated: clinical text is hostile text,
and no part of it is read as a format string or a pattern.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.ids import content_id, digest
from medhelm_spark.domain.request import Prompt
from medhelm_spark.domain.run import AdapterMethod, AdapterSpec
from medhelm_spark.domain.scenario import Instance, Reference
from medhelm_spark.errors import ConfigError, DataError

NO_CORRECT_REFERENCE = "n/a"
ANSWER_DELIMITER = ", "
CHAIN_OF_THOUGHT = "chain_of_thought"
"""The key of a train row's `extra_data` for its worked reasoning."""

# "Choose A for yes": instructions that give a letter its meaning.
LETTER_MEANS = re.compile(r"\b[A-H] ?(?:for|means|is|=|:) ?\w")


def render(
    spec: AdapterSpec,
    instance: Instance,
    train: Sequence[Instance] = (),
    *,
    render_id: str,
    train_trial_index: int = 0,
) -> Prompt:
    """Compose the prompt of one evaluation instance.

    The chat method passes the instance's messages on and uses neither instructions nor train rows;
    the other methods give `text`. Nothing is cut to a context window here.

    Args:
        spec: The adapter; only the fields in `decoding.RENDER_FIELDS` are read.
        instance: The row to evaluate.
        train: The few-shot rows of this train trial, in the order in which they are shown.
        render_id: From `decoding.render_id`.
        train_trial_index: Which draw `train` is.

    Raises:
        DataError: The method is chat and the instance has no messages.
        ConfigError: The option letters cannot be made from the spec.
    """
    if spec.method == AdapterMethod.CHAT:
        return _render_chat(instance, render_id, train_trial_index)
    text = _compose(spec, instance, train)
    level = strictest({instance.access_level, *(row.access_level for row in train)})
    return Prompt(
        prompt_id=prompt_id(text, level),
        render_id=render_id,
        subject_id=instance.instance_id,
        access_level=level,
        perturbation=instance.perturbation,
        train_trial_index=train_trial_index,
        text=text,
        output_mapping=output_mapping(spec, instance.references),
        num_train_instances=len(train),
        num_characters=len(text),
    )


def prompt_id(text: str, level: AccessLevel) -> str:
    """The id of a plain text of this access level."""
    return content_id(digest(text), level)


def _render_chat(instance: Instance, render_id: str, train_trial_index: int) -> Prompt:
    if not instance.messages:
        raise DataError(
            f"Instance {instance.instance_id} of {instance.scenario_name} has no messages, which "
            f"the adapter method 'chat' needs; use a conversation shape or the method 'generation'."
        )
    return Prompt(
        prompt_id=content_id(instance.messages, instance.access_level),
        render_id=render_id,
        subject_id=instance.instance_id,
        access_level=instance.access_level,
        perturbation=instance.perturbation,
        train_trial_index=train_trial_index,
        messages=instance.messages,
        num_characters=sum(len(message.content) for message in instance.messages),
    )


def _compose(spec: AdapterSpec, instance: Instance, train: Sequence[Instance]) -> str:
    blocks = [spec.instructions] if spec.instructions else []
    for row in train:
        answer = spec.output_prefix + _reasons(spec, row) + _answer(spec, row) + spec.output_suffix
        blocks.append(_question(spec, row) + answer)
    blocks.append(_question(spec, instance) + spec.output_prefix.rstrip())
    text = spec.global_prefix + spec.instance_prefix.join(blocks) + spec.global_suffix
    for substitution in spec.substitutions:
        text = re.sub(substitution.source, substitution.target, text)
    return text


def _question(spec: AdapterSpec, instance: Instance) -> str:
    head = spec.input_prefix + instance.input + spec.input_suffix
    if not spec.method.shows_options:
        return head
    suffix = spec.reference_suffix
    _, prefixes = _options(spec, len(instance.references))
    for prefix, reference in zip(prefixes, instance.references, strict=True):
        head += prefix + reference.text + suffix
    return head


def _reasons(spec: AdapterSpec, instance: Instance) -> str:
    """The chain of thought that a training block shows before its answer."""
    if spec.method != AdapterMethod.MULTIPLE_CHOICE_JOINT_CHAIN_OF_THOUGHT:
        return ""
    thought = instance.extra_data.get(CHAIN_OF_THOUGHT, "")
    return spec.chain_of_thought_prefix + thought + spec.chain_of_thought_suffix


def _answer(spec: AdapterSpec, instance: Instance) -> str:
    """The right answer as a training block shows it: letters of options, else their text.

    After a chain of thought HELM shows the option's whole prefix, `B. `, and so does this.
    """
    references = instance.references
    if spec.method.shows_options:
        letters, prefixes = _options(spec, len(references))
        is_chain = spec.method == AdapterMethod.MULTIPLE_CHOICE_JOINT_CHAIN_OF_THOUGHT
        texts = prefixes if is_chain else letters
    else:
        texts = tuple(reference.text for reference in references)
    correct = [text for text, ref in zip(texts, references, strict=True) if ref.is_correct]
    if not correct:
        return NO_CORRECT_REFERENCE
    return ANSWER_DELIMITER.join(correct) if spec.multi_label else correct[0]


def output_mapping(spec: AdapterSpec, references: Sequence[Reference]) -> dict[str, str]:
    """The options as the prompt shows them: letter to reference text; empty for other methods."""
    if not spec.method.shows_options:
        return {}
    letters, _ = _options(spec, len(references))
    return {letter: reference.text for letter, reference in zip(letters, references, strict=True)}


def fixes_letters(spec: AdapterSpec) -> bool:
    """Whether the instructions give a letter a meaning, so that options must keep their letters."""
    return bool(LETTER_MEANS.search(spec.instructions))


def _options(spec: AdapterSpec, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return option_prefixes(spec.reference_prefix, spec.reference_prefix_characters, count)


@lru_cache(maxsize=256)
def option_prefixes(
    reference_prefix: str, characters: str | None, count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The letters of the first `count` options, and the prefixes that show them.

    The first letter or digit of `reference_prefix` marks its position. The letters are `characters`
    (the spec's `reference_prefix_characters`) where given; else they count up from the mark
    through the character table (after Z comes `[`, as in HELM).

    Raises:
        ConfigError: `reference_prefix` has no letter or digit, or there are fewer characters than
            options.
    """
    marker = next(filter(str.isalnum, reference_prefix), "")
    if not marker:
        raise ConfigError(
            f"adapter_spec.reference_prefix is {reference_prefix!r}, but the method "
            f"'multiple_choice_joint' needs a letter or digit to count from, such as 'A. '."
        )
    if characters and len(characters) < count:
        raise ConfigError(
            f"adapter_spec.reference_prefix_characters has {len(characters)} characters, but an "
            f"instance has {count} references; give one character for each."
        )
    letters = tuple(characters or (chr(ord(marker) + i) for i in range(count)))[:count]
    return letters, tuple(reference_prefix.replace(marker, letter) for letter in letters)
