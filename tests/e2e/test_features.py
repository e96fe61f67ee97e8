"""A feature is a folder: with its folder deleted, the feature is gone and nothing else is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from medhelm_spark.features import FEATURES
from tests.meta.tree import PACKAGE, ROOT
from tests.unit.board.planted import plant as plant_board
from tests.unit.candidate_gate.planted import Answered, alternating, plant
from tests.unit.evidence.planted import plant_suite_release

COMMANDS = {
    "releases": {"publish", "release"},
    "medhelm_results": {"import-scenario", "import-helm", "export-helm"},
    "tracking": set(),
    "subgroups": set(),
    "ratings": {"ratings"},
    "notes": set(),
    "sharing": set(),
    "candidate_gate": set(),
    "evidence": set(),
    "judge_checks": {"judge"},
    "watch": set(),
    "provenance": set(),
    "viewings": set(),
    "air_gap": set(),
}
"""The commands of each feature."""

PROGRAM = """
import json, sys
from medhelm_spark import Deployment, Evaluation, Locality
from medhelm_spark.cli.parser import COMMANDS
from medhelm_spark.errors import SetupError
from medhelm_spark.lake.tables import TABLES

model = Deployment(name="team/a", model="team/a", engine="canned", locality=Locality.LOCAL,
                   args={"text": "A"})
here = Evaluation("lake", site=None, deployments=[model])
done = here.run(sys.argv[1], suite="s")
name = {"medhelm_results": "medhelm", "judge_checks": "judges"}.get(sys.argv[2], sys.argv[2])
try:
    getattr(here, name)
    refusal = ""
except SetupError as error:
    refusal = str(error)
(cell,) = json.loads(done.board.render("json"))["cells"]
again = json.loads(here.board("s").render("json"))["cells"][0]["mean"]
print(json.dumps([sorted(COMMANDS), sorted(TABLES), cell["mean"], again, refusal]))
"""


@pytest.mark.parametrize("feature", FEATURES)
def test_without_its_folder_a_feature_is_gone_and_a_run_ends_in_its_board(
    feature: str, tmp_path: Path
) -> None:
    shutil.copytree(PACKAGE, tmp_path / "medhelm_spark", ignore=shutil.ignore_patterns("*.pyc"))
    shutil.rmtree(tmp_path / "medhelm_spark" / feature)
    for name in ("conf", "dashboards"):
        (tmp_path / name).symlink_to(ROOT / name)
    entry = f"medhelm_configurable_benchmark:config_path={ROOT}/conf/demos/triage_choice"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, f"{entry}/benchmark.yaml,model=team/a", feature],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    commands, tables, mean, again, refusal = json.loads(done.stdout.splitlines()[-1])
    assert not COMMANDS[feature] & set(commands)
    assert set.union(*COMMANDS.values()) - COMMANDS[feature] <= set(commands)
    assert not [name for name in tables if name in OWN_TABLES[feature]]
    assert mean == again is not None
    assert feature in refusal


OWN_TABLES = {
    "releases": ("releases", "release_changes", "release_manifests", "release_stats", "tombstones"),
    "medhelm_results": (),
    "tracking": ("mlflow_runs",),
    "subgroups": ("group_columns", "instance_groups", "stats_by_group"),
    "ratings": ("ratings", "rating_invitations"),
    "notes": ("answer_notes",),
    "sharing": ("shares",),
    "candidate_gate": (),
    "evidence": (),
    "judge_checks": ("planted_verdicts", "judge_cards"),
    "watch": ("watch_looks", "watch_results"),
    "provenance": ("provenance",),
    "viewings": ("viewings",),
    "air_gap": ("offline_runs",),
}

GATE = """
import sys
from medhelm_spark import Evaluation
from medhelm_spark.errors import SetupError

here = Evaluation(sys.argv[1], site=None, tracking=False)
for gate in sys.argv[2:]:
    try:
        made = here.candidate_gate.check(gate, against="today", candidate="ward/new", suite="new")
        print(made.verdict, len(made.flips.counts))
    except SetupError as error:
        print(error)
"""


def test_without_groups_a_gate_has_its_other_lines(tmp_path: Path) -> None:
    right = alternating(200)
    sites = {"site": ["south", "north"] * 100}
    lake = plant(tmp_path / "lake", Answered(right=right, old=right, new=right, groups=sites))
    (tmp_path / "worse.yaml").write_text("critical: [{no_worse: {margin: 0.1}}]")
    (tmp_path / "gap.yaml").write_text("critical: [{no_wider_gap: {by: [site], margin: 0.1}}]")
    shutil.copytree(PACKAGE, tmp_path / "medhelm_spark", ignore=shutil.ignore_patterns("*.pyc"))
    shutil.rmtree(tmp_path / "medhelm_spark" / "subgroups")
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    done = subprocess.run(
        [sys.executable, "-c", GATE, str(lake), "worse.yaml", "gap.yaml"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [
        "GO 1",
        "gap.yaml: critical[0].no_wider_gap: this installation is without the feature 'subgroups'.",
    ], done.stderr


EVIDENCE = """
import sys
from medhelm_spark import Evaluation

here = Evaluation(sys.argv[1], site=None, tracking=False, say=lambda line: None)
print(here.evidence.make("2026-q1", "chai", "out").num_filled)
"""


def test_without_groups_and_ratings_evidence_has_its_other_items(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    lake = plant_board(tmp_path / "lake")
    plant_suite_release(lake, "s1")
    shutil.copytree(PACKAGE, tmp_path / "medhelm_spark", ignore=shutil.ignore_patterns("*.pyc"))
    for feature in ("subgroups", "ratings", "sharing", "candidate_gate"):
        shutil.rmtree(tmp_path / "medhelm_spark" / feature)
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    done = subprocess.run(
        [sys.executable, "-c", EVIDENCE, str(lake)],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10
    fills = json.loads((tmp_path / "out" / "evidence.json").read_text())["fills"]
    for fill, feature in (("subgroups", "subgroups"), ("agreement", "ratings")):
        reason = f"this installation is without the feature '{feature}'."
        assert fills[fill]["not_available"] == reason
    sheet = (tmp_path / "out" / "subgroups.csv").read_text().splitlines()
    assert sheet == ["not_available", "this installation is without the feature 'subgroups'."]
