"""BERTScore without a model: names, refusals, and texts settled before the package is asked."""

from importlib.util import find_spec

import pytest

from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.bertscore import MODEL_FOLDER_VARIABLE
from tests.unit.metrics.states import correct, state

BERTSCORE = METRICS["bertscore"]


def names(**params):
    return [stat.name for stat in BERTSCORE.emitted(params)]


@pytest.fixture
def model(tmp_path):
    """A folder that looks like a model's; nothing reads its weights here."""
    folder = tmp_path / "all-MiniLM-L6-v2"
    folder.mkdir()
    (folder / "config.json").write_text("{}", "utf-8")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


@pytest.mark.parametrize(
    ("params", "suffix"),
    [
        ({}, ""),
        ({"model_path": "/models/distilbert-base-uncased"}, ""),
        ({"model_path": "/models/all-MiniLM-L6-v2"}, "[all-MiniLM-L6-v2]"),
        ({"model_path": "/models/all-MiniLM-L6-v2/"}, "[all-MiniLM-L6-v2]"),
        ({"model_path": "/x/model", "model": "MiniLM"}, "[MiniLM]"),
        ({"model_path": "/c/models--distilbert-base-uncased/snapshots/6cdc0aad"}, ""),
        ({"model_path": "/c/models--org--bert-tiny/snapshots/6cdc0aad"}, "[bert-tiny]"),
    ],
)
def test_another_model_shows_in_the_names(params, suffix):
    assert names(**params) == [f"BERTScore-{letter}{suffix}" for letter in "PRF"]


def test_the_package_is_asked_for_with_its_extra(monkeypatch):
    monkeypatch.setattr("medhelm_spark.metrics.bertscore.find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"medhelm-spark\[summarization\].*model_path"):
        BERTSCORE.preflight({})


@pytest.fixture
def package(monkeypatch):
    """Preflight of the model alone, whether or not the package is installed."""
    if find_spec("bert_score") is None:
        monkeypatch.setattr("medhelm_spark.metrics.bertscore.find_spec", lambda name: True)


@pytest.mark.usefixtures("package")
def test_a_missing_model_is_refused_with_the_path_to_give(tmp_path, monkeypatch):
    with pytest.raises(SetupError, match="model_path"):
        BERTSCORE.preflight({"model_path": str(tmp_path / "none"), "num_layers": "6"})
    monkeypatch.setenv(MODEL_FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(SetupError, match="distilbert-base-uncased is not in"):
        BERTSCORE.preflight({})


@pytest.mark.usefixtures("package")
def test_a_model_folder_passes_with_its_layer(model, monkeypatch):
    BERTSCORE.preflight({"model_path": str(model), "num_layers": "6"})
    monkeypatch.setenv(MODEL_FOLDER_VARIABLE, str(model))
    BERTSCORE.preflight({})


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("layers", [{}, {"num_layers": "0"}, {"num_layers": "six"}])
def test_another_model_needs_its_layer(model, layers):
    with pytest.raises(ConfigError, match="num_layers"):
        BERTSCORE.preflight({"model_path": str(model), **layers})


def test_empty_texts_score_zero_without_a_model():
    states = [
        state("", correct("fever")),
        state(" {} ", correct("fever", "cough")),
        state("fever", correct("", "{ }")),
        state("fever"),
        state(None, correct("fever")),
    ]
    rows = BERTSCORE.fn(states, {})
    assert [[score.value for score in row] for row in rows] == [[0] * 3] * 3 + [[None] * 3] * 2
    assert rows[3][0].status is ScoreStatus.NO_REFERENCE
    assert rows[4][0].status is ScoreStatus.NO_ANSWER
