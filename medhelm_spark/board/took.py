"""What the answers of runs took: tokens and seconds, as the engines counted them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from medhelm_spark.domain.stages import PLAN
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of

_ASKED = """
SELECT run_spec_id, request_id FROM ({requests}) q
WHERE perturbation = '' AND run_spec_id IN ({units})
"""

# Whatever else was asked in the lake is left out before answers are sorted by their age.
_OWN = (
    "(SELECT * FROM {{request_results}} WHERE request_id IN (SELECT request_id FROM ({asked}) a))"
)
# Microseconds are whole numbers: their mean does not depend on the order of rows.
_TOOK = """
SELECT q.run_spec_id, count(*) AS answers, avg(r.prompt_tokens) AS prompt_tokens,
       avg(r.completion_tokens) AS completion_tokens,
       avg(CAST(r.request_time * 1000000 AS BIGINT)) / 1000000.0 AS seconds
FROM ({asked}) q JOIN ({results}) r ON r.request_id = q.request_id
WHERE r.failure IS NULL GROUP BY q.run_spec_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What an answer of a run took on average; None of what the engine did not give.

    Judges, changed copies and requests that failed are not in it.
    """

    answers: int
    prompt_tokens: float | None
    completion_tokens: float | None
    seconds: float | None


def took_by(reader: Reader, run_spec_ids: Iterable[str]) -> dict[str, Took]:
    """What answers took, by run_spec_id; of the answers that the lake still holds."""
    units = list(run_spec_ids)
    if not units:
        return {}
    asked = _ASKED.format(requests=output_of("requests", PLAN), units=literals(units))
    results = CURRENT_RESULTS.replace("{request_results}", _OWN.format(asked=asked))
    rows = reader.query(_TOOK.format(asked=asked, results=results)).to_pylist()
    return {row.pop("run_spec_id"): Took(**row) for row in rows}


def together(parts: Iterable[Took]) -> Took:
    """All answers of several runs; a mean only where every run has it."""
    held = list(parts)
    answers = sum(part.answers for part in held)

    def mean(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        if len(known) < len(held):
            return None
        return math.fsum(v * part.answers for v, part in zip(known, held, strict=True)) / answers

    return Took(
        answers=answers,
        prompt_tokens=mean([part.prompt_tokens for part in held]),
        completion_tokens=mean([part.completion_tokens for part in held]),
        seconds=mean([part.seconds for part in held]),
    )
