"""Answers as a person reads them, and which other method would read those that count as wrong."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from medhelm_spark import features
from medhelm_spark.adaptation.extraction import WORDS
from medhelm_spark.adaptation.options import options_among
from medhelm_spark.board import (
    RIGHT,
    AnswerFilter,
    BoardRun,
    InstanceDetail,
    InstanceKey,
    InstancePage,
    InstanceScore,
    Viewer,
    chosen_option,
    instance_details,
    instances_of,
    own_columns,
    run_metric_of,
)
from medhelm_spark.board.results import Answer, AnswerMark, Answers
from medhelm_spark.config.extraction import extraction_named, with_options
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.request import Prompt, RequestState
from medhelm_spark.domain.run import STRICT, AnswerExtraction, ExtractionMethod, RunSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.lake.reader import Reader
from medhelm_spark.metrics import Metric, Params, declared_labels, metrics_for
from medhelm_spark.stages.states import read_state

MOST_READ_AGAIN = 500
"""At most so many answers of a run are read again by another method."""


Marks = Mapping[tuple[str, InstanceKey], AnswerMark]
"""What people left on answers, by run and answer."""


def answers_of(
    reader: Reader,
    runs: Sequence[BoardRun],
    *,
    only: AnswerFilter | None,
    limit: int | None,
    noted: bool = False,
) -> Answers:
    """Up to `limit` answers of these runs, one run after the other, with a note on each run.

    With `noted` those on which people left flags or a note.
    """
    marks = _marks(reader, runs)
    answers: list[Answer] = []
    notes: list[str] = []
    listed = 0
    for run in runs:
        left = None if limit is None else limit - len(answers)
        among = {key for unit, key in marks if unit == run.run_spec.run_spec_id}
        if noted and not among:
            continue
        page = instances_of(
            reader,
            run.run_spec,
            limit=None if left is None or noted else max(left, 1),
            only=only,
            among={key.instance_id for key in among} if noted else None,
        )
        if noted:
            marked = tuple(score for score in page.scores if score.key in among)
            page = replace(page, scores=marked, total=len(marked))
        answers += islice(_texts(reader, run.run_spec, page, marks), left)
        listed += page.total
        notes.append(_note(reader, run, only))
    if noted and not marks:
        notes.append("No answer has flags or a note.")
    if len(answers) < listed:
        notes.append(
            f"{len(answers):,} of {counted(listed, 'answer')} shown; --limit all shows all"
        )
    return Answers(answers=tuple(answers), of_runs=tuple(notes))


def _details(
    reader: Reader, spec: RunSpec, scores: Sequence[InstanceScore]
) -> Iterator[tuple[InstanceScore, InstanceDetail]]:
    keys = [score.key for score in scores]
    # Whoever runs this here reads the lake itself, not through a page.
    details = instance_details(reader, spec, keys, viewer=Viewer.THIS_MACHINE)
    return ((score, details[score.key]) for score in scores if score.key in details)


def _marks(reader: Reader, runs: Sequence[BoardRun]) -> Marks:
    ids = [run.run_spec.run_spec_id for run in runs]
    hooks = features.parts("of_answers")
    return {key: mark for hook in hooks for key, mark in hook.marks(reader, ids).items()}


def _texts(reader: Reader, spec: RunSpec, page: InstancePage, marks: Marks) -> Iterator[Answer]:
    for score, detail in _details(reader, spec, page.scores):
        mark = marks.get((spec.run_spec_id, score.key))
        read = read_state(_state(spec, detail), spec)
        is_read = spec.answer_extraction is not None and read.unreadable is False
        references = detail.instance.references if detail.instance else ()
        yield Answer(
            scenario_name=spec.scenario_name,
            model_deployment=spec.model_deployment,
            number=score.number,
            instance_id=score.key.instance_id,
            prompt=_prompt_text(detail.prompt),
            answer=detail.answer,
            read=read.completions[0].text if read.completions and is_read else None,
            option=chosen_option(spec, detail),
            references=tuple(ref.text for ref in references if ref.is_correct),
            metric=page.value_of,
            value=score.value,
            status=_status(score, detail),
            levels=detail.levels | {spec.access_level, *([mark.access_level] if mark else [])},
            source_id=detail.instance.source_id if detail.instance else None,
            columns=own_columns(detail.instance.extra_data) if detail.instance else {},
            gone=detail.gone,
            flags=mark.flags if mark else (),
            note=mark.note if mark else None,
        )


def _prompt_text(prompt: Prompt | None) -> str:
    """The text of a prompt; of a conversation its last turn."""
    if prompt is None:
        return ""
    return prompt.messages[-1].content if prompt.messages else prompt.text


def _status(score: InstanceScore, detail: InstanceDetail) -> str:
    failure = detail.result.failure if detail.result else None
    return failure.value if failure else score.status.value


def _state(spec: RunSpec, detail: InstanceDetail) -> RequestState:
    """The answer as the stage `score` gets it, with the fields that the metrics need."""
    instance, result, stats = detail.instance, detail.result, detail.stats
    return RequestState(
        run_spec_id=spec.run_spec_id,
        instance_id=stats.instance_id if stats else "",
        perturbation=stats.perturbation if stats else "",
        train_trial_index=stats.train_trial_index if stats else 0,
        trial_index=stats.trial_index if stats else 0,
        split=spec.main_split,
        input=instance.input if instance else "",
        references=instance.references if instance else (),
        completions=(result.completions or None) if result else None,
    )


def _note(reader: Reader, run: BoardRun, only: AnswerFilter | None) -> str:
    """How many answers a run has, of which kinds, and what would read those that count as wrong."""
    spec = run.run_spec
    wrong = instances_of(reader, spec, limit=MOST_READ_AGAIN, only=AnswerFilter.WRONG)
    unread = instances_of(reader, spec, limit=MOST_READ_AGAIN, only=AnswerFilter.UNREAD)
    total = instances_of(reader, spec, limit=1).total
    kinds = ", ".join(f"{count} {kind.label}" for kind, count in wrong.counts.items())
    parts = [
        f"{spec.scenario_name} of {spec.model_deployment}: {counted(total, 'answer')}, {kinds}",
        _of_run(spec, wrong),
        _STRICT if only is AnswerFilter.UNREAD and spec.reading == ExtractionMethod.STRICT else "",
        _hint(reader, run, wrong, unread),
    ]
    return "; ".join(part for part in parts if part)


def _of_run(spec: RunSpec, page: InstancePage) -> str:
    """What the values of answers are where the main metric is of the whole run."""
    if run_metric_of(spec) is None:
        return ""
    if page.value_of == RIGHT:
        return f"{spec.main_metric} is of the whole run, {RIGHT} 1 or 0 of each answer"
    return f"{spec.main_metric} is of the whole run, and no answer is right or wrong by it"


_STRICT = "they are compared unchanged (strict), so that none counts as unread"


def _hint(reader: Reader, run: BoardRun, wrong: InstancePage, unread: InstancePage) -> str:
    spec = run.run_spec
    reading = _metric_of(spec)
    if reading is None or run.info is None:
        return ""
    scores = {score.key: score for page in (wrong, unread) for score in page.scores}
    missed = list(scores.values())[:MOST_READ_AGAIN]
    details = [detail for _, detail in _details(reader, spec, missed)]
    matches = {
        method.value: _matches(spec, method, details, reading, run.info)
        for method in _methods(spec, details)
        if method.value != spec.reading
    }
    best = max(matches, key=matches.__getitem__, default="")  # of equals the first
    if not best or not matches[best]:
        return ""
    return (
        f"{matches[best]} of {len(details)} match as {best}: a run entry with "
        f"answer_extraction={best} reads them so"
    )


def _methods(spec: RunSpec, details: Iterable[InstanceDetail]) -> tuple[ExtractionMethod, ...]:
    """The methods that take no field or pattern, the one made for these references first.

    Where an instance has one option alone, whatever names it would be right by choice.
    """
    instances = [detail.instance for detail in details if detail.instance]
    if any(_options(spec, instance) < 2 for instance in instances):
        return (ExtractionMethod.YES_NO,)
    correct = [ref.text for instance in instances for ref in instance.references if ref.is_correct]
    if all(text.strip().lower() in WORDS for text in correct):
        return (ExtractionMethod.YES_NO, ExtractionMethod.CHOICE)
    return (ExtractionMethod.CHOICE, ExtractionMethod.YES_NO)


def _options(spec: RunSpec, instance: Instance) -> int:
    declared = _otherwise(spec, ExtractionMethod.CHOICE).options or ()
    options = options_among((reference.text for reference in instance.references), declared)
    return len(options.labels) + len(options.texts)


def _otherwise(spec: RunSpec, method: ExtractionMethod) -> AnswerExtraction:
    """The extraction of a run entry that names another method."""
    own = spec.answer_extraction or STRICT
    return with_options(extraction_named(method, own, ""), declared_labels(spec.metrics))


def _metric_of(spec: RunSpec) -> tuple[Metric, Params] | None:
    """The metric behind the main score where it reads an answer's text and nothing beyond it."""
    for metric, params in metrics_for(spec.metrics):
        names = {stat.name for stat in metric.emitted(params)}
        if spec.main_metric in names and metric.takes_readings:
            return metric, params
    return None


def _matches(
    spec: RunSpec,
    method: ExtractionMethod,
    details: Sequence[InstanceDetail],
    reading: tuple[Metric, Params],
    info: MetricInfo,
) -> int:
    """How many of these answers have the best score once `method` reads them."""
    metric, params = reading
    otherwise = replace(spec, answer_extraction=_otherwise(spec, method))
    states = [read_state(_state(spec, detail), otherwise) for detail in details]
    best = info.minimum if info.lower_is_better else info.maximum
    return sum(
        score.value == best
        for row in metric.fn(states, params)
        for score in row
        if score.name == spec.main_metric
    )
