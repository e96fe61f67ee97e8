"""pyproject, constraints, jobs and links: files that no other test would open."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import yaml
from hatchling.builders.wheel import WheelBuilder

from tests.meta.tree import ROOT, checkout_files, modules, shown, syntax

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
STAGES = ("ingest", "plan", "infer", "annotate", "score", "summarize", "publish")
HOUSE_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    Scenario Instance Reference Split AdapterSpec RunEntry RunSpec Suite Release Request Completion
    RequestResult RequestState Model Deployment Annotator Annotation Judge Jury Rubric Criterion
    Metric PerInstanceStats Stat AccessLevel Locality Engine Stage Lake Order Chunk Slot
    """,
    )
)
DISTRIBUTIONS = {
    "databricks": "databricks-sql-connector",
    "delta": "delta-spark",
    "grpc": "grpcio",
    "pydantic_core": "pydantic",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}
# ClientSpec is the name of a key in HELM's own files.
AVOIDED = re.compile(r"^(Task|Example|Prediction|Grader|Experiment|Client(?!Spec$))")


def plain(name: str) -> str:
    return re.split(r"[\s<>=!~;\[]", name, maxsplit=1)[0].lower().replace("_", "-")


def test_the_core_brings_neither_spark_nor_delta_nor_mlflow() -> None:
    core = {plain(requirement) for requirement in PROJECT["dependencies"]}
    assert not core & {"pyspark", "delta-spark", "mlflow", "pandas", "torch", "vllm", "streamlit"}
    extras = {
        "local",
        "connect",
        "databricks",
        "hub",
        "excel",
        "sign",
        "sign-in",
        "summarization",
        "vllm",
        "dev",
    }
    assert set(PROJECT["optional-dependencies"]) == extras


def test_every_import_is_declared() -> None:
    """A package that only comes with another may leave with it."""
    extras = PROJECT["optional-dependencies"].values()
    declared = {plain(line) for line in (*PROJECT["dependencies"], *chain.from_iterable(extras))}
    used = {
        f"{shown(module)}: {name}"
        for module in (*modules(), *sorted((ROOT / "dashboards").rglob("*.py")))
        for name in foreign_imports(module)
        if DISTRIBUTIONS.get(name, plain(name)) not in declared
    }
    assert not used


def foreign_imports(module: Path) -> Iterator[str]:
    for node in ast.walk(syntax(module)):
        named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in (name.split(".")[0] for name in named):
            is_ours = name == "medhelm_spark" or (module.parent / f"{name}.py").is_file()
            if not is_ours and name not in {*sys.stdlib_module_names, "_typeshed"}:
                yield name


def test_the_wheel_holds_the_package_with_its_types_and_configuration_and_no_more() -> None:
    wheel = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {
        "medhelm_spark/py.typed",
        "medhelm_spark/_resources/conf/policy.yaml",
        "medhelm_spark/_resources/dashboards/app.py",
    } <= wheel
    assert {path.split("/")[0] for path in wheel} == {"medhelm_spark"}
    assert not [path for path in wheel if "notebooks" in path]


def test_constraints_are_pins_without_addresses() -> None:
    wrong = [line for line in CONSTRAINTS if not re.fullmatch(r"[\w.-]+==[\w.]+( ; .+)?", line)]
    assert not wrong
    assert not [line for line in CONSTRAINTS if "//" in line]


def test_constraints_pin_everything_that_setup_installs() -> None:
    extras = PROJECT["optional-dependencies"]
    installed = chain.from_iterable(extras[name] for name in ("local", "hub", "connect", "dev"))
    required = {plain(line) for line in (*PROJECT["dependencies"], *installed)}
    assert not required - {plain(line) for line in CONSTRAINTS}


def test_the_environment_of_vllm_pins_the_whole_core() -> None:
    """It is installed without resolving: a new dependency of the core has to be added there."""
    lines = (ROOT / "tests/vllm/requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {plain(line) for line in lines if "==" in line}
    assert {plain(requirement) for requirement in PROJECT["dependencies"]} <= pinned


def test_every_stage_has_a_spark_submit_entry() -> None:
    commands = {stage: stage for stage in STAGES} | {"evaluate": "run"}
    entries = {
        stage: (ROOT / "jobs" / f"{stage}.py").read_text(encoding="utf-8") for stage in commands
    }
    assert not [
        stage
        for stage, command in commands.items()
        if f'main(["{command}", *sys.argv[1:]])' not in entries[stage]
    ]


def test_links_between_files_lead_somewhere() -> None:
    broken = [
        f"{shown(page)}: {link}"
        for page in checkout_files()
        if page.suffix == ".md"
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:|#", link) and not (page.parent / link.split("#")[0]).exists()
    ]
    assert not broken


def test_the_glossary_explains_the_words_of_the_house() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| \*\*(\w+)\*\* \| .{20,} \|$", page, re.MULTILINE))
    assert not HOUSE_WORDS - explained


def test_no_class_is_named_by_a_word_that_the_house_avoids() -> None:
    named = {
        f"{shown(module)}:{node.name}"
        for module in modules()
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.ClassDef) and AVOIDED.search(node.name)
    }
    assert not named


def test_hooks_bring_their_own_programs_in_the_pinned_versions() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    assert {hook["language"] for hook in hooks} == {"python"}
    pins = {line.partition(" ;")[0] for line in CONSTRAINTS}
    assert not {pin for hook in hooks for pin in hook["additional_dependencies"]} - pins
    at_push = {hook["id"] for hook in hooks if hook.get("stages") == ["pre-push"]}
    assert at_push == {"mypy", "meta"}
