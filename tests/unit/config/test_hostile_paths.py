"""Keys of somebody else's benchmark that name what is no file of its own, or no file at all."""

import os
from pathlib import Path

import pytest

from medhelm_spark.config.yaml_text import MAX_BYTES, read_text
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.medhelm.own_benchmark import load_benchmark
from medhelm_spark.scenarios import read_records

SECRET = "hunter2"
KEYS = {"prompt_file": "prompt.txt", "dataset_file": "data.csv"}


def changed(benchmark: Path, key: str, path: object) -> Path:
    text = benchmark.read_text()
    benchmark.write_text(text.replace(KEYS[key], str(path)))
    assert benchmark.read_text() != text
    return benchmark


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.attack("inputs", "a pipe, a device or a folder named as template, data or benchmark")
@pytest.mark.parametrize("key", KEYS)
def test_what_is_no_file_is_refused_at_once(key: str, benchmark: Path, pipe: Path) -> None:
    before = benchmark.read_text()
    for path in (pipe, "/dev/zero", "/dev/stdin", pipe.parent):
        with pytest.raises(ConfigError, match="no such file"):
            load_benchmark(changed(benchmark, key, path))
        benchmark.write_text(before)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(
            ConfigError, match="cannot be read: a folder, a pipe or a device, not a file"
        ):
            load_benchmark(path)
        for name in (str(path), f"file://{path}"):
            file = SourceFile(path=name)
            with pytest.raises(DataError, match="a folder, a pipe or a device, not a file"):
                list(read_records(file, DataSource(format="text", files=(file,))))


@pytest.mark.attack("inputs", "a password file or an environment named as template, data or YAML")
@pytest.mark.parametrize("key", [*KEYS, "config_path"])
@pytest.mark.parametrize(
    "content",
    [
        f"root:x:0:0:{SECRET}:/root:/bin/sh\n{SECRET}:x:1:1::/:\n",
        f"HOME=/root\0KEY={SECRET}\0",
        f"a,{SECRET},{SECRET}\n1,2,3\n",
        f'{{"credentials":\n {{"key": "{SECRET}"}}}}',
        f'{{\n "key": "{SECRET}"\n}}',
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n",
        f"{SECRET}",
    ],
)
def test_no_content_of_another_file_is_in_an_error(
    key: str, content: str, benchmark: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text(content)
    with pytest.raises(ConfigError) as refusal:
        load_benchmark(other if key == "config_path" else changed(benchmark, key, other))
    assert SECRET not in str(refusal.value)


@pytest.mark.attack("inputs", "a benchmark that calls a file outside its folder public, by a link")
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("level", ["public", "gated"])
def test_a_stated_level_is_one_of_the_benchmarks_own_files(
    key: str, level: str, benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ward").mkdir()
    monkeypatch.chdir(tmp_path / "ward")
    own = benchmark.parent / KEYS[key]
    other = tmp_path.parent / f"{tmp_path.name}-{key}"
    own.rename(other)
    before = benchmark.read_text()
    stated = f"{before}access_level: {level}\n"
    (benchmark.parent / "link").symlink_to(other)
    for path in (other, "link", os.path.relpath(other, benchmark.parent)):
        benchmark.write_text(before)
        load_benchmark(changed(benchmark, key, path))
        benchmark.write_text(stated)
        with pytest.raises(ConfigError, match=f"{key} is .*, which leads out of its folder"):
            load_benchmark(changed(benchmark, key, path))
    benchmark.write_text(stated)
    monkeypatch.chdir(other.parent)
    assert load_benchmark(changed(benchmark, key, other)).card.access_level.value == level


def test_a_local_address_is_no_way_around_the_folder(benchmark: Path) -> None:
    with pytest.raises(ConfigError, match="write a local file as a path"):
        load_benchmark(changed(benchmark, "dataset_file", "file:///etc/passwd"))


@pytest.mark.attack("inputs", "a configuration file of more bytes than memory should hold")
def test_a_configuration_has_a_greatest_length(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r")
    assert read_text(path) == "a: 1\nb: 2\n"
    os.truncate(path, MAX_BYTES + 1)
    with pytest.raises(ConfigError, match=r"a\.yaml: longer than 16777216 bytes"):
        read_text(path)


@pytest.mark.attack("inputs", "a benchmark that calls any file public, run from the root folder")
@pytest.mark.parametrize("folder", ["/", "somebody else's"])
def test_the_working_folder_counts_where_it_is_the_users_own(
    folder: str, benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "ward" / "data.csv"
    other.parent.mkdir()
    (benchmark.parent / KEYS["dataset_file"]).rename(other)
    path = changed(benchmark, "dataset_file", other)
    path.write_text(f"{path.read_text()}access_level: public\n")
    monkeypatch.chdir(other.parent)
    load_benchmark(path)
    if folder == "/":
        monkeypatch.chdir("/")
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ConfigError, match="leads out of its folder"):
        load_benchmark(path)
