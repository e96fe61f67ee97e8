"""Counting with a deployment's own tokenizer."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.engines.tokens import FILE, token_counter, token_spans
from medhelm_spark.errors import SetupError
from tests.tokenizers import word_tokenizer


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A folder with a tokenizer of words."""
    return word_tokenizer(tmp_path, "dose", "daily")


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


def test_helms_own_key_may_name_its_folder(weights: Path) -> None:
    named = replace(deployment(model="acme/m"), tokenizer_name=str(weights))
    assert token_counter(named)("dose daily") == 2


def test_its_file_may_be_named_itself(weights: Path) -> None:
    count = token_counter(deployment(model="acme/m", tokenizer=str(weights / FILE)))
    assert count is not None
    assert count("daily") == 1


def test_a_file_that_only_points_to_a_tokenizer_is_named(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 17209920\n"
    (tmp_path / FILE).write_bytes(pointer)
    count = token_counter(deployment(model=str(tmp_path)))
    assert count is not None
    with pytest.raises(SetupError, match=r"tokenizer\.json cannot be read .*`git lfs pull`"):
        count("dose")
    with pytest.raises(SetupError, match="cannot be read"):
        token_spans("elsewhere", pointer, "dose")


def test_without_a_file_there_is_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert token_counter(deployment(model=str(tmp_path))) is None
    assert token_counter(deployment(model="acme/never-heard-of", revision=7)) is None
