"""What the first pages show, as far as it goes without Spark: files, commands, output."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.adaptation.render import render
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.request import Completion, FinishReason, RequestState
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.errors import ConfigError
from medhelm_spark.medhelm.expand import expand
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.medhelm.run_entries import load_conf, parse_entry
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.metrics import metrics_for
from medhelm_spark.scenarios import check_card, parse_records, read_card

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN_BENCHMARK = (ROOT / "docs" / "own-benchmark.md").read_text(encoding="utf-8")
OWN_MODEL = (ROOT / "docs" / "own-model.md").read_text(encoding="utf-8")
ADDING = (ROOT / "docs" / "adding-a-scenario.md").read_text(encoding="utf-8")
NAMED_FILE = re.compile(r"^`(\S+/\S+)`\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = dict(NAMED_FILE.findall(OWN_BENCHMARK))


def blocks(page: str, language: str, mark: str) -> list[str]:
    """The fenced blocks of a language that contain `mark`."""
    return [text for kind, text in BLOCK.findall(page) if kind == language and mark in text]


def words_of(block: str, command: str) -> list[str]:
    """The arguments of the block's line that starts with a command."""
    lines = block.replace("\\\n", " ").splitlines()
    line = next(line for line in lines if line.startswith(f"medhelm-spark {command}"))
    return shlex.split(line)[1:]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with the three files of the page on one's own benchmark."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def instances_of(path: Path) -> Sequence[Instance]:
    card = load_benchmark(path).card
    check_card(card)
    found = list(parse_records(read_card(card), card, "v1"))
    assert all(isinstance(row, Instance) for row in found)
    return [row for row in found if isinstance(row, Instance)]


def test_a_benchmark_is_three_files() -> None:
    assert sorted(FILES) == ["referral/benchmark.yaml", "referral/data.csv", "referral/prompt.txt"]


def test_the_files_are_a_benchmark(site: Path) -> None:
    card = load_benchmark(site / "referral" / "benchmark.yaml").card
    assert (card.name, card.main_metric) == ("REFERRAL", "exact_match")
    assert card.access_level is AccessLevel.PUBLIC
    assert card.adapter_spec.max_tokens == 5


def test_access_level_is_private_unless_said_otherwise(site: Path) -> None:
    path = site / "referral" / "benchmark.yaml"
    path.write_text(path.read_text().replace("access_level: public\n", ""))
    assert load_benchmark(path).card.access_level is AccessLevel.PRIVATE


def test_the_rows_become_prompts(site: Path) -> None:
    rows = instances_of(site / "referral" / "benchmark.yaml")
    assert [row.source_id for row in rows] == ["letter-01", "letter-02", "letter-03", "letter-04"]
    assert [row.references[0].text for row in rows] == ["yes", "no", "yes", "no"]
    assert [[r.text for r in row.references if not r.is_correct] for row in rows] == [
        ["no"],
        ["yes"],
        ["no"],
        ["yes"],
    ]
    spec = load_benchmark(site / "referral" / "benchmark.yaml").card.adapter_spec
    assert render(spec, rows[3], render_id="r").text == (
        "Read the letter. Does the patient need an appointment within two weeks?\n\n"
        "Letter: 24-year-old asks about foot hygiene before a holiday.\n\n"
        "Answer yes or no.\n\n"
    )


def test_the_answers_are_scored(site: Path) -> None:
    path = site / "referral" / "benchmark.yaml"
    (metric, params), *others = metrics_for(load_benchmark(path).card.metrics)
    states = [
        RequestState(
            run_spec_id="r",
            instance_id=row.instance_id,
            perturbation="",
            train_trial_index=0,
            trial_index=0,
            split="test",
            references=row.references,
            completions=(Completion(text=" yes\n", finish_reason=FinishReason.STOP),),
        )
        for row in instances_of(path)
    ]
    assert not others
    assert [row[0].value for row in metric.fn(states, params)] == [1, 0, 1, 0]


@pytest.mark.usefixtures("site")
def test_the_dry_run_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks(OWN_BENCHMARK, "sh", "--dry-run")
    (shown,) = blocks(OWN_BENCHMARK, "text", "judges: none")
    assert main(words_of(block, "run")) == 0
    assert capsys.readouterr().out.split() == shown.split()
    assert not Path("benchmark_output").exists()


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("prompt.txt", "{letter}", "{lettre}", "has no column 'lettre', which the template"),
        ("data.csv", "correct_answer", "answer", "has no column 'correct_answer'"),
        ("benchmark.yaml", "exact_match", "exact_mach", "Did you mean 'exact_match'?"),
        ("benchmark.yaml", "max_tokens", "max_token", "unknown key max_token"),
        ("benchmark.yaml", "data.csv", "dta.csv", "there is no such file"),
    ],
)
def test_a_slip_is_told_by_the_dry_run(
    name: str, old: str, new: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("referral", name)
    path.write_text(path.read_text().replace(old, new))
    (block,) = blocks(OWN_BENCHMARK, "sh", "--dry-run")
    assert main(words_of(block, "run")) == 1
    captured = capsys.readouterr()
    assert not captured.out
    assert message in captured.err
    assert len(captured.err.strip().splitlines()) == 1


def test_the_deployment_is_found_in_the_site_folder(site: Path) -> None:
    (block,) = blocks(OWN_MODEL, "yaml", "model_deployments:")
    (site / "prod_env").mkdir()
    (site / "prod_env" / "model_deployments.yaml").write_text(block, encoding="utf-8")
    registry = load_site(site / "prod_env")
    found = registry.resolve_model("hospital/qwen2.5-7b-instruct")
    assert (found.engine, found.locality) == ("openai", Locality.TENANT)
    assert found.args["api_key"] == "env:HOSPITAL_LLM_KEY"


def test_a_key_that_is_written_out_is_refused(site: Path) -> None:
    (block,) = blocks(OWN_MODEL, "yaml", "model_deployments:")
    (site / "prod_env").mkdir()
    written = block.replace("env:HOSPITAL_LLM_KEY", "sk-12345")
    (site / "prod_env" / "model_deployments.yaml").write_text(written, encoding="utf-8")
    with pytest.raises(ConfigError, match="api_key is written out") as caught:
        load_site(site / "prod_env")
    assert "12345" not in str(caught.value)


def test_the_run_entries_of_the_longer_page(site: Path) -> None:
    """One file without a model, beside the benchmark, combined with the models of the flag."""
    (conf,) = blocks(OWN_BENCHMARK, "", "entries:")
    (site / "referral" / "run_entries.conf").write_text(conf, encoding="utf-8")
    (block,) = blocks(OWN_BENCHMARK, "sh", "run_entries.conf")
    assert main([*words_of(block, "run"), "--dry-run"]) == 0
    (entry,) = load_conf(site / "referral" / "run_entries.conf")
    assert entry.priority == 1


def test_the_card_of_the_page_on_scenarios(site: Path) -> None:
    (card,) = blocks(ADDING, "yaml", "shape: multiple_choice")
    folder = site / "prod_env" / "scenarios"
    folder.mkdir(parents=True)
    (folder / "discharge_questions.yaml").write_text(card, encoding="utf-8")
    (site / "discharge_questions.csv").write_text(
        "case,summary,question,options,answer\n"
        'c1,Sent home on aspirin.,Which drug?,"[""aspirin"", ""warfarin""]",A\n',
        encoding="utf-8",
    )
    (block,) = blocks(ADDING, "sh", "discharge_questions")
    words = words_of(block, "run")
    assert main([*words, "--dry-run"]) == 0
    entry = parse_entry(words[words.index("-r") + 1], where="-r")
    (run,) = expand([entry], load_site(site / "prod_env"), base_dir=site)
    (row,) = parse_records(read_card(run.card), run.card, "v1")
    assert isinstance(row, Instance)
    assert render(run.adapter_spec, row, render_id="r").text == (
        "Read the summary and choose the right option. Reply with its letter alone.\n\n"
        "Sent home on aspirin.\n\nQuestion: Which drug?\n\nA. aspirin\nB. warfarin\nAnswer:"
    )


def test_the_sentence_in_python_means_the_same(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = blocks(README, "python", "Evaluation")
    planned = []

    def dry_run(self: Evaluation, *args: Any, **options: Any) -> SimpleNamespace:
        planned.append(self.dry_run(*args, **options))
        return SimpleNamespace(board="the board")

    monkeypatch.setattr(Evaluation, "run", dry_run)
    exec(block, {})
    assert capsys.readouterr().out == "the board\n"
    (run,) = planned[0].runs
    assert blocks(README, "sh", "pubmed_qa:model=")
    assert (run.card.name, run.adapter_spec.max_eval_instances) == ("pubmed_qa", 10)


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len(README.splitlines()) <= 140
