"""What was answered and paid is stored whatever a server replies next, and is never asked again."""

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from medhelm_spark.cli.exit_codes import OUTAGE
from medhelm_spark.governance.disclosures import disclosures_of
from medhelm_spark.lake.reader import open_reader
from tests.spark.conftest import Site, questions
from tests.spark.model_server import ANSWER, ModelServer

BLOCKED = (403, b"<html>Request blocked</html>")
TRACES = ("py4j", "Traceback", "at org.apache", "java.lang")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    server = ModelServer()
    server.start()
    yield server
    server.stop()


def entry(site: Site, server: ModelServer, count: int, **keys: object) -> str:
    url = f"http://127.0.0.1:{server.port}/v1"
    fixed = {"engine": "openai", "max_attempts": 2, "max_concurrency": 4}
    model = site.deploy("acme/served", base_url=url, **{**fixed, **keys})
    return f"{site.benchmark('bench', questions(count))},model={model}"


def failures(site: Site) -> Counter[str | None]:
    return Counter(row["failure"] for row in site.rows("request_results"))


def test_a_firewall_that_blocks_one_text_costs_this_one_alone(
    site: Site, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.odd = {"Is 7 ": BLOCKED}
    run = entry(site, server, 40)
    assert site.run("-r", run) == 0
    assert failures(site) == {None: 39, "invalid_request": 1}
    assert "1 request stays failed (invalid_request 1: 403" in capsys.readouterr().err
    assert site.board()[0]["count"] == 39
    calls = server.calls
    assert site.run("-r", run) == 0
    assert server.calls == calls, "what is settled is not asked again"


def test_a_quota_that_ends_in_mid_run_keeps_what_was_answered(
    site: Site, server: ModelServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.quota = 20
    run = entry(site, server, 40)
    assert site.run("-r", run) == OUTAGE
    stderr = capfd.readouterr().err
    assert (
        "takes no request (429 insufficient_quota; the quota or credit of the account is" in stderr
    )
    assert "20 answers kept, 20 requests without one" in stderr
    assert f"When it answers again: medhelm-spark run -r {run}" in stderr
    assert not any(trace in stderr for trace in TRACES)
    assert failures(site)[None] == 20
    assert server.calls <= 40, "nothing is asked twice"
    disclosure, open_then = disclosures_of(open_reader(str(site.lake_path)))
    assert (disclosure.times, disclosure.answered, disclosure.is_bound) == (server.calls, 20, False)
    assert (open_then.texts, open_then.is_bound) == (4, True), "what may be open at once"
    server.quota = 10**9
    assert site.run("-r", run) == 0
    assert site.board()[0]["count"] == 40
    assert set(server.answered.values()) == {1}


def test_a_wrong_key_is_one_sentence(
    site: Site, server: ModelServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.odd = {"Is": (401, json.dumps({"error": {"code": "invalid_api_key"}}).encode())}
    assert site.run("-r", entry(site, server, 200)) == OUTAGE
    stderr = capfd.readouterr().err
    assert (
        "takes no request (401 invalid_api_key; check args.base_url, args.model and the key given "
        "by args.api_key): 0 answers kept"
    ) in stderr
    assert not any(trace in stderr for trace in TRACES)
    assert server.calls < 40


def test_replies_of_any_form_cost_no_other_row(site: Site, server: ModelServer) -> None:
    good = json.dumps(ANSWER)
    failed = good.replace('"stop"', '"error"')
    server.odd = {
        "Is 1 ": (200, good.replace("yes", "yes \\ud83d").encode()),
        "Is 2 ": (200, good.replace(": 5", ': "5"').encode()),
        "Is 3 ": (200, failed.encode()),
        "Is 4 ": (200, b" " * 20_000),
        "Is 5 ": (200, b"\xef\xbb\xbf" + good.encode()),
        "Is 6 ": (200, good.replace('"yes"', '"yes", "reasoning": {"a": [1]}').encode()),
    }
    assert site.run("-r", entry(site, server, 40, max_reply_bytes=10_000)) == 0
    assert failures(site) == {None: 38, "engine_error": 1, "invalid_reply": 1}
    (cell,) = site.board()
    assert (cell["count"], cell["num_unscored"]) == (38, 2)
