"""HELM's schema file: what it shows, and one sentence for each way to get it wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.schema_file import load_schema

SCHEMA = """
metrics:
  - {name: exact_match, display_name: EM, lower_is_better: false}
  - {name: inference_runtime, display_name: seconds, lower_is_better: true}
perturbations:
  - name: typos
metric_groups:
  - name: accuracy
    display_name: Accuracy
    metrics:
      - {name: "${main_name}", split: "${main_split}"}
      - {name: exact_match, split: __all__, perturbation_name: typos}
  - name: speed
    hide_win_rates: true
    aggregation_strategies: [mean]
    metrics:
      - {name: inference_runtime, split: test}
run_groups:
  - name: all
    subgroups: [triage, notes, drafts]
    subgroup_metric_groups_hidden: [speed]
  - name: triage
    metric_groups: [accuracy, speed]
    environment: {main_name: exact_match, main_split: valid}
    taxonomy: {task: n/a, when: Any}
  - name: notes
    metric_groups: [speed]
  - name: drafts
    visibility: no_groups
"""
Write = Callable[[str, str], Path]


def test_a_run_is_shown_by_one_of_its_groups_unless_one_hides_it(write: Write) -> None:
    schema = load_schema(write("s.yaml", SCHEMA))
    assert [group.name for group in schema.run_groups] == ["all", "triage", "notes", "drafts"]
    assert schema.shows(["clinical", "triage"])
    assert schema.shows(["notes"])
    assert not schema.shows(["clinical"])
    assert not schema.shows([])
    assert not schema.shows(["triage", "drafts"])
    assert [group.name for group in schema.groups_of(["notes", "clinical"])] == ["notes"]


def test_the_schema_that_helm_wrote_beside_its_results(real_data: Path) -> None:
    releases = real_data / "helm_output_sample" / "releases"
    schema = load_schema(releases / "sample-release" / "schema.json")
    assert schema.shows(["PUBMEDQA-60"])
    assert len(schema.metrics) == 27
    assert [group.name for group in schema.run_groups] == ["all_scenarios", "PUBMEDQA-60"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SCHEMA, "", "the document is empty; allowed: a mapping"),
        (SCHEMA, "metrics: []", "run_groups is missing"),
        ("\nmetric_groups:", "\nmetric_grups:", "unknown key metric_grups; did you mean"),
        ("display_name: EM", "displayname: EM", "unknown key metrics[0].displayname; did you"),
        ("lower_is_better: false", "lower_is_better: no", "is 'no'; allowed: true or false"),
        ("[mean]", "[median]", "'median'; allowed: 'win_rate' or 'mean'"),
        ("no_groups", "nowhere", "run_groups[3].visibility is 'nowhere'; allowed: 'all_groups'"),
        ("name: drafts", 'name: " "', "run_groups[3].name is ' '; allowed: printable"),
        ("- name: typos", "- name: ''", "perturbations[0].name is ''; allowed: a name"),
        ("name: drafts", "name: notes", "run_groups[3].name is 'notes', which is taken"),
        ("name: speed", "name: accuracy", "metric_groups[1].name is 'accuracy', which is taken"),
        ("name: inference_runtime, d", "name: exact_match, d", "metrics[1].name is 'exact_match'"),
        ("[triage, notes", "[triaje, notes", "run_groups[all].subgroups: unknown run group "),
        (
            "[accuracy, speed]",
            "[accurcy]",
            "run_groups[triage].metric_groups: unknown metric group",
        ),
        ("[speed]\n  - name: triage", "[sped]\n  - name: triage", "hidden: unknown metric group"),
        ("main_name: exact_match", "main_name: exact_mach", "run_groups[triage]: unknown metric"),
        ("main_split: valid", "main_split: train", "metric 'exact_match': unknown split 'train'"),
        (", main_split: valid", "", "run_groups[triage].environment has no 'main_split'"),
        ("split: test", "split: tset", "metric_groups[speed]: metric 'inference_runtime': unknown"),
        ("perturbation_name: typos", "perturbation_name: typo", "unknown perturbation 'typo'"),
        ("runtime, split", "runtme, split", "metric_groups[speed]: unknown metric 'inference_runt"),
        ("visibility: no_groups", "subgroups: [all]", "circle: all in drafts in all"),
        ("visibility: no_groups", "subgroups: [drafts]", "in a circle: drafts in drafts"),
        ("run_groups:", "run_groups: [", "not valid YAML"),
    ],
)
def test_a_mistake_is_one_sentence(write: Write, old: str, new: str, message: str) -> None:
    assert SCHEMA.count(old) == 1
    path = write("s.yaml", SCHEMA.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_schema(path)
    assert str(caught.value).startswith(f"{path}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.yaml: no such file"):
        load_schema(tmp_path / "absent.yaml")
