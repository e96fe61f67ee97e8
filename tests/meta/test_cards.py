"""Whatever the shipped configuration names exists: parsers, metrics, rubrics, juries, engines."""

import pytest

from medhelm_spark.annotators.kinds import kind_of
from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.engines import ENGINES
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.metrics import info, stats_of
from medhelm_spark.scenarios import PARSERS, check_card
from tests.meta.tree import ROOT

FIRST_FETCH = {
    "ehr_sql",
    "head_qa",
    "healthqa_br",
    "med_dialog",
    "med_mcqa",
    "med_qa",
    "mtsamples_procedures",
    "mtsamples_replicate",
    "sct_bench",
}
"""Cards of which no hash or commit could be verified: a lake pins what it fetches first."""


WITHOUT_ADDRESS = {"health_bench_consensus", "health_bench_hard"}
"""Public cards of which no address could be verified: `--source` names the file."""


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_site()


@pytest.fixture(scope="module")
def cards(registry: Registry) -> tuple[ScenarioCard, ...]:
    return tuple(registry.cards.values())


def test_every_card_file_is_the_card_of_its_name(registry: Registry) -> None:
    names = {path.stem for path in (ROOT / "conf" / "scenarios").glob("*.yaml")}
    assert len(names) >= 3
    assert names == set(registry.cards)


def test_parsers_understand_the_cards(cards: tuple[ScenarioCard, ...]) -> None:
    assert {card.shape for card in cards} <= set(PARSERS)
    for card in cards:
        check_card(card)


def test_metrics_exist_and_one_of_them_gives_the_main_metric(
    cards: tuple[ScenarioCard, ...],
) -> None:
    assert not [
        card.name
        for card in cards
        if card.main_metric not in {stat.name for stat in stats_of(card.metrics)}
        or info(card.main_metric, card.metrics).name != card.main_metric
    ]


def test_annotators_find_their_rubric_and_jury(
    cards: tuple[ScenarioCard, ...], registry: Registry
) -> None:
    annotators = [(card.name, spec) for card in cards for spec in card.annotators]
    assert not [
        f"{name}: {spec.name}"
        for name, spec in annotators
        if spec.rubric not in registry.rubrics
        or not kind_of(registry.rubrics[spec.rubric])
        or spec.jury not in registry.juries
    ]
    assert all(jury.judges for jury in registry.juries.values())


def test_a_metric_that_reads_an_annotator_names_one_of_the_card(
    cards: tuple[ScenarioCard, ...],
) -> None:
    assert not [
        f"{card.name}: {metric.name}"
        for card in cards
        for metric in card.metrics
        if "annotator" in metric.args
        and metric.args["annotator"] not in {spec.name for spec in card.annotators}
    ]


def test_what_is_fetched_is_pinned_by_its_hash_or_by_its_first_fetch(
    cards: tuple[ScenarioCard, ...],
) -> None:
    sources = [(card.name, card.source) for card in cards]
    unpinned = {name for name, source in sources if source.is_unpinned}
    assert unpinned == FIRST_FETCH
    assert not [name for name, source in sources if source.dataset and not source.revision]


def test_every_public_card_has_an_address_for_all_it_reads(
    cards: tuple[ScenarioCard, ...],
) -> None:
    everyone = [card for card in cards if card.access_level is AccessLevel.PUBLIC]
    public = [card for card in everyone if card.name not in WITHOUT_ADDRESS]
    assert len(public) == 23
    assert {card.name for card in everyone} - {card.name for card in public} == WITHOUT_ADDRESS
    for card in public:
        source = card.source
        assert source.dataset or all(file.url for file in source.files), card.name
        assert set(source.texts) == set(source.text_urls), card.name
    assert not [card.name for card in cards if card not in public and not card.source.origin]


def test_a_card_says_what_a_reader_of_the_board_asks(cards: tuple[ScenarioCard, ...]) -> None:
    keys = ("display_name", "description", "what", "who", "when", "licence")
    assert not [f"{card.name}: {key}" for card in cards for key in keys if not getattr(card, key)]


def test_every_judge_is_a_deployment_that_exists(registry: Registry) -> None:
    for jury in registry.juries.values():
        for judge in jury.judges:
            assert registry.resolve_model(judge.model, judge.model_deployment)


def test_every_deployment_has_an_engine_and_keeps_no_secret(registry: Registry) -> None:
    deployments = registry.deployments.values()
    assert deployments
    assert {deployment.engine for deployment in deployments} <= set(ENGINES)
    assert not [deployment.name for deployment in deployments if open_secrets(deployment)]


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
