"""The same question to a judge in another order: of the answer and its neighbour, notes, criteria.

A judge of single answers has a position bias where its verdict depends on which text comes first:
the answer, or the text beside it, which is the reference where a rubric shows one.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.domain.annotation import NOTES, Rubric
from medhelm_spark.domain.ids import content_id

_ANSWER = "{RESPONSE}"
_NEIGHBOURS = ("{GOLD_RESPONSE}", "{QUESTION}", "{CONVERSATION}", "{NOTES}")
"""The texts that a rubric may have beside an answer; the first that it has is moved."""
_PLACEHOLDER = re.compile(r"\{[A-Z_]+\}")
_CITED = re.compile(r"\bnotes?\W{0,3}\d", re.IGNORECASE)
_DECODER = json.JSONDecoder()

Span = tuple[int, int]
"""Begin and end of a part of a template."""


def with_answer_moved(rubric: Rubric, judge_input: JudgeInput) -> Rubric | None:
    """The rubric with the answer and the text beside it in each other's place.

    A text is moved with its tags, or with the line or paragraph that names it. None where the
    prompt does not name both, or has no text beside the answer.
    """
    template = rubric.template
    beside = [
        each
        for each in _NEIGHBOURS
        if each in template and (each != _NEIGHBOURS[0] or judge_input.gold)
    ]
    if not beside:
        return None
    parts = [_part(template, placeholder) for placeholder in (_ANSWER, beside[0])]
    spans = sorted(part for part in parts if part)
    if len(spans) < 2 or spans[0][1] > spans[1][0]:
        return None
    return _changed(rubric, _reversed(template, spans))


def with_criteria_reversed(rubric: Rubric) -> Rubric | None:
    """The rubric with its criteria the other way round, in words, in JSON and in the schema.

    None with fewer than two criteria, and where the prompt lists none of them in an order.
    """
    names = [each.name for each in rubric.criteria]
    if len(names) < 2:
        return None
    template = rubric.template
    spans = _paragraphs(template, names)
    if spans:
        template = _reversed(template, spans)
    start = 0
    while (start := template.find("{", start)) >= 0:
        members = _members(template, start)
        if set(names) <= members.keys():
            template = _reversed(template, sorted(members.values()))
            start = max(end for _, end in members.values())
        start += 1
    return None if template == rubric.template else _changed(rubric, template, is_reversed=True)


def with_notes_reversed(judge_input: JudgeInput) -> JudgeInput | None:
    """The judge's input with its notes from the last to the first.

    None of fewer than two notes, and where the answer cites notes by their numbers.
    """
    try:
        notes = json.loads(judge_input.extra_data.get(NOTES, "[]"), strict=False)
    except ValueError:
        return None
    if not isinstance(notes, list) or len(notes) < 2 or _CITED.search(judge_input.response):
        return None
    extra_data = {**judge_input.extra_data, NOTES: json.dumps(notes[::-1], ensure_ascii=False)}
    return replace(judge_input, extra_data=extra_data)


def _changed(rubric: Rubric, template: str, *, is_reversed: bool = False) -> Rubric:
    criteria = rubric.criteria[::-1] if is_reversed else rubric.criteria
    version = content_id(template, criteria, rubric.kind)
    return replace(rubric, template=template, criteria=criteria, version=version)


def _part(template: str, placeholder: str) -> Span | None:
    """The tags around a placeholder, else the line or paragraph that names it alone."""
    if template.count(placeholder) != 1:
        return None
    name = re.escape(placeholder)
    if match := re.search(rf"<(\w+)>\s*{name}\s*</\1>", template):
        return match.span()
    at = template.index(placeholder)
    for limit in ("\n\n", "\n"):
        begin = template.rfind(limit, 0, at)
        end = template.find(limit, at)
        span = begin + len(limit) if begin >= 0 else 0, end if end >= 0 else len(template)
        text = template[slice(*span)]
        if len(_PLACEHOLDER.findall(text)) == 1:
            return span if text.strip() != placeholder else None
    return None


def _paragraphs(template: str, names: Sequence[str]) -> list[Span]:
    """For each criterion the lines from its name up to an empty line or another criterion.

    Empty where the prompt does not have each of them once.
    """
    begins = []
    for name in names:
        found = [m.start() for m in re.finditer(rf"(?m)^{re.escape(name)}:[ \n]", template)]
        if len(found) != 1:
            return []
        begins.append(found[0])
    begins.sort()
    spans = []
    for begin, following in zip(begins, [*begins[1:], len(template)], strict=True):
        empty = template.find("\n\n", begin, following)
        end = empty if empty >= 0 else following
        spans.append((begin, begin + len(template[begin:end].rstrip("\n"))))
    return spans


def _members(template: str, begin: int) -> Mapping[str, Span]:
    """The members of the JSON object that begins here, each from its key to its value's end.

    Empty where there is no object.
    """
    try:
        decoded, _ = _DECODER.raw_decode(template, begin)
        members: dict[str, Span] = {}
        at = begin + 1
        for _ in decoded:
            at = _after(template, at, " \t\r\n,")
            key, end = _DECODER.raw_decode(template, at)
            _, end = _DECODER.raw_decode(template, _after(template, end, " \t\r\n:"))
            members[key] = (at, end)
            at = end
    except ValueError:
        return {}
    return members


def _after(template: str, at: int, skipped: str) -> int:
    while template[at] in skipped:
        at += 1
    return at


def _reversed(template: str, spans: Sequence[Span]) -> str:
    """The template with the parts in these spans the other way round."""
    parts, at = [], 0
    for (begin, end), (from_, to) in zip(spans, reversed(spans), strict=True):
        parts += [template[at:begin], template[from_:to]]
        at = end
    return "".join([*parts, template[at:]])
