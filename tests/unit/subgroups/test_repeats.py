"""Groups of answers to repeats, copies and other prompts: a row of each group and stat."""

from pathlib import Path
from typing import Any

import pytest

from medhelm_spark import Evaluation
from tests.unit.subgroups.cases import evaluated


def groups_of(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [row for row in evaluation.subgroups.scores("s").rows() if row["group_column"] == "sex"]


def test_a_sensitivity_of_repeated_answers_is_one_row_of_each_group(tmp_path: Path) -> None:
    found = groups_of(evaluated(tmp_path, ",num_trials=3", groups=["sex"]))
    names = ("group_value", "count", "denominator", "num_clusters", "ci_method")
    assert [tuple(row[name] for name in names) for row in found] == [
        ("f", 90, 72, 12, "clustered"),
        ("m", 90, 72, 12, "clustered"),
    ]


@pytest.mark.parametrize(
    ("settings", "config"),
    [
        ("", {"perturbations": ["lower"]}),
        ("", {"prompt_variants": [{"name": "polite", "prompt_file": "polite.txt"}]}),
        (",data_augmentation=fairness", {}),
        (",max_eval_instances=40", {"perturbations": ["lower"]}),
    ],
    ids=["copies", "another prompt", "twins", "a sample"],
)
def test_copies_and_other_prompts_leave_the_groups_as_they_are(
    tmp_path: Path, settings: str, config: dict[str, Any]
) -> None:
    evaluation = evaluated(tmp_path, settings, groups=["sex"], **config)
    found = groups_of(evaluation)
    assert [row["group_value"] for row in found] == ["f", "m"]
    assert sum(row["count"] for row in found) == (40 if "max_eval" in settings else 60)
    again = groups_of(evaluated(tmp_path, settings, by="patient", **config))
    assert [row | {"adjusted_p": 0, "num_adjusted": 0} for row in again] == [
        row | {"adjusted_p": 0, "num_adjusted": 0} for row in found
    ]
