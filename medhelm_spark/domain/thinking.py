"""Where a model's thinking ends and its answer begins, in a text with both.

Results are stored as the engine returned them. `without_thinking` is how every stage and page reads
them, so that another way of splitting counts for stored answers too: raise
`adaptation.extraction.EXTRACTION_VERSION` with it, and they are scored again.
"""

import re
from dataclasses import replace

from medhelm_spark.domain.request import Completion, FinishReason

TAG_NAMES = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "reflection"),
    *("reasoning_content", "thinking_process", "thought_process", "chain_of_thought"),
    *("inner_monologue", "inner_thoughts"),
)
"""What models call the tags around their thinking."""

_NAMES = "|".join(TAG_NAMES)
_TAG = re.compile(
    rf"<\|?(?P<close>/?)(?:\w+:)?(?:{_NAMES})(?:\s[^<>\n]{{0,80}})?\|?>"
    r"|\[(?P<close2>/?)THINK\]"
    r"|◁(?P<close3>/?)think▷"
    rf"|<\|(?:begin|start|(?P<close4>end))(?:_of)?_(?:{_NAMES})\|>"
    r"|<\|channel\|>(?:analysis|commentary|(?P<close5>final))[^<]{0,40}<\|message\|>"
    r"|\Aanalysis(?=[A-Z])|(?P<close6>assistantfinal)"
    # MedGemma, Gemma 4 (channel and turn), models that open a turn for each part
    r"|<unused94>(?:thought\n)?|(?P<close7><unused95>)"
    rf"|<\|(?:channel|turn)>(?:{_NAMES})\b|(?P<close8><(?:channel|turn)\|>)"
    rf"|<\|im_start\|>(?:{_NAMES}|(?P<close9>answer))\s",
    re.IGNORECASE,
)
_MARKS = ("<", "[", "◁", "assistantfinal")
_HEADED = re.compile(
    r"\s{0,20}#{1,4} Thinking[ \t]*\n(?P<thinking>.*?)"
    r"(?:^#{1,4} Final (?:Response|Answer)[ \t]*\n|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""Headings around the thinking (HuatuoGPT-o1): only where the first one begins the text."""
_FRAME = re.compile(
    r"<\|(?:start|end|return|(?:begin|end)_of_(?:solution|text)|eot_id|im_end|endoftext)\|>"
    r"|<\|(?:START|END)_RESPONSE\|>|</?output>"
)


def without_thinking(stored: Completion) -> Completion:
    """A stored completion as metrics, judges and people read it: the answer in its text.

    The thinking that was in the text is moved to `thinking`, unless the engine returned thinking
    beside the text. An answer without any character is EMPTY, however it ended, but for a refusal
    and for thinking that used the whole token limit: that was cut, not withheld.
    """
    text, in_text = split_thinking(stored.text)
    thinking = stored.thinking or in_text
    reason = stored.finish_reason
    was_cut = bool(thinking) and reason is FinishReason.LENGTH
    if not (text.strip() or was_cut or reason is FinishReason.REFUSAL):
        reason = FinishReason.EMPTY
    if in_text is None and reason is stored.finish_reason:
        return stored
    return replace(stored, text=text, thinking=thinking, finish_reason=reason)


def split_thinking(text: str) -> tuple[str, str | None]:
    """The answer in a text, and the thinking written around it; None where there is none.

    Tags are those of common models (`<think>`, `<thinking>`, `[THINK]`, `◁think▷`, gpt-oss's and
    Gemma's channels and others). A missing start tag means that the chat template opened it: all
    before the end tag is thinking. A missing end tag means that the text was cut while the model
    was still thinking: all after the start tag is thinking, and there is no answer in it. (Only of
    a tag that begins a line; one inside a sentence, without an end, is a word like others.)

    >>> split_thinking("<think>Dose?</think>Yes")
    ('Yes', 'Dose?')
    >>> split_thinking("Dose?</think> No")
    ('No', 'Dose?')
    >>> split_thinking("<think>Do")
    ('', 'Do')
    """
    if headed := _HEADED.match(text):
        return text[headed.end() :].strip(), headed["thinking"].strip()
    if not any(mark in text for mark in _MARKS):
        return text, None
    answer: list[str] = []
    thinking: list[str] = []
    start, opened, ended, end = 0, None, False, len(text.rstrip())
    for tag in _TAG.finditer(text):
        piece, closes = text[start : tag.start()], any(tag.groupdict().values())
        if closes and not opened and tag.end() < end:  # what looked like an answer was thinking
            thinking += [*answer, piece]
            answer.clear()
        else:
            (thinking if opened else answer).append(piece)
        ended = ended or closes
        opened, start = None if closes else opened or tag, tag.end()
    if opened and _begins_line(text, opened.start()):
        thinking.append(text[start:])
    else:
        answer.append(text[opened.start() if opened else start :])
        if not ended:
            return text, None
    return _FRAME.sub("", "".join(answer)).strip(), "".join(thinking).strip()


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()
