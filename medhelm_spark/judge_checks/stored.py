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
from medhelm_spark.metrics import JURY_SCORE
from medhelm_spark.metrics.jury import lowest_by_gates
from medhelm_spark.metrics.metric import Params
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
    of_jury: Mapping[AnswerName, float]
    """The jury's score of the answers on which all judges have a usable verdict."""
    params: Mapping[str, Params]
    """The arguments of the jury's score, whose hard gates scores follow, by run."""


def jury_params(specs: Iterable[RunSpec], annotator: str) -> dict[str, Params]:
    """The arguments of the jury score of an annotator's verdicts, by run."""
    return {
        spec.run_spec_id: metric.args
        for spec in specs
        for metric in spec.metrics
        if metric.name == JURY_SCORE and metric.args.get("annotator") in (None, annotator)
    }


def score_of(
    rubric: Rubric,
    verdicts: Sequence[ScoresByCriterion],
    fields: Mapping[str, str],
    params: Params,
) -> float | None:
    """The score of an answer as the jury's metric takes it; of one verdict, as of a jury of one.

    None where a verdict has none.
    """
    votes = {
        each.name: [verdict[each.name] for verdict in verdicts if each.name in verdict]
        for each in rubric.criteria
    }
    lowest = lowest_by_gates(params, rubric.criteria, votes, fields)
    if lowest is not None:
        return lowest
    means = [_mean(rubric, verdict, fields) for verdict in verdicts]
    known = [mean for mean in means if mean is not None]
    return fsum(known) / len(known) if known and len(known) == len(means) else None


def _mean(rubric: Rubric, scores: ScoresByCriterion, fields: Mapping[str, str]) -> float | None:
    """A verdict's score of an answer: the mean of its criteria, or the share of points.

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
    params: Mapping[str, Params] | None = None,
) -> StoredVerdicts:
    """The verdicts of an annotator's judges that boards rest on; perturbed copies are left out.

    Scores follow the hard gates of `params`, by run; without, they are plain means of criteria.
    """
    params = params or {}
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

    def scored(name: AnswerName, verdicts: Sequence[ScoresByCriterion]) -> float | None:
        instance = instances.get((versions[name[0]], name[1]))
        fields = instance.extra_data if instance else {}
        return score_of(rubric, verdicts, fields, params.get(name[0], {}))

    for judge, by_answer in criteria.items():
        for name, of_answer in by_answer.items():
            if (score := scored(name, [of_answer])) is not None:
                by_judge[judge][name] = score
    of_jury = {}
    for name in criteria[judges[0]]:
        own = [by_answer[name] for by_answer in criteria.values() if name in by_answer]
        if len(own) == len(criteria) and (score := scored(name, own)) is not None:
            of_jury[name] = score
    return StoredVerdicts(
        judges=tuple(judges),
        by_judge=by_judge,
        status=status,
        criteria=criteria,
        of_jury=of_jury,
        params=params,
    )


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
