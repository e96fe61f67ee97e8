"""Models that no file lists, from a run entry to the board."""

from collections.abc import Iterator

import pytest

from tests.spark.conftest import Site, questions
from tests.spark.model_server import ModelServer


@pytest.fixture
def server() -> Iterator[ModelServer]:
    server = ModelServer()
    server.start()
    yield server
    server.stop()


def test_a_server_by_its_name_alone(
    site: Site, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers are stored under the whole name and used again, by another definition too."""
    model = f"ollama/llama3.1:8b@http://127.0.0.1:{server.port}/v1"
    entry = site.benchmark("bench", questions(3))
    assert site.run("-r", f"{entry},model={model}") == 0
    stderr = capsys.readouterr().err
    assert f"model {model}: engine openai at 127.0.0.1:{server.port}, in no file\n" in stderr
    (cell,) = site.board()
    assert (cell["model_deployment"], cell["mean"], cell["count"]) == (model, 1.0, 3)
    assert site.run("-r", f"{entry},model={model}") == 0
    assert server.calls == 3
    other = site.deploy("acme/no", text="no")
    site.benchmark("bench", questions(3), metrics=["rouge_1"])
    capsys.readouterr()
    assert site.run("-r", f"{entry},model={other}") == 0
    assert "an earlier definition still counts" not in capsys.readouterr().err
    assert {cell["model_deployment"] for cell in site.board()} == {model, other}
    assert {cell["main_metric"] for cell in site.board()} == {"rouge_1"}
    assert server.calls == 3
    private = site.benchmark("notes", questions(3), access_level="private")
    assert site.run("-r", f"{private},model={model}") == 1
    assert f'- {{name: "{model}", engine: openai, locality: PLACE' in capsys.readouterr().err
    assert server.calls == 3
