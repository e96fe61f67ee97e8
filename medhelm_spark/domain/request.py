"""Prompt, Request, Completion, RequestResult and RequestState: from text out to text back."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import LATER
from medhelm_spark.domain.scenario import Message, Reference


class Purpose(StrEnum):
    """Why a request is made: to evaluate a model, or to judge an evaluated model's answer."""

    EVALUATE = "evaluate"
    JUDGE = "judge"


class FinishReason(StrEnum):
    """How an answer ended. Every one of them is an answer: stored, scored, counted by kind.

    EMPTY is what reading says of an answer without text (`domain.thinking`); a stored completion
    has the engine's own reason.
    """

    STOP = "stop"
    LENGTH = "length"
    EMPTY = "empty"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"


class FailureKind(StrEnum):
    """Why there is no answer. A failure carries no text and is never scored.

    The request itself causes `too_long`, `denied` (by policy), `invalid_request` (refused as it
    stands, such as by HTTP 400) and `invalid_reply` (a reply beyond the limit of bytes, or of a
    form that holds no answer): it would fail again. The rest are failures of infrastructure:
    `unreachable` (no connection), `timeout`, `engine_error` (HTTP 5xx, 429 after all tries, a
    reply that is none, a broken engine), and `rejected` (no request of this deployment is taken:
    key, quota, name of the model, a parameter, a fault of the engine's program). What each kind
    leads to is its deployment's business (`domain.deployment.OnFailure`).
    """

    TOO_LONG = "too_long"
    DENIED = "denied"
    ENGINE_ERROR = "engine_error"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    INVALID_REQUEST = "invalid_request"
    INVALID_REPLY = "invalid_reply"
    REJECTED = "rejected"

    @property
    def is_infrastructure(self) -> bool:
        """Whether the same request may be answered once what it needs works again."""
        return self in (self.ENGINE_ERROR, self.TIMEOUT, self.UNREACHABLE, self.REJECTED)

    @property
    def needs_reason(self) -> bool:
        """Whether only the reason of a failure says what a person can mend."""
        return self in (self.INVALID_REQUEST, self.INVALID_REPLY, self.REJECTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Row of `prompts`: rendered text, once for all deployments that are asked it.

    `prompt_id` is the content id of (messages or text, access_level). `render_id` names the
    rendering (adapter, template, data version; for a judge its rubric) and `subject_id` the row it
    renders: an instance_id, or the request_id of the judged answer. Exactly one of `messages`
    and `text` is non-empty. `output_mapping` is the options shown: letter to reference text.
    `rubric_item` is the place of the instance's rubric item that a judge is asked about.
    """

    prompt_id: str
    render_id: str
    subject_id: str
    access_level: AccessLevel
    perturbation: str = ""
    train_trial_index: int = 0
    messages: tuple[Message, ...] = ()
    text: str = ""
    output_mapping: Mapping[str, str] = field(default_factory=dict)
    num_train_instances: int = 0
    prompt_truncated: bool = False
    num_characters: int = 0
    rubric_item: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Every decoding parameter of a request, explicit; part of the request_id."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    stop_sequences: tuple[str, ...] = ()
    num_completions: int = 1
    seed: int | None = None
    logprobs: int = 0
    response_schema: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationKey:
    """What names one evaluated answer; rows that hold one are kept by it.

    `perturbation` is empty for an instance as it is; trials are counted from 0.
    """

    run_spec_id: str
    instance_id: str
    perturbation: str
    train_trial_index: int
    trial_index: int


EVALUATION_KEY = tuple(field.name for field in fields(EvaluationKey))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest(EvaluationKey):
    """Row of `requests`: what one evaluation key of a RunSpec asks, without text.

    Rows with the same `request_id` share one result: equal work is asked and paid once. `annotator`
    and `judge` are empty for purpose `evaluate`; `judged_request_id` is the judged answer's request
    for purpose `judge`, and `rubric_item` the place of the rubric item asked about, from 0.
    """

    purpose: Purpose
    request_id: str
    prompt_id: str
    model_deployment: str
    decoding: Decoding
    access_level: AccessLevel
    estimated_tokens: int
    annotator: str = ""
    judge: str = ""
    judged_request_id: str = ""
    rubric_item: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What an engine receives."""

    request_id: str
    model_deployment: str
    messages: tuple[Message, ...]
    text: str
    decoding: Decoding
    access_level: AccessLevel
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """One generated token and its natural-log probability."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One returned text, as the engine wrote it; `thinking` is what it returned beside the text.

    Stages read it by `domain.thinking.without_thinking`, which leaves the answer in `text` and
    moves to `thinking` what stood between tags. `tokens` are all that were generated; `logprob` is
    the sum over them, None where the engine gives none.
    """

    text: str
    finish_reason: FinishReason
    thinking: str | None = None
    logprob: float | None = None
    tokens: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """Row of `request_results`: the outcome of asking once (with the engine's own retries).

    An answer has completions and no failure; a failure has a kind and no completions. `attempts`
    counts the request's tries so far in the invocation that asked. `request_time` is in seconds.
    `cached_tokens` are those of the prompt that the engine had from its prefix cache. `executor`
    names the process group that asked; `engine_start` stands on the first result of an engine that
    was started for it: the seconds that the start took. `destination` is the host and port that
    the text was sent to, or `this job`, and `locality` what the deployment said of it then; both
    are None where nothing was sent: of a denied request, and of an answer from a file. `tries` is
    how often the text was sent for this row. `reason` says why a failure is one: status and known
    error codes; a public request has the server's own sentence too, no other one has any text.
    """

    request_id: str
    model_deployment: str
    access_level: AccessLevel
    completed_at: datetime
    engine_fingerprint: str
    completions: tuple[Completion, ...] = ()
    failure: FailureKind | None = None
    attempts: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    request_time: float | None = None
    cached_tokens: int | None = None
    executor: str | None = None
    engine_start: float | None = None
    destination: str | None = None
    locality: str | None = None
    tries: int | None = None
    reason: str | None = None

    @property
    def is_answer(self) -> bool:
        return self.failure is None


class VerdictStatus(StrEnum):
    """What became of one judge's verdict on one answer."""

    OK = "ok"
    UNPARSEABLE = "unparseable"
    REQUEST_FAILED = "request_failed"
    SKIPPED_EMPTY_OUTPUT = "skipped_empty_output"
    DENIED = "denied"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionScore:
    """A judge's score for one criterion, on the rubric's own scale.

    Of a criterion with classes `label` is the class, and `score` its place in the criterion's list,
    from 0.
    """

    criterion: str
    score: float
    explanation: str = ""
    label: str = field(default="", metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationKey(EvaluationKey):
    """What names a verdict; `request_id` is the judge's request, empty where none was asked."""

    annotator: str
    judge: str
    request_id: str
    rubric_item: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation(EvaluationKey):
    """Row of `annotations`: one judge's verdict on one evaluated answer.

    With `rubric_item` it is the verdict on that item of the instance's own rubric alone: one score,
    1 where the answer meets the item and 0 where it does not.
    """

    annotator: str
    judge: str
    status: VerdictStatus
    access_level: AccessLevel
    scores: tuple[CriterionScore, ...] = ()
    request_id: str = ""
    rubric_item: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The part of an Annotation that a metric reads."""

    annotator: str
    judge: str
    status: VerdictStatus
    scores: tuple[CriterionScore, ...] = ()
    rubric_item: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredValue:
    """A value of an answer, as the results that were imported have it."""

    name: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState(EvaluationKey):
    """Instance, request, result and annotations joined: what a metric sees.

    Fields that no metric of the RunSpec needs are left at their defaults; `completions` is None
    where there is no answer (`failure` says why, None there means never asked or not imported).
    Their texts are the answers that the RunSpec's extraction read. `unreadable` says whether it
    found none, and is None where there was nothing to find. `medhelm` are the completions as
    MedHELM would have got them, None where that cannot be told. `cluster_id` is the instance's.
    `stored` are the values that came with an imported answer, None where none did.
    """

    split: str
    input: str = ""
    references: tuple[Reference, ...] = ()
    extra_data: Mapping[str, str] = field(default_factory=dict)
    output_mapping: Mapping[str, str] = field(default_factory=dict)
    completions: tuple[Completion, ...] | None = None
    failure: FailureKind | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    request_time: float | None = None
    num_train_instances: int = 0
    prompt_truncated: bool = False
    verdicts: tuple[Verdict, ...] = ()
    unreadable: bool | None = None
    medhelm: tuple[Completion, ...] | None = None
    cluster_id: str | None = None
    stored: tuple[StoredValue, ...] | None = None
