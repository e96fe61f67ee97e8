"""Derived data versions: what they are made of and when they change."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from medhelm_spark import plugins
from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import (
    AdapterMethod,
    AnswerExtraction,
    ExtractionMethod,
    PromptVariant,
    RunSpec,
)
from medhelm_spark.domain.scenario import Instance, Reference
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.expand import expand
from medhelm_spark.medhelm.run_entries import parse_flags
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.stages.plan.perturb import (
    Copier,
    CopyTask,
    changes_of,
    perturbations_of,
    version_of,
)
from medhelm_spark.stages.plan.run_specs import adapters_of, run_spec_of

ROW = Instance(
    instance_id="i1",
    scenario_name="pubmed_qa",
    data_version="base",
    source_id="s1",
    source_index=1,
    split=Split.TEST,
    input="Does IT help?",
    references=(Reference(text="yes", tags=("correct",)), Reference(text="no")),
    access_level=AccessLevel.GATED,
)


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_site()


def resolved(registry: Registry, augmentation: str = "", **adapter: object) -> ResolvedRun:
    more = f",data_augmentation={augmentation}" if augmentation else ""
    model = next(iter(registry.deployments))
    entry = f"pubmed_qa:model_deployment={model}{more}"
    (run,) = expand(parse_flags([entry]), registry, base_dir=Path())
    return replace(run, adapter_spec=replace(run.adapter_spec, **adapter))


def with_variant(run: ResolvedRun, **adapter: str) -> ResolvedRun:
    variants = (PromptVariant(name="terse", adapter_spec=adapter),)
    return replace(run, card=replace(run.card, prompt_variants=variants))


def copies(run: ResolvedRun, evaluated: bool = True) -> dict[str, Instance]:
    task = CopyTask(instance=ROW, target="derived", evaluated=evaluated)
    return {made.perturbation: made for made in Copier({"derived": run})([task])}


def test_the_original_stays_and_every_change_is_a_row(registry: Registry) -> None:
    made = copies(resolved(registry, "canonical"))
    assert set(made) == {"", "mild_mix"}, "there is no name, pronoun or dialect in it to change"
    assert made[""] == replace(ROW, data_version="derived")
    assert made["mild_mix"].input.split() == ["does", "it", "help?"]
    assert {one.instance_id for one in made.values()} == {"i1"}
    assert {one.data_version for one in made.values()} == {"derived"}
    assert {one.access_level for one in made.values()} == {AccessLevel.GATED}


def test_train_rows_are_never_perturbed(registry: Registry) -> None:
    assert set(copies(with_variant(resolved(registry, "lower")), evaluated=False)) == {""}


def test_a_variant_is_a_row_of_its_own_and_is_not_perturbed(registry: Registry) -> None:
    made = copies(with_variant(resolved(registry, "lower"), instructions="Be brief."))
    assert set(made) == {"", "lowercase", "prompt.terse"}
    assert made["prompt.terse"].input == ROW.input


def test_the_version_covers_all_that_shapes_the_copies(registry: Registry) -> None:
    plain, lower = resolved(registry), resolved(registry, "lower")
    assert version_of(plain, "base") == "base"
    dialect = resolved(registry, "dialect_hard")
    lists = {**dialect.word_lists, "dialect": {"hello": ("howdy",)}}
    others = [
        lower,
        resolved(registry, "typo_easy"),
        resolved(registry, "typo_hard"),
        dialect,
        replace(dialect, word_lists=lists),
        replace(lower, adapter_spec=replace(lower.adapter_spec, max_eval_instances=5)),
        replace(lower, adapter_spec=replace(lower.adapter_spec, max_train_instances=5)),
        with_variant(lower),
    ]
    found = [version_of(run, "base") for run in others] + [version_of(lower, "other")]
    assert len({*found, "base"}) == len(found) + 1
    assert version_of(resolved(registry, "lower"), "base") == version_of(lower, "base")


def test_the_run_spec_names_perturbations_and_the_lists_they_read(registry: Registry) -> None:
    (spec,) = perturbations_of(resolved(registry, "dialect_hard"))
    assert (spec.name, spec.args) == ("dialect", {"prob": "0.5"})
    assert list(spec.word_lists) == ["dialect"]


def test_what_a_run_has_none_of_is_no_part_of_its_id(registry: Registry) -> None:
    run = resolved(registry)
    spec = run_spec_of(run, "base")
    assert (spec.perturbations, spec.prompt_variants) == (None, None)
    perturbed = run_spec_of(run, "base", perturbations_of(resolved(registry, "lower")))
    assert perturbed.run_spec_id != spec.run_spec_id
    varied = run_spec_of(with_variant(run, instructions="Be brief."), "base")
    assert varied.run_spec_id != spec.run_spec_id
    assert list(adapters_of(spec)) == [""]
    assert adapters_of(varied)["prompt.terse"].instructions == "Be brief."


def test_option_order_needs_options_that_may_stand_in_any_order(registry: Registry) -> None:
    """PubMedQA's instructions tie A to yes, and free text shows no options."""
    tied = resolved(registry, "option_order")
    free = resolved(registry, "option_order", method=AdapterMethod.GENERATION, instructions="")
    for run in (tied, free):
        with pytest.raises(ConfigError, match="option_order needs options that prompts show"):
            changes_of(run)
    loose = resolved(registry, "option_order", instructions="Answer with A, B or C.")
    assert [spec.name for spec, _ in changes_of(loose)] == ["option_order"]


def test_a_set_leaves_out_what_cannot_be_shown(registry: Registry) -> None:
    names = [spec.name for spec, _ in changes_of(resolved(registry, "medical"))]
    assert "option_order" not in names
    assert {"unit", "negation"} <= set(names)
    free = resolved(registry, "medical", method=AdapterMethod.GENERATION)
    assert "negation" not in [spec.name for spec, _ in changes_of(free)]


def written_before(spec: RunSpec) -> dict[str, object]:
    """What the id of a RunSpec was made of when its types had fewer fields."""
    facts = {field.name: getattr(spec, field.name) for field in fields(spec)}
    del facts["run_spec_id"]
    known = {name: value for name, value in facts.items() if value is not None}
    how = spec.answer_extraction
    own = ("method", "field", "pattern", "unreadable")
    return known | {"answer_extraction": {name: getattr(how, name) for name in own}}


def test_a_perturbations_version_enters_ids_and_absent_ones_leave_them(registry: Registry) -> None:
    run = resolved(registry, "lower")
    (spec,) = perturbations_of(run)
    assert spec.version is None
    versioned = replace(spec, version="1+abc")
    plain, other = (run_spec_of(run, "v", [one]) for one in (spec, versioned))
    assert plain.run_spec_id != other.run_spec_id
    assert other.perturbations == (versioned,)
    as_before = written_before(plain)
    as_before["perturbations"] = [{"name": "lowercase", "args": {}, "word_lists": {}}]
    assert plain.run_spec_id == content_id(as_before), "older lakes have this id"


def test_options_that_nobody_declared_stay_out_of_the_id(registry: Registry) -> None:
    run = resolved(registry, "")
    how = AnswerExtraction(method=ExtractionMethod.CHOICE)
    plain = run_spec_of(replace(run, card=replace(run.card, answer_extraction=how)), "v")
    as_before = written_before(plain)
    assert plain.run_spec_id == content_id(as_before), "older lakes have this id"
    among = replace(how, options=("Y", "N"))
    other = run_spec_of(replace(run, card=replace(run.card, answer_extraction=among)), "v")
    assert other.run_spec_id != plain.run_spec_id


def test_a_plug_ins_perturbation_makes_copies_and_its_hash_is_in_the_spec(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "from medhelm_spark.adaptation.perturbations.perturbation import Perturbation, on_text\n"
        "PERTURBATIONS = {'capitals': Perturbation(\n"
        "    build=lambda args, lists: on_text(lambda rng: str.upper), version='1')}\n"
    )
    (tmp_path / "capitals_plugin.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    (plugin,) = plugins.activate(["capitals_plugin"])
    try:
        run = resolved(registry, "capitals")
        (spec,) = perturbations_of(run)
        assert spec.version == f"1+{plugin.version}"
        assert copies(run)["capitals"].input == "DOES IT HELP?"
        before = version_of(run, "base")
        (tmp_path / "capitals_plugin.py").write_text(source + "# changed\n")
        plugins.activate(["capitals_plugin"])
        assert version_of(run, "base") != before
    finally:
        plugins.activate()
