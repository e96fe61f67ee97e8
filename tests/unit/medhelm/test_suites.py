"""Suite files: juries, sizes, the primary endpoint, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.config.juries import load_jury
from medhelm_spark.config.registry import Registry
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.plan import PrimaryEndpoint
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.expand import Selection, expand
from medhelm_spark.medhelm.run_entries import parse_flags
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.medhelm.suites import load_suite
from tests.unit.conftest import Write
from tests.unit.runs import SMALL, expand_one, expand_texts

JURY = """
name: ours
judges:
  - name: echo
    model: canned/echo
    model_deployment: canned/echo
"""


def test_paths_are_found_beside_the_suite_file(write: Write) -> None:
    write("suites/jury.yaml", JURY)
    path = write(
        "suites/own.yaml",
        "description: Ours.\nrun_entries: [pubmed_qa]\njury_config_path: jury.yaml\n"
        "num_train_trials: 3\nprimary_endpoint: {scenario: pubmed_qa}\n",
    )
    suite, _ = load_suite(str(path))
    assert suite.jury_config_path == str(path.parent / "jury.yaml")
    assert suite.num_train_trials == 3
    assert suite.primary_endpoint == PrimaryEndpoint(scenario="pubmed_qa")
    (path.parent / "jury.yaml").unlink()
    with pytest.raises(ConfigError, match=r"jury_config_path names 'jury\.yaml', and there is no"):
        load_suite(str(path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compared_with: a/b", "unknown key compared_with; .*allowed: description, .*margin"),
        ("repeats: 0", "repeats is 0; allowed: a whole number of at least 1"),
        ("repeats: 1.5", "repeats is 1.5; allowed: a whole number"),
        ("repeats: true", "repeats is True; allowed: a whole number"),
        ("margin: 0.02", "margin is one of the primary endpoint; give primary_endpoint"),
        ("margin: -0.1", r"margin is -0\.1; allowed: a number above 0"),
        ("margin: 0", r"margin is 0\.0; allowed: a number above 0"),
        ("margin: .inf", "margin is '.inf'; allowed: a number"),
        ("margin: 2 %", "margin is '2 %'; allowed: a number"),
        ("primary_endpoint: {scenario: a, power: 1}", "unknown key primary_endpoint.power; "),
        ("primary_endpoints: [{scenario: a, margin: 0}]", "margin of 'a' is 0.0; allowed: a numb"),
        ("primary_endpoints: [{scenario: a}, {scenario: a}]", "names scenario 'a' twice"),
        (
            "primary_endpoint: {scenario: a}\nprimary_endpoints: [{scenario: b}]",
            "both given; give the list alone",
        ),
        ("primary_endpoint: {metric: exact_match}", "primary_endpoint.scenario is missing"),
        ("primary_endpoint: pubmed_qa", "primary_endpoint is 'pubmed_qa'; allowed: a mapping"),
        ("num_train_trials: two", "num_train_trials is 'two'; allowed: a whole number"),
    ],
)
def test_what_does_not_act_is_refused(write: Write, line: str, message: str) -> None:
    path = write("own.yaml", f"description: Ours.\nrun_entries: [pubmed_qa]\n{line}\n")
    with pytest.raises(ConfigError, match=message):
        load_suite(str(path))


def test_the_endpoints_metric_is_the_main_one_of_its_scenario(registry: Registry) -> None:
    endpoint = PrimaryEndpoint(scenario="triage", metric="quasi_exact_match")
    entries = (f"triage:{SMALL}", f"pubmed_qa:{SMALL}")
    runs = expand_texts(registry, *entries, primary_endpoints=(endpoint,))
    assert [(run.card.main_metric, run.is_primary) for run in runs] == [
        ("quasi_exact_match", True),
        ("exact_match", False),
    ]
    plain = expand_one(
        registry, entries[0], primary_endpoints=(PrimaryEndpoint(scenario="triage"),)
    )
    assert (plain.card.main_metric, plain.is_primary) == ("exact_match", True)
    assert expand_one(registry, entries[0]).is_primary is None


@pytest.mark.parametrize(
    ("entry", "whole", "disjoint"),
    [
        (f"mmlu:subject=anatomy,{SMALL}", "mmlu", True),
        (f"ehrshot:subject=guo_icu,max_length=50,{SMALL}", "ehrshot:max_length=50", False),
        (f"pubmed_qa:{SMALL}", None, False),
        (f"head_qa:language=en,{SMALL}", None, False),
    ],
)
def test_a_run_of_a_part_names_its_whole(
    registry: Registry, entry: str, whole: str | None, disjoint: bool
) -> None:
    run = expand_one(registry, entry)
    assert (run.part_of, run.card.parts.disjoint) == (whole, disjoint)


def test_what_the_suite_file_names_is_listed(registry: Registry) -> None:
    texts = (f"pubmed_qa:{SMALL}", f"med_qa:{SMALL}")
    (first, second) = expand_texts(registry, *texts, listed=frozenset({"--run-entries"}))
    assert first.is_listed is (first.where == "--run-entries")
    elsewhere = expand_texts(registry, *texts, listed=frozenset({"a.yaml: run_entries"}))
    assert [run.is_listed for run in elsewhere] == [False, False]
    assert second.part_of is expand_one(registry, texts[0]).is_listed is None


def test_a_run_that_the_command_names_again_stays_listed(registry: Registry) -> None:
    typed = parse_flags([f"pubmed_qa:{SMALL}"])
    own = [replace(entry, where="a.yaml: run_entries") for entry in typed]
    selection = Selection(listed=frozenset({"a.yaml: run_entries"}))
    for entries in ((*typed, *own), (*own, *typed)):
        (run,) = expand(entries, registry, base_dir=Path(), selection=selection)
        assert run.is_listed


def test_parts_by_an_argument_without_choices_are_refused(write: Write) -> None:
    card = Path(conf_path("scenarios", "med_dialog.yaml")).read_text(encoding="utf-8")
    site = write(
        "site/scenarios/own.yaml",
        card.replace("name: med_dialog", "name: own", 1).replace(
            "parts: {args: [subset]", "parts: {args: [jury_config_path]"
        ),
    ).parent.parent
    with pytest.raises(ConfigError, match=r"own.yaml: parts.args.*'jury_config_path'"):
        load_site(site)


def test_repeats_are_trials_unless_an_entry_has_its_own(registry: Registry, write: Write) -> None:
    path = write("own.yaml", "description: Ours.\nrun_entries: [pubmed_qa]\nrepeats: 3\n")
    suite, _ = load_suite(str(path))
    entries = (f"triage:{SMALL}", f"pubmed_qa:num_trials=1,{SMALL}")
    runs = [expand_one(registry, entry, num_trials=suite.repeats) for entry in entries]
    assert [run.adapter_spec.num_trials for run in runs] == [3, 1]
    assert runs[0].name == expand_one(registry, entries[0]).name


def test_the_margin_goes_with_the_primary_endpoint(registry: Registry, write: Write) -> None:
    path = write(
        "own.yaml",
        "description: Ours.\nrun_entries: [pubmed_qa]\nmargin: 1\n"
        "primary_endpoint: {scenario: triage}\n",
    )
    suite, _ = load_suite(str(path))
    assert suite.margin == 1.0
    entries = (f"triage:{SMALL}", f"pubmed_qa:{SMALL}")
    runs = expand_texts(registry, *entries, primary_endpoints=suite.endpoints)
    assert [run.margin for run in runs] == [1.0, None]


def test_several_questions_are_declared_each_with_its_margin(
    registry: Registry, write: Write
) -> None:
    path = write(
        "own.yaml",
        "description: Ours.\nrun_entries: [pubmed_qa]\nprimary_endpoints:\n"
        "  - {scenario: triage, margin: 0.02}\n  - {scenario: pubmed_qa, metric: rouge_l}\n",
    )
    suite, _ = load_suite(str(path))
    entries = (f"triage:{SMALL}", f"pubmed_qa:{SMALL}")
    runs = expand_texts(registry, *entries, primary_endpoints=suite.endpoints)
    assert [(run.is_primary, run.margin) for run in runs] == [(True, 0.02), (True, None)]
    assert runs[1].card.main_metric == "rouge_l"


def test_an_endpoint_that_the_suite_does_not_run_is_refused(registry: Registry) -> None:
    endpoint = PrimaryEndpoint(scenario="medec")
    with pytest.raises(ConfigError, match="primary_endpoint: unknown scenario 'medec'"):
        expand_texts(registry, f"triage:{SMALL}", primary_endpoints=(endpoint,))
    left = expand_texts(
        registry, f"triage:{SMALL}", primary_endpoints=(endpoint,), groups_to_run=("clinical",)
    )
    assert [run.is_primary for run in left] == [False]


def test_an_endpoint_metric_that_the_scenario_lacks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text(
        'description: Ours.\nrun_entries: ["pubmed_qa:model=canned/echo"]\n'
        "primary_endpoint: {scenario: pubmed_qa, metric: rouge_l}\n"
    )
    assert main(["run", "--suite-file", "own.yaml", "--suite", "s", "-d"]) == 1
    printed = capsys.readouterr().err
    assert "primary_endpoint: scenario 'pubmed_qa': unknown metric 'rouge_l'" in printed


def test_the_suites_jury_judges_unless_an_entry_names_another(
    registry: Registry, write: Write, judged: Path
) -> None:
    ours = load_jury(write("ours.yaml", JURY))
    theirs = write("theirs.yaml", JURY.replace("ours", "theirs"))
    own = f"medhelm_configurable_benchmark:config_path={judged},{SMALL}"
    entries = (own, f"{own},jury_config_path={theirs}", f"aci_bench:{SMALL}")
    runs = [expand_one(registry, entry, jury=ours) for entry in entries]
    assert [run.annotators[0].jury.name for run in runs] == ["ours", "theirs", "ours"]
    assert runs[0].annotators[0].spec.jury == "ours"
    assert [one.name for one in runs[2].annotators[0].deployments] == ["canned/echo"]
    assert expand_one(registry, own).annotators[0].jury.name == "NOTES"


def test_the_shipped_jury_of_three_makers(shipped: Registry, write: Write) -> None:
    """By the shipped path, from any folder; every judge with its key by reference."""
    name = "juries/three.yaml"
    text = f"description: Judged.\nrun_entries: [medi_qa]\njury_config_path: {name}\n"
    suite, _ = load_suite(str(write("own.yaml", text)))
    assert suite.jury_config_path == str(conf_path(name))
    jury = load_jury(conf_path(name))
    own = expand_one(shipped, f"medi_qa:model=canned/echo,jury_config_path={name}")
    whole = expand_one(shipped, "medi_qa:model=canned/echo", jury=jury)
    (judged,) = own.annotators
    assert judged == whole.annotators[0]
    assert not jury.validated
    judges = judged.deployments
    makers = [shipped.model(judge.model).creator_organization for judge in judges]
    assert makers == ["OpenAI", "Anthropic", "Google"]
    for judge in judges:
        assert str(judge.args["api_key"]).startswith("env:")
        assert judge.locality is Locality.EXTERNAL
