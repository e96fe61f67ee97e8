"""Plug-ins: what they may add, what is refused, and a hash that follows their files."""

import itertools
import os
import py_compile
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
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.policy import ListedPlugin, Policy
from medhelm_spark.errors import ConfigError, PolicyError, SetupError, UnknownNameError
from medhelm_spark.metrics import METRICS, metric_for
from medhelm_spark.policy.plugins import check_plugins
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
    before, kinds = list(METRICS), list(ANNOTATORS)
    (plugin,) = plugins.activate([write(GOOD)])
    assert list(METRICS) == [*before, "tone"]
    assert list(ANNOTATORS) == kinds
    assert {"jury", "rubric"} <= set(kinds)
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
    """On an executor a plug-in may be loaded before the registry that it adds to is imported."""
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


def test_a_plug_in_that_is_edited_while_python_runs_is_loaded_anew(
    write: Write, tmp_path: Path
) -> None:
    name = write("from .tone import METRICS\n")
    file = tmp_path / name / "tone.py"
    file.write_text(GOOD)
    plugins.activate([name])
    assert METRICS["tone"].emits[0].display_name == "Tone"
    before = sys.modules[name]
    plugins.activate([name])
    assert sys.modules[name] is before, "nothing was edited"
    file.write_text(GOOD.replace('display_name="Tone"', 'display_name="Pitch"'))
    plugins.activate([name])
    assert METRICS["tone"].emits[0].display_name == "Pitch"
    file.write_text("raise ValueError")
    with pytest.raises(SetupError, match="ValueError"):
        plugins.activate([name])
    assert METRICS["tone"].emits[0].display_name == "Pitch", "the last that worked stays"


def test_each_user_of_plug_ins_has_its_own(write: Write) -> None:
    first, second = write(GOOD), write(PERTURBATION)
    plugins.use([first])
    assert "tone" in METRICS
    plugins.use([second])
    assert "tone" not in METRICS
    plugins.use([first])
    assert "tone" in METRICS
    plugins.use([])
    assert "tone" in METRICS, "none named leaves those that are active"


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


@pytest.mark.attack("plug-ins", "an installed distribution that announces itself is loaded")
def test_what_is_installed_is_not_loaded_for_that(write: Write, tmp_path: Path) -> None:
    name = write(GOOD)
    info = tmp_path / f"{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "top_level.txt").write_text(name)
    (info / "entry_points.txt").write_text(f"[medhelm_spark]\nmine = {name}\n")
    assert plugins.activate() == ()
    assert name not in sys.modules
    (plugin,) = plugins.activate([name])
    assert (plugin.module, plugin.distribution) == (name, f"{name} 1.2")
    assert "tone" in METRICS


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "adds nothing; it may have ANNOTATORS, ENGINES, METRICS, P"),
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


NO_LEVEL = Policy(allowed=(), version="v", origin="policy.yaml")


@pytest.mark.attack("plug-ins", "a plug-in that the policy does not list, beside private text")
def test_private_text_needs_the_hash_in_the_policy(write: Write, tmp_path: Path) -> None:
    name = write(GOOD)
    (plugin,) = plugins.activate([name])
    check_plugins(NO_LEVEL, [AccessLevel.PUBLIC])
    with pytest.raises(PolicyError) as caught:
        check_plugins(NO_LEVEL, [AccessLevel.PUBLIC, AccessLevel.PRIVATE])
    line = f"{{module: {name}, sha256: {plugin.sha256}}}"
    assert str(caught.value).endswith(f"adds to the policy's plugins: {line}.")
    assert "beside private text: policy.yaml does not list it" in str(caught.value)
    listed = replace(NO_LEVEL, plugins=(ListedPlugin(module=name, sha256=plugin.sha256),))
    check_plugins(listed, [AccessLevel.PRIVATE])
    (tmp_path / name / "words.txt").write_text("please")
    plugins.activate([name])
    with pytest.raises(PolicyError, match="does not list it"):
        check_plugins(listed, [AccessLevel.GATED])


@pytest.mark.attack("plug-ins", "compiled code of another text beside a plug-in's hashed file")
def test_what_lies_compiled_beside_it_is_not_run(write: Write, tmp_path: Path) -> None:
    name = write(GOOD)
    source = tmp_path / name / "__init__.py"
    stated = source.stat()
    source.write_text("planted = True\n" + GOOD)
    compiled = Path(py_compile.compile(str(source)))
    raw = bytearray(compiled.read_bytes())
    source.write_text(GOOD)
    os.utime(source, ns=(stated.st_atime_ns, stated.st_mtime_ns))
    raw[8:12] = int(stated.st_mtime).to_bytes(4, "little")
    raw[12:16] = stated.st_size.to_bytes(4, "little")
    compiled.write_bytes(raw)
    plugins.activate([name])
    assert not hasattr(sys.modules[name], "planted")


def test_a_compiled_module_without_its_source_is_hashed(write: Write, tmp_path: Path) -> None:
    name = write(GOOD)
    (first,) = plugins.activate([name])
    (tmp_path / name / "more.pyc").write_bytes(b"compiled")
    (second,) = plugins.activate([name])
    assert second.sha256 != first.sha256


@pytest.mark.attack("plug-ins", "a plug-in's code runs on an executor that holds other files")
def test_an_executor_runs_nothing_of_another_plug_in(write: Write, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    name = write(f"open({str(ran)!r}, 'w').close()\n" + GOOD)
    other = plugins.Plugin(module=name, version="0" * 32, distribution="", sha256="0" * 64)
    with pytest.raises(SetupError, match="on an executor; install the same"):
        plugins.ensure([other])
    assert not ran.exists()


@pytest.mark.attack("plug-ins", "a module of a listed plug-in that is imported from elsewhere")
def test_a_plug_in_imports_no_module_of_its_own_that_was_not_hashed(
    write: Write, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "part.py").write_text("THING = 1\n")
    text = f"__path__.append({str(elsewhere)!r})\nfrom {{name}} import part\n"
    name = write(GOOD)
    package = tmp_path / name / "__init__.py"
    package.write_text(text.format(name=name) + GOOD)
    with pytest.raises(SetupError, match=r"cannot be imported \(ImportError\)"):
        plugins.activate([name])


@pytest.mark.attack("plug-ins", "a module of a listed plug-in that changes before it is imported")
def test_a_module_that_is_imported_late_is_the_one_that_was_hashed(
    write: Write, tmp_path: Path
) -> None:
    name = write(GOOD + "def late():\n    from . import part\n    return part.THING\n")
    part = tmp_path / name / "part.py"
    part.write_text("THING = 1\n")
    plugins.activate([name])
    part.write_text("THING = 2\n")
    with pytest.raises(ImportError, match=r"part\.py is none of the files that were hashed"):
        sys.modules[name].late()
    part.write_text("THING = 1\n")
    assert sys.modules[name].late() == 1


@pytest.mark.attack("inputs", "control characters in names, at every entrance")
@pytest.mark.parametrize("sign", ["\\x1b[2J", "\\u202e", "\\n"])
def test_a_name_that_cannot_be_shown_is_refused(write: Write, sign: str) -> None:
    for text in (GOOD.replace('{"tone"', f'{{"tone{sign}"'), GOOD.replace('"Tone"', f'"T{sign}"')):
        with pytest.raises(ConfigError, match="has a name that is not allowed"):
            plugins.activate([write(text)])
            list(METRICS)
        plugins.activate()
