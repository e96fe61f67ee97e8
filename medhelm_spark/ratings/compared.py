"""The values of judges, juries and metrics that are compared with raters', by answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.board.stat_rows import direction_of
from medhelm_spark.domain.request import Annotation, VerdictStatus
from medhelm_spark.domain.run import MEDHELM_08, AnnotatorSpec, RunSpec
from medhelm_spark.domain.stages import ANNOTATE, SCORE
from medhelm_spark.domain.stats import PerInstanceStats
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.metrics import stem_of
from medhelm_spark.metrics.jury_criteria import STEMS
from medhelm_spark.ratings.typed import CriterionValues, points_by_judge

_OF_RUNS = """
SELECT * FROM ({source}) o WHERE perturbation = '' AND run_spec_id IN ({units})
"""
ALL = "mean of criteria"
"""In place of a criterion: the mean over the criteria of a rater, judge or jury."""
JUDGE, JURY, METRIC = "judge", "jury", "metric"

Item = tuple[str, str, int]
"""An answer: run_spec_id, instance and trial."""
Values = Mapping[Item, float]


def scored_value(
    values_of: CriterionValues, item: Item, criterion: str, value: float, *, is_class: bool
) -> float | None:
    """The scored value of a criterion; with `is_class` the value itself."""
    unit, instance, _ = item
    return value if is_class else values_of.scored(unit, instance, criterion, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedValues:
    """A judge, jury or metric; `by_criterion` has a value for each answer."""

    who: str
    by_criterion: Mapping[str, Values]
    has_criteria: bool
    """Whether it judges by criteria; a metric has one value, which is compared with each."""
    annotator: str = ""
    """Of a judge or jury."""


def of_judges(
    reader: Reader, specs: Sequence[RunSpec], values_of: CriterionValues, *, is_class: bool
) -> Iterator[ComparedValues]:
    """Each judge, and each jury as the mean of its judges."""
    sql = _OF_RUNS.format(
        source=output_of("annotations", ANNOTATE),
        units=literals(spec.run_spec_id for spec in specs),
    )
    by_judge: dict[tuple[str, str], dict[str, dict[Item, float]]] = {}
    met: dict[tuple[str, str], dict[Item, dict[int, float]]] = {}
    rows: list[Annotation] = reader.rows(sql, Annotation)
    for row in rows:
        if row.status is not VerdictStatus.OK:
            continue
        item = (row.run_spec_id, row.instance_id, row.trial_index)
        if row.rubric_item is not None:
            by_item = met.setdefault((row.annotator, row.judge), {}).setdefault(item, {})
            by_item[row.rubric_item] = row.scores[0].score
            continue
        of_judge = by_judge.setdefault((row.annotator, row.judge), {})
        scores = {score.criterion: score.score for score in row.scores}
        for name, one in scores.items():
            value = scored_value(values_of, item, name, one, is_class=is_class)
            if value is not None:
                of_judge.setdefault(name, {})[item] = value
        mean = values_of.mean(item[0], item[1], scores) if len(scores) > 1 else None
        if mean is not None:
            of_judge.setdefault(ALL, {})[item] = mean
    own = {spec.name: spec for run in specs for spec in run.annotators}
    yield from _judges_and_juries(by_judge, own, has_criteria=True)
    if met:
        shares = points_by_judge(reader, specs, met)
        yield from _judges_and_juries(shares, own, has_criteria=False)


def _judges_and_juries(
    by_judge: Mapping[tuple[str, str], Mapping[str, Values]],
    own: Mapping[str, AnnotatorSpec],
    *,
    has_criteria: bool,
) -> Iterator[ComparedValues]:
    """Each judge and each jury, by the names that a judge card has."""
    by_rubric = len(own) > 1  # two rubrics may have one jury, or a judge in common

    def other(kind: str, name: str, annotator: str, values: Mapping[str, Values]) -> ComparedValues:
        rubric = f", rubric {own[annotator].rubric}" if by_rubric else ""
        return ComparedValues(
            who=f"{kind} {name}{rubric}",
            by_criterion=values,
            has_criteria=has_criteria,
            annotator=annotator,
        )

    for (annotator, judge), values in sorted(by_judge.items()):
        yield other(JUDGE, judge, annotator, values)
    for annotator in sorted({annotator for annotator, _ in by_judge}):
        judges = [values for (name, _), values in by_judge.items() if name == annotator]
        if len(judges) > 1:
            yield other(JURY, own[annotator].jury, annotator, _mean_of(judges))


def _mean_of(judges: Sequence[Mapping[str, Values]]) -> dict[str, Values]:
    """By criterion the mean of the judges that have a value."""
    means: dict[str, Values] = {}
    for criterion in sorted({name for judge in judges for name in judge}):
        values: dict[Item, list[float]] = {}
        for judge in judges:
            for item, value in judge.get(criterion, {}).items():
                values.setdefault(item, []).append(value)
        means[criterion] = {item: sum(own) / len(own) for item, own in values.items()}
    return means


def of_metrics(reader: Reader, specs: Sequence[RunSpec]) -> Iterator[ComparedValues]:
    """Each stat of an answer that measures its quality."""
    sql = _OF_RUNS.format(
        source=output_of("per_instance_stats", SCORE),
        units=literals(spec.run_spec_id for spec in specs),
    )
    by_unit = {spec.run_spec_id: spec for spec in specs}
    by_metric: dict[str, dict[Item, float]] = {}
    rows: list[PerInstanceStats] = reader.rows(sql, PerInstanceStats)
    for row in rows:
        item = (row.run_spec_id, row.instance_id, row.trial_index)
        for score in row.stats:
            if score.value is not None and _is_of_quality(by_unit[row.run_spec_id], score.name):
                by_metric.setdefault(score.name, {})[item] = score.value
    for name, values in sorted(by_metric.items()):
        if len(set(values.values())) > 1:  # a constant orders nothing
            yield ComparedValues(
                who=f"{METRIC} {name}", by_criterion={"": values}, has_criteria=False
            )


def _is_of_quality(spec: RunSpec, name: str) -> bool:
    """Whether a higher or lower value of a stat is better; tokens and seconds are neither.

    MedHELM's own value of a metric that we compute too is left out, and so are the stats of a
    jury's criteria: its judges are compared by their verdicts.
    """
    if stem_of(name) in STEMS:
        return False
    return not name.endswith(f"@{MEDHELM_08}") and direction_of(spec, name) is not None
