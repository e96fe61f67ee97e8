"""A site's folder that is named has to be there, and its files that nothing reads are named."""

from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.config.registry import load_registry
from medhelm_spark.config.site_folder import unread
from medhelm_spark.errors import ConfigError


def test_a_folder_that_is_named_and_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["explain-config", "--local-path", "hospitl"])
    assert stopped.value.code == 2
    assert "'hospitl', and there is no such folder" in capsys.readouterr().err
    assert main(["explain-config"]) == 0
    assert "there is none here" not in capsys.readouterr().err
    assert main(["explain-config", "--local-path", "prod_env"]) == 0
    assert "site folder prod_env: there is none here" in capsys.readouterr().err


def test_an_evaluation_refuses_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="no such folder"):
        Evaluation("lake", site=tmp_path / "hospital", tracking=False)
    Evaluation("lake", tracking=False)


def test_what_no_name_reads_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "polcy.yaml").write_text("allowed: {public: [local]}\n")
    (tmp_path / "jury_of_ours.yaml").write_text("{}\n")
    (tmp_path / "README.md").write_text("Ours.\n")
    (tmp_path / "scenario").mkdir()
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "ward.yml").write_text("{}\n")
    names = [
        "jury_of_ours.yaml",
        "polcy.yaml (is policy.yaml meant?)",
        "scenario/ (is scenarios/ meant?)",
        "scenarios/ward.yml (read are *.yaml)",
    ]
    assert unread(tmp_path) == names
    assert main(["explain-config", "--local-path", str(tmp_path)]) == 0
    assert f"not read by its name: {', '.join(names)}\n" in capsys.readouterr().err


def test_whatever_the_registry_reads_counts_as_read(tmp_path: Path) -> None:
    """The names here and those that the readers open are the same ones."""
    from medhelm_spark.config.layers import LayeredFiles
    from medhelm_spark.config.site_folder import FILES, FOLDERS

    opened: list[str] = []

    class Watched(LayeredFiles):
        def files(self, name: str) -> list[Path]:
            opened.append(name)
            return super().files(name)

        def folder(self, name: str, pattern: str) -> list[Path]:
            assert FOLDERS[name] == pattern
            return super().folder(name, pattern)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("medhelm_spark.config.registry.LayeredFiles", Watched)
        load_registry(tmp_path, engines={}, translator=lambda path: lambda *args: None)
    assert opened
    assert set(opened) <= set(FILES)
