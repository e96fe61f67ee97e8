"""--ask-again: new answers count, those of before stay, and nobody is asked twice for one day."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.spark.conftest import Site, calls, questions
from tests.spark.model_server import ANSWER, ModelServer

TODAY = datetime.now(UTC).date()
YESTERDAY = str(TODAY - timedelta(days=1))


def two_models(site: Site, text: str = "yes") -> list[str]:
    bench = site.benchmark("bench", questions(4))
    for name in ("acme/a", "acme/b"):
        site.deploy(name, text=text, log_file=str(site.folder / name.replace("/", "_")))
    return ["-r", f"{bench},model=acme/a", f"{bench},model=acme/b"]


def num_calls(site: Site) -> tuple[int, int]:
    return len(calls(site.folder / "acme_a")), len(calls(site.folder / "acme_b"))


def test_weights_changed_behind_a_name(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    server = ModelServer()
    server.start()
    url = f"http://127.0.0.1:{server.port}/v1"
    model = site.deploy("acme/served", engine="openai", base_url=url)
    run = ["-r", f"{site.benchmark('bench', questions(4))},model={model}"]
    try:
        assert site.run(*run) == 0
        server.odd = {"Is": (200, json.dumps(ANSWER).replace("yes", "no").encode())}
        assert site.run(*run) == 0
        assert (server.calls, site.board()[0]["mean"]) == (4, 1.0)
        assert site.run(*run, "--ask-again", YESTERDAY) == 0
    finally:
        server.stop()
    stderr = capsys.readouterr().err
    assert f"is asked again, as of {YESTERDAY}; answers of before stay in the lake" in stderr
    assert (server.calls, site.board()[0]["mean"]) == (8, 0.0)
    assert len(site.rows("request_results")) == 8


def test_what_was_asked_again_stays_so_and_a_repeated_command_asks_nobody(site: Site) -> None:
    runs = two_models(site)
    assert site.run(*runs) == 0
    assert site.run(*runs, "--ask-again") == 0
    assert num_calls(site) == (8, 8)
    days = {row["run_spec"]["asked_again"] for row in site.rows("run_specs")}
    # The day that the command took: midnight may have passed since this file was imported.
    day = max(filter(None, days))
    assert days == {None, day}
    assert day >= str(TODAY)
    for more in (["--ask-again", day], [], ["--ask-again", day]):
        assert site.run(*runs, *more) == 0
        assert num_calls(site) == (8, 8)
    assert {cell["count"] for cell in site.board()} == {4}
    assert site.run(*runs, suite="other") == 0
    assert num_calls(site) == (8, 8), "another suite has the answers of before"
    assert site.run(*runs, "--ask-again", YESTERDAY, suite="other") == 0
    assert num_calls(site) == (12, 12)


def test_a_model_asked_again_is_comparable_with_the_others(site: Site) -> None:
    runs = two_models(site)
    assert site.run(*runs) == 0
    assert site.run(*runs[:2], "--ask-again") == 0
    assert num_calls(site) == (8, 4), "the other model is neither asked nor left behind"
    cells = site.board()
    assert {cell["model_deployment"] for cell in cells} == {"acme/a", "acme/b"}
    assert len({str(cell.get("comparability")) for cell in cells}) == 1


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--ask-again", "tomorrow"], "ask_again (--ask-again) is 'tomorrow'; allowed: a day"),
        (["--ask-again", str(TODAY + timedelta(days=2))], "today (UTC) at the latest"),
        (["--model", "acme/a"], "without ask_again (--ask-again)"),
        (["--ask-again", "--model", "acme/c"], "unknown model 'acme/c'. Did you mean"),
    ],
)
def test_what_means_nothing_is_refused_before_anything_runs(
    site: Site, capsys: pytest.CaptureFixture[str], more: list[str], why: str
) -> None:
    assert site.run(*two_models(site), *more) != 0
    assert why in capsys.readouterr().err
    assert not site.lake_path.exists()
    assert num_calls(site) == (0, 0)
