"""Which plug-ins a command loads, and that private text is kept from those nobody listed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from medhelm_spark import plugins
from medhelm_spark.cli import main
from tests.unit.cli.test_dry_run import _benchmark

MODULE = "ward_plugin_for_named"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A site with a local model and a module that can be imported."""
    (tmp_path / f"{MODULE}.py").write_text("METRICS = {}\n")
    folder = tmp_path / "prod_env"
    folder.mkdir()
    model = "{name: acme/a, engine: canned, locality: local}"
    (folder / "model_deployments.yaml").write_text(f"model_deployments:\n- {model}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield folder
    plugins.activate()


def test_the_settings_name_what_every_command_loads(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain-config"]) == 0
    assert "plug-in" not in capsys.readouterr().err
    (site / "settings.yaml").write_text(f"plugins: [{MODULE}]")
    assert main(["explain-config"]) == 0
    assert f"plug-in {MODULE} (" in capsys.readouterr().err


@pytest.mark.attack("plug-ins", "private text in a run with a plug-in that nobody listed")
def test_a_run_with_private_text_is_refused_until_the_policy_lists_it(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = f"{_benchmark(tmp_path / 'closed', 'closed', 'private')},model=acme/a"
    open_ = f"{_benchmark(tmp_path / 'open', 'open', 'public')},model=acme/a"
    words = ["run", "--dry-run", "--suite", "s", "--plugins", MODULE, "-r"]
    assert main([*words, open_]) == 0
    capsys.readouterr()
    assert main([*words, closed]) == 1
    printed = capsys.readouterr().err
    assert "policy.yaml does not list it" in printed
    line = printed[printed.index("{module: ") : printed.index("}") + 1]
    (site / "policy.yaml").write_text(f"plugins:\n  - {line}\n")
    assert main([*words, closed]) == 0
    assert "policy.yaml (advisory): private allows local" in capsys.readouterr().out
