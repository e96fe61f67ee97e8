"""One Spark Connect server for these tests, and a site that is run through it and without."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.connect.server import ROOT, connect_server
from tests.spark.conftest import Site

SECONDS = 1200.0
"""For a process of commands: on a busy machine twenty of them take many minutes."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that shares nothing with the tests but the disk."""
    with connect_server(tmp_path_factory.mktemp("connect") / "server") as address:
        yield address


@dataclass
class Typed:
    """Exit codes and output of commands that were typed one after the other."""

    codes: list[int]
    output: str


def program(
    site: Site, module: str, *arguments: str, variables: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a module of the tests in a process of its own, in the folder of the site."""
    inherited = {key: text for key, text in os.environ.items() if key != "SPARK_REMOTE"}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=site.folder,
        env={**inherited, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def typed(
    site: Site,
    lines: Sequence[Sequence[str]],
    variables: Mapping[str, str],
    by: str = "tests.connect.commands",
) -> Typed:
    """Type commands in a process of their own, in the folder of the site."""
    path = site.folder / "commands.json"
    path.write_text(json.dumps([list(line) for line in lines]))
    done = program(site, by, str(path), variables=variables)
    codes = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    assert len(codes) == len(lines), done.stderr[-4000:]
    return Typed(codes, done.stderr)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site; nothing in the test's own process has a session."""
    return Site(tmp_path, None)  # type: ignore[arg-type]
