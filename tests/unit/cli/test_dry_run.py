"""`--dry-run` shows which runs the flags leave, and neither starts Spark nor writes."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.cli import main

CONF = """
    entries: [
      {description: "first", priority: 1, groups: [ward]}
      {description: "second", priority: 2}
      {description: "third", priority: 3, groups: [clinic]}
    ]
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
    names = "".join(
        f"\n- {{name: {name}, engine: canned, locality: local}}" for name in ("acme/a", "acme/b")
    )
    (tmp_path / "prod_env" / "model_deployments.yaml").write_text(f"model_deployments:{names}\n")

    def run(*arguments: str) -> tuple[int, list[list[str]], str]:
        code = main(["run", "--dry-run", "--suite", "s", *arguments])
        shown = capsys.readouterr()
        return code, [line.split("\t") for line in shown.out.splitlines()], shown.err

    return run


def _benchmark(folder: Path, name: str) -> None:
    folder.mkdir()
    (folder / "prompt.txt").write_text("{question}")
    (folder / "data.csv").write_text("id,question,correct_answer\n1,Is it?,yes\n")
    (folder / "benchmark.yaml").write_text(
        f"{{name: {name}, description: d, prompt_file: prompt.txt, dataset_file: data.csv, "
        "metrics: [{name: exact_match}]}"
    )


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


def test_entries_without_a_model_combine_with_models_to_run(typed: Typed) -> None:
    code, lines, said = typed("-c", "site.conf", "--models-to-run", "acme/a", "acme/b", "-m", "10")
    assert code == 0
    assert [line[1] for line in lines] == ["acme/a (local)", "acme/b (local)"] * 3
    assert {tuple(line[2:]) for line in lines} == {("private", "10 instances", "judges: none")}
    assert said == "6 runs; nothing was written or sent\n"


def test_nothing_is_written_and_spark_is_not_started(typed: Typed, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    started = SparkSession.getActiveSession()
    assert typed("-c", "site.conf", "--models-to-run", "acme/a")[0] == 0
    assert sorted(tmp_path.rglob("*")) == before
    assert SparkSession.getActiveSession() is started


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "give run entries by --run-entries, or files of them by --conf-paths."),
        (["-c", "absent.conf"], "absent.conf"),
        (["-c", "site.conf"], "names no model"),
        (["-c", "site.conf", "--models-to-run", "acme/c"], "--models-to-run: unknown model"),
        (
            ["-c", "site.conf", "--models-to-run", "acme/a", "--groups-to-run", "none"],
            "none of the 3 run entries is left to run",
        ),
        (["-r", "pubmed_qa:model=acme/a,model=acme/a"], "gives 'model' twice"),
        (["-r", "pubmed_qa:"], "nothing after it"),
        (["-c", "site.conf", "--models-to-run", "acme/a", "-m", "0"], "max_eval_instances"),
    ],
)
def test_wrong_entries_are_one_sentence(typed: Typed, flags: list[str], said: str) -> None:
    code, lines, shown = typed(*flags)
    assert (code, lines) == (1, [])
    (line,) = shown.splitlines()
    assert line.startswith("medhelm-spark: ")
    assert said in line
