"""Classification of a run: macro, micro and per-class F1, for one label an answer or for several.

For each class F1 = 2 tp / (2 tp + fp + fn); `macro` is the mean over classes, `micro` the same
formula over all classes' counts together: scikit-learn's `f1_score(average=...)` on indicator rows
(Pedregosa et al. 2011), as in MedHELM 0.8.0.

params["labels"] names the classes, as `yes|no|maybe`; an answer that is none of them predicts no
class. Each has its F1, `classification_f1[yes]`. Without labels the classes are the options of a
multiple choice by position. A class that no instance has or predicts has no F1 and counts in no
mean: 0 would say that the model misses it. MedHELM counts each of the labels, and such a class as
0 (`classification_macro_f1@medhelm-0.8`). Labels are compared in lower case
and without punctuation; articles stay, because `hepatitis A` is not `hepatitis`. With
params["delimiter"] answers and references may have several labels, and an instance without a label
has no class.

Per instance a metric stores the classes as two whole numbers, bit k for the k-th class; the F1s are
computed from how often each pair of numbers occurs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics.metric import (
    MEDHELM,
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
from medhelm_spark.metrics.text import normalise

MAX_CLASSES = 53
"""Bits of a whole number that a float represents exactly."""

Positions = Mapping[str, int]

normal_label = partial(normalise, keep_articles=True)
"""A label as labels are compared."""


def labels_of(params: Params) -> list[str]:
    """The labels of params["labels"] as they are written there."""
    return [label.strip() for label in params.get("labels", "").split("|") if label.strip()]


def normal_labels(params: Params) -> list[str]:
    """The labels of params["labels"] as they are compared."""
    return [normal_label(label) for label in labels_of(params)]


def _check(params: Params) -> None:
    labels = normal_labels(params)
    if len(set(labels)) < len(labels) or len(labels) > MAX_CLASSES or "" in labels:
        raise ConfigError(
            f"classification: labels is {params['labels']!r}; allowed: up to {MAX_CLASSES} labels "
            "parted by |, each with a letter or digit and unlike the others without case and "
            "punctuation."
        )


def _mask(indices: Iterable[int | None]) -> int:
    return sum(1 << index for index in {index for index in indices if index is not None})


def _parts(text: str, delimiter: str | None) -> list[str]:
    return [part.strip() for part in (text.split(delimiter) if delimiter else [text])]


def _by_label(state: RequestState, labels: Positions, delimiter: str | None) -> tuple[int, int]:
    """True and predicted classes, by the text of references and answer."""
    answers = _parts(likeliest_text(state.completions or ()), delimiter)
    if state.output_mapping:
        answers = [state.output_mapping.get(answer, "") for answer in answers]
    golds = [
        part
        for reference in state.references
        if reference.is_correct
        for part in _parts(reference.text, delimiter)
    ]
    true = _mask(labels.get(normal_label(text)) for text in golds)
    predicted = _mask(labels.get(normal_label(text)) for text in answers)
    return true, predicted


def _by_position(state: RequestState, delimiter: str | None) -> tuple[int, int]:
    """True and predicted classes, by the position of the option."""
    letters = {letter: index for index, letter in enumerate(state.output_mapping)}
    answers = _parts(likeliest_text(state.completions or ()), delimiter)
    right = (index for index, ref in enumerate(state.references) if ref.is_correct)
    return _mask(right), _mask(letters.get(answer) for answer in answers)


def _row(state: RequestState, labels: Positions, delimiter: str | None) -> ScoreRow:
    if not state.completions:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    if labels:
        true, predicted = _by_label(state, labels, delimiter)
    elif 0 < len(state.output_mapping) <= MAX_CLASSES:
        true, predicted = _by_position(state, delimiter)
    else:
        return unscored(_NAMES, ScoreStatus.NOT_APPLICABLE)
    if not true and not delimiter:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    return scored(_NAMES, (float(true), float(predicted)))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    labels = {label: index for index, label in enumerate(normal_labels(params))}
    delimiter = params.get("delimiter") or None
    return [_row(state, labels, delimiter) for state in states]


def _bits(masks: NDArray[np.float64], num_classes: int) -> NDArray[np.bool_]:
    """One column per class: whether the mask has it."""
    shifted = masks.astype(np.int64)[:, None] >> np.arange(num_classes)
    return (shifted & 1).astype(np.bool_)


def _f1(columns: Columns, weights: Weights, params: Params) -> tuple[float | None, ...]:
    num_labels = len(normal_labels(params))
    true, predicted = (_bits(columns[:, side], num_labels or MAX_CLASSES) for side in (0, 1))
    hits = 2 * (weights @ (true & predicted))
    counts = weights @ true.astype(np.int64) + weights @ predicted.astype(np.int64)
    counted = counts > 0
    if not counted.any():
        return (None, None, *((0.0, *[None] * num_labels) if num_labels else ()))
    scores = hits / np.maximum(counts, 1)
    by_class = [float(f1) if count else None for f1, count in zip(scores, counts, strict=True)]
    overall = (float(scores[counted].mean()), float(hits.sum() / max(1, counts.sum())))
    medhelm = (float(scores.mean()),) if num_labels else ()
    return *overall, *medhelm, *by_class[:num_labels]


def _overlaps(columns: Columns, weights: Weights, params: Params) -> list[Shares]:
    """Of each class (tp, tp + fp + fn), for macro F1 and the F1 of a class."""
    num_labels = len(normal_labels(params))
    true, predicted = (_bits(columns[:, side], num_labels or MAX_CLASSES) for side in (0, 1))
    hits, unions = weights @ (true & predicted), weights @ (true | predicted)
    classes = [(int(hit), int(count)) for hit, count in zip(hits, unions, strict=True)]
    medhelm = [()] if num_labels else []
    return [classes, (), *medhelm, *([one] for one in classes[:num_labels])]


def _code(name: str, display_name: str) -> MetricInfo:
    return MetricInfo(
        name=name,
        display_name=display_name,
        lower_is_better=None,
        maximum=None,
        has_mean=False,
        description="Bit k is set for the k-th class.",
    )


CLASSES = Metric(
    fn=_score,
    needs=frozenset({"references", "output_mapping", "completions"}),
    emits=(_code("true_classes", "Classes"), _code("predicted_classes", "Predicted classes")),
    version="2",
    preflight=_check,
    about=About.CHOICE,
)
_NAMES = tuple(info.name for info in CLASSES.emits)

F1 = MetricInfo(
    name="classification_f1",
    display_name="F1",
    description="Harmonic mean of a class's sensitivity and PPV.",
)


MACRO = MetricInfo(
    name="classification_macro_f1",
    display_name="Macro F1",
    description="Mean over classes of the F1 of a class.",
)
MACRO_OF_MEDHELM = MetricInfo(
    name=MACRO.name + MEDHELM,
    display_name="Macro F1 (MedHELM 0.8)",
    description="The same with 0 for a label that no instance has and no answer names.",
)


def _with_labels(params: Params) -> tuple[MetricInfo, ...]:
    """MedHELM's macro F1 and the F1 of each class, where params name the classes."""
    labels = labels_of(params)
    of_classes = (
        replace(F1, name=f"{F1.name}[{label}]", display_name=f"F1 of {label}") for label in labels
    )
    return (MACRO_OF_MEDHELM, *of_classes) if labels else ()


CLASSIFICATION = RunMetric(
    fn=_f1,
    reads=lambda params: _NAMES,
    emits=(
        MACRO,
        MetricInfo(
            name="classification_micro_f1",
            display_name="Micro F1",
            description="F1 over the counts of all classes.",
        ),
    ),
    version="3",
    overlaps=_overlaps,
    more=_with_labels,
    is_right=lambda columns: columns[:, 0] == columns[:, 1],
    aliases=(F1, MACRO_OF_MEDHELM),
    preflight=_check,
)

METRICS = {"classes": CLASSES}

RUN_METRICS = {"classification": CLASSIFICATION}
