"""Answers made elsewhere: matched by id, scored, no model called."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from medhelm_spark.board import choose, load_runs
from medhelm_spark.board.cells import PROMPT_UNKNOWN
from medhelm_spark.board.common import common_of
from medhelm_spark.cli import main
from medhelm_spark.governance.disclosures import disclosures_of
from medhelm_spark.lake.reader import open_reader
from tests.spark.conftest import PUBLIC, Site, questions
from tests.spark.test_evaluation import open_evaluation

RIGHT, ALL = 216, 1047


def responses(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_medcalc_gives_the_published_number(
    site: Site, real_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = real_data / "medcalc_bench"
    data = str(folder / "test_data_v1.0_20240626.csv")
    answers = str(folder / "openai_gpt-4o-mini_direct_answer.jsonl")
    lake = ["-o", str(site.lake_path)]
    assert main(["ingest", "--scenario", "medcalc_bench", "--source", data, *PUBLIC, *lake]) == 0
    arguments = [
        "-r", "medcalc_bench:model=openai/gpt-4o-mini", "--file", answers,
        "--fields", "source_id='Row Number',completion='LLM Answer'",
    ]  # fmt: skip
    assert site.run(*arguments, command="import-responses") == 0
    assert "0 model calls" in capsys.readouterr().err
    (cell,) = site.board()
    assert cell["count"] == ALL
    assert cell["mean"] == pytest.approx(RIGHT / ALL, abs=1e-12)
    names = {row["name"]: row for row in site.rows("stats")}
    helm = names["medcalc_bench_accuracy@medhelm-0.8"]
    assert helm["count"] == ALL
    assert helm["mean"] < RIGHT / ALL, "MedHELM scores every lab item 0"


def test_lines_about_nothing_that_is_evaluated_are_counted(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = site.benchmark("bench", questions(2))
    rows = [{"source_id": name, "completion": "yes"} for name in ("q0", "q1", "X99")]
    file = responses(site.folder / "answers.jsonl", rows)
    arguments = ["-r", f"{bench},model=team/model", "--file", file]
    assert site.run(*arguments, command="import-responses") == 0
    stderr = capsys.readouterr().err
    assert "2 new answers; 1 line of the file named no instance that is evaluated\n" in stderr


def test_a_model_that_leaves_out_what_it_would_get_wrong_is_not_ranked_first(site: Site) -> None:
    """Of 100 letters both answer 90 alike and right; one has no answer to five of the others."""
    bench = site.benchmark("letters", questions(100, lambda i: "no" if i % 10 == 0 else "yes"))
    answered = {
        "whole": range(100),
        "careful": [i for i in range(100) if i not in range(0, 50, 10)],
    }
    for model, indices in answered.items():
        rows = [{"source_id": f"q{i}", "completion": "yes"} for i in indices]
        file = responses(site.folder / f"{model}.jsonl", rows)
        arguments = ["-r", f"{bench},model=team/{model}", "--file", file]
        assert site.run(*arguments, command="import-responses") in (0, 3)
    evaluation = open_evaluation(site)
    rows = {row.model: row for row in evaluation.board("s").leaderboard.rows}
    assert rows["team/careful"].cells[0].mean == pytest.approx(90 / 95)
    standings = [(row.rank, row.mean_win_rate, row.standing.tier) for row in rows.values()]
    assert standings == [(1, 0.5, 1), (1, 0.5, 1)]
    (pair,) = evaluation.compare(suite="s").pairs
    assert (pair.difference.n, pair.difference.mean_difference) == (95, 0.0)


def test_instances_are_drawn_as_spark_drew_them(site: Site) -> None:
    """Two runs resampled side by side agree with each run's own resamples, hash by hash."""
    bench = site.benchmark("letters", questions(40, lambda i: "yes" if i % 3 else "no"))
    open_evaluation(site).run([f"{bench},model=team/{text}" for text in ("yes", "no")], suite="s")
    reader = open_reader(str(site.lake_path))
    runs = load_runs(reader, choose(reader, "s"))
    cells = [replace(run.cell, num_unscored=1) for run in runs]  # as if answers were missing
    common = common_of(reader, map(lambda run, cell: replace(run, cell=cell), runs, cells))
    common_draws = common[cells[0].run_spec_ids, cells[1].run_spec_ids]
    own = np.subtract(cells[0].draws, cells[1].draws)
    assert np.allclose(common_draws.differences, own, rtol=0, atol=1e-12)


def test_what_a_file_lacks_stays_unscored_and_a_new_file_supersedes(site: Site) -> None:
    bench = site.benchmark("bench", questions(4))
    half = responses(
        site.folder / "half.jsonl",
        [{"source_id": f"q{i}", "completion": "yes", "request_time": 0.5} for i in range(2)],
    )
    arguments = ["-r", f"{bench},model=team/model", "--file", half]
    assert site.run(*arguments, command="import-responses") == 0
    (cell,) = site.board()
    assert (cell["mean"], cell["count"], cell["num_unscored"]) == (1.0, 2, 2)
    assert {row["request_time"] for row in site.rows("request_results")} == {0.5}
    before = len(site.rows("request_results"))
    site.run(*arguments, command="import-responses")
    assert len(site.rows("request_results")) == before, "the same file again changes nothing"
    by_instance = [
        {"instance_id": row["instance_id"], "completion": "no"} for row in site.rows("instances")
    ]
    complete_file = responses(site.folder / "whole.jsonl", by_instance)
    arguments = ["-r", f"{bench},model=team/model", "--file", complete_file]
    assert site.run(*arguments, command="import-responses") == 0
    (cell,) = site.board()
    assert (cell["mean"], cell["count"]) == (0.0, 4)


def test_answers_to_private_text_need_an_attested_place(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = site.benchmark("bench", questions(2), access_level="private")
    rows = [{"source_id": f"q{i}", "completion": "yes"} for i in range(2)]
    file = responses(site.folder / "answers.jsonl", rows)
    arguments = ["-r", f"{bench},model=team/model", "--file", file]
    assert site.run(*arguments, command="import-responses") == 1
    assert "the imported 'team/model' (unknown) may not see private" in capsys.readouterr().err
    assert not site.rows("request_results")
    attested_arguments = [*arguments, "--attest-locality", "local"]
    assert site.run(*attested_arguments, command="import-responses") == 0
    (cell,) = site.board()
    assert (cell["mean"], cell["count"]) == (1.0, 2)
    localities = [
        (row["role"], row["locality"], row["allowed"]) for row in site.rows("policy_decisions")
    ]
    assert sorted(localities) == [("imported", "local", True), ("imported", "unknown", False)]
    assert not disclosures_of(open_reader(str(site.lake_path))), "nothing was sent"


def test_an_attested_prompt_is_recorded_and_named_and_changes_no_number(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = site.benchmark("bench", questions(3))
    rows = [{"source_id": f"q{i}", "completion": "yes"} for i in range(3)]
    file = responses(site.folder / "answers.jsonl", rows)
    arguments = ["-r", f"{bench},model=team/model", "--file", file]
    assert site.run(*arguments, "--attest-prompt", "two\nlines", command="import-responses") == 1
    assert "--attest-prompt" in capsys.readouterr().err
    assert not site.rows("run_specs"), "a bad statement leaves no run behind"
    assert site.run(*arguments, command="import-responses") == 0
    (before,) = site.board()
    assert before["imported"] == PROMPT_UNKNOWN
    attest_flags = ["--attest-prompt", "the gateway logged it"]
    assert site.run(*arguments, *attest_flags, command="import-responses") == 0
    output = capsys.readouterr()
    assert "prompt attested by" in output.out and "the gateway logged it" in output.out
    (after,) = site.board()
    assert "(unverified)" in after["imported"] and "not on record" in after["imported"]
    assert {**after, "imported": "", "made_at": ""} == {**before, "imported": "", "made_at": ""}
    assert site.run(*arguments, command="import-responses") == 0
    (last_cell,) = site.board()
    assert last_cell["imported"] == after["imported"], "what was stated stays where nothing new is"
    attestations = [row["prompt_attested"] for row in site.rows("run_specs")]
    assert [attestation["note"] for attestation in attestations if attestation] == [
        "the gateway logged it"
    ]
    assert all(
        attestation["stated_by"] and attestation["stated_at"]
        for attestation in attestations
        if attestation
    )


def test_a_bad_file_is_one_sentence_and_leaves_no_run(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = site.benchmark("bench", questions(2))
    other = {"source_id": "other", "completion": "a"}
    for rows, message, is_planned in (
        (
            [{"source_id": "q0", "completion": "a"}] * 2,
            "line 2: its id is in line 1 too",
            False,
        ),
        ([other], "no line's id is one of", True),
    ):
        file = responses(site.folder / "bad.jsonl", rows)
        arguments = ["-r", f"{bench},model=team/model", "--file", file]
        assert site.run(*arguments, command="import-responses") == 1
        assert message in capsys.readouterr().err
        assert bool(site.rows("run_specs")) is is_planned
        assert not site.rows("request_results")


def test_imported_answers_are_ranked_with_those_that_were_asked_for_here(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = site.benchmark("bench", questions(4))
    site.deploy("acme/no", text="no")
    assert site.run("-r", f"{bench},model=acme/no") == 0
    rows = [{"source_id": f"q{i}", "completion": "yes"} for i in range(4)]
    file = responses(site.folder / "answers.jsonl", rows)
    arguments = ["-r", f"{bench},model=team/model", "--file", file]
    assert site.run(*arguments, command="import-responses") == 0
    marks = {cell["model"]: (cell["rank"], bool(cell["imported"])) for cell in site.board()}
    assert marks == {"team/model": (1, True), "acme/no": (2, False)}
    capsys.readouterr()
    assert site.run(command="compare") == 0
    assert "+1.000" in capsys.readouterr().out
