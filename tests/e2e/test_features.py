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

COMMANDS = {
    "releases": {"publish", "release"},
    "medhelm_results": {"import-scenario", "import-helm", "export-helm"},
    "tracking": set(),
    "subgroups": set(),
    "ratings": {"ratings"},
    "sharing": set(),
    "judge_checks": {"judge"},
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
    "releases": ("releases", "release_changes", "release_manifests", "release_stats"),
    "medhelm_results": (),
    "tracking": ("mlflow_runs",),
    "subgroups": ("group_columns", "instance_groups", "stats_by_group"),
    "ratings": ("ratings", "rating_invitations"),
    "sharing": ("shares",),
    "judge_checks": ("planted_verdicts", "judge_cards"),
}
