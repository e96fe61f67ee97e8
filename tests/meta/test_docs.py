"""The documentation says what the code does: its tables, its commands, its make targets."""

import ast
import contextlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from medhelm_spark.cli.parser import ALIASES, COMMANDS, parse
from medhelm_spark.errors import MedhelmSparkError
from medhelm_spark.lake.describe import ACCESS, tables_markdown
from medhelm_spark.lake.tables import TABLES
from tests.meta.tree import PACKAGE, ROOT, checkout_files, dotted, modules, shown, syntax

PAGES = [path for path in checkout_files() if path.suffix == ".md"]
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
STAGES = "medhelm_spark.stages"
RESPONSES = "medhelm_spark.stages.import_responses"
SCENARIOS = "medhelm_spark.stages.import_scenario"
ENTRIES = {
    "ingest": [(f"{STAGES}.ingest", "ingest"), (f"{STAGES}.ingest", "ingested")],
    "plan": [(f"{STAGES}.plan", "plan"), (f"{STAGES}.decide", "decide")],
    "infer": [(f"{STAGES}.infer", "infer")],
    "annotate": [(f"{STAGES}.annotate", "annotate")],
    "import-scenario": [(SCENARIOS, "import_scenario")],
    "import-responses": [(RESPONSES, "import_responses")],
    "score": [(f"{STAGES}.score", "score")],
    "summarize": [(f"{STAGES}.summarize", "summarize"), (f"{STAGES}.summarize", "completed")],
    "publish": [(f"{STAGES}.publish", "publish"), (f"{STAGES}.publish", "suite_runs")],
}
Name = tuple[str, str]


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


@pytest.mark.parametrize("step", ENTRIES)
def test_who_reads_and_writes_what_is_what_the_code_names(step: str) -> None:
    """Follows names from a step's functions to every table that is read or appended to."""
    reads, writes = set(), set()
    for node in reachable(ENTRIES[step]):
        reads |= read_by(node)
        writes |= written_by(node)
    assert (reads, writes) == (set(ACCESS[step].reads), set(ACCESS[step].writes))


def test_every_step_is_in_the_matrix() -> None:
    assert set(ACCESS) == set(ENTRIES)


def reachable(entries: list[Name]) -> Iterator[ast.AST]:
    """The functions and constants that the entries use, directly or through others."""
    left, seen = list(entries), set(entries)
    while left:
        module, name = left.pop()
        node = definitions(module)[name]
        yield node
        for found in used_by(module, node):
            if found not in seen:
                seen.add(found)
                left.append(found)


def used_by(module: str, node: ast.AST) -> Iterator[Name]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            target = origins(module).get(part.id, (module, part.id))
        elif isinstance(part, ast.Attribute):
            target = (f"{STAGES}.context", f".{part.attr}")
        else:
            continue
        if target[1] in definitions(target[0]):
            yield target


@cache
def definitions(module: str) -> dict[str, ast.AST]:
    """Top-level functions, classes and constants; of Context its methods, as `.name`."""
    found: dict[str, ast.AST] = {}
    for node in syntax(paths()[module]).body if module in paths() else ():
        if isinstance(node, ast.ClassDef) and node.name == "Context":
            found |= {f".{one.name}": one for one in node.body if isinstance(one, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {name.id: node for name in node.targets if isinstance(name, ast.Name)}
    return found


@cache
def origins(module: str) -> dict[str, Name]:
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in syntax(paths()[module]).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def paths() -> dict[str, Path]:
    lake = [PACKAGE / "lake" / name for name in ("views.py", "lease.py")]
    return {dotted(path): path for path in (*modules("stages"), *lake)}


def read_by(node: ast.AST) -> set[str]:
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found |= set(re.findall(r"\{(\w+)\}", part.value))
        elif isinstance(part, ast.Call) and called(part) in ("read", "current", "output_of"):
            found |= texts(part)
    return found & TABLES.keys()


def written_by(node: ast.AST) -> set[str]:
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and called(part) in ("append", "append_rows", "ensure"):
            found |= texts(part)
    return found & TABLES.keys()


def called(call: ast.Call) -> str:
    """The name of what is called; of `pool.submit(lake.append, ...)` the function it runs."""
    function: ast.expr = call.func
    if isinstance(function, ast.Attribute) and function.attr == "submit":
        function = call.args[0]
    return getattr(function, "attr", getattr(function, "id", ""))


def texts(call: ast.Call) -> set[str]:
    return {arg.value for arg in call.args if isinstance(arg, ast.Constant)}


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
        at = next(index for index, word in enumerate(words) if word.startswith("jobs/"))
        if not (ROOT / words[at]).is_file():
            return f"no file {words[at]}"
        job = (ROOT / words[at]).read_text(encoding="utf-8")
        words = [program, *re.findall(r'main\(\["([\w-]+)"', job), *words[at + 1 :]]
    try:
        with contextlib.redirect_stderr(None):
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


def test_every_command_has_its_place_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len([page for page, _ in LINES if page == "README.md"]) >= 5
    assert not [name for name in COMMANDS if f"`medhelm-spark {name}`" not in readme]
