"""The benchmark of a GPU in its tiny form on a CPU: every way answers, and ours leaves nothing."""

import re
import subprocess
import sys

import pytest

from benchmarks.gpu_setup import TINY
from tests.meta.tree import ROOT


@pytest.mark.timeout(1200)
def test_every_way_answers_every_load_and_is_on_the_page(tmp_path):
    page = tmp_path / "gpu.md"
    command = [sys.executable, "-m", "benchmarks.gpu", "--tiny", "--limit", "1100"]
    done = subprocess.run(
        [*command, "--output", str(page)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    text = page.read_text(encoding="utf-8")
    rows = [list(map(str.strip, line.split("|")[1:-1])) for line in text.splitlines()]
    loads = {(row[0], row[2]): row for row in rows if len(row) == 10}
    for engine in TINY.engines:
        for load in engine["loads"]:
            for way in ("ours", "chat"):
                assert int(loads[load["name"], way][3]) == load["requests"], text
    assert int(loads[TINY.benched, "bench"][3]) > 0, text
    remaining = {row[0]: row[2] for row in rows if len(row) == 4 and row[0] in ("ours", "chat")}
    assert remaining["ours"] == "0", "a killed worker of ours leaves no process"
    assert "no GPU was seen" in text
    assert re.search(r"vllm(-cpu)? \d+\.\d+\.\d+, torch \d+\.\d+", text)
