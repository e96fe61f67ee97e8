"""Diagnostic accuracy of a run: which classes are confused with which, and what the errors cost.

params["labels"] names the classes, as `yes|no`; they are compared as in `metrics.classification`.
An answer that is none of them, an unreadable or empty one too, is an abstention: it is wrong
wherever an instance of its class is counted, and never left out. Counts are of instances of class
i that were answered as class j, n_ij, with j = 0 for an abstention:

- `accuracy`: sum of n_ii by all. `abstention`: sum of n_i0 by all.
- `balanced_accuracy`: the mean over classes of n_ii by the class's instances (Brodersen et al.
  2010). No value where a class has no instance: the others' mean would be another number.
- `sensitivity`, `specificity`, `ppv` and `npv` with params["positive"], which names one class or
  several: TP / (TP + FN + abstentions), TN / (TN + FP + abstentions), TP / (TP + FP) and
  TN / (TN + FN) (Altman and Bland 1994). Without it each class has the four against all others,
  `sensitivity[yes]`. No value where the denominator is 0: without a positive instance the
  sensitivity is unknown.
- `cost_weighted_error` with params["costs"], as `yes>no=10|no>yes=1`, the right class first: the
  mean cost of an answer (Elkan 2001). A right answer costs nothing, an error that is not listed 1,
  and an abstention, written `yes>-=5`, unless it is listed as much as the class's costliest error.
- `confusion[yes>no]` is n_ij, and `confusion[yes>-]` n_i0.

Shares have Wilson's interval over the instances of their denominator, `balanced_accuracy` MOVER
over its classes' (`statistics.shares`), cost and counts that of their pseudo-values.

Per instance a metric stores the right and the predicted class as numbers from 1 on; 0 abstains.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics.classification import labels_of, normal_label, normal_labels
from medhelm_spark.metrics.metric import (
    About,
    Columns,
    Metric,
    Params,
    RunMetric,
    ScoreRow,
    Shares,
    Weights,
    likeliest_text,
    scored,
    unscored,
)

MAX_LABELS = 20
"""Every pair of classes is a stat."""

ABSTAINED = "-"
"""The answer in `costs` and `confusion` that is none of the classes; no label is without a letter
or digit."""

_MEANING = re.compile(r"[<>=≤≥+]|[0-9][.,][0-9]|-[0-9]")
_ARGS = ("labels", "positive", "costs")
_OTHER_ERROR = 1.0

Table = NDArray[np.int64]
Matrix = NDArray[np.float64]


def positive_of(params: Params) -> frozenset[int]:
    """The positions of the positive classes; none where params do not name them."""
    labels = normal_labels(params)
    named = [normal_label(name) for name in params.get("positive", "").split("|")]
    return frozenset(labels.index(name) for name in named if name in labels)


def _pairs(params: Params) -> dict[str, tuple[int, int]]:
    """The cell in the table of each kind of answer, by `right>given` with the params' labels."""
    labels = labels_of(params)
    return {
        f"{right}>{predicted}": (row, column)
        for row, right in enumerate(labels)
        for column, predicted in enumerate((ABSTAINED, *labels))
    }


def _stated_costs(params: Params) -> Iterator[tuple[tuple[int, int], float]]:
    """The costs that params list, by their cell in the table; ConfigError for a wrong one."""
    cells = {_spelling(pair): cell for pair, cell in _pairs(params).items()}
    for item in params["costs"].split("|"):
        pair, _, number = item.rpartition("=")
        cell = cells.get(_spelling(pair))
        cost = _number(number)
        if cell is None or cost is None or cell[0] + 1 == cell[1]:
            raise ConfigError(
                f"diagnostic_accuracy: costs has {item.strip()!r}; allowed: errors parted by |, "
                "each RIGHT>GIVEN=COST with two different labels (- for an answer that is none "
                "of them) and a number of at least 0."
            )
        yield cell, cost


def costs_text(params: Params) -> str:
    """What errors cost in words; empty where params state no costs.

    >>> costs_text({"labels": "urgent|routine", "costs": "urgent>routine=10|urgent>-=5"})
    'urgent answered as routine costs 10, urgent without an answer costs 5, any other error 1'
    """
    if "costs" not in params:
        return ""
    names, stated = labels_of(params), dict(_stated_costs(params))
    clauses = [
        f"{names[right]} {f'answered as {names[other - 1]}' if other else 'without an answer'} "
        f"costs {cost:g}"
        for (right, other), cost in stated.items()
    ]
    errors = sum(other > 0 for _, other in stated)
    if errors < len(names) * (len(names) - 1):
        clauses.append(f"any other error {_OTHER_ERROR:g}")
    return ", ".join(clauses)


def _spelling(pair: str) -> str:
    return "".join(pair.casefold().split())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def costs_of(params: Params) -> Matrix:
    """The cost of each kind of answer: a row for every class, the abstention first."""
    size = len(normal_labels(params))
    stated = dict(_stated_costs(params))
    matrix = np.full((size, size + 1), _OTHER_ERROR)
    matrix[np.arange(size), np.arange(size) + 1] = 0.0
    for cell, cost in stated.items():
        matrix[cell] = cost
    for row in range(size):
        if (row, 0) not in stated:
            matrix[row, 0] = matrix[row, 1:].max()
    return matrix


def _check(params: Params) -> None:
    for name in params:
        if name not in _ARGS:
            raise UnknownNameError("argument", name, _ARGS, where="diagnostic_accuracy")
    labels = normal_labels(params)
    if not 2 <= len(labels) <= MAX_LABELS or len(set(labels)) < len(labels) or "" in labels:
        raise ConfigError(
            f"diagnostic_accuracy: labels is {params.get('labels', '')!r}; allowed: 2 to "
            f"{MAX_LABELS} labels parted by |, each with a letter or digit and unlike the others "
            "without case and punctuation."
        )
    if refused := [label for label in labels_of(params) if _MEANING.search(label)]:
        raise ConfigError(
            f"diagnostic_accuracy: labels has {refused[0]!r}; answers are compared without "
            "punctuation, which has a meaning there: use words, as `under 65|65 or more`."
        )
    if "positive" in params:
        named = [normal_label(name) for name in params["positive"].split("|")]
        if not set(named) < set(labels):
            raise ConfigError(
                f"diagnostic_accuracy: positive is {params['positive']!r}; allowed: some of the "
                f"labels, parted by |, and not all of them ({', '.join(labels_of(params))})."
            )
    if "costs" in params and not costs_of(params).any():
        raise ConfigError(
            f"diagnostic_accuracy: costs is {params['costs']!r}; allowed: at least one cost above "
            "0."
        )


def _row(state: RequestState, class_numbers: Mapping[str, int]) -> ScoreRow:
    is_unread = state.completions is None and state.unreadable
    if not state.completions and not is_unread:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    right = [
        class_numbers[name]
        for reference in state.references
        if reference.is_correct and (name := normal_label(reference.text)) in class_numbers
    ]
    if not right:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    answer = likeliest_text(state.completions) if state.completions else ""
    if state.output_mapping:
        answer = state.output_mapping.get(answer, "")
    return scored(_NAMES, (float(right[0]), float(class_numbers.get(normal_label(answer), 0))))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    class_numbers = {label: number for number, label in enumerate(normal_labels(params), 1)}
    return [_row(state, class_numbers) for state in states]


def _table(columns: Columns, weights: Weights, params: Params) -> Table:
    """How many instances of each class (rows) got each answer (columns, the abstention first)."""
    size = len(normal_labels(params))
    table = np.zeros((size, size + 1), np.int64)
    right, predicted = columns.astype(np.int64).T
    np.add.at(table, (right - 1, predicted), weights)
    return table


def _rates(table: Table, positive: frozenset[int]) -> list[Shares]:
    """Sensitivity, specificity, PPV and NPV of these classes against all others."""
    is_positive = np.isin(np.arange(len(table)), list(positive))
    answered = table[:, 1:]
    inside = int(answered[is_positive][:, is_positive].sum())
    outside = int(answered[~is_positive][:, ~is_positive].sum())
    return [
        [(inside, int(table[is_positive].sum()))],
        [(outside, int(table[~is_positive].sum()))],
        [(inside, int(answered[:, is_positive].sum()))],
        [(outside, int(answered[:, ~is_positive].sum()))],
    ]


def _all_shares(table: Table, params: Params) -> list[Shares]:
    """The shares behind each stat that is a share or a mean of shares, in the order of stats."""
    total, right = int(table.sum()), table[:, 1:].diagonal()
    by_class = [(int(hits), int(size)) for hits, size in zip(right, table.sum(axis=1), strict=True)]
    groups = [positive_of(params)] if "positive" in params else [{k} for k in range(len(table))]
    rates = [rate for group in groups for rate in _rates(table, frozenset(group))]
    return [[(int(right.sum()), total)], by_class, [(int(table[:, 0].sum()), total)], *rates]


def _mean(shares: Shares) -> float | None:
    if any(count == 0 for _, count in shares):
        return None
    return math.fsum(hits / count for hits, count in shares) / len(shares)


def _measured(columns: Columns, weights: Weights, params: Params) -> list[float | None]:
    table = _table(columns, weights, params)
    cost = [float((table * costs_of(params)).sum() / table.sum())] if "costs" in params else []
    means = [_mean(shares) for shares in _all_shares(table, params)]
    return [*means, *cost, *map(float, table.ravel())]


def _shares(columns: Columns, weights: Weights, params: Params) -> list[Shares]:
    known = _all_shares(_table(columns, weights, params), params)
    return [*known, *([()] * (len(DIAGNOSTIC_ACCURACY.emitted(params)) - len(known)))]


def _code(name: str, display_name: str) -> MetricInfo:
    return MetricInfo(
        name=name,
        display_name=display_name,
        lower_is_better=None,
        maximum=None,
        has_mean=False,
        description="The class by its place among the labels, from 1 on; 0 for none of them.",
    )


CLASS_GIVEN = Metric(
    fn=_score,
    needs=frozenset({"references", "output_mapping", "completions"}),
    emits=(_code("right_class", "Right class"), _code("given_class", "Given class")),
    version="1",
    preflight=_check,
    about=About.CHOICE,
)
_NAMES = tuple(info.name for info in CLASS_GIVEN.emits)

_SENSITIVITY, _SPECIFICITY = "sensitivity", "specificity"
_RATES = (
    (
        _SENSITIVITY,
        "Sensitivity",
        "Share of the positive that were answered as positive.",
        _SPECIFICITY,
    ),
    (
        _SPECIFICITY,
        "Specificity",
        "Share of the negative that were answered as negative.",
        _SENSITIVITY,
    ),
    (
        "ppv",
        "Positive predictive value",
        "Share of the positive answers that are right.",
        _SENSITIVITY,
    ),
    (
        "npv",
        "Negative predictive value",
        "Share of the negative answers that are right.",
        _SPECIFICITY,
    ),
)


def _more(params: Params) -> tuple[MetricInfo, ...]:
    """The four rates, of the positive classes or of each; the cost; a count for each pair."""
    named = (
        [("", "")] if "positive" in params else [(f"[{x}]", f" of {x}") for x in labels_of(params)]
    )
    rates = [
        MetricInfo(
            name=name + label,
            display_name=display_name + suffix,
            description=description,
            traded_against=other + label,
        )
        for label, suffix in named
        for name, display_name, description, other in _RATES
    ]
    costs = [_cost(float(costs_of(params).max()))] if "costs" in params else []
    counts = [_count(f"confusion[{pair}]", pair) for pair in _pairs(params)]
    return (*rates, *costs, *counts)


def _cost(maximum: float | None) -> MetricInfo:
    return MetricInfo(
        name="cost_weighted_error",
        display_name="Cost-weighted error",
        lower_is_better=True,
        maximum=maximum,
        description="Mean cost of an answer; a right one costs nothing.",
    )


def _count(name: str, pair: str) -> MetricInfo:
    right, _, predicted = pair.partition(">")
    return MetricInfo(
        name=name,
        display_name=f"{right} answered as {predicted}".strip(),
        lower_is_better=None,
        maximum=None,
        description="Number of answers.",
    )


DIAGNOSTIC_ACCURACY = RunMetric(
    fn=_measured,
    reads=lambda params: _NAMES,
    emits=(
        MetricInfo(
            name="accuracy", display_name="Accuracy", description="Share of answers that are right."
        ),
        MetricInfo(
            name="balanced_accuracy",
            display_name="Balanced accuracy",
            description="Mean over classes of the share that is right.",
        ),
        MetricInfo(
            name="abstention",
            display_name="Abstention",
            lower_is_better=True,
            description="Share of answers that are none of the classes, or unreadable.",
        ),
    ),
    version="1",
    shares=_shares,
    more=_more,
    is_right=lambda columns: columns[:, 0] == columns[:, 1],
    aliases=(
        *(
            MetricInfo(name=name, display_name=title, description=what, traded_against=other)
            for name, title, what, other in _RATES
        ),
        _cost(None),
        _count("confusion", "right>given"),
    ),
    preflight=_check,
    needed=("labels",),
    example={"labels": "yes|no", "positive": "yes"},
)

METRICS = {"class_given": CLASS_GIVEN}

RUN_METRICS = {"diagnostic_accuracy": DIAGNOSTIC_ACCURACY}
