"""What registers itself is added by one module in the folder of its kind."""

from importlib import import_module
from pathlib import Path

import pytest

from medhelm_spark.adaptation.perturbations import PERTURBATIONS
from medhelm_spark.annotators.kinds import ANNOTATORS
from medhelm_spark.engines import ENGINES
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import METRICS, RUN_METRICS
from medhelm_spark.plugins import PluginRegistry
from medhelm_spark.scenarios.parsers import PARSERS

KINDS = {
    "METRICS": ("medhelm_spark.metrics", METRICS),
    "RUN_METRICS": ("medhelm_spark.metrics", RUN_METRICS),
    "ANNOTATORS": ("medhelm_spark.annotators", ANNOTATORS),
    "ENGINES": ("medhelm_spark.engines", ENGINES),
    "PARSERS": ("medhelm_spark.scenarios.shapes", PARSERS),
    "PERTURBATIONS": ("medhelm_spark.adaptation.perturbations", PERTURBATIONS),
}


def added(kind: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of a registry beside whose modules there is one more, which declares `name`."""
    package, ours = KINDS[kind]
    first = next(iter(ours))
    module = f"one_more_{kind.lower()}_{name}"
    text = f"{kind} = {{{name!r}: object()}}\n"
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    found = import_module(package)
    monkeypatch.setattr(found, "__path__", [*found.__path__, str(folder)])
    registry = PluginRegistry(kind, type(ours[first]), package)
    return list(registry)


@pytest.mark.parametrize("kind", KINDS)
def test_a_module_in_the_folder_is_all_that_it_takes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(KINDS[kind][1])
    assert added(kind, "one_more", tmp_path, monkeypatch) == sorted([*before, "one_more"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_is_taken_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = next(iter(KINDS[kind][1]))
    with pytest.raises(ConfigError, match=f"{kind} has '{taken}', which is taken"):
        added(kind, taken, tmp_path, monkeypatch)


def test_a_module_that_does_not_name_the_kind_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "takes_long.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    assert "one_more" in added("ENGINES", "one_more", tmp_path, monkeypatch)
