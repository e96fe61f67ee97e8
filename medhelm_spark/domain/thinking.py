"""Where a model's thinking ends and its answer begins, in a text that holds both."""

import re

_TAG = re.compile(
    r"<(?P<close>/?)(?:\w+:)?(?:think|thinking|thought|thoughts|reasoning|scratchpad)>"
    r"|\[(?P<close2>/?)THINK\]"
    r"|◁(?P<close3>/?)think▷"
    r"|<\|(?:begin|(?P<close4>end))_of_thought\|>"
    r"|<\|channel\|>(?:analysis|commentary|(?P<close5>final))[^<]{0,40}<\|message\|>"
    r"|\Aanalysis(?=[A-Z])|(?P<close6>assistantfinal)",
    re.IGNORECASE,
)
_MARKS = ("<", "[", "◁", "assistantfinal")
_FRAME = re.compile(
    r"<\|(?:start|end|return|(?:begin|end)_of_(?:solution|text)|eot_id|im_end|endoftext)\|>"
)


def split_thinking(text: str) -> tuple[str, str | None]:
    """The answer in a text, and the thinking written around it; None where there is none.

    Tags are those of common models (`<think>`, `<thinking>`, `[THINK]`, `◁think▷`, gpt-oss's
    channels and others). A missing start tag means that the chat template opened it: all before
    the end tag is thinking. A missing end tag means that the text was cut while the model was still
    thinking: all after the start tag is thinking, and there is no answer in it. (Only of a tag that
    begins a line; one inside a sentence, without an end, is a word like others.)

    >>> split_thinking("<think>Dose?</think>Yes")
    ('Yes', 'Dose?')
    >>> split_thinking("Dose?</think> No")
    ('No', 'Dose?')
    >>> split_thinking("<think>Do")
    ('', 'Do')
    """
    if not any(mark in text for mark in _MARKS):
        return text, None
    answer: list[str] = []
    thinking: list[str] = []
    start, opened, found, end = 0, None, False, len(text.rstrip())
    for tag in _TAG.finditer(text):
        piece, closes = text[start : tag.start()], any(tag.groupdict().values())
        if closes and not opened and tag.end() < end:  # what looked like an answer was thinking
            thinking += [*answer, piece]
            answer.clear()
        else:
            (thinking if opened else answer).append(piece)
        found = found or closes
        opened, start = None if closes else opened or tag, tag.end()
    if opened and _begins_line(text, opened.start()):
        thinking.append(text[start:])
    else:
        answer.append(text[opened.start() if opened else start :])
        if not found:
            return text, None
    return _FRAME.sub("", "".join(answer)).strip(), "".join(thinking).strip()


def _begins_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()
