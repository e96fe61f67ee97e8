"""From HELM's files to the lake's rows, one request at a time.

Every function here is run by the tasks: it gets the places of runs and yields rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from medhelm_spark.adaptation.decoding import estimate_text_tokens
from medhelm_spark.adaptation.render import prompt_id
from medhelm_spark.domain.helm_results import SUFFIX, HelmFiles, KnownInstance, Surveyed
from medhelm_spark.domain.ids import canonical_json, content_id, digest
from medhelm_spark.domain.request import (
    Annotation,
    Completion,
    CriterionScore,
    Decoding,
    FailureKind,
    FinishReason,
    PlannedRequest,
    Prompt,
    Purpose,
    RequestResult,
    TokenLogprob,
    VerdictStatus,
)
from medhelm_spark.domain.scenario import Instance, Message, Reference, Split
from medhelm_spark.domain.stats import PerInstanceStats, Score
from medhelm_spark.engines import IMPORTED
from medhelm_spark.helm.results.states import (
    REDACTED,
    State,
    read_instance_stats,
    read_states,
)
from medhelm_spark.helm.results.stream import BrokenFileError
from medhelm_spark.scenarios import ParsedInput
from medhelm_spark.scenarios.levels import text_hashes

Known = Mapping[str, str]
"""Instance ids of the lake by the content of their instances (`content_of`)."""

SPLITS = frozenset(Split)
CRITERIA_MET = "criteria_met"
PROMPT_TEXT, EMPTY_ANSWER = "prompt_text", "empty_output_equivalence_judgement"
_REASONS = {
    "stop": FinishReason.STOP,
    "endoftext": FinishReason.STOP,
    "length": FinishReason.LENGTH,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A request with the id of its instance, and which of an instance's trials it is."""

    state: State
    instance_id: str
    trial_index: int
    content: "Content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The texts of an instance; those that are redacted, or in no file, are empty."""

    split: Split
    input: str = ""
    messages: tuple[Message, ...] = ()
    references: tuple[Reference, ...] = ()
    extra_data: Mapping[str, str]
    sub_split: str | None = None

    @property
    def is_blank(self) -> bool:
        return not self.input.strip() and not self.messages


def text_of(value: object) -> str:
    """A text as it can be stored; empty where it is redacted or none."""
    if not isinstance(value, str) or value == REDACTED:
        return ""
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode("utf-8")  # half a character becomes ?


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def content_from(state: State) -> Content:
    """The instance of a request.

    Raises:
        BrokenFileError: its split is none of HELM's.
    """
    if state.split not in SPLITS:
        raise BrokenFileError(f"an instance has another split than {', '.join(SPLITS)}")
    instance = _object(state.instance)
    asked = _object(instance.get("input"))
    messages = _messages(asked.get("messages"))
    text = text_of(asked.get("text"))
    references = tuple(
        Reference(
            text=text_of(_object(_object(reference).get("output")).get("text")),
            tags=tuple(map(str, _list(_object(reference).get("tags")))),
        )
        for reference in _list(instance.get("references"))
    )
    extra = {
        str(key): text_of(value) if isinstance(value, str) else canonical_json(value)
        for key, value in _object(instance.get("extra_data")).items()
        if value is not None
    }
    sub_split = instance.get("sub_split")
    return Content(
        split=Split(state.split),
        input=text if text.strip() or not messages else messages[-1].content,
        messages=messages,
        references=references,
        extra_data=extra,
        sub_split=str(sub_split) if sub_split is not None else None,
    )


def _messages(value: object) -> tuple[Message, ...]:
    turns = (_object(turn) for turn in _list(value))
    return tuple(
        Message(role=str(turn.get("role") or ""), content=text_of(turn.get("content")))
        for turn in turns
        if turn and text_of(turn.get("content"))
    )


def content_of(scenario_name: str, instance: Content | Instance) -> str:
    """What two instances have in common that hold the same data: text, references and split."""
    return content_id(
        scenario_name.removesuffix(SUFFIX),
        digest(instance.input.strip()),
        [[reference.text, *reference.tags] for reference in instance.references],
        [[message.role, message.content] for message in instance.messages],
        instance.split.value,
    )


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


def _own_id(run: HelmFiles, state: State, content: Content) -> str:
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


def placed(run: HelmFiles, known: Known) -> Iterator[Placed]:
    """The requests of a run with the ids of their instances.

    The id is that of the lake's instance of the same content where there is one. A perturbed copy
    has the id of its original, which stands before it.
    """
    ids: dict[str, str] = {}
    trials: dict[tuple[str, str, int], int] = {}
    for state in read_states(Path(run.path)):
        content = content_from(state)
        instance_id = ids.get(state.helm_id) if state.perturbation or not state.instance else None
        if instance_id is None:
            own = _own_id(run, state, content)
            found = None if content.is_blank else known.get(content_of(run.scenario_name, content))
            instance_id = found or own
        first = ids.setdefault(state.helm_id, instance_id)
        if first != instance_id:
            raise BrokenFileError("two instances have one id")
        key = (instance_id, state.perturbation, state.train_trial_index)
        trials[key] = trials.get(key, -1) + 1
        yield Placed(state=state, instance_id=instance_id, trial_index=trials[key], content=content)


Make = Callable[[HelmFiles, Placed], Iterator[Any]]


@dataclass(frozen=True, slots=True)
class FromStates:
    """Places of runs in, rows of one table out: `make` gives those of one request."""

    make: Make
    known: Known

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[Any]:
        for run in runs:
            for each in placed(run, self.known):
                yield from self.make(run, each)


@dataclass(frozen=True, slots=True)
class Instances:
    """Places of runs in, each instance of theirs once out."""

    known: Known

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[Instance]:
        for run in runs:
            written: set[tuple[str, str]] = set()
            for each in placed(run, self.known):
                key = (each.instance_id, each.state.perturbation)
                if key not in written:
                    yield _instance(run, each, len(written))
                    written.add(key)


def _instance(run: HelmFiles, each: Placed, index: int) -> Instance:
    content = each.content
    parsed = ParsedInput(
        input=content.input, references=content.references, messages=content.messages
    )
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
        text_hashes=() if content.is_blank else text_hashes(parsed, {}),
    )


def _asked(run: HelmFiles, each: Placed) -> tuple[str, tuple[Message, ...], str]:
    """Prompt text, messages and prompt_id; both empty where the prompt is not known."""
    request = _object(each.state.request)
    messages = _messages(request.get("messages"))
    text = "" if messages else text_of(request.get("prompt"))
    if messages:
        return "", messages, content_id(messages, run.access_level)
    return text, (), prompt_id(text, run.access_level)


def _render_id(run: HelmFiles) -> str:
    return content_id("helm results", run.revision, run.access_level)


def prompts(run: HelmFiles, each: Placed) -> Iterator[Prompt]:
    """The prompt of a request, once for its trials; nothing where it is redacted."""
    text, messages, identity = _asked(run, each)
    if each.trial_index or not (text or messages):
        return
    state = each.state
    shown = _object(state.output_mapping)
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
        output_mapping={str(key): text_of(value) for key, value in shown.items()},
        num_train_instances=state.num_train_instances,
        prompt_truncated=state.prompt_truncated,
        num_characters=characters,
    )


def requests(run: HelmFiles, each: Placed) -> Iterator[PlannedRequest]:
    """The request of each RunSpec that its answer counts for."""
    text, messages, identity = _asked(run, each)
    state, model = each.state, _object(each.state.request)
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


def _request_id(run: HelmFiles, each: Placed) -> str:
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
    top = _whole(request.get("top_k_per_token"), 1)
    return Decoding(
        max_tokens=_whole(request.get("max_tokens"), 0),
        temperature=_number(request.get("temperature")) or 0.0,
        top_p=_number(request.get("top_p")) or 1.0,
        stop_sequences=tuple(map(text_of, _list(request.get("stop_sequences")))),
        num_completions=_whole(request.get("num_completions"), 1),
        logprobs=top if top > 1 else 0,
    )


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]


def _whole(value: object, default: int) -> int:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else default


def has_answer(state: State) -> bool:
    """Whether a request was answered by a text that is there; an empty one counts."""
    completions = _list(_object(state.result).get("completions"))
    texts = [_object(completion).get("text") for completion in completions]
    return bool(texts) and all(isinstance(text, str) and text != REDACTED for text in texts)


def is_redacted(state: State) -> bool:
    """Whether a request was answered by a text that is not there."""
    return bool(_list(_object(state.result).get("completions"))) and not has_answer(state)


def results(run: HelmFiles, each: Placed) -> Iterator[RequestResult]:
    """What a request came to; nothing where its text is redacted or no file has it."""
    result = _object(each.state.result)
    if not result or is_redacted(each.state):
        return
    completions = tuple(map(_completion, map(_object, _list(result.get("completions")))))
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
        request_time=_number(result.get("request_time")),
    )


def _moment(value: object) -> datetime:
    """When an answer came; the beginning of time where no file says it, the same at every try."""
    seconds = _number(value)
    try:
        return datetime.fromtimestamp(seconds or 0.0, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0.0, UTC)


def _completion(completion: Mapping[str, Any]) -> Completion:
    reason = str(_object(completion.get("finish_reason")).get("reason"))
    thinking = text_of(_object(completion.get("thinking")).get("text"))
    return Completion(
        text=text_of(completion.get("text")),
        finish_reason=_REASONS.get(reason, FinishReason.UNKNOWN),
        thinking=thinking or None,
        logprob=_number(completion.get("logprob")),
        tokens=tuple(
            TokenLogprob(
                text=text_of(_object(token).get("text")),
                logprob=_number(_object(token).get("logprob")) or 0.0,
            )
            for token in _list(completion.get("tokens"))
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    annotator: str
    judge: str
    status: VerdictStatus
    scores: tuple[CriterionScore, ...] = ()
    rubric_item: int | None = None


def verdicts(state: State) -> Iterator[_Verdict | None]:
    """What judges said of an answer; None for each verdict of a form that is not known here.

    HELM keeps by annotator and judge an object of criteria with `score` and `explanation`, or a
    list with an object for each item of the instance's own rubric.
    """
    for annotator, held in _object(state.annotations).items():
        for judge, said in _object(held).items():
            if isinstance(said, dict):
                yield from _of_judge(str(annotator), str(judge), said)


def _of_judge(annotator: str, judge: str, said: Mapping[str, Any]) -> Iterator[_Verdict | None]:
    lists = [value for value in said.values() if isinstance(value, list)]
    items = [item for value in lists for item in value if isinstance(item, dict)]
    if items:
        for place, item in enumerate(items):
            score = _met(item)
            yield _verdict(annotator, judge, (score,), place) if score else None
        return
    given = [
        _criterion(str(name), _object(value))
        for name, value in said.items()
        if isinstance(value, dict)
    ]
    scores = tuple(score for score in given if score)
    yield _verdict(annotator, judge, scores) if scores and len(scores) == len(given) else None


def _verdict(
    annotator: str, judge: str, scores: tuple[CriterionScore, ...], item: int | None = None
) -> _Verdict:
    return _Verdict(
        annotator=annotator,
        judge=judge,
        status=VerdictStatus.OK,
        scores=scores,
        rubric_item=item,
    )


def _criterion(name: str, value: Mapping[str, Any]) -> CriterionScore | None:
    try:
        score = float(value["score"])
    except (KeyError, TypeError, ValueError):
        return None
    return CriterionScore(
        criterion=name, score=score, explanation=text_of(value.get("explanation"))
    )


def _met(item: Mapping[str, Any]) -> CriterionScore | None:
    met = item.get(CRITERIA_MET)
    if not isinstance(met, bool):
        return None
    return CriterionScore(
        criterion=CRITERIA_MET, score=float(met), explanation=text_of(item.get("explanation"))
    )


def annotations(run: HelmFiles, each: Placed) -> Iterator[Annotation]:
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
    """Places of runs in, the stored values of their instances out, for the run as imported.

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
                for each in placed(run, self.known)
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


@dataclass(frozen=True, slots=True)
class Survey:
    """Places of runs in, what each holds out: all its large files are read to their end."""

    known: Known

    def __call__(self, runs: Iterable[HelmFiles]) -> Iterator[Surveyed]:
        for run in runs:
            try:
                yield self._surveyed(run)
            except BrokenFileError as error:
                yield Surveyed(path=run.path, problem=str(error))

    def _surveyed(self, run: HelmFiles) -> Surveyed:
        instances: dict[tuple[str, str], str] = {}
        asked: set[tuple[str, str]] = set()
        answers = silent = read = unread = states = 0
        has_inputs = True
        for each in placed(run, self.known):
            states += 1
            answers += has_answer(each.state)
            silent += is_redacted(each.state)
            has_inputs = has_inputs and not each.content.is_blank
            instances[each.instance_id, each.state.perturbation] = each.content.split.value
            asked.add((each.state.helm_id, each.state.perturbation))
            for verdict in verdicts(each.state):
                read, unread = read + bool(verdict), unread + (verdict is None)
        names: dict[str, None] = {}
        for row in read_instance_stats(Path(run.path)):
            if (row.helm_id, row.perturbation) not in asked:
                raise BrokenFileError("it has stats of an instance that was not asked")
            names.update(dict.fromkeys(row.values))
        if states == 0 and (Path(run.path) / "scenario_state.json").is_file():
            raise BrokenFileError("scenario_state.json holds no request")
        splits = [split for (_, perturbation), split in instances.items() if not perturbation]
        return Surveyed(
            path=run.path,
            states=states,
            instances=content_id(sorted(instances)) if instances else "",
            splits={split: splits.count(split) for split in sorted(set(splits))},
            answers=answers,
            silent=silent,
            has_inputs=has_inputs and states > 0,
            stats=tuple(sorted(names)),
            verdicts=read,
            unread=unread,
        )
