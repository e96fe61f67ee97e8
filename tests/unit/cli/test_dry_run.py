"""`--dry-run` shows which runs the flags leave, and neither starts Spark nor writes."""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from medhelm_spark.cli import main
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.stages.decide import ALLOWING
from medhelm_spark.stages.ingest.ingested import parse_hash
from tests.unit.board.planted import ingested

CONF = """
    entries: [
      {description: "first", priority: 1, groups: [ward]}
      {description: "second", priority: 2}
      {description: "third", priority: 3, groups: [clinic]}
    ]
"""

JUDGE = """Judge.
<rubric_criteria>
{"accuracy": ["score"]}
</rubric_criteria>
{QUESTION} {RESPONSE} {GOLD_RESPONSE}
"""

Typed = Callable[..., tuple[int, list[list[str]], str]]


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """`medhelm-spark run --dry-run ARGUMENTS`: exit code, the cells of its lines, stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second", "third"):
        _benchmark(tmp_path / name, name)
    text = textwrap.dedent(CONF)
    for name in ("first", "second", "third"):
        entry = f"medhelm_configurable_benchmark:config_path={name}/benchmark.yaml"
        text = text.replace(f'"{name}"', f'"{entry}"')
    (tmp_path / "site.conf").write_text(text)
    (tmp_path / "prod_env").mkdir()
    localities = {"acme/a": "local", "acme/b": "local", "vendor/c": "external", "vendor/d": "baa"}
    names = "".join(
        f"\n- {{name: {name}, engine: canned, locality: {locality}}}"
        for name, locality in localities.items()
    )
    (tmp_path / "prod_env" / "model_deployments.yaml").write_text(f"model_deployments:{names}\n")

    def run(*arguments: str) -> tuple[int, list[list[str]], str]:
        code = main(["run", "--dry-run", "--suite", "s", *arguments])
        printed = capsys.readouterr()
        return code, [line.split("\t") for line in printed.out.splitlines()], printed.err

    return run


def _benchmark(folder: Path, name: str, level: str = "private", *judges: str) -> str:
    """The files of a benchmark, judged by these if any; returns its run entry."""
    folder.mkdir()
    judge_items = ", ".join(f"{{name: {judge}, model_name: {judge}}}" for judge in judges)
    jury = f"{{name: jury_score, prompt_file: judge.txt, judges: [{judge_items}]}}"
    (folder / "judge.txt").write_text(JUDGE)
    (folder / "prompt.txt").write_text("{question}")
    (folder / "data.csv").write_text("id,question,correct_answer\n1,Is it?,yes\n")
    (folder / "benchmark.yaml").write_text(
        f"{{name: {name}, description: d, prompt_file: prompt.txt, dataset_file: data.csv, "
        f"access_level: {level}, metrics: [{jury if judges else '{name: exact_match}'}]}}"
    )
    return f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"


@pytest.mark.parametrize(
    ("flags", "scenarios"),
    [
        ([], ["first", "second", "third"]),
        (["--priority", "2"], ["first", "second"]),
        (["--groups-to-run", "clinic", "ward"], ["first", "third"]),
        (["--groups-to-run", "second"], ["second"]),
        (["--priority", "1", "--groups-to-run", "ward"], ["first"]),
    ],
)
def test_priority_and_groups_choose_entries(
    typed: Typed, flags: list[str], scenarios: list[str]
) -> None:
    code, lines, _ = typed("-c", "site.conf", "--models-to-run", "acme/a", *flags)
    assert code == 0
    assert [line[0].partition(":")[0] for line in lines] == scenarios


def test_sources_of_what_flags_leave_out_of_a_suite_file_are_passed_over(
    typed: Typed, tmp_path: Path
) -> None:
    sources = {name: f"{name}/data.csv" for name in ("first", "second", "third")}
    suite = {"description": "d", "conf_paths": ["site.conf"], "models_to_run": ["acme/a"]}
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump({**suite, "sources": sources}))
    for flags in (["--groups-to-run", "second"], ["--priority", "1"], []):
        code, lines, _ = typed("--suite-file", "ours.yaml", *flags)
        assert (code, len(lines)) == (0, 1 if flags else 3)
    misspelled = yaml.safe_dump({**suite, "sources": {**sources, "secnd": "second/data.csv"}})
    (tmp_path / "ours.yaml").write_text(misspelled)
    code, _, err = typed("--suite-file", "ours.yaml")
    assert code == 1
    assert "unknown scenario 'secnd'" in err


def test_entries_without_a_model_combine_with_models_to_run(typed: Typed) -> None:
    code, lines, err = typed("-c", "site.conf", "--models-to-run", "acme/a", "acme/b", "-m", "10")
    assert code == 0
    assert [line[1] for line in lines] == ["acme/a (local) allowed", "acme/b (local) allowed"] * 3
    rest = ("private", "10 instances", "judges: none", "policy.yaml: private allows local")
    assert {tuple(line[2:]) for line in lines} == {rest}
    assert err == "6 runs; nothing was written or sent\n"


def test_one_of_a_thing_is_told_as_one(typed: Typed) -> None:
    entry = "medhelm_configurable_benchmark:config_path=first/benchmark.yaml,model=acme/a"
    code, (line,), err = typed("-r", entry, "-m", "1")
    assert code == 0
    assert line[3] == "1 instance"
    assert err == "1 run; nothing was written or sent\n"


def test_a_sampling_rule_is_told(typed: Typed, tmp_path: Path) -> None:
    entry = "medhelm_configurable_benchmark:config_path=first/benchmark.yaml,model=acme/a"
    (tmp_path / "rule.yaml").write_text("order: source\ncount: 3\nfilter: {split: test}\n")
    sizes = {
        ("--sampling", "medhelm"): "all instances in medhelm order",
        ("--sampling", "hash"): "all instances",
        ("--sampling", "rule.yaml"): "3 instances by split in source order",
        ("--sampling", "rule.yaml", "-m", "2"): "2 instances by split in source order",
    }
    for flags, size in sizes.items():
        code, (line,), _ = typed("-r", entry, *flags)
        assert (code, line[3]) == (0, size)


def test_without_a_lake_nothing_was_imported(typed: Typed) -> None:
    code, _, err = typed("-r", "pubmed_qa@medhelm-0.8:model=acme/a", "-o", "no-lake")
    assert code == 1
    assert "unknown scenario imported by import-scenario 'pubmed_qa@medhelm-0.8'" in err
    assert "Known: none." in err


def test_nothing_is_written_and_spark_is_not_started(typed: Typed, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    started = SparkSession.getActiveSession()
    assert typed("-c", "site.conf", "--models-to-run", "acme/a")[0] == 0
    assert sorted(tmp_path.rglob("*")) == before
    assert SparkSession.getActiveSession() is started


REFUSED = [
    # level, model, judges; the cells of model, judges and rules; who is refused, and where it runs
    (
        ("gated", "vendor/c", "acme/a"),
        (
            "vendor/c (external) refused",
            "judges: acme/a (local) allowed",
            "policy.yaml: gated allows local, not external; policy.yaml: gated allows local",
        ),
        ("model 'vendor/c'", "external"),
    ),
    (
        ("private", "acme/a", "acme/b", "vendor/d"),
        (
            "acme/a (local) allowed",
            "judges: acme/b (local) allowed, vendor/d (baa) refused",
            "policy.yaml: private allows local; policy.yaml: private allows local, not baa",
        ),
        ("judge 'vendor/d'", "baa"),
    ),
]


@pytest.mark.parametrize(("models", "cells", "refused"), REFUSED)
def test_who_may_not_see_the_text_is_refused_as_a_run_refuses(
    typed: Typed,
    tmp_path: Path,
    models: tuple[str, ...],
    cells: tuple[str, ...],
    refused: tuple[str, str],
) -> None:
    level, model, *judges = models
    who, locality = refused
    entry = _benchmark(tmp_path / "judged", "judged", level, *judges)
    before = sorted(tmp_path.rglob("*"))
    code, (line,), err = typed("-r", f"{entry},model={model}")
    assert code == 1
    assert (line[1], *line[4:]) == cells
    (sentence,) = err.splitlines()
    refusal = f"{line[0]}: the {who} ({locality}) may not see {level} text: "
    assert sentence.startswith(f"medhelm-spark: {refusal}")
    assert f"policy.yaml: {level} allows local, not {locality}. To allow {locality}, " in sentence
    assert sentence.endswith(f"a binding policy: {ALLOWING}.")
    assert sorted(tmp_path.rglob("*")) == before


def test_further_refusals_are_counted_and_public_text_may_go_anywhere(
    typed: Typed, tmp_path: Path
) -> None:
    hidden = _benchmark(tmp_path / "judged", "judged", "gated", "vendor/c", "vendor/d")
    public = _benchmark(tmp_path / "open", "open", "public")
    code, lines, err = typed("-r", hidden, public, "--models-to-run", "vendor/c", "acme/a")
    assert code == 1
    assert [line[1].split()[-1] for line in lines] == ["refused", "allowed", "allowed", "allowed"]
    assert "not external (4 more above). To allow external, " in err


def test_a_sites_own_policy_is_the_one_that_is_asked(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "prod_env" / "policy.yaml").write_text("allowed: {gated: [local, baa]}\n")
    entry = _benchmark(tmp_path / "closed", "closed", "gated")
    code, (line,), _ = typed("-r", f"{entry},model=acme/a")
    rule = "policy.yaml (advisory): gated allows local"
    assert (code, line[1], line[5]) == (0, "acme/a (local) allowed", rule)
    code, (line,), err = typed("-r", f"{entry},model=vendor/d")
    assert (code, line[1]) == (1, "vendor/d (baa) refused")
    assert "prod_env/policy.yaml (advisory): gated allows local, not baa (listed there" in err
    code, (line,), err = typed("-r", "pubmed_qa:model=acme/a")
    assert (code, line[1]) == (1, "acme/a (local) refused")
    assert err.endswith("prod_env/policy.yaml (advisory): public allows nothing.\n")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("mimiciv_billing_code:model=acme/a", "missing: data mimiciv_billing_code: mimiciv"),
        ("pubmed_qa:model=openai/gpt-4o", "missing: model openai/gpt-4o: "),
        ("pubmed_qa:model=hf/weights", "needs the package vllm"),
        ("pubmed_qa:model=huggingface/smollm2-135m-instruct", "run `medhelm-spark fetch-model`"),
        ("medhallu:model=acme/a", "needs the package `datasets`"),
    ],
)
def test_what_a_run_would_end_for_want_of_is_told(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, why: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    for package in ("datasets", "vllm"):
        monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "model.safetensors").write_bytes(b"")
    code, (line,), err = typed("-r", entry)
    assert code == 1
    assert "allowed" in line[1]
    (missing,) = [each for each in err.splitlines() if each.startswith("missing: ")]
    assert why in missing
    assert err.endswith("1 run; nothing was written or sent\n")


def test_a_run_that_would_leave_scenarios_out_is_told_so_with_its_exit_code(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEDHELM_SPARK_EHR_SQL_DATABASE", raising=False)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    names = ("pubmed_qa", "ehr_sql", "mimiciv_billing_code", "medec@medhelm-0.8")
    entries = ["-r", *names, "--models-to-run", "acme/a", "acme/b"]
    code, lines, err = typed(*entries)
    assert code == 6
    assert {line[0].partition(":")[0] for line in lines} == {"pubmed_qa", "mimiciv_billing_code"}
    missing = [each for each in err.splitlines() if each.startswith("missing: ")]
    assert [each.split(":")[1] for each in missing] == [
        f" data {name}" for name in ("medec@medhelm-0.8", "ehr_sql", "mimiciv_billing_code")
    ]
    assert "give a SQLite file as db_path" in missing[1]
    assert "medhelm-spark scenarios" in err.splitlines()[-1]

    code, lines, err = typed(*entries, "--strict")
    assert (code, lines) == (1, [])
    assert "'medec@medhelm-0.8': unknown scenario imported" in err
    assert typed("-r", *names[:1], *names[2:3], *entries[-3:], "--strict")[0] == 1


def test_the_shipped_suite_of_public_scenarios_can_be_tried(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEDHELM_SPARK_EHR_SQL_DATABASE", raising=False)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "prod_env" / "policy.yaml").write_text("allowed: {public: [local, external]}\n")
    code, lines, err = typed("--suite-file", "public", "--models-to-run", "acme/a")
    assert len(lines) > 10
    assert "missing: data ehr_sql: " in err
    assert "missing: model huggingface/smollm2-135m-instruct: " in err  # a judge ends a run
    assert code == 1


def test_what_can_be_fetched_or_asked_is_not_missing(typed: Typed) -> None:
    code, _, err = typed("-r", "pubmed_qa:model=ollama/llama3.1:8b")
    assert code == 0
    assert err.splitlines() == [
        "model ollama/llama3.1:8b: engine openai at localhost:11434, in no file",
        "data pubmed_qa: will be fetched by the address of its card.",
        "model ollama/llama3.1:8b: server localhost:11434 was not asked; "
        "medhelm-spark models --check ollama/llama3.1:8b asks it.",
        "1 run; nothing was written or sent",
    ]


def test_a_place_that_is_stated_and_not_proved_is_told(typed: Typed, tmp_path: Path) -> None:
    closed = _benchmark(tmp_path / "closed", "closed", "private")
    open_ = _benchmark(tmp_path / "open", "open", "public")
    proof = "Gated and private text is sent only if its address is "
    stated = ("--attest-locality", "local")
    code, _, err = typed("-r", f"{closed},model=vllm/m@http://gpu1:8000/v1", *stated)
    assert code == 0
    assert f"asks it. {proof}this machine's or that of a node of this job." in err
    assert proof not in typed("-r", f"{open_},model=vllm/m@http://gpu1:8000/v1", *stated)[2]
    assert proof not in typed("-r", f"{closed},model=ollama/m", *stated)[2]


def test_data_that_the_lake_holds_is_not_missing(typed: Typed) -> None:
    card = load_site().cards["medec"]
    ingested(Path("lake"), "medec", parse_hash(card))
    code, _, err = typed("-r", "medec:model=acme/a", "-o", "lake")
    assert (code, err) == (0, "1 run; nothing was written or sent\n")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            [],
            "files of them (conf_paths, --conf-paths) or a suite file (suite_file, --suite-file).",
        ),
        (["-c", "absent.conf"], "absent.conf"),
        (["-c", "site.conf"], "names no model"),
        (["-c", "site.conf", "--models-to-run", "acme/c"], "--models-to-run: unknown model"),
        (
            ["-c", "site.conf", "--models-to-run", "acme/a", "--groups-to-run", "none"],
            "of 3 run entries none is left to run",
        ),
        (["-r", "pubmed_qa:model=acme/a,model=acme/a"], "gives 'model' twice"),
        (["-r", "pubmed_qa:"], "nothing after it"),
        (
            ["-r", "first:model=acme/a"],
            "a benchmark of your own is written 'medhelm_configurable_benchmark:config_path="
            "first/benchmark.yaml,model=acme/a'",
        ),
        (["-r", "first/benchmark.yaml"], "config_path=first/benchmark.yaml'"),
        (
            ["-r", "med_dialog,subset=icliniq:model=acme/a"],
            "a colon follows the name; write 'med_dialog:subset=icliniq,model=acme/a'",
        ),
        (["-r", "pubmed_qa model=acme/a"], "write 'pubmed_qa:model=acme/a'"),
        (["-c", "site.conf", "--models-to-run", "acme/a", "-m", "0"], "max_eval_instances"),
        (
            ["-c", "site.conf", "--models-to-run", "acme/a", "--sheet", "Final"],
            "how source (--source) is read, which is not given; a benchmark.yaml has the keys",
        ),
    ],
)
def test_wrong_entries_are_one_sentence(typed: Typed, flags: list[str], message: str) -> None:
    code, lines, printed = typed(*flags)
    assert (code, lines) == (1, [])
    (line,) = printed.splitlines()
    assert line.startswith("medhelm-spark: ")
    assert message in line
