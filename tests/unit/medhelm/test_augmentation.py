"""The run expander `data_augmentation`, the word lists it needs, and prompt variants."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark import plugins
from medhelm_spark.adaptation.perturbations import PERTURBATIONS, change_of
from medhelm_spark.config.layers import LayeredFiles
from medhelm_spark.config.registry import Registry
from medhelm_spark.config.word_lists import load_word_lists, word_list_files
from medhelm_spark.domain.run import PerturbationSpec, PromptVariant
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.augmentation import AUGMENTATIONS, NOT_SHIPPED
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.medhelm.site import load_site
from tests.unit.conftest import Write
from tests.unit.runs import SMALL, expand_one, expand_texts

NUMBERS = itertools.count()
HELM_VALUES = (
    "extra_space contrast_sets space lower contract filler misspelling_mild misspelling_medium "
    "misspelling_hard misspelling_sweep typo_easy typo_medium typo_hard synonym dialect_easy "
    "dialect_medium dialect_hard dialect_deterministic person_name_first_hard_preserve_gender "
    "person_name_first_hard_dont_preserve_gender person_name_first_deterministic "
    "person_name_last_deterministic person_name_last_hard gender_terms_easy gender_terms_medium "
    "gender_terms_hard gender_terms_deterministic gender_pronouns_easy gender_pronouns_medium "
    "gender_pronouns_hard gender_pronouns_deterministic robustness fairness canonical "
    "robustness_all chinese hindi spanish swahili art"
)


def test_every_value_of_helms_is_shipped_or_refused_by_name() -> None:
    assert not set(HELM_VALUES.split()) - set(AUGMENTATIONS) - set(NOT_SHIPPED)
    assert not set(AUGMENTATIONS) & set(NOT_SHIPPED)
    assert set(NOT_SHIPPED) == {"contrast_sets", "chinese", "hindi", "spanish", "swahili", "art"}


def test_every_value_names_perturbations_that_can_be_made(shipped: Registry) -> None:
    lists = load_word_lists(shipped.word_list_files)
    for value, sets in AUGMENTATIONS.items():
        for perturbations in sets.values():
            names = [spec.name for spec in perturbations]
            assert len(names) == len(set(names)) > 0, f"{value}: the name distinguishes copies"
            assert all(change_of(spec, lists) for spec in perturbations), value


def test_every_perturbation_can_be_asked_for() -> None:
    available = {
        spec.name for sets in AUGMENTATIONS.values() for specs in sets.values() for spec in specs
    }
    assert available == set(PERTURBATIONS)


def test_a_value_stands_in_the_run_name_as_helm_writes_it(registry: Registry) -> None:
    run = expand_one(registry, f"triage:data_augmentation=canonical,{SMALL}")
    assert run.name == "triage,data_augmentation=canonical:model=acme_small"
    names = [spec.name for spec in run.perturbations]
    assert names == ["mild_mix", "dialect", "gender", "person_name"]
    assert run.word_lists["gender_pronouns"]["he"] == ("she",)


def test_a_sweep_is_one_run_per_level(registry: Registry) -> None:
    runs = expand_texts(registry, f"triage:data_augmentation=misspelling_sweep,{SMALL}")
    found = {
        run.name.split("data_augmentation=")[1].split(":")[0]: run.perturbations[0].args
        for run in runs
    }
    assert found == {
        "misspelling0": {"prob": "0"},
        "misspelling0.05": {"prob": "0.05"},
        "misspelling0.2": {"prob": "0.2"},
        "misspelling0.5": {"prob": "0.5"},
    }


def test_a_run_that_perturbs_nothing_reads_no_word_list(registry: Registry) -> None:
    run = expand_one(registry, f"triage:{SMALL}")
    assert (run.perturbations, run.word_lists) == ((), {})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("chinese", "data_augmentation=chinese is not supported: it needs machine translation"),
        ("contrast_sets", "no medical one"),
        ("typo", "unknown data_augmentation 'typo'. Did you mean 'typo_"),
    ],
)
def test_what_is_not_shipped_is_refused(registry: Registry, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match="--run-entries: run entry 'triage'") as caught:
        expand_one(registry, f"triage:data_augmentation={value},{SMALL}")
    assert message in str(caught.value)


def test_a_sites_word_list_replaces_the_shipped_one(site: Path, write: Write) -> None:
    path = write("site/perturbations/dialect.yaml", "words:\n  hello: [howdy]\n")
    registry = load_site(site)
    assert load_word_lists(registry.word_list_files)["dialect"] == {"hello": ("howdy",)}
    origin = next(one for one in registry.origins if one.name == "dialect")
    assert (origin.kind, origin.file) == ("word list", str(path))
    run = expand_one(registry, f"triage:data_augmentation=dialect_hard,{SMALL}")
    assert run.word_lists["dialect"] == {"hello": ("howdy",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words: {a: []}", "words.a has no word, or an empty one"),
        ("words: {a: ['']}", "words.a has no word, or an empty one"),
        ("words: [a]", "words is a list of 1; allowed: a mapping"),
        ("word: {}", "unknown key word"),
    ],
)
def test_a_wrong_word_list_is_one_sentence(
    tmp_path: Path, write: Write, text: str, message: str
) -> None:
    path = write("site/perturbations/dialect.yaml", text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_word_lists({"dialect": word_list_files(LayeredFiles(tmp_path / "site"))["dialect"]})
    assert str(path) in str(caught.value)


def test_a_benchmark_has_other_templates_as_prompt_variants(benchmark: Path, write: Write) -> None:
    write("bench/short.txt", "{case}?")
    text = "prompt_variants:\n  - name: short\n    prompt_file: short.txt\n"
    benchmark.write_text(benchmark.read_text() + text)
    card = load_benchmark(benchmark).card
    assert card.prompt_variants == (PromptVariant(name="short"),)
    assert card.options["prompt.short"] == "{case}?"
    write("bench/short.txt", "{absent}")
    with pytest.raises(ConfigError, match="absent"):
        load_benchmark(benchmark)


def test_a_benchmark_names_its_perturbations(
    registry: Registry, benchmark: Path, plug_in: Any
) -> None:
    own, entry = benchmark.read_text(), f"medhelm_configurable_benchmark:config_path={benchmark}"
    benchmark.write_text(own + "perturbations: [lower, typo_easy]\n")
    run = expand_one(registry, f"{entry},{SMALL}")
    assert run.perturbations == (
        PerturbationSpec(name="lowercase"),
        PerturbationSpec(name="typos", args={"prob": "0.1"}),
    )
    assert run.name == "FEVER:model=acme_small"
    assert run.word_lists
    spec_of_entry = expand_one(registry, f"{entry},data_augmentation=space,{SMALL}")
    assert [spec.name for spec in spec_of_entry.perturbations] == ["space"], (
        "the run entry's value is used"
    )
    plug_in("capitals")
    benchmark.write_text(own + "perturbations: [capitals]\n")
    run = expand_one(registry, f"{entry},{SMALL}")
    assert run.perturbations == (PerturbationSpec(name="capitals"),)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[lowercase]", "unknown data_augmentation 'lowercase'.*'lower'"),
        ("[art]", "art is not supported"),
        ("[misspelling_sweep]", "'misspelling_sweep' means 4 runs of different strength"),
        ("[typo_easy, typo_hard]", "'typo_hard' perturbs by 'typos', and another value does so"),
        ("lower", "perturbations is 'lower'; allowed: a list"),
    ],
)
def test_perturbations_that_cannot_be(benchmark: Path, value: str, message: str) -> None:
    benchmark.write_text(f"{benchmark.read_text()}perturbations: {value}\n")
    with pytest.raises(ConfigError, match=message) as caught:
        load_benchmark(benchmark)
    assert str(caught.value).startswith(f"{benchmark}: perturbations")


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Loads a plug-in with one perturbation of this name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def load(name: str) -> None:
        module = f"augmenting_{next(NUMBERS)}"
        (tmp_path / f"{module}.py").write_text(
            "from medhelm_spark.adaptation.perturbations import Perturbation\n"
            "from medhelm_spark.adaptation.perturbations.perturbation import on_text\n"
            f"PERTURBATIONS = {{{name!r}: Perturbation(\n"
            "    build=lambda args, lists: on_text(lambda rng: str.upper))}\n"
        )
        plugins.activate([module])

    yield load
    plugins.activate()


def test_a_plug_ins_perturbation_is_a_value_of_its_own(registry: Registry, plug_in: Any) -> None:
    plug_in("capitals")
    run = expand_one(registry, f"triage:data_augmentation=capitals,{SMALL}")
    assert run.name == "triage,data_augmentation=capitals:model=acme_small"
    assert run.perturbations == (PerturbationSpec(name="capitals"),)
    plugins.activate()
    with pytest.raises(ConfigError, match="data_augmentation 'capitals'"):
        expand_one(registry, f"triage:data_augmentation=capitals,{SMALL}")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lower", "is taken"),  # a value of HELM's, though no perturbation
        ("art", "is taken"),
        ("prompt_variants", "is taken"),
        ("two words", "allowed: a letter"),
        ("prompt.x", "allowed: a letter"),
    ],
)
def test_a_plug_ins_name_that_means_something_else_is_refused(
    registry: Registry, plug_in: Any, name: str, why: str
) -> None:
    plug_in(name)
    with pytest.raises(ConfigError, match=why):
        expand_one(registry, f"triage:data_augmentation=lower,{SMALL}")
