"""What the answers of runs took: tokens and seconds, as the engines counted them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stages import PLAN
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.statistics.two_by_two import CASES

_ASKED = """
SELECT run_spec_id, instance_id, train_trial_index, trial_index, request_id FROM ({requests}) q
WHERE perturbation = '' AND run_spec_id IN ({units})
"""

# Whatever else was asked in the lake is left out before answers are sorted by their age.
_OWN = (
    "(SELECT * FROM {{request_results}} WHERE request_id IN (SELECT request_id FROM ({asked}) a))"
)
# Whole numbers alone: their sums do not depend on the order of rows.
_TOOK = """
SELECT run_spec_id, milliseconds, count(*) AS answers,
       CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
       count(prompt_tokens) AS with_prompt_tokens,
       CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
       count(completion_tokens) AS with_completion_tokens,
       CAST(sum(microseconds) AS BIGINT) AS microseconds
FROM (SELECT q.run_spec_id, r.prompt_tokens, r.completion_tokens,
             CAST(floor(r.request_time * 1000000) AS BIGINT) AS microseconds,
             CAST(floor(r.request_time * 1000) AS BIGINT) AS milliseconds
      FROM ({asked}) q JOIN ({results}) r ON r.request_id = q.request_id
      WHERE r.failure IS NULL) t
GROUP BY run_spec_id, milliseconds
"""
SLOW = 0.95
"""The share of answers that took at most `slow_seconds`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What an answer of a run took; None of what the engine did not give.

    Judges, changed copies and requests that failed are not in it.
    """

    answers: int
    prompt_tokens: float | None
    """The mean."""
    completion_tokens: float | None
    """The mean."""
    seconds: float | None
    """The mean."""
    milliseconds: Mapping[int, int] = field(default_factory=dict, repr=False)
    """How many answers took so many whole milliseconds."""

    @property
    def median_seconds(self) -> float | None:
        """Half of the answers took at most so long."""
        return self._quantile(0.5)

    @property
    def slow_seconds(self) -> float | None:
        """95 % of the answers took at most so long."""
        return self._quantile(SLOW)

    def _quantile(self, share: float) -> float | None:
        """The lowest time that at least this share of the answers did not exceed."""
        needed = math.ceil(share * sum(self.milliseconds.values()))
        for time in sorted(self.milliseconds):
            needed -= self.milliseconds[time]
            if needed <= 0:
                return time / 1000
        return None


def took_by(reader: Reader, run_spec_ids: Iterable[str]) -> dict[str, Took]:
    """What answers took, by run_spec_id; of the answers that the lake still holds."""
    units = list(run_spec_ids)
    if not units:
        return {}
    asked = _ASKED.format(requests=output_of("requests", PLAN), units=literals(units))
    results = CURRENT_RESULTS.replace("{request_results}", _OWN.format(asked=asked))
    by_run: dict[str, list[dict[str, Any]]] = {}
    for row in reader.query(_TOOK.format(asked=asked, results=results)).to_pylist():
        by_run.setdefault(row["run_spec_id"], []).append(row)
    return {unit: _of_run(rows) for unit, rows in by_run.items()}


def _of_run(rows: Sequence[Mapping[str, Any]]) -> Took:
    def mean(name: str, number: str) -> float | None:
        count = sum(row[number] for row in rows)
        return sum(row[name] or 0 for row in rows) / count if count else None

    timed = [row for row in rows if row["milliseconds"] is not None]
    seconds = sum(row["microseconds"] for row in timed)
    num_timed = sum(row["answers"] for row in timed)
    return Took(
        answers=sum(row["answers"] for row in rows),
        prompt_tokens=mean("prompt_tokens", "with_prompt_tokens"),
        completion_tokens=mean("completion_tokens", "with_completion_tokens"),
        seconds=seconds / num_timed / 1e6 if num_timed else None,
        milliseconds={row["milliseconds"]: row["answers"] for row in timed},
    )


_EACH = """
SELECT q.run_spec_id, q.instance_id, q.train_trial_index, q.trial_index, q.request_id,
       r.prompt_tokens, r.completion_tokens, r.request_time, r.completed_at, r.write_id
FROM ({asked}) q JOIN {{request_results}} r ON r.request_id = q.request_id
WHERE r.failure IS NULL
"""
_KEYS = ("run_spec_id", "instance_id", "train_trial_index", "trial_index")


def each_took(reader: Reader, run_spec_ids: Iterable[str]) -> dict[str, pa.Table]:
    """Tokens and seconds of every answer, with the keys of the answer, by run_spec_id."""
    asked = _ASKED.format(requests=output_of("requests", PLAN), units=literals(run_spec_ids))
    answers = _first_answers(reader.query(_EACH.format(asked=asked)))
    runs = pc.dictionary_encode(answers["run_spec_id"].combine_chunks())
    codes = runs.indices.to_numpy()
    answers = answers.take(pa.array(np.argsort(codes, kind="stable")))
    counts = np.bincount(codes, minlength=len(runs.dictionary))
    firsts = np.cumsum(counts) - counts
    return {
        unit: answers.slice(first, count)
        for unit, first, count in zip(runs.dictionary.to_pylist(), firsts, counts, strict=True)
    }


def _first_answers(answers: pa.Table) -> pa.Table:
    """The current answers: the first one to each request.

    Hardly a request is answered twice, so that a window as in CURRENT_RESULTS, which sorts all of
    them, takes longer than the query.
    """
    if pc.count_distinct(answers["request_id"]).as_py() == len(answers):
        return answers
    by_age = [(name, "ascending") for name in (*_KEYS, "completed_at", "write_id")]
    answers = answers.sort_by(by_age)
    keys = [pc.dictionary_encode(answers[name].combine_chunks()).indices for name in _KEYS]
    codes = np.stack([key.to_numpy() for key in keys])
    is_first = np.ones(len(answers), bool)
    is_first[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0)
    return answers.filter(pa.array(is_first))


def together(parts: Iterable[Took]) -> Took:
    """All answers of several runs; a mean only where every run has it."""
    held = list(parts)
    answers = sum(part.answers for part in held)

    def mean(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        if len(known) < len(held):
            return None
        return math.fsum(v * part.answers for v, part in zip(known, held, strict=True)) / answers

    seconds = mean([part.seconds for part in held])
    times: Counter[int] = Counter()
    for part in held if seconds is not None else ():
        times.update(part.milliseconds)
    return Took(
        answers=answers,
        prompt_tokens=mean([part.prompt_tokens for part in held]),
        completion_tokens=mean([part.completion_tokens for part in held]),
        seconds=seconds,
        milliseconds=times,
    )


def money(took: Took, prices: Prices | None) -> float | None:
    """What 1,000 such answers cost by prices of a million tokens; None where it is unknown."""
    if prices is None or took.prompt_tokens is None or took.completion_tokens is None:
        return None
    each = took.prompt_tokens * prices.prompt + took.completion_tokens * prices.completion
    return CASES * each / 1e6
