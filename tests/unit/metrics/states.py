"""RequestStates for metric tests."""

from collections.abc import Mapping, Sequence

from medhelm_spark.domain.request import Completion, FinishReason, RequestState, Verdict
from medhelm_spark.domain.scenario import Reference


def completion(text: str, logprob: float | None = None) -> Completion:
    return Completion(text=text, finish_reason=FinishReason.STOP, logprob=logprob)


def correct(*texts: str) -> tuple[Reference, ...]:
    return tuple(Reference(text=text, tags=("correct",)) for text in texts)


def state(
    answer: str | None,
    references: Sequence[Reference] = (),
    *,
    output_mapping: Mapping[str, str] | None = None,
    extra_data: Mapping[str, str] | None = None,
    verdicts: Sequence[Verdict] = (),
) -> RequestState:
    """A state with this one completion; None is a request that got no answer."""
    return RequestState(
        run_spec_id="r",
        instance_id="i",
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        split="test",
        references=tuple(references),
        output_mapping=output_mapping or {},
        extra_data=extra_data or {},
        completions=None if answer is None else (completion(answer),),
        verdicts=tuple(verdicts),
    )
