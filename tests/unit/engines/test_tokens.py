"""Counting with a deployment's own tokenizer."""

from pathlib import Path

import pytest

from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.engines.tokens import FILE, token_counter


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A folder with a tokenizer of words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = {"[UNK]": 0, "dose": 1, "daily": 2}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / FILE))
    return tmp_path


def deployment(**args: object) -> Deployment:
    return Deployment(
        name="m", model="m", engine="vllm", locality=Locality.LOCAL, args=args, tokenizer_name="no"
    )


@pytest.mark.parametrize("key", ["model", "tokenizer", "path"])
def test_the_tokenizer_beside_the_weights_counts(weights: Path, key: str) -> None:
    count = token_counter(deployment(**{key: str(weights)}))
    assert count is not None
    assert count("dose daily, dose") == 4
    assert count("") == 0


def test_its_file_may_be_named_itself(weights: Path) -> None:
    count = token_counter(deployment(model="acme/m", tokenizer=str(weights / FILE)))
    assert count is not None
    assert count("daily") == 1


def test_without_a_file_there_is_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert token_counter(deployment(model=str(tmp_path))) is None
    assert token_counter(deployment(model="acme/never-heard-of", revision=7)) is None
