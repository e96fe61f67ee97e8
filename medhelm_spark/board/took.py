"""What the answers of runs took: tokens and seconds, as the engines counted them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stages import PLAN
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import current_results, output_of
from medhelm_spark.statistics.two_by_two import CASES

_REQUESTS = """
SELECT run_spec_id, instance_id, train_trial_index, trial_index, request_id FROM ({requests}) q
WHERE perturbation = '' AND run_spec_id IN ({units})
"""

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
      FROM ({requests}) q JOIN ({results}) r ON r.request_id = q.request_id
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
    """What answers took, by run_spec_id; of the answers that the lake still has."""
    units = list(run_spec_ids)
    if not units:
        return {}
    requests = _REQUESTS.format(requests=output_of("requests", PLAN), units=literals(units))
    results = current_results(requests)
    by_run: dict[str, list[dict[str, Any]]] = {}
    for row in reader.query(_TOOK.format(requests=requests, results=results)).to_pylist():
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
SELECT q.run_spec_id, q.instance_id, q.train_trial_index, q.trial_index,
       r.prompt_tokens, r.completion_tokens, r.request_time
FROM ({requests}) q JOIN ({results}) r ON r.request_id = q.request_id
WHERE r.failure IS NULL
"""
_TRIALS = ("train_trial_index", "trial_index")
_MEASURED = ("prompt_tokens", "completion_tokens", "request_time")


@dataclass(frozen=True, slots=True)
class EachTook:
    """What each answer of a run took, in no order; NaN of what the engine did not give.

    Each of shape (answers,). Equal `instances` of two runs that were read together are one
    instance.
    """

    instances: NDArray[np.int64]
    prompt_tokens: NDArray[np.float64]
    completion_tokens: NDArray[np.float64]
    request_time: NDArray[np.float64]


def each_took(reader: Reader, run_spec_ids: Iterable[str]) -> dict[str, EachTook]:
    """What every answer took, by run_spec_id."""
    requests = _REQUESTS.format(requests=output_of("requests", PLAN), units=literals(run_spec_ids))
    answers = _read_each(reader, requests, "{request_results}")
    if _has_twice(answers):
        # Hardly a request is answered twice, and to sort all answers by their age takes longer
        # than the query.
        answers = _read_each(reader, requests, current_results(requests))
    units = answers["run_spec_id"].dictionary.to_pylist()
    if not units:
        return {}
    codes = answers["run_spec_id"].indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(units)))
    columns = [answers["instance_id"].indices.to_numpy().astype(np.int64)]
    columns += [answers[name].to_numpy(zero_copy_only=False) for name in _MEASURED]
    parts = zip(*(np.split(column[order], ends[:-1]) for column in columns), strict=True)
    return {unit: EachTook(*part) for unit, part in zip(units, parts, strict=True)}


def _read_each(reader: Reader, requests: str, results: str) -> dict[str, pa.Array]:
    """The columns of _EACH, texts as dictionaries, measured numbers as float64."""
    sql = _EACH.format(requests=requests, results=results)
    answers = reader.query(sql, each=_encoded).unify_dictionaries()
    return {name: answers[name].combine_chunks() for name in answers.column_names}


def _encoded(answers: pa.Table) -> pa.Table:
    for index, name in enumerate(answers.column_names):
        column = answers[name]
        if name in _MEASURED:
            column = column.cast(pa.float64())
        elif name not in _TRIALS:
            column = pc.dictionary_encode(column)
        answers = answers.set_column(index, name, column)
    return answers


def _has_twice(answers: Mapping[str, pa.Array]) -> bool:
    """Whether a request has two answers."""
    keys = [answers[name].indices.to_numpy() for name in ("run_spec_id", "instance_id")]
    keys += [answers[name].to_numpy() for name in _TRIALS]
    code = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        code = code * (int(key.max(initial=0)) + 1) + key
    code.sort()
    return bool((code[1:] == code[:-1]).any())


def together(parts: Iterable[Took]) -> Took:
    """All answers of several runs; a mean only where every run has it."""
    runs = list(parts)
    answers = sum(part.answers for part in runs)

    def mean(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        if len(known) < len(runs):
            return None
        return math.fsum(v * part.answers for v, part in zip(known, runs, strict=True)) / answers

    seconds = mean([part.seconds for part in runs])
    times: Counter[int] = Counter()
    for part in runs if seconds is not None else ():
        times.update(part.milliseconds)
    return Took(
        answers=answers,
        prompt_tokens=mean([part.prompt_tokens for part in runs]),
        completion_tokens=mean([part.completion_tokens for part in runs]),
        seconds=seconds,
        milliseconds=times,
    )


def money(took: Took, prices: Prices | None) -> float | None:
    """What 1,000 such answers cost by prices of a million tokens; None where it is unknown."""
    if prices is None or took.prompt_tokens is None or took.completion_tokens is None:
        return None
    each = took.prompt_tokens * prices.prompt + took.completion_tokens * prices.completion
    return CASES * each / 1e6
