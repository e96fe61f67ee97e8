"""What a program prints on a copy of the package in which some lines are other ones."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.meta.tree import PACKAGE, ROOT

Edits = Mapping[str, tuple[tuple[str, str], ...]]
"""By file of the package the texts that are in it once, each with what replaces it."""


def printed(folder: Path, edits: Edits, program: str) -> str:
    """Run a program on the edited copy, which is made in this folder."""
    package = Path(shutil.copytree(PACKAGE, folder / "medhelm_spark"))
    for name, pairs in edits.items():
        source = (package / name).read_text(encoding="utf-8")
        for before, after in pairs:
            assert source.count(before) == 1, (name, before)
            source = source.replace(before, after)
        (package / name).write_text(source, encoding="utf-8")
    (folder / "conf").symlink_to(ROOT / "conf")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
