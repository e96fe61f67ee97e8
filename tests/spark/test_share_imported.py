"""A share as HELM's folder, taken over by `import-helm`: the board has the share's own numbers."""

import json
from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from tests.unit.test_shared_attackers import RELEASE, Hospital, means_of


def test_helms_folder_of_a_share_has_its_numbers(spark: object, tmp_path: Path) -> None:
    hospital = Hospital.at(tmp_path / "made")
    share = hospital.evaluation.sharing.share
    share(RELEASE, "research", tmp_path / "tables")
    share(RELEASE, "research", tmp_path / "helm", helm=True)
    other = Evaluation(tmp_path / "lake", site=None, tracking=False, say=lambda line: None)
    import_result = other.medhelm.import_results(tmp_path / "helm", suite="given")
    assert import_result.board is not None
    imported = {
        cell["scenario_name"] + cell["model_deployment"]: cell["mean"]
        for cell in json.loads(import_result.board.render("json"))["cells"]
    }
    assert imported == pytest.approx(means_of(tmp_path / "tables"))
