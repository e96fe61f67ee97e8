"""Plug-ins: what they may add, what is refused, and a hash that follows their files."""

import itertools
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark import plugins
from medhelm_spark.adaptation.perturbations import perturbation
from medhelm_spark.annotators.kinds import ANNOTATORS
from medhelm_spark.errors import ConfigError, SetupError, UnknownNameError
from medhelm_spark.metrics import METRICS, metric_for
from medhelm_spark.scenarios import PARSERS

METRIC = """
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.metrics.metric import Metric

TONE = Metric(
    fn=lambda states, params: [],
    needs=frozenset({"completions"}),
    emits=(MetricInfo(name="tone", display_name="Tone"),),
    version="3",
)
"""
GOOD = METRIC + 'METRICS = {"tone": TONE}\n'
PERTURBATION = """
from medhelm_spark.adaptation.perturbations.perturbation import Perturbation, on_text

CAPITALS = Perturbation(
    build=lambda args, lists: on_text(lambda rng: str.upper), robustness=True, version="2"
)
PERTURBATIONS = {"capitals": CAPITALS}
"""
NAMES = (f"outside_plugin_{number}" for number in itertools.count())

Write = Callable[[str], str]


@pytest.fixture(autouse=True)
def without_plugins() -> Iterator[None]:
    """Every test begins and ends with the package's own things."""
    yield
    plugins.activate()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a package of a name of its own that can be imported, and returns the name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(source: str) -> str:
        name = next(NAMES)
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(source)
        return name

    return written


def test_a_plug_in_adds_beside_the_packages_own(write: Write) -> None:
    before = list(METRICS)
    assert list(ANNOTATORS) == ["jury", "rubric"]
    (plugin,) = plugins.activate([write(GOOD)])
    assert list(METRICS) == [*before, "tone"]
    assert metric_for("tone")[0] == "tone"
    assert METRICS["tone"].version == f"3+{plugin.version}"
    assert "+" not in METRICS["exact_match"].version
    assert {parser.version for parser in PARSERS.values()} == {""}
    plugins.activate()
    assert list(METRICS) == before
    assert "tone" not in METRICS


def test_a_perturbation_is_added_under_its_own_name(write: Write) -> None:
    (plugin,) = plugins.activate([write(PERTURBATION)])
    assert plugins.added("PERTURBATIONS") == ("capitals",)
    assert plugins.added("METRICS") == ()
    assert perturbation("capitals").version == f"2+{plugin.version}"
    assert {perturbation(name).version for name in ("typos", "negation")} == {""}
    plugins.activate()
    with pytest.raises(UnknownNameError, match="'capitals'"):
        perturbation("capitals")


def test_an_executor_that_knows_no_registry_takes_any_kind(write: Write, tmp_path: Path) -> None:
    """There a plug-in may be loaded before the registry that it adds to is imported."""
    name = write("PERTURBATIONS = {}")
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from medhelm_spark import plugins\n"
        f"plugins.activate([{name!r}])\n"
        "print('medhelm_spark.adaptation' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_hash_follows_every_file_of_the_package(write: Write, tmp_path: Path) -> None:
    name = write(GOOD)
    (first,) = plugins.activate([name])
    (tmp_path / name / "__pycache__").mkdir(exist_ok=True)
    (tmp_path / name / "__pycache__" / "x.pyc").write_bytes(b"compiled")
    assert plugins.activate([name]) == (first,)
    (tmp_path / name / "words.txt").write_text("please")
    (second,) = plugins.activate([name])
    assert second.version != first.version
    assert METRICS["tone"].version == f"3+{second.version}"


def test_a_zip_of_the_same_files_is_the_same_plug_in(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write(GOOD)
    (plugin,) = plugins.activate([name])
    with zipfile.ZipFile(tmp_path / "shipped.zip", "w") as archive:
        archive.write(tmp_path / name / "__init__.py", f"{name}/__init__.py")
    sys.modules.pop(name)
    monkeypatch.syspath_prepend(str(tmp_path / "shipped.zip"))
    assert plugins.activate([name]) == (plugin,)
    assert "shipped.zip" in str(sys.modules[name].__file__)


def test_a_single_file_is_a_plug_in_too(write: Write, tmp_path: Path) -> None:
    (tmp_path / "one_file_plugin.py").write_text(GOOD)
    (plugin,) = plugins.activate(["one_file_plugin"])
    assert len(plugin.version) == 32
    assert str(plugin) == f"one_file_plugin ({plugin.version[:8]})"


def test_a_distribution_announces_its_module(write: Write, tmp_path: Path) -> None:
    name = write(GOOD)
    info = tmp_path / f"{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "top_level.txt").write_text(name)
    (info / "entry_points.txt").write_text(f"[medhelm_spark]\nmine = {name}\n")
    (plugin,) = plugins.activate([name])
    assert (plugin.module, plugin.distribution) == (name, f"{name} 1.2")
    assert "tone" in METRICS


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "adds nothing; it may hold ANNOTATORS, ENGINES, METRICS, P"),
        (METRIC + 'METRICS = {"rouge": TONE}', "METRICS has 'rouge', which is taken"),
        ("METRICS = {'tone': max}", "METRICS['tone'] is a builtin_function_or_method; allowed: M"),
        ("METRICS = ['tone']", "METRICS is no mapping"),
    ],
)
def test_what_is_refused(write: Write, source: str, message: str) -> None:
    name = write(source)
    with pytest.raises(ConfigError) as caught:
        plugins.activate([name])
        list(METRICS)
    assert name in str(caught.value)
    assert message in str(caught.value)


def test_two_plug_ins_of_one_name_are_refused(write: Write) -> None:
    plugins.activate([write(GOOD), write(GOOD)])
    with pytest.raises(ConfigError, match="METRICS has 'tone', which is taken"):
        list(METRICS)


@pytest.mark.parametrize("source", [None, "import no_such_package_xyz", "1 / 0"])
def test_a_module_that_cannot_be_imported(write: Write, source: str | None) -> None:
    name = "no_such_plugin_xyz" if source is None else write(source)
    with pytest.raises(SetupError, match=f"plug-in '{name}' cannot be imported"):
        plugins.activate([name])


def test_an_executor_loads_the_drivers_plug_ins_or_refuses(write: Write) -> None:
    name = write(GOOD)
    (plugin,) = plugins.activate([name])
    plugins.activate()
    plugins.ensure([plugin])
    assert "tone" in METRICS
    plugins.activate()
    with pytest.raises(SetupError, match="on an executor; install the same"):
        plugins.ensure([replace(plugin, version="0" * 32)])
