"""What a model's name alone means: servers by their kind, and folders of weights."""

from pathlib import Path

import pytest

from medhelm_spark.engines import vllm_args
from medhelm_spark.engines.model_uri import named_model
from medhelm_spark.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("ollama/llama3.1:8b", {"base_url": "http://localhost:11434/v1", "model": "llama3.1:8b"}),
        (
            "ollama/hf.co/a/b:Q4_K",
            {"base_url": "http://localhost:11434/v1", "model": "hf.co/a/b:Q4_K"},
        ),
        ("ollama/m@http://gpu:1/v1", {"base_url": "http://gpu:1/v1", "model": "m"}),
        ("vllm/Org/M-7B@http://h:8000/v1", {"base_url": "http://h:8000/v1", "model": "Org/M-7B"}),
        ("vllm/m", {"base_url": "http://localhost:8000/v1", "model": "m"}),
        ("openai/m@https://gateway/v1", {"base_url": "https://gateway/v1", "model": "m"}),
        (
            "openai/gpt-x",
            {
                "base_url": "https://api.openai.com/v1",
                "model": "gpt-x",
                "api_key": "env:OPENAI_API_KEY",
            },
        ),
    ],
)
def test_servers(name: str, args: dict[str, str]) -> None:
    named = named_model(name)
    assert named is not None
    assert (named.engine, dict(named.args)) == ("openai", {**args, "api": "chat"})


@pytest.mark.parametrize("name", ["acme/m", "llama3.1:8b", "ollama-m", "hfx/m", ""])
def test_other_names_stand_for_nothing(name: str) -> None:
    assert named_model(name) is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ollama/", "the name is 0 characters long"),
        ("ollama/a b", "allowed: 1 to 200 of letters"),
        (f"vllm/{'m' * 201}", "the name is 201 characters long"),
        ("vllm/m@", "model vllm/m@...: what follows @ is no address"),
        ("vllm/m@http://h/v1?k=planted", "without a query"),
        ("hf/no-such-folder", "there is no folder .*no-such-folder; .*download the model"),
    ],
)
def test_what_is_no_name_is_told_in_a_sentence(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        named_model(name)
    assert "planted" not in str(caught.value)


def folder(path: Path, *files: str) -> str:
    path.mkdir()
    for file in files:
        (path / file).write_bytes(b"")
    return f"hf/{path}"


@pytest.mark.parametrize(
    ("files", "is_installed", "engine", "file"),
    [
        (["m.gguf"], True, "llama_cpp", "m.gguf"),
        (["a.safetensors", "config.json"], True, "vllm", ""),
        (["a.safetensors"], False, "vllm", ""),
        (["a.safetensors", "m.gguf"], True, "vllm", ""),
        (["a.safetensors", "m.gguf"], False, "llama_cpp", "m.gguf"),
        (
            ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"],
            False,
            "llama_cpp",
            "m-00001-of-00002.gguf",
        ),
    ],
)
def test_weights(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: list[str],
    is_installed: bool,
    engine: str,
    file: str,
) -> None:
    monkeypatch.setattr(vllm_args, "is_installed", lambda: is_installed)
    named = named_model(folder(tmp_path / "w", *files))
    assert named is not None
    key = "path" if file else "model"
    assert (named.engine, named.args) == (engine, {key: str(tmp_path / "w" / file)})


def test_a_relative_folder_and_a_file_have_their_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "w", "a.gguf", "b.gguf")
    monkeypatch.chdir(tmp_path)
    named = named_model("hf/w/b.gguf")
    assert named is not None
    assert named.args == {"path": str(tmp_path / "w" / "b.gguf")}
    with pytest.raises(ConfigError, match=r"has a\.gguf, b\.gguf; name one: hf/w/FILE\.gguf"):
        named_model("hf/w")
    with pytest.raises(ConfigError, match=r"has no \.safetensors and no \.gguf file"):
        named_model(folder(tmp_path / "empty", "README.md"))
