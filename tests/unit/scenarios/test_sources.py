"""Paths, hashes, downloads, folders, Parquet and hub data sets."""

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from medhelm_spark.domain.data_source import DataSource, Lookup, SourceFile
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import AbsentDataError, ConfigError, DataError, UnknownNameError
from medhelm_spark.scenarios import (
    Hub,
    fetch,
    localize,
    open_source,
    read_card,
    read_records,
    verify,
    with_source,
)
from tests.unit.scenarios.cards import card, source, write_csv

CONTENT = b"id,text\n1,x\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}", folder
        running.shutdown()
        thread.join()


def test_local_path_and_file_uri(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(CONTENT)
    for path in (str(tmp_path / "a.csv"), (tmp_path / "a.csv").as_uri()):
        data_source = DataSource(files=(SourceFile(path=path, sha256=DIGEST),))
        assert [record.fields for record in read_records(data_source.files[0], data_source)] == [
            {"id": "1", "text": "x"}
        ]


@pytest.mark.parametrize("path", ["absent.csv", "file:///absent/a.csv"])
def test_absent_file(path: str) -> None:
    with pytest.raises(DataError, match=r"cannot be read \(FileNotFoundError\)"):
        open_source(path)


def test_addresses_that_are_not_read() -> None:
    with pytest.raises(ConfigError, match="no file system is known"):
        open_source("ftp://host/a.csv")
    with pytest.raises(ConfigError, match="only after a download"):
        open_source("https://host/a.csv")


def test_changed_file_is_refused_before_any_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(CONTENT + b"2,y\n")
    file = SourceFile(path=str(path), sha256=DIGEST)
    with pytest.raises(DataError) as caught:
        next(read_records(file, DataSource(files=(file,))))
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    assert all(part in str(caught.value) for part in (str(path), actual, DIGEST))
    verify(replace(file, sha256=actual.upper()))


def test_unknown_format(tmp_path: Path) -> None:
    data_source = source(tmp_path / "a.csv", "cvs")
    with pytest.raises(UnknownNameError, match="Did you mean 'csv'"):
        next(read_records(data_source.files[0], data_source))


def test_download_once_then_from_the_cache(server: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = server
    (folder / "a.csv").write_bytes(CONTENT)
    file = SourceFile(path="own/a.csv", url=f"{url}/a.csv", sha256=DIGEST)
    scenario, cache = card(source=DataSource(files=(file,))), tmp_path / "cache"
    local = localize(scenario, cache).source.files[0]
    assert Path(local.path).read_bytes() == CONTENT
    (folder / "a.csv").unlink()
    assert localize(scenario, cache).source.files[0] == local
    assert [each.name for each in cache.rglob("*") if each.is_file()] == ["a.csv"]


def test_failed_download_leaves_nothing(server: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = server
    (folder / "a.csv").write_bytes(CONTENT[:-3])
    cache = tmp_path / "cache"
    with pytest.raises(DataError, match="nothing was kept"):
        fetch(f"{url}/a.csv", DIGEST, cache)
    with pytest.raises(DataError, match="the server answered 404"):
        fetch(f"{url}/b.csv", DIGEST, cache)
    assert not [each for each in cache.rglob("*") if each.is_file()]


def test_download_needs_a_hash_and_a_server(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs a pinned sha256"):
        fetch("https://localhost/a.csv", None, tmp_path)
    with pytest.raises(DataError, match="cannot be downloaded"):
        fetch("http://127.0.0.1:9/a.csv", DIGEST, tmp_path)
    with pytest.raises(DataError, match="give the data with --source"):
        localize(card(source=DataSource(files=(SourceFile(path="absent.csv"),))), tmp_path)


def test_what_is_joined_must_be_there_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(CONTENT)
    texts, lookup = {"schema": "own/s.sql"}, Lookup(name="l", path="b.csv", key="id", columns=())
    for changes, lacking in (({"texts": texts}, "own/s.sql"), ({"lookups": (lookup,)}, "b.csv")):
        scenario = card(source=source(path, origin="the publisher", **changes))
        with pytest.raises(DataError) as caught:
            localize(scenario, tmp_path)
        advice = "it comes from the publisher; give the data with --source."
        assert str(caught.value) == f"{lacking}: no such file; {advice}"


def test_own_files_take_the_split_of_the_same_name(tmp_path: Path) -> None:
    files = (SourceFile(path="x/fewshot.csv", split=Split.TRAIN), SourceFile(path="x/all.csv"))
    scenario = card(source=DataSource(format="json", files=files))
    found = with_source(scenario, ["a/fewshot.csv", "s3://b/all.csv", "valid_set.csv", "mine.csv"])
    assert found.source.format == "csv"
    assert [file.split for file in found.source.files] == [
        Split.TRAIN,
        Split.TEST,
        Split.VALID,
        None,
    ]
    with pytest.raises(ConfigError, match="files of one format"):
        with_source(scenario, ["a.csv", "b.json"])
    with pytest.raises(ConfigError, match="the ending is none of"):
        with_source(scenario, ["a.doc"])


def test_a_folder_stands_for_the_files_of_the_card(tmp_path: Path) -> None:
    scenario = card(
        source=DataSource(files=(SourceFile(path="up/a.csv"), SourceFile(path="up/b.csv")))
    )
    with pytest.raises(DataError, match=r"neither a\.csv, b\.csv nor a file of data: \.csv"):
        with_source(scenario, [str(tmp_path)])
    write_csv(tmp_path / "b.csv", [["a"], ["1"]])
    assert [file.path for file in with_source(scenario, [str(tmp_path)]).source.files] == [
        str(tmp_path / "b.csv")
    ]


def write_parquet(path: Path) -> None:
    table = pa.table({"q": ["001", None, "x\x00y"], "n": [1, 2, 3], "tags": [["a"], [], None]})
    parquet.write_table(table, path)


def test_parquet_keeps_nulls_and_lists(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet")
    data_source = source(tmp_path / "a.parquet", "parquet")
    assert [
        record.fields for record in read_records(data_source.files[0], data_source, required=("q",))
    ] == [
        {"q": "001", "n": 1, "tags": ["a"]},
        {"q": None, "n": 2, "tags": []},
        {"q": "x\x00y", "n": 3, "tags": None},
    ]
    with pytest.raises(DataError, match="needs column 'note'; columns present: 'q', 'n', 'tags'"):
        next(read_records(data_source.files[0], data_source, required=("q", "note")))


def test_cut_off_parquet(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet")
    path = tmp_path / "b.parquet"
    path.write_bytes((tmp_path / "a.parquet").read_bytes()[:-20])
    data_source = source(path, "parquet")
    with pytest.raises(DataError, match="not a readable Parquet file"):
        next(read_records(data_source.files[0], data_source))


def hub_card(dataset: str) -> ScenarioCard:
    return card(
        "free_text",
        source=DataSource(dataset=dataset, revision="main"),
        fields={"input": "q", "reference": "q"},
    )


def test_data_set_kept_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for split in ("train", "validation", "test"):
        write_parquet(tmp_path / "data" / f"{split}-00000-of-00001.parquet")
    found = list(read_card(hub_card(str(tmp_path))))
    assert [record.split for record in found[::3]] == [Split.TEST, Split.TRAIN, Split.VALID]
    assert [record.row for record in found] == [1, 2, 3] * 3
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"has no \.parquet file"):
        next(read_card(hub_card(str(tmp_path / "empty"))))


def test_hub_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(AbsentDataError, match="needs the package `datasets`"):
        next(read_card(hub_card("org/name")))


OFFLINE = """
import sys
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import Pins, at_commit
from medhelm_spark.scenarios.hub import read_hub

pins = Pins()
source = at_commit(DataSource(dataset="clinic/notes", revision="main"), pins)
print(source.revision, pins.new)
for record in read_hub(source, ("q",)):
    print(record.split.value, record.fields["q"])
try:
    at_commit(DataSource(dataset="clinic/other", revision="main"))
except DataError as error:
    print(error)
"""


def test_a_data_set_in_the_hubs_own_cache_is_read_without_the_hub(tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="the hub reader is tested where `datasets` is installed")
    commit = "0123456789abcdef0123456789abcdef01234567"
    cached = tmp_path / "hub" / "datasets--clinic--notes"
    for folder in ("refs", f"snapshots/{commit}/data"):
        (cached / folder).mkdir(parents=True)
    (cached / "refs" / "main").write_text(commit)
    write_parquet(cached / "snapshots" / commit / "data" / "test-00000-of-00001.parquet")
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == f"{commit} {{'clinic/notes@main': '{commit}'}}"
    assert lines[1:4] == ["test 001", "test None", "test x\x00y"]
    assert lines[4].startswith("clinic/other: the data set cannot be loaded at revision main")


def test_rows_as_the_hub_package_gives_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("datasets", reason="the hub reader is tested where `datasets` is installed")
    from medhelm_spark.scenarios.hub import read_hub

    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "own"
    folder.mkdir()
    write_parquet(folder / "test-00000-of-00001.parquet")
    found = list(read_hub(DataSource(dataset=str(folder)), ("q",)))
    assert [(record.row, record.split, record.fields["q"]) for record in found] == [
        (1, Split.TEST, "001"),
        (2, Split.TEST, None),
        (3, Split.TEST, "x\x00y"),
    ]
    with pytest.raises(DataError, match="needs column 'note'"):
        next(read_hub(DataSource(dataset=str(folder)), ("q", "note")))
    with pytest.raises(DataError, match="the data set cannot be loaded"):
        next(read_hub(DataSource(dataset=str(tmp_path / "absent")), ()))


def test_a_source_of_nothing() -> None:
    with pytest.raises(ConfigError, match="names no file and no data set"):
        next(read_card(card(source=DataSource(table="a.b.c"), options={"template": "{q}"})))


def test_the_hub_that_was_not_reached_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets", reason="the hub is asked through `datasets`")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "own"
    folder.mkdir()
    write_parquet(folder / "test-00000-of-00001.parquet")
    hub, own = Hub(is_reached=False), DataSource(dataset=str(folder))
    assert [hub.fetch(own).is_new for _ in range(2)] == [True, False]
    assert hub.fetch(own).files == 1
    absent = DataSource(dataset="org/name", revision="0" * 40)
    with pytest.raises(AbsentDataError, match=r"cannot be loaded at revision 0+ \(ConnectionError"):
        hub.fetch(absent)
    assert not datasets.config.HF_HUB_OFFLINE
