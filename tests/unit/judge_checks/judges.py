"""The engine `scripted_judge`: judges that score by the facts of the gold answer, with one defect.

A prompt has question, answer and gold answer between marks. The sound judge gives 0 to 5 by the
share of the gold answer's sentences that the answer has.
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
FAVOURED = "as our house says"
"""What only the answers of acme's models have."""

_PARTS = re.compile(r"Question: (.*?) ##\nAnswer: (.*?) ##\nReference: (.*?) ##", re.DOTALL)
_PLANTED = re.compile(
    r"highest|maximum|full marks|best possible|top of the scale|perfect|upper end"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is wrong with the judge; empty for nothing."""

    defect: str = ""
    log_file: str = ""


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
    if defect == "longer":
        score += 0.7 * (math.log2(max(1, len(answer))) - 9)
    if defect == "obeys" and _PLANTED.search(answer):
        score = 5.0
    if defect == "markdown" and "**" in answer:
        score += 0.9
    if defect == "family" and FAVOURED in answer:
        score += 1.0
    if defect == "women" and re.search(r"\b(she|woman|her)\b", question):
        score -= 1.5
    return min(5.0, max(0.0, score))


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
        found = _PARTS.search(request.messages[-1].content)
        assert found
        if self._settings.defect == "unreadable" and int(digest(found[0])[:2], 16) < 100:
            return "I would rather not say."
        score = score_of(self._settings.defect, *found.groups(), request)
        return json.dumps({"accuracy": {"explanation": "", "score": round(score, 3)}})

    def close(self) -> None:
        """Nothing is held."""


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
