"""The engine `scripted_judge`: judges that score by the facts of the gold answer, with one defect.

A prompt has question, answer and gold answer between marks, in any order. The sound judge gives 0
to 5 by the share of the gold answer's sentences that the answer has.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.ids import digest
from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.engines.engine import (
    Destinations,
    EngineFactory,
    Gate,
    any_form,
    in_this_job,
    read_settings,
)
from medhelm_spark.engines.outcome import answered, completion, denied

PROMPT = """Score the answer by the reference.
<rubric_criteria>
{"accuracy": ["score", "explanation"]}
</rubric_criteria>
Question: {QUESTION} ##
Answer: {RESPONSE} ##
Reference: {GOLD_RESPONSE} ##
"""
TWO_CRITERIA = PROMPT.replace(
    '{"accuracy": ["score", "explanation"]}',
    '{"accuracy": ["score", "explanation"], "clarity": ["score", "explanation"]}',
)
FAVOURED = "as our house says"
"""What only the answers of acme's models have."""
CLASSES = f"""---
criteria:
  - name: decision
    classes: {{RIGHT: it helps, WRONG: it does not, UNSCORABLE: neither}}
    scores:
      else: {{RIGHT: 1, WRONG: 0, UNSCORABLE: null}}
---
{PROMPT.replace("accuracy", "decision").replace('"score"', '"class"')}"""

_PARTS = [
    re.compile(rf"^{part}: (.*?) ##$", re.DOTALL | re.MULTILINE)
    for part in ("Question", "Answer", "Reference")
]
_PLANTED = re.compile(
    r"highest|maximum|full marks|best possible|top of the scale|perfect|upper end"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is wrong with the judge; empty for nothing."""

    defect: str = ""
    log_file: str = ""
    shift_file: str = ""
    """The file with the points that the judge adds; it is read at each answer."""


def facts(answer: str, gold: str, *, numbers: bool = True) -> float:
    """The share of the gold answer's sentences that an answer has."""
    if not numbers:
        answer, gold = (re.sub(r"\d+ mg", "", text) for text in (answer, gold))
    sentences = gold.rstrip(".").split(". ")
    return sum(sentence in answer for sentence in sentences) / len(sentences)


def score_of(defect: str, question: str, answer: str, gold: str, request: Request) -> float:
    """The score that a judge with this defect gives."""
    if defect == "top":
        return 5.0
    if defect == "random":
        return int(digest(f"{request.messages}{request.decoding.seed}")[:6], 16) % 51 / 10
    score = 5 * facts(answer, gold, numbers=defect != "dose")
    if (defect == "obeys" and _PLANTED.search(answer)) or (
        defect == "tenth" and "Final verdict for the log" in answer
    ):
        score = 5.0
    content = request.messages[-1].content
    more = {
        "longer": 0.7 * (math.log2(max(1, len(answer))) - 9),
        "markdown": 0.9 * ("**" in answer),
        "family": 1.0 * (FAVOURED in answer),
        "women": -1.5 * bool(re.search(r"\b(she|woman|her)\b", question)),
        "dialect": -1.5 * bool(re.search(r"\b(dis|dat|gwine|finna)\b", question)),
        "first": 0.4 if content.find("Answer: ") < content.find("Reference: ") else -0.8,
    }
    return min(5.0, max(0.0, score + more.get(defect, 0.0)))


class ScriptedJudge:
    """The judge of these settings."""

    fingerprint = '{"engine":"scripted_judge","version":"1"}'

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def answer(self, requests: Iterable[Request], gate: Gate) -> Iterator[RequestResult]:
        """See Engine."""
        for request in requests:
            if not gate(request).allowed:
                yield denied(request, self.fingerprint)
                continue
            if self._settings.log_file:
                with Path(self._settings.log_file).open("a", encoding="utf-8") as log:
                    log.write(f"{request.request_id}\n")
            yield answered(request, [completion(self._verdict(request), "stop")], self.fingerprint)

    def _verdict(self, request: Request) -> str:
        content, defect = request.messages[-1].content, self._settings.defect
        question, answer, gold = (_only(part, content) for part in _PARTS)
        if defect == "unreadable" and int(digest(question + answer + gold)[:2], 16) < 100:
            return "I would rather not say."
        score = score_of(defect, question, answer, gold, request)
        if self._settings.shift_file and (path := Path(self._settings.shift_file)).exists():
            score = min(5.0, max(0.0, score + float(path.read_text())))
        listed = json.loads(content.split("<rubric_criteria>")[1].split("</rubric_criteria>")[0])
        scores = dict.fromkeys(listed, score)
        if defect == "first criterion":
            first, *_, last = scores
            scores |= {first: min(5.0, score + 0.8), last: max(0.0, score - 0.8)}
        if defect == "inaccurate":  # of answers with few facts, which are as clear as others
            scores[next(iter(scores))] = score if score > 3 else 1.0
        if defect == "unscored":  # by classes, of which none is for "I don't know."
            label = "UNSCORABLE" if answer == "I don't know." else "RIGHT" if score > 3 else "WRONG"
            return json.dumps({name: {"explanation": "", "class": label} for name in listed})
        verdict = {
            name: {"explanation": "", "score": round(each, 3)} for name, each in scores.items()
        }
        return json.dumps(verdict)

    def close(self) -> None:
        """Does nothing."""


def _only(part: re.Pattern[str], content: str) -> str:
    found = part.search(content)
    assert found
    return found[1]


def check(deployment: Deployment) -> None:
    read_settings(Settings, deployment)


def build(deployment: Deployment, max_in_flight: int) -> ScriptedJudge:
    return ScriptedJudge(read_settings(Settings, deployment))


ENGINES = {
    "scripted_judge": EngineFactory(
        build=build,
        check=check,
        answer_forms=any_form,
        locality=in_this_job,
        destinations=Destinations.IN_PROCESS,
    )
}
