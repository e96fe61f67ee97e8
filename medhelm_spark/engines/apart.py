"""Text of data apart from the chat template, so that no marker in it is read as a control token.

A tokenizer reads `<|im_end|>` as the end of a turn wherever it is: in a template, in a note, in
an answer that a judge is shown. So where data has such a marker, the template is filled with
placeholders for the texts, and template and texts are tokenised apart.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_hex
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

Turn = Mapping[str, str]


class PromptPart(NamedTuple):
    """A piece of a prompt in order: the template's own text, or a text of data."""

    text: str
    is_data: bool


def apart(turns: Sequence[Turn], render: Callable[[list[dict[str, str]]], str]) -> list[PromptPart]:
    """The rendered conversation in pieces; `render` fills the template.

    Placeholders are letters and digits that no data contains: a template leaves them as they are.
    """
    nonce = token_hex(8)
    texts = {f"x{nonce}n{number}x": turn["content"] for number, turn in enumerate(turns)}
    named = [{**turn, "content": name} for turn, name in zip(turns, texts, strict=True)]
    pieces = re.split(f"({'|'.join(texts)})", render(named))
    return [PromptPart(texts.get(piece, piece), piece in texts) for piece in pieces if piece]


def has_marker(texts: Iterable[str], markers: Iterable[str]) -> bool:
    """Whether one of the texts has one of the tokenizer's markers."""
    return any(marker in text for text in texts for marker in markers)


class Tokenizer(Protocol):
    """What is used of a tokenizer of the package `transformers`."""

    def get_added_vocab(self) -> Mapping[str, int]:
        """The tokens beside the vocabulary that are found in a text as they are, by id."""

    def encode(
        self, text: str, *, add_special_tokens: bool, split_special_tokens: bool = False
    ) -> list[int]:
        """A text's tokens."""

    def apply_chat_template(
        self,
        conversation: Sequence[Turn],
        *,
        chat_template: str | None,
        tokenize: bool,
        add_generation_prompt: bool,
        **template_kwargs: Any,
    ) -> str:
        """A conversation in a template."""


def markers_of(tokenizer: Tokenizer) -> frozenset[str]:
    """What the tokenizer reads as one token wherever it is; one sign alone cannot be cut.

    Mistral's own tokenizers read no marker in a text, whatever it says.
    """
    if "Mistral" in type(tokenizer).__name__:
        return frozenset()
    return frozenset(token for token in tokenizer.get_added_vocab() if len(token.strip()) > 1)


def tokens_apart(
    tokenizer: Tokenizer,
    turns: Sequence[Turn],
    template: str | None,
    template_kwargs: Mapping[str, Any] = MappingProxyType({}),
) -> list[int]:
    """A conversation's tokens in a template, or, without one, those of a plain text.

    `template_kwargs` is what the template gets beside the conversation.

    Raises:
        ValueError: the template refuses the conversation, as vLLM says it where it renders one.
    """
    if template is None:
        return _plain(tokenizer, turns[0]["content"], is_first=True)

    def render(named: list[dict[str, str]]) -> str:
        try:
            return tokenizer.apply_chat_template(
                named,
                chat_template=template,
                tokenize=False,
                add_generation_prompt=True,
                **template_kwargs,
            )
        except Exception as error:  # whatever a template comes to; its text may quote a message
            raise ValueError(type(error).__name__) from None

    tokens: list[int] = []
    for text, is_data in apart(turns, render):
        if is_data:
            tokens += _plain(tokenizer, text)
        else:
            tokens += tokenizer.encode(text, add_special_tokens=False)
    return tokens


def _plain(tokenizer: Tokenizer, text: str, *, is_first: bool = False) -> list[int]:
    """The tokens of a text whose markers are plain text.

    `split_special_tokens` leaves added tokens that are not special, as `<think>` often is: a marker
    that is still found is cut after its first sign.
    """
    added = tokenizer.get_added_vocab()
    markers = [marker for marker in markers_of(tokenizer) if marker in text]
    tokens = tokenizer.encode(text, add_special_tokens=is_first, split_special_tokens=True)
    if not {added[marker] for marker in markers} & set(tokens[is_first:]):
        return tokens
    patterns = (f"(?<={re.escape(each[0])})(?={re.escape(each[1:])})" for each in markers)
    first, *rest = re.split("|".join(patterns), text)
    tokens = tokenizer.encode(first, add_special_tokens=is_first, split_special_tokens=True)
    for piece in rest:
        tokens += tokenizer.encode(piece, add_special_tokens=False, split_special_tokens=True)
    return tokens
