"""Records of physicians' verdicts, and which of them are refused."""

import json
from pathlib import Path

import pytest

from medhelm_spark.errors import DataError
from medhelm_spark.judge_checks.physician_records import physician_records

GOOD = {
    "prompt_id": "p1",
    "prompt": [{"role": "user", "content": "My knee hurts."}],
    "completion": "Rest it.",
    "rubric": "Advises rest.",
    "binary_labels": [True, False],
    "category": "hedging",
}


def written(folder: Path, *records: dict) -> Path:
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_a_record_is_read(tmp_path: Path) -> None:
    (first, second) = physician_records(
        written(
            tmp_path, GOOD, {k: v for k, v in GOOD.items() if k not in ("category", "prompt_id")}
        )
    )
    assert (first.labels, first.category, first.cluster) == ((True, False), "hedging", "p1")
    assert (second.category, len(second.cluster)) == ("", 32)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("prompt", [{"role": "assistant", "content": "x"}], "column 'prompt': broken_conversation"),
        ("completion", " ", "column 'completion' is empty"),
        ("rubric", None, "column 'rubric' is empty"),
        ("binary_labels", [], "column 'binary_labels' is no list of labels"),
        ("binary_labels", "true", "column 'binary_labels' is no list of labels"),
        ("binary_labels", ["perhaps SECRET"], "has something else than true and false"),
    ],
    ids=["last-turn", "no-answer", "no-criterion", "no-label", "no-list", "no-boolean"],
)
def test_a_bad_row_is_named_without_its_text(tmp_path: Path, key, value, message) -> None:
    path = written(tmp_path, GOOD, {**GOOD, key: value})
    with pytest.raises(DataError) as caught:
        physician_records(path)
    assert message in str(caught.value)
    assert f"{path}: row 2" in str(caught.value)
    assert "SECRET" not in str(caught.value)
