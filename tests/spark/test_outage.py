"""A server stopped before, in and after a run, and the same command typed again each time."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from medhelm_spark.cli.exit_codes import INCOMPLETE, OUTAGE
from medhelm_spark.governance.disclosures import disclosures_of
from medhelm_spark.lake.reader import open_reader
from tests.spark.conftest import Site, calls, questions
from tests.spark.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    server = ModelServer()
    server.start()
    yield server
    server.fault = ""
    server.stop()


def deploy(site: Site, server: ModelServer, **keys: object) -> str:
    fixed = {"engine": "openai", "max_attempts": 2, "max_concurrency": 4, "timeout": 2.0}
    return site.deploy(
        "acme/served", base_url=f"http://127.0.0.1:{server.port}/v1", **{**fixed, **keys}
    )


def fail(server: ModelServer, fault: str) -> None:
    server.fault = fault
    if fault == "refused":
        server.stop()


def repair(server: ModelServer) -> None:
    server.fault, server.healthy_for = "", 0
    if not server.is_up:
        server.start()


@pytest.mark.parametrize(
    ("fault", "kind"), [("refused", "unreachable"), ("hang", "timeout"), ("503", "engine_error")]
)
def test_a_server_that_is_out_before_the_run_and_back_later(
    site: Site,
    server: ModelServer,
    capsys: pytest.CaptureFixture[str],
    fault: str,
    kind: str,
) -> None:
    entry = f"{site.benchmark('bench', questions(4))},model={deploy(site, server)}"
    fail(server, fault)
    for _ in range(2):
        capsys.readouterr()
        assert site.run("-r", entry) == OUTAGE
        (message,) = [
            line for line in capsys.readouterr().err.splitlines() if line.startswith("medhelm")
        ]
        assert f"deployment 'acme/served' at 127.0.0.1:{server.port} does not answer: " in message
        assert f"0 answers kept, 4 requests without one ({kind} 4)." in message
        assert f"medhelm-spark run -r {entry} --suite s" in message
    assert not site.rows("stats"), "nothing is scored in an outage"
    repair(server)
    assert site.run("-r", entry) == 0
    (cell,) = site.board()
    assert (cell["mean"], cell["count"], cell["num_unscored"]) == (1.0, 4, 0)
    assert set(server.answered.values()) == {1}
    fail(server, fault)
    num_calls = server.calls
    capsys.readouterr()
    assert site.run("-r", entry) == 0, "all is answered, so nobody is asked"
    assert server.calls == num_calls
    assert "infer: nothing to ask, 0 model calls\n" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("fault", ["refused", "hang", "503"])
def test_a_server_that_goes_away_in_mid_run(
    site: Site, server: ModelServer, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    caplog.set_level(logging.WARNING)
    limit = {"max_failures_in_a_row": 3, "tokens_per_second": 1000}
    entry = f"{site.benchmark('bench', questions(40))},model={deploy(site, server, **limit)}"
    server.fault, server.healthy_for = fault, 6
    assert site.run("-r", entry) == OUTAGE
    rows = site.rows("request_results")
    assert sum(row["failure"] is None for row in rows) == server.answered.total() == 6
    assert 3 <= sum(row["failure"] is not None for row in rows) < 34, "the rest was not asked"
    assert site.run("-r", entry) == OUTAGE
    assert server.answered.total() == 6
    repair(server)
    assert site.run("-r", entry) == 0
    (cell,) = site.board()
    assert (cell["count"], cell["num_unscored"]) == (40, 0)
    assert len(server.answered) == 40
    assert set(server.answered.values()) == {1}, "nothing that was stored is asked again"


def test_a_server_that_fails_now_and_then_does_not_stop_a_run(
    site: Site, server: ModelServer
) -> None:
    server.fails_every = 3
    model = deploy(site, server, max_attempts=6, max_failures_in_a_row=2)
    entry = f"{site.benchmark('bench', questions(20))},model={model}"
    assert site.run("-r", entry) == 0
    assert site.board()[0]["count"] == 20


def test_what_the_requests_cause_stays_settled_and_is_told(
    site: Site, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.long_word = "Is 3"
    entry = f"{site.benchmark('bench', questions(4))},model={deploy(site, server)}"
    repeat = f"medhelm-spark run -r {entry} --suite s"
    for calls_made in (4, 4):
        assert site.run("-r", entry) == INCOMPLETE
        stderr = capsys.readouterr().err
        assert server.calls == calls_made
        assert "1 request stays failed (too_long 1): --retry-failed asks it again" in stderr
        assert "has 3 of 4 answers scored (the policy's coverage_floor is 95%)" in stderr
        assert "without an answer: acme/served too_long 1; too_long needs a longer " in stderr
        assert f"; to ask again: {repeat}" in stderr
        assert stderr.rstrip().endswith("--retry-failed")
    assert "infer: nothing to ask, 0 model calls; 1 request stays failed" in stderr
    assert site.run("-r", entry, command="infer") == INCOMPLETE
    assert "acme/served answered 3 of 4 requests" in capsys.readouterr().err
    server.long_word = ""
    skipping = ["-r", entry, "--skip-completed-runs", "--retry-failed"]
    assert site.run(*skipping) == 0, "a run that lacks answers is not complete"
    assert site.board()[0]["count"] == 4


def test_a_judge_that_is_out_stops_the_run_and_the_answers_are_kept(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    model = site.deploy("acme/yes", text="yes", log_file=str(log))
    site.deploy("acme/judge", mode="judge", score=4, fail_every=1)
    rubric = (
        'Score.\n<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
        "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
    )
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
    }
    entry = site.benchmark("bench", questions(3), metrics=[jury], judge_prompt=rubric)
    assert site.run("-r", f"{entry},model={model}") == OUTAGE
    assert "annotate: deployment 'acme/judge' does not answer" in capsys.readouterr().err
    site.deploy("acme/judge", mode="judge", score=4)
    assert site.run("-r", f"{entry},model={model}") == 0
    assert site.board()[0]["mean"] == 4.0
    assert len(calls(log)) == 3


def test_an_outage_is_seen_across_small_chunks_and_another_model_is_asked_to_the_end(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks of two requests: none contains enough failures by itself."""
    monkeypatch.setenv("MEDHELM_SPARK_CHUNK_REQUESTS", "2")
    log = tmp_path / "calls.log"
    slow = {"tokens_per_second": 10, "max_failures_in_a_row": 6, "max_attempts": 1}
    out = site.deploy("acme/out", fail_every=1, log_file=str(log), **slow)
    up = site.deploy("acme/up", text="yes", **slow)
    entry = site.benchmark("bench", questions(20), max_tokens=40)
    assert site.run("-r", entry, "--models-to-run", out, up) == OUTAGE
    assert 6 <= len(calls(log)) < 20
    answered = [row for row in site.rows("request_results") if row["failure"] is None]
    assert len(answered) == 20, "the model that is up was asked to the end"


def test_an_engine_that_dies_each_time_is_an_outage(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it was sent until then nobody could note; that it was begun is in the lake."""
    away = {"locality": "external", "text": "yes", "max_concurrency": 1}
    model = site.deploy("acme/mortal", die_after=1, **away)
    entry = f"{site.benchmark('bench', questions(4))},model={model}"
    assert site.run("-r", entry) == OUTAGE
    assert "the process that asked died each time it was tried" in capsys.readouterr().err
    (lost,) = disclosures_of(open_reader(str(site.lake_path)))
    assert (lost.is_bound, lost.texts, lost.answered) == (True, 4, 0)
    assert (lost.access_level, lost.locality) == ("public", "external")
    site.deploy("acme/mortal", **away)
    assert site.run("-r", entry) == 0
    disclosures = disclosures_of(open_reader(str(site.lake_path)))
    assert sorted((row.is_bound, row.texts, row.answered) for row in disclosures) == [
        (False, 4, 4),
        (True, 4, 0),
    ]
