"""`models`: what is listed, and with `--check` whether it answers."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.engines.health_check import QUESTION
from tests.unit.engines.fault_server import FaultServer

SITE = """\
model_deployments:
  - name: acme/served
    engine: openai
    locality: tenant
    prices: {prompt: 1, completion: 2.5, as_of: 2026-01-31}
    client_spec: {args: {base_url: "URL", api_key: "env:ACME_KEY"}}
  - name: acme/foreign
    client_spec: {class_name: "helm.clients.no_such_client.Client"}
"""

Typed = Callable[..., tuple[int, dict[str, dict[str, Any]], str]]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    server = FaultServer()
    yield server
    server.close()


@pytest.fixture
def typed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    server: FaultServer,
) -> Typed:
    """`medhelm-spark models ARGUMENTS`: exit code, its rows by name, and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACME_KEY", "planted")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "prod_env").mkdir()
    path = tmp_path / "prod_env" / "model_deployments.yaml"
    path.write_text(SITE.replace("URL", server.url))

    def run(*arguments: str) -> tuple[int, dict[str, dict[str, Any]], str]:
        code = main(["models", *arguments, "--format", "json"])
        printed = capsys.readouterr()
        assert "planted" not in printed.out + printed.err
        rows = json.loads(printed.out)["rows"] if printed.out else []
        return code, {row["name"]: row for row in rows}, printed.err

    return run


def test_what_is_known_is_listed_and_nobody_is_asked(typed: Typed, server: FaultServer) -> None:
    code, rows, err = typed()
    assert (code, err, server.bodies) == (0, "", [])
    served = rows["acme/served"]
    assert served["destination"] == server.url.split("/")[2]
    assert (served["locality"], served["key"]) == ("tenant", "env:ACME_KEY set")
    assert served["prices"] == {
        "prompt": 1.0,
        "completion": 2.5,
        "as_of": "2026-01-31",
        "currency": None,
    }
    assert (served["answers"], served["lacks"]) == (None, "")
    vendor = rows["openai/gpt-4o"]
    assert vendor["key"] == "env:OPENAI_API_KEY not set"
    assert "set the environment variable OPENAI_API_KEY" in vendor["lacks"]
    assert rows["canned/echo"]["demo"]
    assert "no_such_client" in rows["acme/foreign"]["lacks"]


def test_one_public_question_is_asked(typed: Typed, server: FaultServer) -> None:
    by_name = f"vllm/m@{server.url}"
    code, rows, _ = typed("--check", "acme/served", by_name)
    assert (code, list(rows)) == (0, ["acme/served", by_name])
    for row in rows.values():
        assert (row["answers"], row["prompt_tokens"], row["completion_tokens"]) == (True, 5, 1)
        assert row["seconds"] > 0
    assert not rows[by_name]["is_locality_stated"]
    messages = [body["messages"] for body in server.bodies]
    assert messages == [[{"role": "user", "content": QUESTION}]] * 2


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "ollama/m@http://127.0.0.1:9/v1",
            "unreachable at 127.0.0.1:9; start it by `ollama",
        ),
        ("openai/gpt-4o", "no key found for env:OPENAI_API_KEY"),
    ],
)
def test_one_that_does_not_answer_ends_with_exit_code_1(typed: Typed, name: str, why: str) -> None:
    code, rows, err = typed("--check", name, "canned/echo")
    assert code == 1
    assert "WARNING" not in err
    assert not rows[name]["answers"]
    assert why in rows[name]["failure"]
    assert rows["canned/echo"]["answers"]


def test_the_policy_is_asked(typed: Typed, server: FaultServer) -> None:
    Path("prod_env", "policy.yaml").write_text("allowed: {public: [local]}\n")
    code, rows, _ = typed("--check", "acme/served")
    assert (code, server.bodies) == (1, [])
    assert rows["acme/served"]["failure"].startswith("denied")


def test_an_unknown_name_is_refused(typed: Typed) -> None:
    code, rows, err = typed("--check", "acme/other")
    assert (code, rows) == (1, {})
    assert "unknown model 'acme/other'" in err


@pytest.mark.usefixtures("typed")
def test_the_table_in_python_and_as_text(tmp_path: Path) -> None:
    models = Evaluation(tmp_path / "lake", tracking=False).models(["acme/served", "ollama/m"])
    served, by_name = models.to_pandas().to_dict("records")
    assert (served["name"], by_name["origin"]) == ("acme/served", "its name")
    text = str(models)
    assert "1 / 2.5" in text
    assert "as of 2026-01-31: check them" in text
    assert "local? (localhost:11434)" in text
    assert "not checked" in text
    assert models._repr_html_().startswith("<table>")
    assert not (tmp_path / "lake").exists()
