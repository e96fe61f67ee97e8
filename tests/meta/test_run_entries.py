"""The shipped run entries and suites agree with the cards, and the page of scenarios is fresh."""

from pathlib import Path

import pytest

from medhelm_spark.cli.scenarios import problems_of
from medhelm_spark.config.cards import UNSUPPORTED_SCENARIOS
from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.medhelm.expand import Selection, expand
from medhelm_spark.medhelm.run_entries import load_conf
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.medhelm.suites import load_suite
from medhelm_spark.pipeline.scenario_page import page
from tests.meta.tree import ROOT

FILES = {"public": "public", "gated": "gated", "private_example": "private"}
SUITES = sorted(path.stem for path in (ROOT / "conf" / "suites").glob("*.yaml"))
PARTS = {"health_bench_consensus", "health_bench_hard"}
"""Cards of conversations that another card has too: a suite with both would count them twice."""
MODEL = "huggingface/smollm2-135m-instruct"


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_site()


def entries(name: str) -> tuple[RunEntry, ...]:
    return load_conf(ROOT / "conf" / f"run_entries_medhelm_{name}.conf")


def runs(name: str, registry: Registry) -> tuple[ResolvedRun, ...]:
    return expand(
        entries(name), registry, base_dir=ROOT, selection=Selection(models_to_run=[MODEL])
    )


@pytest.mark.parametrize("name", FILES)
def test_every_entry_is_of_the_level_of_its_file_and_names_no_model(
    name: str, registry: Registry
) -> None:
    found = runs(name, registry)
    assert len(found) == len(entries(name))
    assert {run.card.access_level.value for run in found} == {FILES[name]}
    assert not [entry for entry in entries(name) if "model" in entry.args]


@pytest.mark.parametrize("name", FILES)
def test_every_card_stands_in_the_file_of_its_level(name: str, registry: Registry) -> None:
    cards = {one.name for one in registry.cards.values() if one.access_level == FILES[name]}
    assert {entry.name for entry in entries(name)} == cards - PARTS


@pytest.mark.parametrize("name", FILES)
def test_entries_stand_under_their_category(name: str, registry: Registry) -> None:
    path = ROOT / "conf" / f"run_entries_medhelm_{name}.conf"
    category = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  # "):
            category = line.removeprefix("  # ")
        if line.startswith("  {description"):
            scenario = line.split('"')[1].split(":")[0]
            assert registry.cards[scenario].category == category


def test_what_medhelms_own_files_run_has_priority_one() -> None:
    counts = {name: sum(one.priority == 1 for one in entries(name)) for name in FILES}
    # 17 scenarios without HealthAdminBench, MedDialog twice; 7, EHRSHOT and n2c2 three times each;
    # 14, CLEAR thirteen times.
    assert counts == {"public": 17, "gated": 11, "private_example": 26}


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_resolves(name: str, registry: Registry) -> None:
    suite, found = load_suite(name)
    models = suite.models_to_run or (MODEL,)
    base = Path()
    assert len(expand(found, registry, base_dir=base, selection=Selection(models_to_run=models)))
    assert suite.description.endswith(".")


def test_the_smoke_suite_needs_nothing_but_what_ships_and_one_download() -> None:
    suite, found = load_suite("smoke")
    assert suite.models_to_run == (MODEL,)
    assert [entry.name for entry in found] == ["pubmed_qa", *["medhelm_configurable_benchmark"] * 2]


def test_all_46_of_the_leaderboard_have_a_card_or_a_reason(registry: Registry) -> None:
    """The two HealthBench sets are a pair of their own; MMLU is not on the leaderboard."""
    apart = {"mmlu", "mmlu_pro", "health_bench", "health_bench_professional", *PARTS}
    assert len(registry.cards.keys() - apart) + len(UNSUPPORTED_SCENARIOS) == 44


def test_no_card_names_what_does_not_exist(registry: Registry) -> None:
    assert not {
        name: list(problems_of(card, registry))
        for name, card in registry.cards.items()
        if list(problems_of(card, registry))
    }


def test_the_page_of_scenarios_is_fresh(registry: Registry) -> None:
    written = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    assert written == page(registry), "run `make docs`"
