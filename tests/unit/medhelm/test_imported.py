"""What an export becomes: its card, its metrics and jury, and how an entry finds it."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import AdapterSpec, AnnotatorSpec, MetricSpec
from medhelm_spark.domain.scenario import Verified
from medhelm_spark.errors import AbsentDataError, ConfigError, PolicyError
from medhelm_spark.medhelm.expand import expand
from medhelm_spark.medhelm.export_file import FORM, FORM_VERSION, PACKAGE, VERSION, read_export
from medhelm_spark.medhelm.imported import Import, import_of, imported_level
from medhelm_spark.medhelm.run_entries import parse_flags
from medhelm_spark.medhelm_results import export_script as medhelm_export
from tests.exports import ADAPTER, JUDGED, JURY, header, instance, stored_import
from tests.unit.runs import SMALL

INSTANCES = [instance(index) for index in range(3)]


def imported(registry: Registry, called: str | None = None, **changes: Any) -> Import:
    export = read_export(json.dumps(header(INSTANCES, **changes)), "e.jsonl")
    return import_of(export, "e.jsonl", registry.cards, name=called)


def row(registry: Registry, **changes: Any) -> ImportedScenario:
    return stored_import(registry.cards, INSTANCES, **changes)


def resolve(registry: Registry, entry: str, *rows: ImportedScenario) -> ResolvedRun:
    (run,) = expand(parse_flags([entry]), replace(registry, imported=rows), base_dir=Path())
    return run


def test_the_script_and_its_reader_speak_of_the_same_thing() -> None:
    assert (medhelm_export.FORM, medhelm_export.FORM_VERSION) == (FORM, FORM_VERSION)
    assert (medhelm_export.PACKAGE, medhelm_export.VERSION) == (PACKAGE, VERSION)


def test_the_adapter_is_medhelms_to_the_letter(registry: Registry) -> None:
    own = {"instructions": "Théirs: {x} $5\n", "reference_prefix_characters": ["X", "Y"]}
    spec = imported(registry, adapter_spec=own).card.adapter_spec
    assert spec.instructions == "Théirs: {x} $5\n"
    assert spec.reference_prefix_characters == "XY"
    assert spec.stop_sequences == ("\n",)
    same = {
        field.name
        for field in fields(AdapterSpec)
        if getattr(spec, field.name) == ADAPTER.get(field.name, field.default)
    }
    different = {field.name for field in fields(AdapterSpec)} - same
    assert different == {
        "instructions",
        "reference_prefix_characters",
        "stop_sequences",
        "substitutions",
        "eval_splits",
    }


def test_a_scenario_that_we_know_keeps_our_metrics_and_its_level(registry: Registry) -> None:
    made = imported(registry, name="pubmed_qa")
    ours = registry.cards["pubmed_qa"]
    assert made.name == made.card.name == "pubmed_qa@medhelm-0.8"
    assert made.card.metrics == ours.metrics
    assert made.card.access_level is AccessLevel.PUBLIC
    assert made.card.verified is Verified.NEVER
    assert made.card.display_name == f"{ours.display_name} (MedHELM 0.8.0)"
    assert made.card.groups == ("pubmed_qa@medhelm-0.8",)
    assert made.card.adapter_spec.instructions == "Pick a letter."


def test_medhelms_name_of_a_run_finds_our_card_too(registry: Registry) -> None:
    made = imported(registry, name="medhelm_med_qa", run_name="med_qa")
    assert made.name == "medhelm_med_qa@medhelm-0.8"
    assert made.card.metrics == registry.cards["med_qa"].metrics


def test_another_scenario_is_private_and_its_metrics_are_translated(registry: Registry) -> None:
    made = imported(registry)
    assert made.card.access_level is AccessLevel.PRIVATE
    assert made.card.metrics == (MetricSpec(name="exact_match"),)
    assert (made.card.main_metric, made.left_out) == ("exact_match", ())
    stated = imported_level(made, AccessLevel.GATED, registry.policy, is_own=True)
    assert stated is AccessLevel.GATED


@pytest.mark.attack("levels", "import-scenario --file whose header names a public scenario")
def test_a_file_under_a_public_card_says_nothing_of_who_may_hold_it(registry: Registry) -> None:
    made = imported(registry, name="pubmed_qa", run_name="pubmed_qa")
    assert made.card.access_level is AccessLevel.PUBLIC
    with pytest.raises(PolicyError, match=r"add --access-level public\|gated\|private"):
        imported_level(made, None, registry.policy, is_own=True)
    for level in AccessLevel:
        assert imported_level(made, level, registry.policy, is_own=True) is level
    assert imported_level(made, None, registry.policy, is_own=False) is AccessLevel.PUBLIC


def test_an_import_is_not_said_to_be_looser_than_our_card(registry: Registry) -> None:
    made = imported(registry, name="mimic_bhc", run_name="mimic_bhc")
    with pytest.raises(PolicyError, match="medhelm-spark level lower"):
        imported_level(made, AccessLevel.PUBLIC, registry.policy, is_own=True)


def test_a_pattern_goes_to_the_metric_that_looks_answers_up(registry: Registry) -> None:
    made = imported(registry, adapter_spec={"output_mapping_pattern": "is ([A-D])"})
    args = {"output_mapping_pattern": "is ([A-D])"}
    assert made.card.metrics == (MetricSpec(name="exact_match", args=args),)


def test_what_is_not_computed_here_is_told(registry: Registry) -> None:
    other = {"class_name": "a.b.SomeOtherMetric", "args": {}}
    words = {"class_name": "a.BasicGenerationMetric", "args": {"names": ["f1_score", "cider"]}}
    made = imported(registry, metric_specs=[words, other])
    assert [one.name for one in made.card.metrics] == ["f1_score"]
    assert made.left_out == ("cider", "SomeOtherMetric")
    with pytest.raises(ConfigError, match=r"has no metric that is computed here \(it has Some"):
        imported(registry, metric_specs=[other])


def test_a_jury_judges_by_medhelms_own_words(registry: Registry) -> None:
    changes = {"metric_specs": [JUDGED], "juries": [JURY]}
    made = imported(registry, **changes, metadata=None)
    name = "ward@medhelm-0.8"
    args = {"annotator": name, "stat_name": "ward_accuracy", "default_score": "1"}
    assert made.card.metrics == (MetricSpec(name="jury_score", args=args),)
    assert made.card.main_metric == "ward_accuracy"
    run = resolve(registry, f"{name}:{SMALL}", row(registry, **changes))
    (annotator,) = run.annotators
    assert annotator.spec == AnnotatorSpec(name=name, rubric=name, jury="default")
    assert annotator.rubric.template == "Theirs. {QUESTION} {RESPONSE} {GOLD_RESPONSE}"
    (criterion,) = annotator.rubric.criteria
    assert (criterion.name, criterion.minimum, criterion.maximum) == ("accuracy", 1, 5)


def test_a_jury_metric_without_a_jury_is_left_out(registry: Registry) -> None:
    with pytest.raises(ConfigError, match="it has jury_score"):
        imported(registry, metric_specs=[JUDGED])


def test_an_entry_finds_it_and_changes_it_like_any_other(registry: Registry) -> None:
    run = resolve(registry, f"ward@medhelm-0.8:max_eval_instances=2,{SMALL}", row(registry))
    assert run.name == "ward@medhelm-0.8:max_eval_instances=2,model=acme_small"
    assert run.card.source.data_version == "v1"
    assert run.adapter_spec.instructions == "Pick a letter."
    assert run.adapter_spec.max_eval_instances == 2


def test_an_entry_gives_the_arguments_that_it_was_imported_with(registry: Registry) -> None:
    rows = [
        row(registry, args={"subject": subject, "data_path": "somewhere/else.csv"})
        for subject in ("heart", "lung")
    ]
    assert [one.scenario_name for one in rows] == [
        "ward@medhelm-0.8:subject=heart",
        "ward@medhelm-0.8:subject=lung",
    ]
    run = resolve(registry, f"ward@medhelm-0.8:subject=lung,{SMALL}", *rows)
    assert run.card.name == "ward@medhelm-0.8:subject=lung"
    assert run.name == "ward@medhelm-0.8:subject=lung,model=acme_small"
    with pytest.raises(ConfigError, match=r"the lake has ward@medhelm-0\.8:subject=heart, ward@"):
        resolve(registry, f"ward@medhelm-0.8:{SMALL}", *rows)
    with pytest.raises(AbsentDataError, match="give one of them with its arguments"):
        resolve(registry, f"ward@medhelm-0.8:subject=skin,{SMALL}", *rows)


def test_what_was_not_imported_is_unknown(registry: Registry) -> None:
    with pytest.raises(AbsentDataError, match=r"import-scenario 'wart@medhelm-0\.8'\. Did you"):
        resolve(registry, f"wart@medhelm-0.8:{SMALL}", row(registry))


def test_a_benchmark_of_the_users_own_has_its_own_name(registry: Registry) -> None:
    changes = {
        "name": "medhelm_configurable_benchmark",
        "run_name": "pubmed_qa",
        "args": {"config_path": "b.yaml"},
    }
    made = imported(registry, **changes)
    assert made.name == made.card.name == "pubmed_qa@medhelm-0.8"
    assert made.card.access_level is AccessLevel.PRIVATE
    assert imported(registry, "mine", **changes).name == "mine@medhelm-0.8"
    changes["run_name"] = "My benchmark"
    with pytest.raises(ConfigError, match="cannot be called 'My benchmark'"):
        imported(registry, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": "other"}, "e.jsonl: is no export of a MedHELM scenario"),
        ({"form_version": 2}, "is an export of form 2; allowed: 1"),
        ({"package_version": "0.7.1"}, "was made by medhelm 0.7.1; allowed: medhelm 0.8.0"),
        ({"more": 1}, "unknown key more"),
        ({"instances": "3"}, "instances is '3'; allowed: a whole number"),
        (
            {"adapter_spec": {"method": "generation_multimodal"}},
            "asks by the adapter method 'generation_multimodal', which is not supported; allowed: ",
        ),
        ({"adapter_spec": {"chatml": True}}, "adapter_spec: unknown key chatml"),
    ],
)
def test_what_cannot_be_imported_is_refused(
    registry: Registry, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        imported(registry, **changes)
    assert message in str(caught.value)


@pytest.mark.parametrize("line", ["", "{", "[]", '"text"', "{}"])
def test_a_line_of_another_file_is_no_export(line: str) -> None:
    with pytest.raises(ConfigError, match=r"other\.jsonl: is no export"):
        read_export(line, "other.jsonl")
