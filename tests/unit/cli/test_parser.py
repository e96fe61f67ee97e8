"""Command lines as MedHELM's users type them."""

from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.cli import main
from medhelm_spark.cli.parser import parse

ENTRY = "pubmed_qa:model=openai/gpt-4o"
RUN = ["run", "--suite", "s"]

ACCEPTED: list[tuple[str, list[str], dict[str, Any]]] = [
    ("-r", [*RUN, "-r", ENTRY], {"run_entries": [ENTRY]}),
    ("--run-entries", [*RUN, "--run-entries", ENTRY, "b:x=1"], {"run_entries": [ENTRY, "b:x=1"]}),
    ("-c", [*RUN, "-c", "a.conf"], {"conf_paths": [Path("a.conf")]}),
    ("--conf-paths", [*RUN, "--conf-paths", "a", "b"], {"conf_paths": [Path("a"), Path("b")]}),
    ("-m", [*RUN, "-m", "10"], {"max_eval_instances": 10}),
    ("--max-eval-instances", [*RUN, "--max-eval-instances", "7"], {"max_eval_instances": 7}),
    ("no -m", RUN, {"max_eval_instances": None}),
    ("-o", [*RUN, "-o", "hive.medhelm"], {"output_path": "hive.medhelm"}),
    ("--output-path", [*RUN, "--output-path", "s3://b/l"], {"output_path": "s3://b/l"}),
    ("no -o", RUN, {"output_path": "benchmark_output"}),
    ("-n", [*RUN, "-n", "4"], {"num_threads": 4}),
    ("--compat", [*RUN, "--compat", "medhelm-0.8"], {"compat": "medhelm-0.8"}),
    ("--num-threads", [*RUN, "--num-threads", "8"], {"num_threads": 8}),
    ("-t", [*RUN, "-t", "3"], {"num_train_trials": 3}),
    ("--num-train-trials", [*RUN, "--num-train-trials", "2"], {"num_train_trials": 2}),
    ("--suite", RUN, {"suite": "s"}),
    ("--models-to-run", [*RUN, "--models-to-run", "a/b", "c/d"], {"models_to_run": ["a/b", "c/d"]}),
    ("--groups-to-run", [*RUN, "--groups-to-run", "g", "h"], {"groups_to_run": ["g", "h"]}),
    ("--priority", [*RUN, "--priority", "2"], {"priority": 2}),
    ("-d", [*RUN, "-d"], {"dry_run": True}),
    ("--dry-run", [*RUN, "--dry-run"], {"dry_run": True}),
    ("--skip-completed-runs", [*RUN, "--skip-completed-runs"], {"skip_completed_runs": True}),
    ("--local-path", [*RUN, "--local-path", "conf"], {"local_path": Path("conf")}),
    ("no --local-path", RUN, {"local_path": Path("prod_env")}),
    ("summarize --suite", ["summarize", "--suite", "s"], {"suite": "s"}),
    (
        "publish --suites --release",
        ["publish", "--suites", "A", "B", "--release", "R"],
        {"suites": ["A", "B"], "release": "R"},
    ),
    ("--schema", ["summarize", "--suite", "s", "--schema", "f.yaml"], {"schema": Path("f.yaml")}),
    ("--schema-path", ["summarize", "--schema-path", "f.yaml"], {"schema": Path("f.yaml")}),
    ("--auto-generate-schema", ["summarize", "--auto-generate-schema"], {"suite": None}),
    ("serve", ["serve", "--suite", "s"], {"suite": "s", "port": 8000, "host": "127.0.0.1"}),
    ("server", ["server", "--release", "R", "-p", "9000"], {"release": "R", "port": 9000}),
    ("--port", ["serve", "--port", "9001"], {"port": 9001, "suite": None}),
    ("leaderboard", ["leaderboard", "--suite", "s"], {"format": "table", "suite": "s"}),
    ("board --schema", ["leaderboard", "--schema", "f.yaml"], {"schema": Path("f.yaml")}),
    ("--format", ["leaderboard", "--release", "R", "--format", "md"], {"format": "md"}),
    (
        "import-responses",
        ["import-responses", "-r", ENTRY, "--suite", "s", "--file", "a.jsonl", "--fields", "x=y"],
        {"file": "a.jsonl", "fields": "x=y", "run_entries": [ENTRY]},
    ),
    (
        "init --table",
        ["init", "--table", "clinic.letters", "--text", "note", "--label", "urgent", "--id", "n"],
        {"folder": None, "table": "clinic.letters", "file": None, "text": "note", "id": "n"},
    ),
    (
        "init --file",
        ["init", "bench", "--file", "a.csv", "--text", "note", "--label", "urgent"],
        {"folder": Path("bench"), "file": "a.csv", "id": None},
    ),
    ("--suite-file", [*RUN, "--suite-file", "smoke"], {"suite_file": "smoke", "run_entries": []}),
    ("-r and -r", [*RUN, "-r", "a", "-r", "b", "c"], {"run_entries": ["a", "b", "c"]}),
    ("scenarios", ["scenarios"], {"action": "list"}),
    ("scenarios check", ["scenarios", "check"], {"action": "check"}),
    ("ingest", ["ingest", "--scenario", "a", "--source", "f", "g"], {"source": ["f", "g"]}),
]


@pytest.mark.parametrize(
    ("argv", "expected"), [case[1:] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED]
)
def test_what_helms_users_type_is_accepted(argv: list[str], expected: dict[str, Any]) -> None:
    args = parse(argv)
    assert {name: getattr(args, name) for name in expected} == expected
    assert callable(args.command)


def test_a_whole_helm_run_command() -> None:
    typed = (
        "run -c run_entries_medhelm_public.conf -m 1000 -n 16 -t 1 --suite medhelm "
        "--models-to-run openai/gpt-4o --priority 2 --local-path prod_env -o benchmark_output"
    )
    args = parse(typed.split())
    assert args.name == "run"
    assert (args.max_eval_instances, args.num_threads, args.suite) == (1000, 16, "medhelm")
    assert args.models_to_run == ["openai/gpt-4o"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["run", "-r", ENTRY], "--suite"),
        (["run", "--suite", "s", "-m", "many"], "-m"),
        (["run", "--suite", "../x"], "suite is '../x'; allowed: text of 1 to 200 characters"),
        (["estimate", "--suite", ""], "suite is ''; allowed"),
        (["summarize", "--suites", "s", "a/../b"], "suite is 'a/../b'; allowed"),
        (["publish", "--suites", "s", "--release", " "], "release is ' '; allowed"),
        (["leaderboard", "--suite", "/x"], "suite is '/x'; allowed"),
        (["release", "verify", "--release", "../r"], "release is '../r'; allowed"),
        (["serve", "--release", "r/"], "release is 'r/'; allowed"),
        (["run", "--suite", "s", "-n", "0"], "'0' is not a whole number of at least 1"),
        (["run", "--suite", "s", "-n", "many"], "'many' is not a whole number of at least 1"),
        (["infer", "--suite", "s", "-r", ENTRY, "--no-tracking"], "--no-tracking"),
        (["summarize", "--schema", "f.yaml", "--auto-generate-schema"], "not allowed with"),
        (["summarize", "--suite", "a", "--suites", "b"], "not allowed with argument --suite"),
        (["publish", "--suites", "a", "--suite", "b", "--release", "R"], "not allowed with"),
        (["scenarios", "lake"], "'lake' (choose from"),
        (["explain-config", "--output-path", "lake"], "--output-path"),
        (["fetch-model", "--local-path", "site"], "--local-path"),
        (["run", "--suite", "s", "--max-evil", "3"], "--max-evil"),
        (["leaderboard", "--suite", "s", "--release", "R"], "not allowed with"),
        (["serve", "--suite", "s", "--release", "R"], "not allowed with"),
        (["leaderboard", "--format", "xml"], "xml"),
        (["import-responses", "-r", ENTRY, "--suite", "s"], "--file"),
        (["ingest"], "--scenario"),
        (["runn"], "runn"),
    ],
)
def test_a_wrong_command_line_is_refused(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        parse(argv)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "refused"),
    [
        (["--prevalence", "0.02"], "--prevalence is for whole benchmarks, not for --by."),
        (["--margin", "0"], "--margin is for whole benchmarks, not for --by."),
        (["--margin", "1", "--prevalence", "x=1"], "--margin and --prevalence are for whole"),
    ],
)
def test_a_comparison_by_groups_refuses_what_it_would_ignore(
    flags: list[str], refused: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--by", "sex", *flags]) == 1
    assert refused in capsys.readouterr().err
