"""The scores of ratings and verdicts by the typed criteria of their runs.

A run's jury score has its criteria as an argument where they have direction, weight or classes.
Verdicts on the items of an instance's own rubric score a share of its points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from medhelm_spark.domain.annotation import rubric_items
from medhelm_spark.domain.criterion import Criterion, criteria_of, mean_of_criteria
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.metrics.rubric_points import points_share

_FIELDS = """
SELECT data_version, instance_id, extra_data FROM ({instances}) d
WHERE perturbation = '' AND data_version IN ({versions})
"""

Fields = Mapping[str, str]
Met = Mapping[int, float]
"""By index of a rubric item whether it is met, 1 or 0."""

Item = tuple[str, str, int]
"""An answer: run_spec_id, instance and trial."""

JudgeName = tuple[str, str]
"""An annotator and one of its judges."""


def criteria_in(spec: RunSpec) -> tuple[Criterion, ...]:
    """The typed criteria of a run; none where its criteria are scales alone."""
    return tuple(
        criterion
        for metric in spec.metrics
        for criterion in criteria_of(metric.args.get("criteria", ""))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionValues:
    """The scores of values of criteria, by run and instance."""

    by_unit: Mapping[str, Mapping[str, Criterion]] = field(default_factory=dict)
    fields: Mapping[tuple[str, str], Fields] = field(default_factory=dict)
    """The extra data of the instances by run and instance, where a criterion is scored by it."""

    def scored(self, unit: str, instance: str, criterion: str, value: float) -> float | None:
        """The value on the criterion's scale; of a class by its table, None where it is open."""
        own = self.by_unit.get(unit, {}).get(criterion)
        return value if own is None else own.score(value, self.fields.get((unit, instance), {}))

    def mean(self, unit: str, instance: str, values: Mapping[str, float]) -> float | None:
        """The mean of an answer's criteria, as the run's jury score takes it.

        For criteria that are not the run's own, the plain mean.
        """
        own = self.by_unit.get(unit, {})
        if not own or own.keys() != values.keys():
            return sum(values.values()) / len(values)
        fields = self.fields.get((unit, instance), {})
        return mean_of_criteria(tuple(own.values()), values, fields)


def criterion_values(reader: Reader, specs: Sequence[RunSpec]) -> CriterionValues:
    """How the values of these runs' criteria are read; the lake is read only for classes."""
    by_unit = {spec.run_spec_id: {each.name: each for each in criteria_in(spec)} for spec in specs}
    by_class = [
        spec for spec in specs if any(each.scored_by for each in by_unit[spec.run_spec_id].values())
    ]
    if not by_class:
        return CriterionValues(by_unit=by_unit)
    return CriterionValues(by_unit=by_unit, fields=_fields(reader, by_class))


def points_by_judge(
    reader: Reader, specs: Sequence[RunSpec], met: Mapping[JudgeName, Mapping[Item, Met]]
) -> dict[JudgeName, dict[str, dict[Item, float]]]:
    """By judge the share of points of each answer whose items all have a verdict.

    Args:
        reader: it has the instances, whose rubrics have the points of each item.
        specs: the runs.
        met: by judge, answer and index of the item whether it is met, 1 or 0.
    """
    fields = _fields(reader, specs)
    return {
        judge: {
            "": {
                item: share
                for item, own in by_answer.items()
                if (share := points_share(rubric_items(fields.get(item[:2], {})), own)) is not None
            }
        }
        for judge, by_answer in met.items()
    }


def _fields(reader: Reader, specs: Sequence[RunSpec]) -> dict[tuple[str, str], Fields]:
    """The extra data of the instances, by run and instance."""
    sql = _FIELDS.format(
        instances=output_of("instances", INGEST, "data_version"),
        versions=literals(spec.data_version for spec in specs),
    )
    by_version = {
        (row["data_version"], row["instance_id"]): dict(row["extra_data"] or ())
        for row in reader.query(sql).to_pylist()
    }
    return {
        (spec.run_spec_id, instance): own
        for spec in specs
        for (version, instance), own in by_version.items()
        if version == spec.data_version
    }
