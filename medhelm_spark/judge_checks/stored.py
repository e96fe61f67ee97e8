"""What a lake stores of a jury: its verdicts, and the answers as its judges read them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.annotators.jury import needs_judging
from medhelm_spark.domain.access import strictest
from medhelm_spark.domain.annotation import Rubric, rubric_items
from medhelm_spark.domain.criterion import mean_of_criteria
from medhelm_spark.domain.request import Annotation, CriterionScore, RequestResult, VerdictStatus
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stages import ANNOTATE, INGEST, PLAN
from medhelm_spark.judge_checks.planting import StoredAnswer
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.metrics.rubric_points import points_share
from medhelm_spark.stages.states import read_answers

_AS_THEY_ARE = "perturbation = '' AND train_trial_index = 0"
_VERDICTS = f"""
SELECT * FROM ({{source}}) o WHERE {_AS_THEY_ARE} AND run_spec_id IN ({{units}})
"""
_REQUESTS = f"""
SELECT run_spec_id, instance_id, trial_index, request_id FROM ({{source}}) q
WHERE {_AS_THEY_ARE} AND run_spec_id IN ({{units}})
"""
_RESULTS = """
SELECT * FROM ({source}) r WHERE failure IS NULL AND {deployments}
AND request_id IN (SELECT request_id FROM ({asked}) a)
"""
_INSTANCES = """
SELECT * FROM ({source}) d WHERE perturbation = '' AND data_version IN ({versions})
"""

AnswerName = tuple[str, str, int]
"""An answer: run_spec_id, instance and trial."""

ScoresByCriterion = Mapping[str, float]
"""By criterion, or by the index of a rubric item, a judge's score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVerdicts:
    """The verdicts of one jury on the answers of some runs."""

    judges: tuple[str, ...]
    by_judge: Mapping[str, Mapping[AnswerName, float]]
    """The mean of the criteria, or the share of points, of each usable verdict, by judge."""
    status: Mapping[str, Sequence[VerdictStatus]]
    """The status of each verdict, by judge."""
    criteria: Mapping[str, Mapping[AnswerName, ScoresByCriterion]]
    """The scores of each usable verdict by criterion, by judge."""

    @property
    def of_jury(self) -> dict[AnswerName, float]:
        """The mean of all judges, of the answers on which each has a usable verdict."""
        first, *others = (self.by_judge[judge] for judge in self.judges)
        return {
            name: fsum([first[name], *(other[name] for other in others)]) / len(self.judges)
            for name in first
            if all(name in other for other in others)
        }


def score_of(rubric: Rubric, scores: ScoresByCriterion, fields: Mapping[str, str]) -> float | None:
    """A judge's score of an answer: the mean of its criteria, or the share of points.

    None without verdicts, where a class leaves the answer unscored, and where an item lacks one.
    """
    if not scores:
        return None
    if rubric.is_per_item:
        met = {int(index): value for index, value in scores.items()}
        return points_share(rubric_items(fields), met)
    if not rubric.is_typed:
        return fsum(scores.values()) / len(scores)
    return mean_of_criteria(rubric.criteria, scores, fields)


def scores_by_criterion(
    scores: Sequence[CriterionScore], rubric_item: int | None
) -> ScoresByCriterion:
    """The scores of one verdict; a score of a rubric item is named by the item's index."""
    if rubric_item is None:
        return {score.criterion: score.score for score in scores}
    return {str(rubric_item): score.score for score in scores}


def stored_verdicts(
    reader: Reader,
    specs: Sequence[RunSpec],
    annotator: str,
    judges: Sequence[str],
    rubric: Rubric,
) -> StoredVerdicts:
    """The verdicts of an annotator's judges that boards rest on; perturbed copies are left out."""
    versions = {spec.run_spec_id: spec.data_version for spec in specs}
    needs_fields = rubric.has_classes or rubric.is_per_item
    instances = _instances(reader, versions.values()) if needs_fields else {}
    sql = _VERDICTS.format(source=output_of("annotations", ANNOTATE), units=literals(_units(specs)))
    by_judge: dict[str, dict[AnswerName, float]] = {judge: {} for judge in judges}
    status: dict[str, list[VerdictStatus]] = {judge: [] for judge in judges}
    criteria: dict[str, dict[AnswerName, dict[str, float]]] = {judge: {} for judge in judges}
    rows: list[Annotation] = reader.rows(sql, Annotation)
    for row in rows:
        if row.annotator != annotator or row.judge not in status:
            continue
        name = (row.run_spec_id, row.instance_id, row.trial_index)
        status[row.judge].append(row.status)
        if row.status is VerdictStatus.OK:
            of_answer = criteria[row.judge].setdefault(name, {})
            of_answer.update(scores_by_criterion(row.scores, row.rubric_item))
    for judge, by_answer in criteria.items():
        for name, of_answer in by_answer.items():
            instance = instances.get((versions[name[0]], name[1]))
            score = score_of(rubric, of_answer, instance.extra_data if instance else {})
            if score is not None:
                by_judge[judge][name] = score
    return StoredVerdicts(judges=tuple(judges), by_judge=by_judge, status=status, criteria=criteria)


def stored_answers(
    reader: Reader, specs: Sequence[RunSpec], rubric: Rubric
) -> dict[AnswerName, StoredAnswer]:
    """The answers of these runs that judges read, as the judges read them."""
    by_unit = {spec.run_spec_id: spec for spec in specs}
    versions = {spec.data_version for spec in specs}
    instances = _instances(reader, versions)
    named = among("model_deployment", {spec.model_deployment for spec in specs})
    requests = _REQUESTS.format(source=output_of("requests", PLAN), units=literals(_units(specs)))
    results: list[RequestResult] = reader.rows(
        _RESULTS.format(source=CURRENT_RESULTS, deployments=named, asked=requests), RequestResult
    )
    by_request = {row.request_id: row for row in results}
    answers: dict[AnswerName, StoredAnswer] = {}
    for row in reader.query(requests).to_pylist():
        spec = by_unit[row["run_spec_id"]]
        instance = instances.get((spec.data_version, row["instance_id"]))
        result = by_request.get(row["request_id"])
        if instance is None or result is None:
            continue
        read = read_answers(result.completions, spec, instance.references, instance.input)
        if needs_judging(rubric, read.completions) or not read.completions:
            continue
        answer = StoredAnswer(
            run_spec_id=spec.run_spec_id,
            trial_index=row["trial_index"],
            request_id=row["request_id"],
            model=spec.model,
            instance=instance,
            judge_input=JudgeInput(
                question=instance.input,
                messages=instance.messages,
                response=read.completions[0].text,
                gold=instance.references[0].text if instance.references else "",
                extra_data=instance.extra_data,
                access_level=strictest([instance.access_level, result.access_level]),
            ),
        )
        answers[answer.key] = answer
    return answers


def _instances(reader: Reader, versions: Iterable[str]) -> dict[tuple[str, str], Instance]:
    sql = _INSTANCES.format(
        source=output_of("instances", INGEST, "data_version"), versions=literals(versions)
    )
    rows: list[Instance] = reader.rows(sql, Instance)
    return {(row.data_version, row.instance_id): row for row in rows}


def _units(specs: Iterable[RunSpec]) -> list[str]:
    return [spec.run_spec_id for spec in specs]
