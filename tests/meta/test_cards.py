"""Whatever the shipped configuration names exists: parsers, metrics, rubrics, juries, engines."""

import pytest

from medhelm_spark.annotators.kinds import kind_of
from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.scenario import AccessLevel, ScenarioCard
from medhelm_spark.engines import ENGINES
from medhelm_spark.helm.site import load_site
from medhelm_spark.metrics import info, stats_of
from medhelm_spark.scenarios import PARSERS, check_card
from tests.meta.tree import ROOT

CARD_FILES = sorted((ROOT / "conf" / "scenarios").glob("*.yaml"))
NAMES = [path.stem for path in CARD_FILES]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_site()


@pytest.fixture(params=NAMES)
def card(request: pytest.FixtureRequest, registry: Registry) -> ScenarioCard:
    return registry.cards[request.param]


def test_every_card_file_is_the_card_of_its_name(registry: Registry) -> None:
    assert len(NAMES) >= 3
    assert set(NAMES) == set(registry.cards)


def test_the_parser_understands_the_card(card: ScenarioCard) -> None:
    assert card.shape in PARSERS
    check_card(card)


def test_metrics_exist_and_one_of_them_gives_the_main_metric(card: ScenarioCard) -> None:
    given = {stat.name for stat in stats_of(card.metrics)}
    assert card.main_metric in given
    assert info(card.main_metric, card.metrics).name == card.main_metric


def test_annotators_find_their_rubric_and_jury(card: ScenarioCard, registry: Registry) -> None:
    for spec in card.annotators:
        assert kind_of(registry.rubrics[spec.rubric])
        assert registry.juries[spec.jury].judges


def test_a_metric_that_reads_an_annotator_names_one_of_the_card(card: ScenarioCard) -> None:
    read = {spec.args["annotator"] for spec in card.metrics if "annotator" in spec.args}
    assert read <= {spec.name for spec in card.annotators}


def test_what_is_fetched_is_pinned_by_its_hash(card: ScenarioCard) -> None:
    assert not [file.path for file in card.source.files if file.url and not file.sha256]
    assert not card.source.dataset or card.source.revision


def test_a_card_says_what_a_reader_of_the_board_asks(card: ScenarioCard) -> None:
    said = (card.display_name, card.description, card.what, card.who, card.when, card.licence)
    assert all(said)


def test_every_judge_is_a_deployment_that_exists(registry: Registry) -> None:
    for jury in registry.juries.values():
        for judge in jury.judges:
            assert registry.resolve_model(judge.model, judge.model_deployment)


def test_every_deployment_has_an_engine_and_keeps_no_secret(registry: Registry) -> None:
    assert registry.deployments
    assert {one.engine for one in registry.deployments.values()} <= set(ENGINES)
    assert not [one.name for one in registry.deployments.values() if open_secrets(one)]


def open_secrets(deployment: Deployment) -> list[str]:
    """Arguments that look like a key but are not a reference to one."""
    return [
        name
        for name, value in deployment.args.items()
        if any(word in name.lower() for word in ("key", "password", "secret"))
        and not str(value).startswith(("env:", "secret:"))
    ]


def test_no_shipped_jury_claims_validation(registry: Registry) -> None:
    assert not [jury.name for jury in registry.juries.values() if jury.validated]


def test_the_policy_lets_nothing_but_public_text_leave(registry: Registry) -> None:
    allowed = dict(registry.policy.allowed)
    assert "external" not in allowed.get(AccessLevel.PRIVATE, ())
    assert "external" not in allowed.get(AccessLevel.GATED, ())
