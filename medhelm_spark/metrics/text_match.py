"""Exact match and its relatives, and word-set F1, by MedHELM 0.8.0's definitions.

The prediction is the likeliest completion, stripped. For multiple choice it is looked up in
`output_mapping` unchanged (`A.`, `a` and `(A)` are not in it) and a miss is wrong. The value is the
best over the references tagged correct. An empty prediction is an answer, and wrong.

`output_mapping_pattern` (a regular expression, in params) takes the letter out of the answer before
the look-up: its last group that matched, else the whole match. (MedHELM looks up the whole match
where there are groups and the whole answer where there are none.) Where it had to be stopped, the
answer is unreadable: no value.

With `read_as: medhelm-0.8` the text scored is the one that MedHELM's own request would have
returned (`RequestState.medhelm`), and the stats have the suffix `@medhelm-0.8`; they have no value
where that text is not known.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

from medhelm_spark import patterns
from medhelm_spark.domain.request import Completion, RequestState
from medhelm_spark.domain.run import MEDHELM_08
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics.metric import (
    MEDHELM,
    READ_AS,
    About,
    Metric,
    Params,
    ScoreRow,
    likeliest_text,
    scored,
    unscored,
)
from medhelm_spark.metrics.text import normalise
from medhelm_spark.patterns import SlowPatternError, first_match

EXACT = "exact_match"

Normalise = Callable[[str], str]
Values = tuple[float, ...]
Compare = Callable[[str, str, Normalise], Values]


def _four(gold: str, prediction: str, normal: Normalise) -> Values:
    if gold == prediction:
        return (1.0, 1.0, 1.0, 1.0)
    quasi_gold, quasi_prediction = normal(gold), normal(prediction)
    return (
        0.0,
        float(quasi_prediction == quasi_gold),
        float(prediction.startswith(gold)),
        float(quasi_prediction.startswith(quasi_gold)),
    )


def _same(gold: str, prediction: str, normal: Normalise) -> Values:
    return (float(normal(gold) == normal(prediction)),)


def _f1(gold: str, prediction: str, normal: Normalise) -> Values:
    """Harmonic mean of precision and recall over word sets; 0 where either set is empty."""
    gold_words, words = set(normal(gold).split()), set(normal(prediction).split())
    return (
        2 * len(gold_words & words) / (len(gold_words) + len(words))
        if gold_words and words
        else 0.0,
    )


def _predicted(state: RequestState, completions: Sequence[Completion], pattern: str | None) -> str:
    text = likeliest_text(completions)
    if not state.output_mapping:
        return text
    if pattern:
        text = first_match(pattern, text) or ""
    return state.output_mapping.get(text, "")


def _score(
    states: Sequence[RequestState],
    params: Params,
    *,
    names: tuple[str, ...],
    compare: Compare,
    keep_articles: bool = False,
) -> list[ScoreRow]:
    pattern = params.get("output_mapping_pattern")
    normal = cache(partial(normalise, keep_articles=keep_articles))
    is_medhelm = READ_AS in params
    if is_medhelm:
        names = tuple(name + MEDHELM for name in names)
    no_answer, no_reference, unknown, unreadable = (unscored(names, status) for status in _WITHOUT)
    rows: dict[Values, ScoreRow] = {}

    def row(state: RequestState) -> ScoreRow:
        completions = state.medhelm if is_medhelm else state.completions
        if not completions:
            is_answered = is_medhelm and (state.completions or state.unreadable is not None)
            return unknown if is_answered else no_answer
        golds = [reference.text.strip() for reference in state.references if reference.is_correct]
        if not golds:
            return no_reference
        values: Values = (0.0,) * len(names)
        try:
            prediction = _predicted(state, completions, pattern)
        except SlowPatternError:
            return unreadable
        if prediction:
            prediction = prediction.strip()
            values = compare(golds[0], prediction, normal)
            for gold in golds[1:]:
                values = tuple(map(max, values, compare(gold, prediction, normal)))
        return rows.get(values) or rows.setdefault(values, scored(names, values))

    return [row(state) for state in states]


_WITHOUT = (
    ScoreStatus.NO_ANSWER,
    ScoreStatus.NO_REFERENCE,
    ScoreStatus.NOT_APPLICABLE,
    ScoreStatus.UNREADABLE,
)


def _check(params: Params) -> None:
    if params.get(READ_AS, MEDHELM_08) != MEDHELM_08:
        raise ConfigError(f"{READ_AS} is {params[READ_AS]!r}; allowed: {MEDHELM_08}.")
    pattern = params.get("output_mapping_pattern", "")
    try:
        patterns.check(pattern)
    except ValueError as error:
        raise ConfigError(f"output_mapping_pattern is {pattern!r}, which is {error}.") from None


def _metric(
    compare: Compare,
    *emits: MetricInfo,
    keep_articles: bool = False,
    about: About = About.CHOICE,
) -> Metric:
    names = tuple(info.name for info in emits)
    as_medhelm = tuple(map(_as_medhelm, emits))
    return Metric(
        fn=partial(_score, names=names, compare=compare, keep_articles=keep_articles),
        needs=frozenset({"references", "output_mapping", "completions"}),
        emits=emits,
        version="1",
        renamed=lambda params: as_medhelm if READ_AS in params else emits,
        aliases=as_medhelm,
        preflight=_check,
        takes_readings=True,
        about=about,
    )


def _as_medhelm(info: MetricInfo) -> MetricInfo:
    return replace(
        info,
        name=info.name + MEDHELM,
        display_name=f"{info.display_name} (MedHELM 0.8)",
        description=f"{info.description} Of what MedHELM would have got of the answer.",
    )


EXACT_MATCH = _metric(
    _four,
    MetricInfo(
        name=EXACT,
        display_name="Exact match",
        description="Share of answers equal to a correct reference, outer whitespace aside.",
    ),
    MetricInfo(
        name="quasi_exact_match",
        display_name="Quasi-exact match",
        description="Exact match after removing case, ASCII punctuation and articles.",
    ),
    MetricInfo(
        name="prefix_exact_match",
        display_name="Prefix match",
        description="Share of answers that begin with a correct reference.",
    ),
    MetricInfo(
        name="quasi_prefix_exact_match",
        display_name="Quasi-prefix match",
        description="Prefix match after removing case, ASCII punctuation and articles.",
    ),
)

QUASI_LEAVE_ARTICLES_EXACT_MATCH = _metric(
    _same,
    MetricInfo(
        name="quasi_leave_articles_exact_match",
        display_name="Quasi-exact match, articles kept",
        description="Exact match after removing case and ASCII punctuation.",
    ),
    keep_articles=True,
)

F1_SCORE = _metric(
    _f1,
    MetricInfo(
        name="f1_score",
        display_name="Word F1",
        description="F1 of the sets of normalised words of answer and correct reference.",
    ),
    about=About.WORDING,
)

METRICS = {
    EXACT: EXACT_MATCH,
    "quasi_leave_articles_exact_match": QUASI_LEAVE_ARTICLES_EXACT_MATCH,
    "f1_score": F1_SCORE,
}
