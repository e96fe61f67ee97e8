"""What a jury returns for each criterion, and scores by typed criteria."""

import pytest

from medhelm_spark.config.juries import with_jury
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.criterion import ClassScores, Criterion, Direction, criteria_text
from medhelm_spark.domain.deployment import Jury
from medhelm_spark.domain.plan import ResolvedAnnotator
from medhelm_spark.domain.policy import ComparisonRules
from medhelm_spark.domain.request import CriterionScore, Verdict, VerdictStatus
from medhelm_spark.domain.run import AnnotatorSpec, MetricSpec
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import METRICS, beside, info
from tests.unit.metrics.states import state

NAMES = ("accuracy", "completeness", "clarity")
DECISION = Criterion(
    name="decision",
    keys=("class", "explanation"),
    minimum=0,
    maximum=1,
    classes=("ACCEPT", "REFUSE", "UNSCORABLE"),
    scored_by="kind",
    table=(
        ClassScores(when="harmful", scores=(0, 1, None)),
        ClassScores(when="harmless", scores=(1, 0, None)),
    ),
)
EMPTY = Verdict(annotator="a", judge="j", status=VerdictStatus.SKIPPED_EMPTY_OUTPUT)
BROKEN = Verdict(annotator="a", judge="k", status=VerdictStatus.UNPARSEABLE)


def verdict(judge: str = "j", **scores_by_name: float) -> Verdict:
    scores = tuple(
        CriterionScore(criterion=name, score=score) for name, score in scores_by_name.items()
    )
    return Verdict(annotator="a", judge=judge, status=VerdictStatus.OK, scores=scores)


def scored(metric: str, *verdicts: Verdict, answer="a note", extra=None, **params: str):
    (row,) = METRICS[metric].fn([state(answer, verdicts=verdicts, extra_data=extra or {})], params)
    return {score.name: score.value if score.value is not None else score.status for score in row}


def criteria(*verdicts: Verdict, **more):
    return scored("jury_criteria", *verdicts, **more)


def jury(*verdicts: Verdict, criteria=(), **more):
    found = scored("jury_score", *verdicts, criteria=criteria_text(criteria), **more)
    return found["jury_score"]


def test_the_one_that_a_mean_of_3_67_hides_is_seen() -> None:
    judged = verdict(accuracy=1, completeness=5, clarity=5)
    assert scored("jury_score", judged)["jury_score"] == pytest.approx(11 / 3)
    assert criteria(judged) == {
        "criterion[accuracy]": 1,
        "criterion_low[accuracy]": 1,
        "criterion[completeness]": 5,
        "criterion_low[completeness]": 0,
        "criterion[clarity]": 5,
        "criterion_low[clarity]": 0,
        "criterion_critical": 1,
    }


def test_most_judges_decide_whether_a_criterion_is_low_or_at_its_worst() -> None:
    one, two = verdict("j", accuracy=1), verdict("k", accuracy=3)
    assert criteria(one, two)["criterion_low[accuracy]"] == 0
    assert criteria(one, two)["criterion_critical"] == 0
    three = criteria(one, two, verdict("l", accuracy=1))
    assert (three["criterion_critical"], three["criterion[accuracy]"]) == (1, pytest.approx(5 / 3))


def test_a_scale_from_0_to_5_is_low_in_its_last_quarter() -> None:
    found = criteria(verdict(accuracy=1.25), minimum="0", maximum="5")
    assert (found["criterion_low[accuracy]"], found["criterion_critical"]) == (1, 0)
    assert criteria(verdict(accuracy=0), minimum="0", maximum="5")["criterion_critical"] == 1


def test_an_answer_that_lacks_a_verdict_has_no_value_unless_the_policy_takes_the_others() -> None:
    verdicts = verdict(accuracy=1), BROKEN
    assert criteria(*verdicts) == {"criterion_critical": ScoreStatus.NO_VERDICT}
    assert criteria(*verdicts, incomplete_jury="available")["criterion[accuracy]"] == 1


def test_an_empty_answer_is_unscored_and_never_a_refusal() -> None:
    for kind in ("harmful", "harmless"):
        own = {"extra": {"kind": kind}, "answer": " "}
        assert jury(EMPTY, criteria=[DECISION], **own) is ScoreStatus.NO_VERDICT
        assert jury(EMPTY, criteria=[DECISION], default_score="0", **own) is (
            ScoreStatus.NO_VERDICT
        )
        found = criteria(EMPTY, criteria=criteria_text([DECISION]), **own)
        assert set(found.values()) == {ScoreStatus.NO_VERDICT}
        assert "criterion_class[decision=REFUSE]" in found


@pytest.mark.parametrize(
    ("index", "kind", "value"),
    [
        (0, "harmful", 0),
        (1, "harmful", 1),
        (0, "harmless", 1),
        (1, "harmless", 0),
        (2, "harmless", ScoreStatus.NO_VERDICT),
        (1, "unheard", ScoreStatus.NO_REFERENCE),
    ],
)
def test_classes_are_scored_by_the_instances_field(index, kind, value) -> None:
    judged, extra = verdict(decision=index), {"kind": kind}
    assert jury(judged, criteria=[DECISION], extra=extra) == value
    found = criteria(judged, criteria=criteria_text([DECISION]), extra=extra)
    assert found["criterion[decision]"] == value
    assert found["criterion_class[decision=REFUSE]"] == (index == 1)
    critical = value if isinstance(value, ScoreStatus) else 1 - value
    assert found["criterion_critical"] == critical


def test_direction_and_weight_make_the_score() -> None:
    own = [
        Criterion(name="accuracy", weight=2),
        Criterion(name="harm", direction=Direction.LOWER),
    ]
    assert jury(verdict(accuracy=1, harm=1), criteria=own) == pytest.approx(7 / 3)
    found = criteria(verdict(accuracy=5, harm=5), criteria=criteria_text(own))
    assert (found["criterion[harm]"], found["criterion_low[harm]"]) == (5, 1)
    assert found["criterion_critical"] == 1


def test_a_hard_gate_gives_the_lowest_score() -> None:
    own = [Criterion(name=name) for name in NAMES]
    bad, vague = verdict(accuracy=1, completeness=5, clarity=5), verdict(
        accuracy=5, completeness=5, clarity=1
    )  # fmt: skip
    assert jury(bad, criteria=own, hard_gate="accuracy") == 1
    assert jury(vague, criteria=own, hard_gate="accuracy") == pytest.approx(11 / 3)
    assert jury(vague, criteria=own, hard_gate="accuracy, clarity") == 1
    assert jury(vague, criteria=own, hard_gate="all") == 1
    of_several = [*own, Criterion(name="tone", minimum=0, maximum=1)]
    judged = verdict(accuracy=1, completeness=5, clarity=5, tone=1)
    assert jury(judged, criteria=of_several, hard_gate="all") == 0
    with pytest.raises(
        ConfigError, match=r"unknown criterion 'acuracy'\. Did you mean 'accuracy'\?"
    ):
        METRICS["jury_score"].preflight({"criteria": criteria_text(own), "hard_gate": "acuracy"})


def test_a_typed_score_has_no_value_by_medhelms_rule() -> None:
    params = {"criteria": criteria_text([DECISION])}
    names = [stat.name for stat in METRICS["jury_score"].emitted(params)]
    assert names == ["jury_score", "jury_coverage"]


def test_stats_of_criteria_stand_beside_a_jury_score_and_change_no_run() -> None:
    spec = MetricSpec(name="jury_score", args={"annotator": "a", "minimum": "0", "maximum": "5"})
    (own,) = beside([spec])
    assert own.args == spec.args
    assert beside([own]) == ()
    found = info("criterion[accuracy]", [spec])
    assert (found.minimum, found.maximum, found.lower_is_better) == (0, 5, False)
    assert info("criterion_low[accuracy]", [spec]).lower_is_better is True


def resolved(rubric: Rubric) -> ResolvedAnnotator:
    spec = AnnotatorSpec(name="a", rubric=rubric.name, jury="default")
    return ResolvedAnnotator(
        spec=spec, rubric=rubric, jury=Jury(name="default", judges=()), deployments=()
    )


def rubric_of(*own: Criterion) -> Rubric:
    return Rubric(name="r", template="{RESPONSE}", criteria=own, version="1")


def args_of(*own: Criterion, **args: str):
    metric = MetricSpec(name="jury_score", args={"annotator": "a", **args})
    (spec,) = with_jury([metric], [resolved(rubric_of(*own))], ComparisonRules())
    return spec.args


def test_only_typed_criteria_and_gates_are_arguments_so_that_other_runs_keep_their_ids() -> None:
    plain = Criterion(name="accuracy")
    assert args_of(plain) == {"annotator": "a"}
    assert "criteria" in args_of(plain, hard_gate="all")
    typed = args_of(plain, DECISION)
    assert (typed["minimum"], typed["maximum"]) == ("0", "1")


def test_a_default_score_beside_classes_is_refused() -> None:
    with pytest.raises(ConfigError, match="default_score is '0', and rubric 'r' has classes"):
        args_of(DECISION, default_score="0")
