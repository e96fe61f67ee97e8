"""Prompt, Request, Completion, RequestResult and RequestState: text sent and text returned."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import LATER
from medhelm_spark.domain.scenario import Message, Reference


class Purpose(StrEnum):
    """The purpose of a request: to evaluate a model, or to judge an evaluated model's answer."""

    EVALUATE = "evaluate"
    JUDGE = "judge"


class FinishReason(StrEnum):
    """How an answer ended. Stages store, score and count answers with any of these reasons.

    `domain.thinking` returns EMPTY when it reads an answer without text; a stored completion has
    the engine's own reason.
    """

    STOP = "stop"
    LENGTH = "length"
    EMPTY = "empty"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"


class FailureKind(StrEnum):
    """Why a request has no answer. A failure has no text and no score.

    Four kinds have their cause in the request, which would fail again: `too_long`, `denied` (by the
    policy), `invalid_request` (the server refuses this request, such as by HTTP 400) and
    `invalid_reply` (the reply exceeds the limit of bytes or contains no answer). The others are
    failures of infrastructure: `unreachable` (no connection), `timeout`, `engine_error` (HTTP 5xx,
    429 after all tries, a malformed reply, a broken engine) and `rejected` (the server refuses all
    requests of this deployment: key, quota, name of the model, a parameter, a fault of the engine's
    program). `domain.deployment.OnFailure` lists what a deployment does about a failure.
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
        """Whether the same request may get an answer once the infrastructure works again."""
        return self in (self.ENGINE_ERROR, self.TIMEOUT, self.UNREACHABLE, self.REJECTED)

    @property
    def needs_reason(self) -> bool:
        """Whether a person needs the failure's reason, beside its kind, to repair the cause."""
        return self in (self.INVALID_REQUEST, self.INVALID_REPLY, self.REJECTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Row of `prompts`: a rendered text, stored once for all deployments that get it.

    `prompt_id` is the content id of (messages or text, access_level). `render_id` is the id of the
    rendering (adapter, template, data version; for a judge its rubric). `subject_id` is the id of
    the rendered row: an instance_id, or the request_id of the judged answer. Exactly one of
    `messages` and `text` is non-empty. `output_mapping` maps each letter in the prompt to its
    reference text. `rubric_item` is the index of the rubric item that a judge's prompt asks about.
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
    """All decoding parameters of a request; they are part of the request_id."""

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
    """The key of one evaluated answer, in every row about this answer.

    `perturbation` is empty for the unchanged instance; the first trial is 0.
    """

    run_spec_id: str
    instance_id: str
    perturbation: str
    train_trial_index: int
    trial_index: int


EVALUATION_KEY = tuple(field.name for field in fields(EvaluationKey))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest(EvaluationKey):
    """Row of `requests`: the request of one evaluation key of a RunSpec, without text.

    Rows with the same `request_id` share one result: an engine gets equal requests once.
    `annotator` and `judge` are empty for purpose `evaluate`. For purpose `judge`,
    `judged_request_id` is the judged answer's request, and `rubric_item` the index, from 0, of the
    rubric item that the judge scores.
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
    """One returned text, as the engine wrote it; `thinking` is text that the engine returned apart.

    Stages read a completion by `domain.thinking.without_thinking`, which leaves the answer in
    `text` and moves the text between thinking tags to `thinking`. `tokens` are all generated
    tokens; `logprob` is the sum of their log-probabilities, None where the engine returns none.
    """

    text: str
    finish_reason: FinishReason
    thinking: str | None = None
    logprob: float | None = None
    tokens: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """Row of `request_results`: the outcome of one request (after the engine's own retries).

    An answer has completions and no failure; a failure has a kind and no completions. `attempts`
    counts the request's tries so far in the command that sent it. `request_time` is in seconds.
    `cached_tokens` counts the prompt's tokens that came from the engine's prefix cache. `executor`
    is the process group that sent the request. `engine_start` is the seconds that the engine took
    to start, in the first result of an engine started for this request. `destination` is the host
    and port that the text was sent to, or `this job`; `locality` is the deployment's at that time.
    Both are None for a denied request and for an answer from a file, whose text was not sent.
    `tries` counts how often the text was sent for this row. `reason` is the status and the known
    error codes of a failure; for a public request also the server's own sentence, for others no
    text.
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
    """Whether one judge's verdict on one answer can be used, and if not, why."""

    OK = "ok"
    UNPARSEABLE = "unparseable"
    REQUEST_FAILED = "request_failed"
    SKIPPED_EMPTY_OUTPUT = "skipped_empty_output"
    DENIED = "denied"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionScore:
    """A judge's score for one criterion, on the rubric's own scale.

    For a criterion with classes, `label` is the class and `score` is the index of the class in the
    criterion's list, from 0.
    """

    criterion: str
    score: float
    explanation: str = ""
    label: str = field(default="", metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationKey(EvaluationKey):
    """The key of a verdict; `request_id` is the judge's request, empty where no judge was asked."""

    annotator: str
    judge: str
    request_id: str
    rubric_item: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation(EvaluationKey):
    """Row of `annotations`: one judge's verdict on one evaluated answer.

    A row with a `rubric_item` is the verdict on this one item of the instance's own rubric: one
    score, 1 where the answer meets the item and 0 where it does not.
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
    """One value of an answer, taken from imported results."""

    name: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState(EvaluationKey):
    """Instance, request, result and annotations joined: the row that a metric reads.

    Fields that no metric of the RunSpec needs keep their defaults. `completions` is None where the
    request has no answer; `failure` is then the reason, or None for a request that was never sent
    or whose answer was not imported. The texts of `completions` are the answers that the RunSpec's
    extraction read. `unreadable` is True where the extraction found no answer, and None where it
    had nothing to read. `medhelm` are the completions that MedHELM would have got, None where they
    are the same or unknown. `cluster_id` is the instance's. `stored` are the values of an imported
    answer, None where it came without values.
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
