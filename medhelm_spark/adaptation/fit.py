"""Fits a prompt into a deployment's context window as MedHELM does: fewer examples, then a cut.

Only for deployments with `on_failure: {too_long: truncate}`. The cut takes away the end, which is
the question and the cue for the answer, so `prompt_truncated` marks the prompt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.adaptation.render import prompt_id, render
from medhelm_spark.domain.request import Prompt
from medhelm_spark.domain.run import AdapterSpec
from medhelm_spark.domain.scenario import Instance

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The most tokens of a prompt; `spans` gives start and end of each token in a text."""

    tokens: int
    spans: Callable[[str], Spans]


def render_fitting(
    spec: AdapterSpec,
    instance: Instance,
    train: Sequence[Instance],
    window: Window,
    *,
    render_id: str,
    train_trial_index: int = 0,
) -> Prompt:
    """The prompt with as many leading examples as fit; without any, its beginning.

    A conversation is left as it is, as in MedHELM. See `render` for the arguments and errors.
    """
    for num_examples in range(len(train), -1, -1):
        prompt = render(
            spec,
            instance,
            train[:num_examples],
            render_id=render_id,
            train_trial_index=train_trial_index,
        )
        if prompt.messages or len(window.spans(prompt.text)) <= window.tokens:
            return prompt
    text = beginning(prompt.text, window)
    return replace(
        prompt,
        text=text,
        prompt_id=prompt_id(text, prompt.access_level),
        num_characters=len(text),
        prompt_truncated=True,
    )


def beginning(text: str, window: Window) -> str:
    """The longest beginning of a text, in whole tokens, that fits the window.

    Tokenized by itself a beginning may have more tokens than it had in the text; then it is cut
    again.
    """
    spans = window.spans(text)
    while len(spans) > window.tokens:
        text = text[: spans[window.tokens][0]]
        spans = window.spans(text)
    return text
