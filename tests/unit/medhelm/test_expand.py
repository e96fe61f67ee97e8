"""From run entries to resolved runs: names, models, adapters, juries."""

import re
from pathlib import Path

import pytest

from medhelm_spark.config.registry import Registry
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.expand import Selection, expand
from medhelm_spark.medhelm.run_entries import load_conf, parse_entry, parse_flags
from medhelm_spark.medhelm.site import load_site
from tests.unit.runs import SMALL, expand_one, expand_texts


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (f"triage:{SMALL}", "triage:model=acme_small"),
        (
            "triage:model_deployment=site/small",
            "triage:model_deployment=site_small,model=acme_small",
        ),
        (
            f"triage:{SMALL},model_deployment=site/small",
            "triage:model=acme_small,model_deployment=site_small",
        ),
        (f"triage:subject=3,{SMALL}", "triage:subject=3,model=acme_small"),
        (f"triage:{SMALL},subject=heart", "triage:subject=heart,model=acme_small"),
        (f"triage:num_output_tokens=9,{SMALL}", "triage:num_output_tokens=9,model=acme_small"),
        (f"triage:{SMALL},temperature=0.7", "triage:model=acme_small,temperature=0.7"),
        (f"triage:stop=hash,{SMALL}", "triage,stop=hash:model=acme_small"),
        (f"triage:{SMALL},instructions=none", "triage:model=acme_small,instructions=none"),
    ],
)
def test_run_names_are_helms(registry: Registry, entry: str, name: str) -> None:
    assert expand_one(registry, entry).name == name


def test_med_dialog_joins_its_subset_by_a_comma(site: Path) -> None:
    path = site / "scenarios" / "triage.yaml"
    path.write_text(path.read_text().replace("name: triage", "name: med_dialog"))
    run = expand_one(load_site(site), f"med_dialog:subject=icliniq,{SMALL}")
    assert run.name == "med_dialog,subject=icliniq:model=acme_small"


def test_names_that_helm_itself_wrote(real_data: Path, tmp_path: Path, write) -> None:
    sample = real_data / "helm_output_sample"
    site = write(
        "site/model_deployments.yaml",
        "model_deployments:\n"
        "  - {name: huggingface/smollm2, model_name: local/smollm2, engine: canned}\n"
        "  - {name: simple/model1, engine: canned}\n",
    ).parent
    entries = load_conf(sample / "entries.conf")[:2]
    runs = expand(entries, load_site(site), base_dir=tmp_path)
    written = {path.name for path in sample.glob("runs/*/*") if path.is_dir()}
    assert {run.name for run in runs} <= written


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (f"triaje:{SMALL}", "unknown scenario 'triaje'. Did you mean 'triage'?"),
        (f"triage:subjct=x,{SMALL}", "unknown argument 'subjct'. Did you mean 'subject'?"),
        (f"triage:config_path=x,{SMALL}", "unknown argument 'config_path'"),
        (f"pubmed_qa:jury_config_path=x,{SMALL}", "unknown argument 'jury_config_path'"),
        ("triage:model=acme/smal", "unknown model 'acme/smal'. Did you mean 'acme/small'?"),
        ("triage:model_deployment=site/bg", "unknown deployment 'site/bg'. Did you mean"),
        ("triage:model=acme/big,model_deployment=site/small", "serves model 'acme/small', not"),
        ("triage", "names no model; add model=NAME to it, or give --models-to-run"),
        ("triage:model=text", "model=text is a group of HELM's"),
        (f"health_admin_bench:{SMALL}", "'health_admin_bench' is not supported: it drives a web"),
        ("triage:model=acme/small-dspy-zs-cot", "is not supported: DSPy's"),
        (f"medhelm_configurable_benchmark:{SMALL}", "needs config_path=FILE.yaml"),
        (
            f"medhelm_configurable_benchmark:config_path=none.yaml,{SMALL}",
            "config_path is 'none.yaml', and there is no such file (looked in",
        ),
    ],
)
def test_entries_that_cannot_be_resolved(registry: Registry, entry: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        expand_one(registry, entry)
    assert str(caught.value).startswith("--run-entries: run entry ")
    assert message in str(caught.value)


def test_entries_without_a_model_run_on_each_model_to_run(registry: Registry) -> None:
    runs = expand_texts(registry, "triage", models_to_run=("acme/small", "acme/big"))
    assert [run.name for run in runs] == ["triage:model=acme_small", "triage:model=acme_big"]
    assert [run.deployment.name for run in runs] == ["site/small", "site/big"]


def test_entries_with_a_model_are_filtered_by_model_or_deployment(registry: Registry) -> None:
    entries = (f"triage:{SMALL}", "triage:model=acme/big", "triage:subject=a")
    by_model = expand_texts(registry, *entries, models_to_run=("acme/big",))
    by_deployment = expand_texts(registry, *entries, models_to_run=("site/big",))
    names = ["triage:model=acme_big", "triage:subject=a,model=acme_big"]
    assert [run.name for run in by_model] == names
    assert [run.name for run in by_deployment] == names


def test_a_deployment_that_is_not_the_models_default_is_in_the_name(registry: Registry) -> None:
    model = "qwen/qwen2.5-7b-instruct"
    other, default = "ollama/qwen2.5-7b-instruct", "huggingface/qwen2.5-7b-instruct"
    runs = expand_texts(registry, "triage", models_to_run=(model, other))
    assert [run.deployment.name for run in runs] == [default, other]
    assert runs[0].name == "triage:model=qwen_qwen2.5-7b-instruct"
    assert runs[1].name == (
        "triage:model=qwen_qwen2.5-7b-instruct,model_deployment=ollama_qwen2.5-7b-instruct"
    )


def test_an_unknown_model_to_run_is_refused(registry: Registry) -> None:
    with pytest.raises(
        ConfigError, match=r"--models-to-run: unknown model 'acme/smol'.*acme/small"
    ):
        expand_texts(registry, f"triage:{SMALL}", models_to_run=("acme/smol",))


def test_nothing_left_to_run_is_said(registry: Registry) -> None:
    with pytest.raises(ConfigError, match="of 1 run entry none is left to run"):
        expand_texts(registry, f"triage:{SMALL}", models_to_run=("acme/big",))
    assert expand_texts(registry) == ()


def test_groups_are_appended_named_and_chosen(registry: Registry) -> None:
    text = f"triage:{SMALL}"
    grouped = parse_entry(text, where="a.conf:entries[0]", groups=("pilot", "early", "triage"))
    plain = parse_entry(text, where="a.conf:entries[1]")
    both = expand([grouped, plain], registry, base_dir=Path())
    assert both[0].groups == ("clinical", "triage", "pilot", "early")
    assert both[0].name == "triage:model=acme_small,groups=early-pilot-triage"
    chosen = expand(
        [grouped, plain], registry, base_dir=Path(), selection=Selection(groups_to_run=("pilot",))
    )
    assert [run.where for run in chosen] == ["a.conf:entries[0]"]


def test_the_same_entry_twice_is_one_run(registry: Registry) -> None:
    assert len(expand_texts(registry, f"triage:{SMALL}", f"triage:{SMALL}")) == 1


def test_two_different_runs_of_one_name_are_refused(registry, benchmark: Path, write) -> None:
    other = write("other/fever.yaml", benchmark.read_text().replace("max_tokens: 8", ""))
    for name in ("prompt.txt", "data.csv"):
        write(f"other/{name}", (benchmark.parent / name).read_text())
    text = "medhelm_configurable_benchmark:" + SMALL + ",config_path={}"
    entries = [
        parse_entry(text.format(path), where=f"a.conf:entries[{index}]")
        for index, path in enumerate((benchmark, other))
    ]
    with pytest.raises(ConfigError) as caught:
        expand(entries, registry, base_dir=Path())
    assert "a.conf:entries[1]: the run name 'FEVER:model=acme_small'" in str(caught.value)
    assert str(caught.value).endswith("at a.conf:entries[0].")


def test_an_argument_of_the_card_makes_another_scenario(registry: Registry) -> None:
    run = expand_one(registry, f"triage:subject=7,{SMALL}")
    assert run.card.name == "triage:subject=7"
    assert run.card.options == {"template": "{question}", "subject": "7"}
    assert run.groups == ("clinical", "triage")


def test_data_path_moves_the_files(registry: Registry, tmp_path: Path) -> None:
    one = expand_one(registry, f"triage:data_path=/data/x.csv,{SMALL}")
    assert [file.path for file in one.card.source.files] == ["/data/x.csv"]
    folder = expand_one(registry, f"triage:data_path={tmp_path},{SMALL}")
    assert [file.path for file in folder.card.source.files] == [str(tmp_path / "triage_test.csv")]
    assert one.name == folder.name == "triage:model=acme_small"
    assert one.card.name == "triage"


def test_data_path_of_several_files_must_be_a_folder(site: Path) -> None:
    path = site / "scenarios" / "triage.yaml"
    more = "    - path: triage_test.csv\n    - {path: triage_train.csv, split: train}"
    path.write_text(path.read_text().replace("    - path: triage_test.csv", more))
    with pytest.raises(
        ConfigError, match=r"contains the scenario's files \(triage_test\.csv, triage_t"
    ):
        expand_one(load_site(site), f"triage:data_path=/data/x.csv,{SMALL}")


def test_a_benchmark_is_found_beside_its_conf_file(registry, benchmark: Path, write) -> None:
    entry = f"medhelm_configurable_benchmark:config_path=fever.yaml,{SMALL}"
    entries = load_conf(write("bench/run.conf", f'entries: [{{description: "{entry}"}}]'))
    (run,) = expand(entries, registry, base_dir=Path())
    assert (run.name, run.groups) == ("FEVER:model=acme_small", ("FEVER",))
    assert run.card.adapter_spec.max_tokens == 8
    (again,) = expand(parse_flags([entry]), registry, base_dir=benchmark.parent)
    assert again.card == run.card


def test_a_benchmark_may_not_take_a_shipped_scenarios_name(registry, benchmark: Path) -> None:
    benchmark.write_text(benchmark.read_text().replace("FEVER", "triage"))
    with pytest.raises(ConfigError, match="name is 'triage', which is a shipped scenario's"):
        expand_one(registry, f"medhelm_configurable_benchmark:config_path={benchmark},{SMALL}")


def test_a_benchmarks_judges_are_looked_up(registry: Registry, judged: Path) -> None:
    entry = f"medhelm_configurable_benchmark:config_path={judged},{SMALL}"
    (annotator,) = expand_one(registry, entry).annotators
    assert annotator.jury.name == annotator.rubric.name == "NOTES"
    assert [one.name for one in annotator.deployments] == ["canned/judge"]
    judged.write_text(judged.read_text().replace("name: canned/judge", "name: canned/jugde", 1))
    with pytest.raises(ConfigError, match=r"jury 'NOTES': unknown deployment 'canned/jugde'.*Did"):
        expand_one(registry, entry)


def test_jury_config_path_replaces_the_jury(registry: Registry, judged: Path, write) -> None:
    judges = write(
        "bench/panel.yaml",
        "name: panel\njudges: [{name: e, model: canned/echo, model_deployment: canned/echo}]",
    )
    entry = f"medhelm_configurable_benchmark:config_path={judged},jury_config_path={judges},{SMALL}"
    run = expand_one(registry, entry)
    (annotator,) = run.annotators
    assert (annotator.spec.jury, annotator.jury.name) == ("panel", "panel")
    assert [one.name for one in annotator.deployments] == ["canned/echo"]
    assert run.name == "NOTES:model=acme_small"


def test_a_shipped_jury_scenario_uses_the_default_jury(registry: Registry) -> None:
    (annotator,) = expand_one(registry, f"aci_bench:{SMALL}").annotators
    assert annotator.jury == registry.juries["default"]
    assert annotator.rubric == registry.rubrics["aci_bench"]


def test_an_unknown_rubric_is_named(site: Path) -> None:
    path = site / "scenarios" / "triage.yaml"
    path.write_text(path.read_text() + "annotators: [{name: triage, rubric: aci_bnch}]\n")
    with pytest.raises(ConfigError, match=r"unknown rubric 'aci_bnch'. Did you mean 'aci_bench'\?"):
        expand_one(load_site(site), f"triage:{SMALL}")


def test_an_argument_of_a_card_is_a_value_it_lists_in_helms_spelling(registry: Registry) -> None:
    one = expand_one(registry, f"sct_bench:reason=True,few_shot=True,{SMALL}")
    assert one.name.startswith("sct_bench:reason=True,few_shot=True,model=")
    assert one.card.name == "sct_bench:reason=true,few_shot=true"
    assert "one sentence that says why" in one.card.options["template"]
    with pytest.raises(ConfigError, match="reason is 'maybe'; allowed: false, true"):
        expand_one(registry, f"sct_bench:reason=maybe,{SMALL}")
    with pytest.raises(ConfigError, match="needs subject=VALUE; allowed: ABDOMINAL, ADVANCED-CAD"):
        expand_one(registry, f"n2c2_ct_matching:{SMALL}")


def test_run_names_are_helms_where_it_always_names_an_argument(registry: Registry) -> None:
    for entry, name in (
        ("head_qa", "head_qa:language=en,category=None"),
        ("head_qa:language=es", "head_qa:language=es,category=None"),
        ("head_qa:category=medicine", "head_qa:language=en,category=medicine"),
        ("med_dialog:subset=icliniq", "med_dialog,subset=icliniq"),
        ("ehrshot:subject=lab_anemia", "ehrshot:subject=lab_anemia"),
        ("ehrshot:max_length=100000,subject=lab_anemia", "ehrshot:subject=lab_anemia"),
        ("ehrshot:subject=guo_icu,max_length=9", "ehrshot:subject=guo_icu,max_length=9"),
        ("medalign:max_length=100000", "medalign"),
    ):
        joined = f"{entry}{',' if ':' in entry else ':'}{SMALL}"
        assert re.split("[,:]model=", expand_one(registry, joined).name)[0] == name


def test_data_path_moves_what_is_joined_too(registry: Registry, tmp_path: Path) -> None:
    one = expand_one(registry, f"dischargeme:data_path={tmp_path},{SMALL}")
    inside = "files/discharge-me/1.3/test_phase_1"
    assert one.card.source.files[0].path == f"{tmp_path}/{inside}/discharge.csv.gz"
    assert [each.path for each in one.card.source.lookups] == [
        f"{tmp_path}/{inside}/{name}.csv.gz" for name in ("radiology", "discharge_target")
    ]
    single = expand_one(registry, f"mimic_bhc:data_path=notes/mine.jsonl,{SMALL}")
    assert single.card.source.files[0].path == "notes/mine.jsonl"


def test_data_path_and_max_length_reach_the_files_of_events(
    registry: Registry, tmp_path: Path
) -> None:
    entry = f"ehrshot:subject=guo_los,data_path={tmp_path},max_length=9,{SMALL}"
    card = expand_one(registry, entry).card
    assert card.name == "ehrshot:subject=guo_los,max_length=9"
    assert card.source.files[0].path == f"{tmp_path}/labels/guo_los/labels.parquet"
    history = card.source.history
    assert history is not None
    assert (history.files, history.most) == ((f"{tmp_path}/data/data.parquet",), "9")
    with pytest.raises(ConfigError, match="the longest timeline is 'all'; allowed: a whole number"):
        expand_one(registry, f"ehrshot:subject=guo_los,max_length=all,{SMALL}")
