"""The documentation describes what the code does: tables, API, commands, make targets."""

import contextlib
import inspect
import io
import pkgutil
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import medhelm_spark
from medhelm_spark.board.render import fields
from medhelm_spark.cli.parser import ALIASES, COMMANDS, parse
from medhelm_spark.config.settings import (
    LOG_LEVEL,
    PLATFORM,
    POLICY,
    PREFIX,
    SETTINGS,
    VARIABLES,
)
from medhelm_spark.domain.stages import STAGES
from medhelm_spark.errors import MedhelmSparkError
from medhelm_spark.lake.describe import tables_markdown
from medhelm_spark.lake.tables import TABLES, columns
from medhelm_spark.stages.decide import ALLOWING
from tests.connect.server import SERVER
from tests.meta.tree import PACKAGE, ROOT, checkout_files, shown

PAGES = [path for path in checkout_files() if path.suffix == ".md"]
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def test_the_page_of_tables_is_fresh() -> None:
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert page == tables_markdown(), "run `make docs`"


def test_the_page_of_tables_names_every_table_column_and_nested_type() -> None:
    page = tables_markdown()
    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == list(TABLES)
    assert "| `references` | list of [Reference](#reference) |  |  |" in page
    assert "| `access_level` | one of `public`, `gated`, `private` |  |  |" in page
    assert "| `model_deployment` | text | key |  |" in page
    assert "| `counts` | map of text to whole number |  |  |" in page
    assert "| `logprob` | number, or None |" in page
    linked = set(re.findall(r"\]\(#(\w+)\)", page))
    assert linked <= {title.lower() for title in re.findall(r"^##+ (\w+)$", page, re.MULTILINE)}


def test_the_page_of_exports_is_fresh() -> None:
    page = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
    assert page == fields.page(), "run `make docs`"


def methods_of(kind: Any) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines."""
    for name, member in vars(kind).items():
        is_method = inspect.isfunction(member) or isinstance(member, property)
        if is_method and not name.startswith("_"):
            yield name, member


def test_the_page_of_the_api_names_everything_that_is_public() -> None:
    page = FENCE.sub("", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"))
    documented = set(re.findall(r"`(\w+)`", page))
    assert not set(medhelm_spark.__all__) - documented
    assert not {name for name, _ in methods_of(medhelm_spark.Evaluation)} - documented


def test_docstrings_of_the_api_name_the_arguments_that_there_are() -> None:
    public = [getattr(medhelm_spark, name) for name in medhelm_spark.__all__]
    members = [member for kind in public for _, member in methods_of(kind)]
    wrong = []
    for member in [*public, *members]:
        text = inspect.getdoc(member) or ""
        described = text.partition("\nArgs:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^    (\w+): ", described, re.MULTILINE)
        if names and names != [n for n in inspect.signature(member).parameters if n != "self"]:
            wrong.append(member)
        if not text:
            wrong.append(member)
    assert not wrong


def path_of_a_request() -> list[tuple[int, str, str]]:
    """(indentation, function, tables) of every line of the drawing in docs/architecture.md."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (drawing,) = FENCE.findall(page.partition("## From card to board")[2].partition("\n## ")[0])
    lines = re.findall(r"^( *)([\w.]+)[^─\n]*(?:─> (.*))?$", drawing[1], re.MULTILINE)
    return [(len(indent), name, tables) for indent, name, tables in lines]


def test_the_functions_that_a_request_passes_are_called_as_drawn() -> None:
    callers: list[tuple[int, str]] = []
    for indent, name, tables in path_of_a_request():
        function = pkgutil.resolve_name(f"medhelm_spark.{name}")
        assert set(filter(None, tables.split(", "))) <= set(TABLES), name
        callers = [(outer, source) for outer, source in callers if outer < indent]
        assert not callers or re.search(rf"\b{name.split('.')[-1]}\b", callers[-1][1]), name
        callers.append((indent, inspect.getsource(inspect.getmodule(function) or function)))
    assert callers


def is_column(name: str) -> bool:
    """Whether a dotted name is a table's column, as `scenarios.source`."""
    table, _, column = name.partition(".")
    return table in TABLES and column in columns(TABLES[table])


def test_modules_and_functions_named_in_a_page_exist() -> None:
    packages = "|".join(path.name for path in PACKAGE.iterdir() if path.is_dir())
    dotted = re.compile(rf"`((?:{packages})(?:\.(?!ya?ml\b|py\b|json\b|csv\b)\w+)+)`")
    wrong = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in dotted.findall(text):
            if is_column(name):
                continue
            try:
                pkgutil.resolve_name(f"medhelm_spark.{name}")
            except (AttributeError, ImportError):
                wrong.append(f"{shown(page)}: {name}")
        for name in re.findall(rf"`(?:medhelm_spark/)?((?:{packages})/[\w/]+\.py)`", text):
            if not (PACKAGE / name).is_file():
                wrong.append(f"{shown(page)}: {name}")
    assert not wrong


def command_lines() -> list[tuple[str, list[str]]]:
    """(page, words) of every shell line in a fenced block, continued lines joined."""
    return [
        (shown(page), shlex.split(line, comments=True))
        for page in PAGES
        for language, block in FENCE.findall(page.read_text(encoding="utf-8"))
        if language in ("", "sh", "bash", "shell")
        for line in block.replace("\\\n", " ").splitlines()
        if re.match(r"(\S+=\S+ )*(\S+/)?(medhelm-spark|spark-submit|make) ", line)
    ]


LINES = command_lines()


def problem_of(words: list[str]) -> str:
    """What is wrong with a shell line: a make target, a job or an argument that does not exist."""
    while "=" in words[0]:
        words = words[1:]
    program = Path(words[0]).name
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        return ", ".join(set(words[1:]) - set(targets))
    if program == "spark-submit":
        if SERVER in words:
            return ""
        at = next(i for i, word in enumerate(words) if re.search(r"(^|/)jobs/\w+\.py$", word))
        path = ROOT / "jobs" / Path(words[at]).name  # as it is, or where an image has it
        if not path.is_file():
            return f"no file {words[at]}"
        job = path.read_text(encoding="utf-8")
        words = [program, *re.findall(r'main\(\["([\w-]+)"', job), *words[at + 1 :]]
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            parse(words[1:])
    except (SystemExit, MedhelmSparkError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_every_command_that_is_shown_exists() -> None:
    problems = {f"{page}: {shlex.join(words)}": problem_of(words) for page, words in LINES}
    assert not {line: problem for line, problem in problems.items() if problem}


def test_every_command_named_in_a_sentence_exists() -> None:
    names = {*COMMANDS, *(alias for aliases in ALIASES.values() for alias in aliases)}
    problems = {}
    for page in PAGES:
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        for name, args in re.findall(r"`medhelm-spark ([\w-]+)([^`]*)`", prose):
            line = ["medhelm-spark", name, *shlex.split(args)]
            problem = problem_of(line) if args.strip() else ""
            problems[f"{shown(page)}: {shlex.join(line)}"] = (
                problem if name in names else "no such command"
            )
    assert not {line: problem for line, problem in problems.items() if problem}


def test_every_command_has_its_place_on_the_page_of_commands() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert len([page for page, _ in LINES if page == "README.md"]) >= 5
    assert not [name for name in COMMANDS if f"`medhelm-spark {name}`" not in page]


def test_every_stage_command_has_a_job_and_no_job_is_without_a_command() -> None:
    commands = {stage.name for stage in STAGES} & COMMANDS.keys()
    jobs = {path.stem for path in (ROOT / "jobs").glob("*.py")}
    made_by_hand = {"import-scenario", "import-responses", "import-helm", "export-helm", "gc"}
    assert jobs == (commands - made_by_hand) | {"evaluate", "command", "doctor"}


def test_every_addition_is_shown_by_a_test() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition("## Where do I add")[2].partition("\n## ")[0]
    rows = [
        re.split(r" (?<!\\)\| ", line.strip("| ")) for line in table.splitlines() if "|" in line
    ]
    what = {"scenario", "metric", "judge", "engine", "perturbation", "dashboard page"}
    what |= {"table column", "CLI flag", "stage", "notebook"}
    assert what <= {row[0] for row in rows}
    assert not [
        row for row in rows[2:] if len(row) != 3 or not re.search(r"\]\(tests/\S+\.py\)", row[2])
    ]


def test_the_page_of_configuration_has_every_setting_and_variable() -> None:
    page = (ROOT / "docs/configuration.md").read_text()
    rows = [row.split(" | ") for row in page.splitlines() if row.startswith("| `")]
    keys = [row[0].strip("| ").partition(" (")[0].strip("`") for row in rows]
    assert {key for key in keys if not key.startswith(PREFIX)} == {*SETTINGS, LOG_LEVEL}
    by_key = {key: row[1].strip("`| ") for key, row in zip(keys, rows, strict=True)}
    assert {key: by_key[key] for key in VARIABLES} == VARIABLES
    documented = set(re.findall(rf"`({PREFIX}\w+)`", page))
    code = "".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    in_code = set(re.findall(rf'"({PREFIX}\w+)"', code))
    assert documented == in_code | {PLATFORM, POLICY, *VARIABLES.values()}


def test_the_pages_that_a_refusal_names_exist() -> None:
    for link in ALLOWING.split(", "):
        page, _, anchor = link.partition("#")
        heads = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(), re.MULTILINE)
        anchors = [re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads]
        assert anchor in anchors, link
