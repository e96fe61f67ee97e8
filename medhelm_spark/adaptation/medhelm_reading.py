"""The answer that MedHELM's shorter request would have returned: the first tokens, up to a stop.

Greedy decoding gives the same first tokens under any token limit, so that a longer answer contains
the shorter one. Where the tokens are not known there is no guess by characters.
"""

from collections.abc import Iterable
from dataclasses import replace

from medhelm_spark.domain.request import Completion, FinishReason
from medhelm_spark.domain.run import MedhelmReading


def as_medhelm_got(
    completion: Completion, how: MedhelmReading, *, is_cut: bool
) -> Completion | None:
    """The completion that MedHELM's own request would have returned; None where it is unknown.

    Args:
        completion: The completion, without thinking in its text.
        how: MedHELM's token limit and the stop sequences that it sends.
        is_cut: Whether more tokens were asked for than MedHELM asks for.
    """
    tokens = completion.tokens
    if not is_cut or 0 < len(tokens) <= how.max_tokens:
        return replace(completion, text=_before_stop(completion.text, how.stop_sequences))
    # Thinking comes first, and servers differ in whether they return and count its tokens.
    if not tokens or completion.thinking is not None:
        return None
    first = tokens[: how.max_tokens]
    text = _beginning(completion.text, (token.text for token in first))
    if text is None:
        return None
    return replace(
        completion,
        text=_before_stop(text, how.stop_sequences),
        finish_reason=FinishReason.LENGTH,
        tokens=first,
        logprob=sum(token.logprob for token in first),
    )


def _before_stop(text: str, stop_sequences: Iterable[str]) -> str:
    ends = [at for stop in stop_sequences if stop and (at := text.find(stop)) >= 0]
    return text[: min(ends, default=len(text))]


def _beginning(text: str, tokens: Iterable[str]) -> str | None:
    """The beginning of the text that these tokens spell; None where they spell another text.

    White space does not count: a tokenizer that decodes a token alone may drop the space before it.

    >>> _beginning("The answer is B", ["The", "answer"])
    'The answer'
    >>> _beginning("B", ["<|start|>"])
    """
    at = 0
    for mark in "".join(tokens):
        if mark.isspace():
            continue
        at += len(text[at:]) - len(text[at:].lstrip())
        if not text.startswith(mark, at):
            return None
        at += 1
    return text[:at]
