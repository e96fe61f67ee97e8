"""The criteria that raters see: the criteria of a rubric, with the anchors in its text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.criterion import Criterion, Direction
from medhelm_spark.domain.request import Annotation, VerdictStatus
from medhelm_spark.domain.run import AnnotatorSpec, RunSpec
from medhelm_spark.domain.stages import ANNOTATE
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.metrics.jury_criteria import scale_in
from medhelm_spark.ratings.tables import RatedCriterion

_ANCHOR = re.compile(r"-?\d+(?:\.\d+)?: \S.*")

_VERDICT = """
SELECT * FROM ({source}) o WHERE status = '{ok}' AND rubric_item IS NULL AND {named} LIMIT 1
"""


def rubrics_behind(
    reader: Reader, rubrics: Mapping[str, Rubric], specs: Sequence[RunSpec]
) -> list[Rubric]:
    """The rubrics by which the runs' judges judged, each once.

    Args:
        reader: it has the verdicts of the runs.
        rubrics: the site's. A rubric in a benchmark's own files (`prompt_file`) is returned with
            the criteria of a stored verdict and the scale of the run's jury score, but without a
            template; without a stored verdict it is left out.
        specs: the runs.
    """
    by_name = {each.rubric: (spec, each) for spec in specs for each in spec.annotators}
    return [
        rubric
        for name, (spec, annotator) in by_name.items()
        if (rubric := rubrics.get(name) or _of_verdict(reader, spec, annotator))
    ]


def _of_verdict(reader: Reader, spec: RunSpec, annotator: AnnotatorSpec) -> Rubric | None:
    """The rubric, from a usable verdict and the run's jury score."""
    sql = _VERDICT.format(
        source=output_of("annotations", ANNOTATE, units=[spec.run_spec_id]),
        ok=VerdictStatus.OK,
        named=among("annotator", [annotator.name]),
    )
    verdicts: list[Annotation] = reader.rows(sql, Annotation)
    scales = [
        scale_in(metric.args)
        for metric in spec.metrics
        if metric.args.get("annotator") == annotator.name
    ]
    if not scales or not verdicts:
        return None
    low, high = scales[0]
    criteria = tuple(
        Criterion(name=score.criterion, minimum=low, maximum=high)
        for verdict in verdicts
        for score in verdict.scores
    )
    return Rubric(name=annotator.rubric, template="", criteria=criteria, version="")


def of_rubrics(rubrics: Iterable[Rubric]) -> tuple[RatedCriterion, ...]:
    """The criteria of rubrics, each name once."""
    by_name = {
        criterion.name: _rated(criterion, rubric.template)
        for rubric in rubrics
        for criterion in rubric.criteria
    }
    return tuple(by_name.values())


def refuse_other_scale(
    rubrics: Iterable[Rubric], names: Iterable[str], scale: tuple[float, float]
) -> None:
    """Refuse a scale that reaches beyond that of a criterion of the same name in a rubric.

    Raises:
        ConfigError: it names the criterion and its scale.
    """
    low, high = scale
    by_name = {each.name: each for each in of_rubrics(rubrics)}
    for each in (by_name[name] for name in dict.fromkeys(names) if name in by_name):
        if low < each.minimum or high > each.maximum:
            raise ConfigError(
                f"--scale is {low:g}-{high:g}, and the judges' rubric has criterion {each.name!r} "
                f"from {each.minimum:g} to {each.maximum:g}; leave --scale out, or give the "
                "criterion another name: its values are not the judges'."
            )


def of_scale(names: Iterable[str], scale: tuple[float, float]) -> tuple[RatedCriterion, ...]:
    """Criteria of these names on one scale."""
    low, high = scale
    return tuple(
        RatedCriterion(name=name, minimum=low, maximum=high, whole=False)
        for name in dict.fromkeys(names)
    )


def _rated(criterion: Criterion, template: str) -> RatedCriterion:
    """The criterion, with question and anchors from the paragraph that begins with its name.

    Such a paragraph is `NAME: QUESTION` and then a line `VALUE: MEANING` for each anchor. The
    criterion's own question, anchors or classes have precedence.
    """
    if criterion.classes or criterion.question or criterion.anchors:
        return _stated(criterion)
    lines = iter(template.splitlines())
    head = f"{criterion.name}: "
    question = next((line.removeprefix(head) for line in lines if line.startswith(head)), "")
    return RatedCriterion(
        name=criterion.name,
        minimum=criterion.minimum,
        maximum=criterion.maximum,
        whole=criterion.whole,
        question=question.strip(),
        lower_is_better=criterion.direction is Direction.LOWER,
        anchors=tuple(_anchors(lines)) if question else (),
    )


def _stated(criterion: Criterion) -> RatedCriterion:
    """The criterion with its own question and anchors; classes are rated by their indices."""
    last = float(len(criterion.classes) - 1)
    return RatedCriterion(
        name=criterion.name,
        minimum=0.0 if criterion.classes else criterion.minimum,
        maximum=last if criterion.classes else criterion.maximum,
        whole=bool(criterion.classes) or criterion.whole,
        question=criterion.question,
        anchors=tuple(f"{each.value}: {each.meaning}" for each in criterion.anchors),
        classes=criterion.classes,
        lower_is_better=criterion.direction is Direction.LOWER,
    )


def _anchors(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not _ANCHOR.fullmatch(line.strip()):
            return
        yield line.strip()
