"""docs/from-medhelm.md: every command on its right is typed, every table looked into."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.tables import TABLES
from tests.meta.tree import ROOT
from tests.servers import free_port, wait_healthy
from tests.spark.conftest import Site
from tests.spark.pages import page

PAGE = page("docs/from-medhelm.md")
ROW = re.compile(r"^\| (?!In MedHELM|---)(.*) \| (.*) \|$", re.MULTILINE)
COMMAND = re.compile(r"`(medhelm-spark [^`]+)`")
TRACKED = ("run", "import-responses", "summarize", "publish")
ENTRY = "medhelm_configurable_benchmark:config_path=benchmark.yaml,model={}"
PLUGIN = """\
from medhelm_spark.scenarios import PARSERS as SHIPPED

PARSERS = {"ward_tabular": SHIPPED["tabular"]}
"""
CONF = "entries: [{}]\n"
SCHEMA = """\
metrics: [{name: exact_match}]
metric_groups: [{name: accuracy, metrics: [{name: exact_match, split: test}]}]
run_groups:
  - name: TRIAGE-CHOICE
    metric_groups: [accuracy]
    environment: {main_name: exact_match, main_split: test}
"""


def typed() -> list[list[str]]:
    """The words of every command of the page, in its order."""
    commands = (
        command for _, replacement in ROW.findall(PAGE) for command in COMMAND.findall(replacement)
    )
    return [shlex.split(command)[1:] for command in commands]


def folder_of_a_medhelm_user(folder: Path) -> None:
    """The demo's three files, run entries with two models, a schema and a plug-in."""
    for path in (ROOT / "conf" / "demos" / "triage_choice").iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    lines = (
        f'{{description: "{ENTRY.format(model)}", priority: 1}}'
        for model in ("canned/constant", "canned/echo")
    )
    (folder / "run_entries.conf").write_text(CONF.format(", ".join(lines)), encoding="utf-8")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (folder / "ward_parsers.py").write_text(PLUGIN, encoding="utf-8")
    pubmed = ROOT / "conf" / "demos" / "pubmed_style" / "ori_pqal_demo.json"
    shutil.copy(pubmed, folder / "ori_pqal.json")


def serves(words: list[str]) -> None:
    """Start the dashboard as typed, on a free port, until it is healthy."""
    port = free_port()
    words = words[: words.index("--port")] if "--port" in words else words
    command = [sys.executable, "-m", "medhelm_spark.cli", *words, "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_healthy(port, server)
        finally:
            server.terminate()


@pytest.mark.long
def test_what_a_medhelm_user_types_works(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of_a_medhelm_user(site.folder)
    monkeypatch.syspath_prepend(str(site.folder))
    site.spark.sparkContext.addPyFile(str(site.folder / "ward_parsers.py"))
    commands = typed()
    assert {words[0] for words in commands} >= {"run", "summarize", "publish", "serve", "estimate"}
    for words in commands:
        if words[0] == "serve":
            serves(words)
        else:
            quiet = ["--no-tracking"] if words[0] in TRACKED else []
            assert main([*words, *quiet]) == 0, shlex.join(words)
    table_names = {
        name
        for _, replacement in ROW.findall(PAGE)
        for name in re.findall(r"tables.md#(\w+)", replacement)
    }
    assert table_names <= set(TABLES)
    # No judge is asked here, so nothing is annotated.
    lake = Lake(site.spark, str(site.folder / "benchmark_output"))
    empty = [name for name in table_names - {"annotations"} if not lake.read(name).count()]
    assert not empty
