"""The arguments of a run's judged metrics: the scale of the rubric, the rule of the policy."""

from benchmarks.incomplete_jury import false_wins
from medhelm_spark.config.juries import JUDGED, with_jury
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.deployment import Jury
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import ComparisonRules, IncompleteJury
from medhelm_spark.domain.run import AnnotatorSpec, MetricSpec
from medhelm_spark.metrics import METRICS

UNSCORED, AVAILABLE = IncompleteJury.UNSCORED, IncompleteJury.AVAILABLE


def annotator(name: str, *scales: tuple[float, float]) -> ResolvedAnnotator:
    criteria = tuple(
        Criterion(name=f"c{index}", minimum=low, maximum=high)
        for index, (low, high) in enumerate(scales)
    )
    rubric = Rubric(name=name, template="{RESPONSE}", criteria=criteria, version="v")
    return ResolvedAnnotator(
        spec=AnnotatorSpec(name=name, rubric=name),
        rubric=rubric,
        jury=Jury(name="default", judges=(), validated=False),
        deployments=(),
    )


def args(spec: MetricSpec, *annotators: ResolvedAnnotator, rule: IncompleteJury = UNSCORED):
    (made,) = with_jury([spec], annotators, ComparisonRules(incomplete_jury=rule))
    METRICS[made.name].preflight(made.args)
    return dict(made.args)


def test_the_metrics_that_are_told_are_those_that_read_verdicts() -> None:
    assert set(JUDGED) == {name for name, metric in METRICS.items() if "verdicts" in metric.needs}


def test_what_is_the_default_is_not_told() -> None:
    spec = MetricSpec(name="jury_score", args={"annotator": "a"})
    assert args(spec, annotator("a", (1, 5), (1, 5)), annotator("b", (0, 9))) == {"annotator": "a"}
    assert args(MetricSpec(name="health_bench")) == {}
    assert args(MetricSpec(name="exact_match"), rule=AVAILABLE) == {}


def test_another_rule_of_the_policy_reaches_every_judged_metric() -> None:
    for name in JUDGED:
        metric_args = args(MetricSpec(name=name), annotator("a", (1, 5)), rule=AVAILABLE)
        assert metric_args == {"incomplete_jury": "available"}
    own = MetricSpec(name="health_bench", args={"incomplete_jury": "unscored"})
    assert args(own, rule=AVAILABLE) == {"incomplete_jury": "unscored"}


def test_another_scale_is_told_and_one_that_is_not_known_is_open() -> None:
    spec = MetricSpec(name="jury_score", args={"annotator": "a"})
    scale = {"minimum": "0", "maximum": "10"}
    assert args(spec, annotator("a", (0, 5), (1, 10))) == {"annotator": "a", **scale}
    assert args(spec, annotator("a")) == {"annotator": "a", "minimum": "-inf", "maximum": "inf"}


def test_a_strict_judge_that_fails_makes_false_wins_only_where_juries_may_be_incomplete() -> None:
    assert false_wins(150, 40, 0.0, seed=1)[UNSCORED] < 0.15
    failing = false_wins(150, 40, 0.2, seed=1)
    assert failing[UNSCORED] < 0.15
    assert failing[AVAILABLE] > 0.4
