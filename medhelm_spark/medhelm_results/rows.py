"""From HELM's files to the lake's rows, one request at a time.

Every function here is run by the tasks: it gets the files of runs and yields rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

from medhelm_spark.adaptation.decoding import estimate_text_tokens
from medhelm_spark.adaptation.render import prompt_id
from medhelm_spark.domain.helm_results import HelmFiles, KnownInstance
from medhelm_spark.domain.ids import content_id, digest
from medhelm_spark.domain.request import (
    Annotation,
    Completion,
    Decoding,
    FailureKind,
    FinishReason,
    PlannedRequest,
    Prompt,
    Purpose,
    RequestResult,
    TokenLogprob,
)
from medhelm_spark.domain.scenario import HashedText, Instance, Message
from medhelm_spark.domain.stats import PerInstanceStats, Score
from medhelm_spark.engines import IMPORTED
from medhelm_spark.medhelm_results.content import (
    Content,
    content_from,
    content_of,
    list_of,
    messages_of,
    number,
    object_of,
    text_of,
    whole,
)
from medhelm_spark.medhelm_results.states import (
    REDACTED,
    HelmState,
    read_instance_stats,
    read_states,
)
from medhelm_spark.medhelm_results.stream import BrokenFileError
from medhelm_spark.medhelm_results.verdicts import verdicts
from medhelm_spark.scenarios import ParsedInput
from medhelm_spark.scenarios.levels import text_hashes

Known = Mapping[str, str]
"""Instance ids of the lake by the content of their instances (`content_of`)."""

_REASONS = {
    "stop": FinishReason.STOP,
    "endoftext": FinishReason.STOP,
    "length": FinishReason.LENGTH,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifiedRequest:
    """A request with the id of its instance, and which of an instance's trials it is."""

    state: HelmState
    instance_id: str
    trial_index: int
    content: Content


@dataclass(frozen=True, slots=True)
class Contents:
    """Instances of the lake in, their contents out: by these imported ones are found among them."""

    def __call__(self, instances: Iterable[Instance]) -> Iterator[KnownInstance]:
        for instance in instances:
            if instance.input.strip() and not instance.perturbation:
                yield KnownInstance(
                    content=content_of(instance.scenario_name, instance),
                    instance_id=instance.instance_id,
                )


def _own_id(run: HelmFiles, state: HelmState, content: Content) -> str:
    return content_id(
        run.scenario_name,
        state.helm_id,
        digest(content.input),
        [[reference.text, *reference.tags] for reference in content.references],
        [[message.role, message.content] for message in content.messages],
        content.extra_data,
        content.split.value,
        content.sub_split,
    )


def identified_requests(run: HelmFiles, known: Known) -> Iterator[IdentifiedRequest]:
    """The requests of a run with the ids of their instances.

    The id is that of the lake's instance of the same content where there is one. A perturbed copy
    has the id of its original, which precedes it.
    """
    ids: dict[str, str] = {}
    trials: dict[tuple[str, str, int], int] = {}
    for state in read_states(Path(run.path)):
        content = content_from(state)
        instance_id = ids.get(state.helm_id) if state.perturbation or not state.instance else None
        if instance_id is None:
            own = _own_id(run, state, content)
            alike = None if content.is_blank else known.get(content_of(run.scenario_name, content))
            instance_id = alike or own
        first = ids.setdefault(state.helm_id, instance_id)
        if first != instance_id:
            raise BrokenFileError("two instances have one id")
        key = (instance_id, state.perturbation, state.train_trial_index)
        trials[key] = trials.get(key, -1) + 1
        yield IdentifiedRequest(
            state=state, instance_id=instance_id, trial_index=trials[key], content=content
        )


Make = Callable[[HelmFiles, IdentifiedRequest], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class FromStates:
    """Files of runs in, rows of one table out: `make` gives the rows of one request."""

    make: Make
    known: Known

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[Any]:
        for run in runs:
            for each in identified_requests(run, self.known):
                yield from self.make(run, each)


@dataclass(frozen=True, slots=True)
class HelmInstances:
    """Files of runs in, each instance of theirs once out."""

    known: Known

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[Instance]:
        for run in runs:
            written: set[tuple[str, str]] = set()
            for each in identified_requests(run, self.known):
                key = (each.instance_id, each.state.perturbation)
                if key not in written:
                    yield _instance(run, each, len(written))
                    written.add(key)


class Texts:
    """Files of runs in, the hashes of their requests' texts out, of the prompts too.

    Of a broken file the hashes before the break: the survey says what is wrong with the file.
    """

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[HashedText]:
        for run in runs:
            with suppress(BrokenFileError):
                for row, each in enumerate(identified_requests(run, {})):
                    text, messages, _ = _asked(run, each)
                    turns = [message.content for message in messages]
                    yield HashedText(
                        scenario_name=run.scenario_name,
                        file=crc32(run.path.encode("utf-8", "surrogateescape")),
                        row=row,
                        access_level=run.access_level,
                        text_hashes=text_hashes(
                            _parsed(each.content), {"prompt": text, "messages": turns}
                        ),
                    )


def _parsed(content: Content) -> ParsedInput:
    return ParsedInput(
        input=content.input, references=content.references, messages=content.messages
    )


def _instance(run: HelmFiles, each: IdentifiedRequest, index: int) -> Instance:
    content = each.content
    return Instance(
        instance_id=each.instance_id,
        scenario_name=run.scenario_name,
        data_version=run.data_version,
        source_id=each.state.helm_id,
        source_index=index,
        split=content.split,
        input=content.input,
        references=content.references,
        access_level=run.access_level,
        sub_split=content.sub_split,
        messages=content.messages,
        extra_data=content.extra_data,
        perturbation=each.state.perturbation,
        text_hashes=() if content.is_blank else text_hashes(_parsed(content), {}),
    )


def _asked(run: HelmFiles, each: IdentifiedRequest) -> tuple[str, tuple[Message, ...], str]:
    """Prompt text, messages and prompt_id; both empty where the prompt is not known."""
    request = object_of(each.state.request)
    messages = messages_of(request.get("messages"))
    text = "" if messages else text_of(request.get("prompt"))
    if messages:
        return "", messages, content_id(messages, run.access_level)
    return text, (), prompt_id(text, run.access_level)


def _render_id(run: HelmFiles) -> str:
    return content_id("helm results", run.revision, run.access_level)


def prompts(run: HelmFiles, each: IdentifiedRequest) -> Iterator[Prompt]:
    """The prompt of a request, once for its trials; nothing where it is redacted."""
    text, messages, identity = _asked(run, each)
    if each.trial_index or not (text or messages):
        return
    state = each.state
    mapping = object_of(state.output_mapping)
    characters = len(text) + sum(len(message.content) for message in messages)
    yield Prompt(
        prompt_id=identity,
        render_id=_render_id(run),
        subject_id=each.instance_id,
        access_level=run.access_level,
        perturbation=state.perturbation,
        train_trial_index=state.train_trial_index,
        messages=messages,
        text=text,
        output_mapping={str(key): text_of(value) for key, value in mapping.items()},
        num_train_instances=state.num_train_instances,
        prompt_truncated=state.prompt_truncated,
        num_characters=characters,
    )


def requests(run: HelmFiles, each: IdentifiedRequest) -> Iterator[PlannedRequest]:
    """The request of each RunSpec that its answer counts for."""
    text, messages, identity = _asked(run, each)
    state, model = each.state, object_of(each.state.request)
    tokens = estimate_text_tokens(text or "".join(message.content for message in messages))
    for run_spec_id in run.run_spec_ids:
        yield PlannedRequest(
            run_spec_id=run_spec_id,
            instance_id=each.instance_id,
            perturbation=state.perturbation,
            train_trial_index=state.train_trial_index,
            trial_index=each.trial_index,
            purpose=Purpose.EVALUATE,
            request_id=_request_id(run, each),
            prompt_id=identity,
            model_deployment=run.model_deployment,
            decoding=_decoding(model),
            access_level=run.access_level,
            estimated_tokens=max(1, tokens),
        )


def _request_id(run: HelmFiles, each: IdentifiedRequest) -> str:
    state = each.state
    return content_id(
        "helm results",
        run.revision,
        run.access_level,
        each.instance_id,
        state.perturbation,
        state.train_trial_index,
        each.trial_index,
    )


def _decoding(request: Mapping[str, Any]) -> Decoding:
    top = whole(request.get("top_k_per_token"), 1)
    return Decoding(
        max_tokens=whole(request.get("max_tokens"), 0),
        temperature=number(request.get("temperature")) or 0.0,
        top_p=number(request.get("top_p")) or 1.0,
        stop_sequences=tuple(map(text_of, list_of(request.get("stop_sequences")))),
        num_completions=whole(request.get("num_completions"), 1),
        logprobs=top if top > 1 else 0,
    )


def has_answer(state: HelmState) -> bool:
    """Whether a request was answered by a text that is there; an empty one counts."""
    completions = list_of(object_of(state.result).get("completions"))
    texts = [object_of(completion).get("text") for completion in completions]
    return bool(texts) and all(isinstance(text, str) and text != REDACTED for text in texts)


def is_redacted(state: HelmState) -> bool:
    """Whether a request was answered by a text that is not there."""
    return bool(list_of(object_of(state.result).get("completions"))) and not has_answer(state)


def results(run: HelmFiles, each: IdentifiedRequest) -> Iterator[RequestResult]:
    """What a request came to; nothing where its text is redacted or no file has it."""
    result = object_of(each.state.result)
    if not result or is_redacted(each.state):
        return
    completions = tuple(map(_completion, map(object_of, list_of(result.get("completions")))))
    is_failed = result.get("success") is False or not completions
    tokens = [len(completion.tokens) for completion in completions]
    yield RequestResult(
        request_id=_request_id(run, each),
        model_deployment=run.model_deployment,
        access_level=run.access_level,
        completed_at=_moment(result.get("request_datetime")),
        engine_fingerprint=IMPORTED,
        completions=() if is_failed else completions,
        failure=FailureKind.ENGINE_ERROR if is_failed else None,
        completion_tokens=sum(tokens) if any(tokens) else None,
        request_time=number(result.get("request_time")),
    )


def _moment(value: object) -> datetime:
    """When an answer came; the beginning of time where no file has it, the same at every try."""
    seconds = number(value)
    try:
        return datetime.fromtimestamp(seconds or 0.0, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0.0, UTC)


def _completion(completion: Mapping[str, Any]) -> Completion:
    reason = str(object_of(completion.get("finish_reason")).get("reason"))
    thinking = text_of(object_of(completion.get("thinking")).get("text"))
    return Completion(
        text=text_of(completion.get("text")),
        finish_reason=_REASONS.get(reason, FinishReason.UNKNOWN),
        thinking=thinking or None,
        logprob=number(completion.get("logprob")),
        tokens=tuple(
            TokenLogprob(
                text=text_of(object_of(token).get("text")),
                logprob=number(object_of(token).get("logprob")) or 0.0,
            )
            for token in list_of(completion.get("tokens"))
        ),
    )


def annotations(run: HelmFiles, each: IdentifiedRequest) -> Iterator[Annotation]:
    """The verdicts on an answer, for each RunSpec that it counts for."""
    state = each.state
    for verdict in filter(None, verdicts(state)):
        for run_spec_id in run.run_spec_ids:
            yield Annotation(
                run_spec_id=run_spec_id,
                instance_id=each.instance_id,
                perturbation=state.perturbation,
                train_trial_index=state.train_trial_index,
                trial_index=each.trial_index,
                annotator=verdict.annotator,
                judge=verdict.judge,
                status=verdict.status,
                access_level=run.access_level,
                scores=verdict.scores,
                rubric_item=verdict.rubric_item,
            )


@dataclass(frozen=True, slots=True)
class StatsOfInstances:
    """Files of runs in, the stored values of their instances out, for the run as imported.

    Several rows may be about one instance, as in HELM's file. Values of instances that no request
    is about are none of the run's.
    """

    known: Known

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[PerInstanceStats]:
        for run in runs:
            ids = {
                (each.state.helm_id, each.state.perturbation): (
                    each.instance_id,
                    each.content.split.value,
                )
                for each in identified_requests(run, self.known)
            }
            for row in read_instance_stats(Path(run.path)):
                if (row.helm_id, row.perturbation) not in ids:
                    raise BrokenFileError("it has stats of an instance that was not asked")
                instance_id, split = ids[row.helm_id, row.perturbation]
                yield PerInstanceStats(
                    run_spec_id=run.run_spec_ids[0],
                    instance_id=instance_id,
                    perturbation=row.perturbation,
                    train_trial_index=row.train_trial_index,
                    trial_index=0,
                    split=split,
                    stats=tuple(
                        Score(name=name, value=value) for name, value in row.values.items()
                    ),
                )
