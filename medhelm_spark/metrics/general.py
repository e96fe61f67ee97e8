"""Stats that are no quality: the request, how the answer ended, its cost, whether it was readable.

`general_information`: references of the instance, few-shot examples in the prompt, whether the
prompt was cut, and how the first completion ended, one stat of 0 or 1 each. HELM's names are
finish_reason_length, _stop, _endoftext and _unknown; engines report the model's own end as `stop`
here, and an empty text and a refusal are kinds of their own.

`efficiency`: tokens of prompt and completions and seconds of the request, as the engine counted
them; HELM's `num_output_tokens` is `num_completion_tokens` under another name. A number that the
engine did not give has no value.

`answer_unreadable`: 1 where the scenario's answer extraction found no answer in the text, or
several, and 0 where it found one. By strict multiple choice a text that is not exactly a label is
unreadable. Strict free text is taken as it is and has no value.
"""

from collections.abc import Sequence

from medhelm_spark.domain.request import FinishReason, RequestState
from medhelm_spark.domain.stats import UNREADABLE_STAT, MetricInfo, Score, ScoreStatus
from medhelm_spark.metrics.metric import About, Metric, Params, ScoreRow, scored, unscored

_REASONS = tuple(FinishReason)


def _general(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    no_answer = unscored(_GENERAL_NAMES, ScoreStatus.NO_ANSWER)
    rows: dict[tuple[float, ...], ScoreRow] = {}

    def row(state: RequestState) -> ScoreRow:
        if not state.completions:
            return no_answer
        ended = state.completions[0].finish_reason
        values = (
            float(len(state.references)),
            float(state.num_train_instances),
            float(state.prompt_truncated),
            *(float(ended is reason) for reason in _REASONS),
        )
        return rows.get(values) or rows.setdefault(values, scored(_GENERAL_NAMES, values))

    return [row(state) for state in states]


def _measured(name: str, value: float | None) -> Score:
    if value is None:
        return Score(name=name, value=None, status=ScoreStatus.NOT_APPLICABLE)
    return Score(name=name, value=float(value))


def _cost(state: RequestState) -> ScoreRow:
    if not state.completions:
        return unscored(_COST_NAMES, ScoreStatus.NO_ANSWER)
    tokens = state.completion_tokens
    values = (state.prompt_tokens, tokens, tokens, state.request_time)
    return tuple(map(_measured, _COST_NAMES, values))


def _efficiency(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_cost(state) for state in states]


def _count(name: str, display_name: str, description: str) -> MetricInfo:
    return MetricInfo(
        name=name,
        display_name=display_name,
        lower_is_better=None,
        maximum=None,
        description=description,
    )


def _share(name: str, display_name: str, description: str) -> MetricInfo:
    return MetricInfo(
        name=name, display_name=display_name, lower_is_better=None, description=description
    )


GENERAL_INFORMATION = Metric(
    fn=_general,
    needs=frozenset({"references", "num_train_instances", "prompt_truncated", "completions"}),
    emits=(
        _count("num_references", "References", "References of an instance."),
        _count("num_train_instances", "Train instances", "Few-shot examples in the prompt."),
        _share("prompt_truncated", "Prompts cut", "Share of prompts that were cut to fit."),
        *(
            _share(f"finish_reason_{reason}", f"Ended: {reason}", f"Share of answers: {reason}.")
            for reason in _REASONS
        ),
    ),
    version="1",
    about=About.REQUEST,
)
_GENERAL_NAMES = tuple(info.name for info in GENERAL_INFORMATION.emits)

EFFICIENCY = Metric(
    fn=_efficiency,
    needs=frozenset({"completions", "prompt_tokens", "completion_tokens", "request_time"}),
    emits=(
        _count("num_prompt_tokens", "Prompt tokens", "Tokens of the prompt."),
        _count("num_completion_tokens", "Completion tokens", "Tokens of all completions."),
        _count("num_output_tokens", "Output tokens", "Tokens of all completions."),
        _count("inference_runtime", "Seconds", "Seconds from request to answer."),
    ),
    version="1",
    about=About.REQUEST,
)
_COST_NAMES = tuple(info.name for info in EFFICIENCY.emits)

TECHNICAL = frozenset((*_GENERAL_NAMES, *_COST_NAMES))
"""The stats that say how an answer was asked for and came; pages show them last, and folded."""

_UNREADABLE = (UNREADABLE_STAT,)
_READ_ROWS = {flag: scored(_UNREADABLE, (float(flag),)) for flag in (False, True)}
_NOTHING_TO_READ = unscored(_UNREADABLE, ScoreStatus.NOT_APPLICABLE)
_NO_ANSWER = unscored(_UNREADABLE, ScoreStatus.NO_ANSWER)


def _unreadable_row(state: RequestState) -> ScoreRow:
    if state.unreadable is not None:
        return _READ_ROWS[state.unreadable]
    return _NOTHING_TO_READ if state.completions else _NO_ANSWER


def _unreadable(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_unreadable_row(state) for state in states]


ANSWER_UNREADABLE = Metric(
    fn=_unreadable,
    needs=frozenset({"references", "output_mapping", "completions", "unreadable"}),
    emits=(
        MetricInfo(
            name=UNREADABLE_STAT,
            display_name="Unreadable answers",
            lower_is_better=True,
            description="Share of answers in which no single answer could be found.",
        ),
    ),
    version="1",
    about=About.REQUEST,
)

METRICS = {
    "general_information": GENERAL_INFORMATION,
    "efficiency": EFFICIENCY,
    UNREADABLE_STAT: ANSWER_UNREADABLE,
}
