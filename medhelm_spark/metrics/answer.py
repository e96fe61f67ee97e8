"""The share of answers that could not be read: how far a score rests on answers at all.

`answer_unreadable` is 1 where the scenario's answer extraction found no answer in the text, or
several, and 0 where it found one. Strict multiple choice counts as unreadable what is no label as
it stands. There is nothing to read in strict free text, and no value.
"""

from collections.abc import Sequence

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import Metric, Params, ScoreRow, scored, unscored

_NAMES = ("answer_unreadable",)
_ROWS = {unread: scored(_NAMES, (float(unread),)) for unread in (False, True)}
_NOTHING_TO_READ = unscored(_NAMES, ScoreStatus.NOT_APPLICABLE)
_NO_ANSWER = unscored(_NAMES, ScoreStatus.NO_ANSWER)


def _row(state: RequestState) -> ScoreRow:
    if state.unreadable is not None:
        return _ROWS[state.unreadable]
    return _NOTHING_TO_READ if state.completions else _NO_ANSWER


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state) for state in states]


ANSWER_UNREADABLE = Metric(
    fn=_score,
    needs=frozenset({"references", "output_mapping", "completions", "unreadable"}),
    emits=(
        MetricInfo(
            name=_NAMES[0],
            display_name="Unreadable answers",
            lower_is_better=True,
            description="Share of answers in which no single answer could be found.",
        ),
    ),
    version="1",
)
