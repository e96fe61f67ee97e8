"""The hashes that pages list are those of the files that they show."""

import sys
from pathlib import Path

import pytest

from medhelm_spark import plugins
from medhelm_spark.config.registry import policy_of
from tests.spark.pages import page, write_files


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("docs/plugins.md", ["hospital_eval", "hospital_engine"]),
        ("docs/adding-a-judge.md", ["hospital_judge"]),
    ],
)
def test_a_page_lists_its_plug_ins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, modules: list[str]
) -> None:
    write_files(page(name), tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in modules:  # another test may have loaded one of this name from its own folder
        monkeypatch.delitem(sys.modules, module, raising=False)
    hashes = {module: plugins._hashed(module, module).sha256 for module in modules}
    listed = policy_of(tmp_path / "prod_env").plugins
    assert {plugin.module: plugin.sha256 for plugin in listed} == hashes
