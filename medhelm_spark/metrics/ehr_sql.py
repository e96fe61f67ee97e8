"""EHRSQL: is the result of the generated query that of the gold query? And MedHELM 0.8.0's values.

Both queries run through `sqlite_sandbox` on the SQLite file in params["db_path"], else in
MEDHELM_SPARK_EHR_SQL_DATABASE (set on every host); the data never names the file. The rules are
those of the authors (Lee et al. 2022; EHRSQL-2024 shared task): results are equal as multisets of
rows in any order, an empty one equals an empty one, and numbers are equal to nine significant
digits (the authors round to one decimal). An unanswerable question (extra_data["is_impossible"],
or gold text `null`) is answered rightly by no query: an empty answer or `null`. `current_time` is
params["current_time"]; `ehr_sql_text` replaces the rest of the benchmark's notation.

- `ehr_sql_execution_accuracy`, which is also their reliability score RS(0): no value where the gold
  query gives no result within the limits (params `max_steps`, `max_seconds`, `max_rows`).
- `ehr_sql_reliability_10`, their RS(10): 1 where right, 0 for no query on an answerable question,
  else -10.
- `ehr_sql_query_validity`: of the generated queries, those that give a result within the limits.
- `ehr_sql_precision_answerable`, `ehr_sql_recall_answerable`: of the questions with a query
  the answerable ones, and the reverse. Other rows have no value, so that the mean is the ratio.
- `ehr_sql_total_predicted_answerable`, `ehr_sql_total_ground_truth_answerable`: 1 for
  a query, 1 for an answerable question.

MedHELM replaces `current_time` in the gold query only and the other notation nowhere, compares sets
of rows, gives 0 to empty results, and averages precision and recall over all rows. To it, a query
that the sandbox refuses or stops is valid; here it has no rows.
"""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.errors import AbsentDataError, ConfigError
from medhelm_spark.metrics.ehr_sql_text import (
    NO_QUERY,
    medhelm_gold,
    medhelm_query,
    query_in,
    resolved,
)
from medhelm_spark.metrics.metric import (
    MEDHELM,
    Metric,
    Params,
    ScoreRow,
    first_text,
    unscored,
)
from medhelm_spark.metrics.sqlite_sandbox import Limits, QueryOutcome, Row, Run, sandbox

DATABASE_VARIABLE = "MEDHELM_SPARK_EHR_SQL_DATABASE"
DEFAULT_NOW = "2105-12-31 23:59:00"
_PENALTY = -10.0
_DIGITS = 9
_TRUE = frozenset({"1", "true", "yes"})

Value = float | None


@dataclass(frozen=True, slots=True)
class _Question:
    """One row: the gold query, the answer, and whether the data calls it impossible."""

    gold: str
    answer: str
    is_impossible: bool


def _cell(value: str | int | float | bytes | None) -> str | int | float | bytes | None:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _multiset(rows: Sequence[Row]) -> Counter[Row]:
    return Counter(tuple(map(_cell, row)) for row in rows)


def _is_right(run: Run, gold: str, query: str, now: str) -> bool | None:
    """Whether both queries have one result; None where the gold query has none."""
    expected = run(resolved(gold, now))
    if expected.outcome is not QueryOutcome.ROWS:
        return None
    if not query:
        return False
    actual = run(resolved(query, now))
    if actual.outcome is not QueryOutcome.ROWS or len(actual.rows) != len(expected.rows):
        return False
    return _multiset(actual.rows) == _multiset(expected.rows)


def _ours(run: Run, question: _Question, now: str) -> dict[str, Value]:
    query = query_in(question.answer)
    is_given = bool(query)
    is_answerable = not question.is_impossible and question.gold.lower() not in NO_QUERY
    right = _is_right(run, question.gold, query, now) if is_answerable else not is_given
    is_valid = is_given and run(resolved(query, now)).outcome is QueryOutcome.ROWS
    reliability = None if right is None else 1.0 if right else _PENALTY if is_given else 0.0
    return {
        "execution_accuracy": None if right is None else float(right),
        "query_validity": float(is_valid) if is_given else None,
        "precision_answerable": float(is_answerable) if is_given else None,
        "recall_answerable": float(is_given) if is_answerable else None,
        "total_predicted_answerable": float(is_given),
        "total_ground_truth_answerable": float(is_answerable),
        "reliability_10": reliability,
    }


def _medhelm(run: Run, question: _Question) -> dict[str, Value]:
    """MedHELM's values, which are never absent."""
    is_given = bool(question.answer)
    is_answerable = not question.is_impossible and bool(question.gold)
    query = medhelm_query(question.answer)
    actual = run(query)
    expected = run(medhelm_gold(question.gold)).rows
    if expected and actual.rows:
        is_right = set(expected) == set(actual.rows)
    else:
        is_right = bool(question.gold) and not (expected or actual.rows or is_given)
    return {
        "execution_accuracy": float(is_right),
        "query_validity": float(bool(query) and actual.outcome is not QueryOutcome.ERROR),
        "precision_answerable": float(is_given and is_answerable),
        "recall_answerable": float(is_given and is_answerable),
        "total_predicted_answerable": float(is_given),
    }


def _scores(values: dict[str, Value], suffix: str = "") -> ScoreRow:
    return tuple(
        Score(
            name=f"ehr_sql_{name}{suffix}",
            value=value,
            status=_ABSENT.get(name, ScoreStatus.NOT_APPLICABLE) if value is None else _OK,
        )
        for name, value in values.items()
    )


_OK = ScoreStatus.OK
_ABSENT = dict.fromkeys(("execution_accuracy", "reliability_10"), ScoreStatus.NO_REFERENCE)
# Of the others an answer without a query lacks nothing: they are shares of the queries that a model
# chose to give, which may be of other questions in each run.


def _limits(params: Params) -> Limits:
    default = Limits()
    return Limits(
        max_steps=int(params.get("max_steps", default.max_steps)),
        max_seconds=float(params.get("max_seconds", default.max_seconds)),
        max_rows=int(params.get("max_rows", default.max_rows)),
    )


def _database(params: Params) -> str:
    if path := params.get("db_path") or os.environ.get(DATABASE_VARIABLE):
        return path
    raise AbsentDataError(
        "ehr_sql: there is no database to run queries on; give a SQLite file as db_path of the "
        f"metric or in {DATABASE_VARIABLE}. `medhelm-spark scenarios` names the source of the data."
    )


def _row(state: RequestState, run: Run, now: str) -> ScoreRow:
    if (answer := first_text(state)) is None:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    if not state.references:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    gold = state.references[0].text.strip()
    is_impossible = state.extra_data.get("is_impossible", "").strip().lower() in _TRUE
    question = _Question(gold, answer, is_impossible)
    return _scores(_ours(run, question, now)) + _scores(_medhelm(run, question), MEDHELM)


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    if not any(state.completions for state in states):
        return [unscored(_NAMES, ScoreStatus.NO_ANSWER) for _ in states]
    now = params.get("current_time", DEFAULT_NOW)
    with sandbox(_database(params), _limits(params)) as run:
        # The texts of a row repeat, because both rules often run the same one.
        run_once = lru_cache(maxsize=4)(run)
        return [_row(state, run_once, now) for state in states]


def _preflight(params: Params) -> None:
    try:
        limits = _limits(params)
        usable = limits.max_steps > 0 and limits.max_seconds > 0 and limits.max_rows > 0
    except ValueError:
        usable = False
    if not usable:
        configured = {name: params[name] for name in sorted(params) if name.startswith("max_")}
        raise ConfigError(f"ehr_sql: the limits are {configured}; positive numbers are allowed.")
    with sandbox(_database(params), limits):
        pass


def _info(name: str, display_name: str, description: str, minimum: float = 0.0) -> MetricInfo:
    return MetricInfo(
        name=f"ehr_sql_{name}",
        display_name=display_name,
        minimum=minimum,
        description=description,
    )


def _as_medhelm(info: MetricInfo) -> MetricInfo:
    return MetricInfo(
        name=f"{info.name}{MEDHELM}",
        display_name=f"{info.display_name} (MedHELM 0.8)",
        description=f"{info.description} By MedHELM 0.8.0's rule.",
    )


_IN_BOTH = (
    _info("execution_accuracy", "Execution accuracy", "Share of questions answered rightly."),
    _info("query_validity", "Query validity", "Share of queries that give a result."),
    _info("precision_answerable", "Precision", "Share of queries to answerable questions."),
    _info("recall_answerable", "Recall", "Share of answerable questions with a query."),
    _info("total_predicted_answerable", "Queries given", "Share of questions with a query."),
)
_OURS_ALONE = (
    _info("total_ground_truth_answerable", "Answerable", "Share of answerable questions."),
    _info("reliability_10", "RS(10)", "1 where right, 0 for no query, else -10.", _PENALTY),
)

EHR_SQL = Metric(
    fn=_score,
    needs=frozenset({"references", "extra_data", "completions"}),
    emits=(*_IN_BOTH, *_OURS_ALONE, *map(_as_medhelm, _IN_BOTH)),
    version="2",
    data_set="EHRSQL",
    preflight=_preflight,
)
_NAMES = tuple(info.name for info in EHR_SQL.emits)

METRICS = {"ehr_sql": EHR_SQL}
