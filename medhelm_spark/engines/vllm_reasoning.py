"""Thinking and answer, separated by vLLM's own parser of the model (`args.reasoning_parser`)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from medhelm_spark.errors import EngineError


class ParsedText(NamedTuple):
    """What a model wrote, in its two parts."""

    text: str
    thinking: str | None


class Reasoning:
    """One of vLLM's reasoning parsers, beside a loaded model.

    `keeps_special_tokens`: it reads tokens that a text would be stripped of. A parser that only
    finds where thinking ends (gpt-oss's) leaves the text as it is.
    """

    def __init__(self, name: str, llm: Any, template_kwargs: Mapping[str, Any]) -> None:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.reasoning import ReasoningParserManager

        try:
            made = ReasoningParserManager.get_reasoning_parser(name)
            self._parser = made(
                llm.get_tokenizer(),
                chat_template_kwargs=dict(template_kwargs),
                model_config=llm.llm_engine.vllm_config.model_config,
            )
        except Exception as error:  # no data has been seen: the text is about the parser
            raise EngineError(
                f"args.reasoning_parser {name!r} does not fit this model "
                f"({type(error).__name__}): {str(error)[:300]}"
            ) from None
        request = ChatCompletionRequest(model="", messages=[])
        self._request = self._parser.adjust_request(request)
        # None, the default of 0.33, means what True meant before.
        self.keeps_special_tokens = self._request.skip_special_tokens is False

    def split(self, written: str, prompt_tokens: list[int]) -> ParsedText:
        """The answer and the thinking of a text that was generated after these tokens."""
        set_prompt = getattr(self._parser, "set_prompt_token_ids", None)  # newer versions have it
        if set_prompt:
            set_prompt(prompt_tokens)
        try:
            thinking, text = self._parser.extract_reasoning(written, self._request)
        except NotImplementedError:
            return ParsedText(written, None)
        return ParsedText(text or "", thinking or None)
