"""Juries: MedHELM's `judges.yaml`, and the arguments that judged metrics get of their jury.

The file may also give `name` and `validated`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.criterion import criteria_text, scale_of
from medhelm_spark.domain.deployment import Judge, Jury
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import ComparisonRules, IncompleteJury
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.errors import ConfigError

DEFAULT_JURY = "default"
JURY_SCORE = "jury_score"
HARD_GATE, DEFAULT_SCORE = "hard_gate", "default_score"
"""Arguments of `jury_score`."""
JUDGED = (JURY_SCORE, "jury_criteria", "health_bench", "health_bench_professional")
"""The metrics that read verdicts and take the argument `incomplete_jury`."""

USUAL_SCALE = (1.0, 5.0)
"""The scale that `jury_score` has where its arguments name none."""

UNKNOWN_SCALE = (float("-inf"), float("inf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgesFile:
    judges: tuple[Judge, ...]
    name: str = DEFAULT_JURY
    validated: bool = False


def load_jury(path: Path) -> Jury:
    """Reads one jury.

    Raises:
        ConfigError: If the file is broken, names no judge, or two of one name.
    """
    file = load_yaml(path, _JudgesFile)
    return build_jury(file.name, file.judges, where=str(path), validated=file.validated)


def build_jury(
    name: str, judges: tuple[Judge, ...], *, where: str, validated: bool = False
) -> Jury:
    """A jury of at least one judge, each with its own name (the key of its annotations)."""
    if not judges:
        raise ConfigError(f"{where}: judges is empty; a jury needs at least one judge.")
    names = [judge.name for judge in judges]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise ConfigError(f"{where}: judge {repeated!r} is named twice.")
    return Jury(name=name, judges=judges, validated=validated)


def with_jury(
    metrics: Iterable[MetricSpec],
    annotators: Sequence[ResolvedAnnotator],
    comparison: ComparisonRules,
) -> tuple[MetricSpec, ...]:
    """The metrics of a run with the arguments that its rubrics and the policy give them.

    A card's own arguments win. Only what differs from a metric's default is given, so that other
    runs keep their ids.
    """
    rubrics = {annotator.spec.name: annotator.rubric for annotator in annotators}
    return tuple(
        replace(spec, args={**_jury_args(spec, rubrics, comparison), **spec.args})
        if spec.name in JUDGED
        else spec
        for spec in metrics
    )


def _jury_args(
    spec: MetricSpec, rubrics: Mapping[str, Rubric], comparison: ComparisonRules
) -> dict[str, str]:
    rule = comparison.incomplete_jury
    args = {} if rule is IncompleteJury.UNSCORED else {"incomplete_jury": rule.value}
    if spec.name != JURY_SCORE:
        return args
    named = spec.args.get("annotator")
    own = [rubric for name, rubric in rubrics.items() if named in (None, name)]
    typed = [rubric for rubric in own if rubric.is_typed]
    if not typed and HARD_GATE not in spec.args:
        return args | _ends(_scale(own))
    if len(own) != 1 or not own[0].criteria:
        raise ConfigError(
            f"metric {JURY_SCORE}: {len(own)} rubrics, one with direction, weight, low, classes or "
            f"a {HARD_GATE}; allowed: an argument `annotator` that names the annotator of one."
        )
    (rubric,) = own
    if rubric.has_classes and DEFAULT_SCORE in spec.args:
        raise ConfigError(
            f"metric {JURY_SCORE}: {DEFAULT_SCORE} is {spec.args[DEFAULT_SCORE]!r}, and rubric "
            f"{rubric.name!r} has classes, by which an empty answer is unscored; leave it out."
        )
    return args | {"criteria": criteria_text(rubric.criteria)} | _ends(scale_of(rubric.criteria))


def _ends(scale: tuple[float, float]) -> dict[str, str]:
    """The arguments that name a scale; none of the usual one."""
    return {} if scale == USUAL_SCALE else {"minimum": f"{scale[0]:g}", "maximum": f"{scale[1]:g}"}


def _scale(rubrics: Iterable[Rubric]) -> tuple[float, float]:
    """From the lowest to the highest score of all criteria; not known where a rubric has none."""
    criteria = [rubric.criteria for rubric in rubrics]
    if not criteria or not all(criteria):
        return UNKNOWN_SCALE
    flat = [criterion for of_rubric in criteria for criterion in of_rubric]
    return min(each.minimum for each in flat), max(each.maximum for each in flat)
