"""Hugging Face data sets: stored as a folder, or from a hub that Spark's workers reach."""

import csv
import hashlib
import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.spark.conftest import Site
from tests.spark.notes import card, ingest, notes, only_line, read


def write(path: Path, rows: list[dict[str, Any]]) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path.read_bytes()


def test_a_data_set_kept_as_a_folder(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    card(site, source={"dataset": "mirror/notes"})
    (site.folder / "mirror" / "notes").mkdir(parents=True)
    assert ingest(site) == 1
    assert "has no .parquet file" in only_line(capsys)
    write(site.folder / "mirror" / "notes" / "default" / "train" / "0000.parquet", notes(5)[3:])
    write(site.folder / "mirror" / "notes" / "default" / "test" / "0000.parquet", notes(3))
    assert ingest(site) == 0
    assert {row["source_id"]: row["split"] for row in read(site)} == {
        **dict.fromkeys(("c0", "c1", "c2"), "test"),
        **dict.fromkeys(("c3", "c4"), "train"),
    }
    assert ingest(site) == 0
    assert len(read(site)) == 5


COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Mirror(BaseHTTPRequestHandler):
    """What a hub mirror inside a hospital answers: one data set at one commit."""

    files: dict[str, bytes]

    def log_message(self, *_: object) -> None:
        pass

    def answer(self) -> None:
        request_body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        path, api = urlsplit(self.path).path, "/api/datasets/clinic/notes"
        file_entries = [
            {
                "type": "file",
                "path": name,
                "size": len(content),
                "oid": hashlib.sha1(content).hexdigest(),
            }
            for name, content in self.files.items()
        ]
        if path in (f"{api}/revision/{COMMIT}", f"{api}/revision/main"):
            self.send({"id": "clinic/notes", "sha": COMMIT, "siblings": []})
        elif path == f"{api}/tree/{COMMIT}":
            self.send(file_entries)
        elif path == f"{api}/paths-info/{COMMIT}":
            self.send([one for one in file_entries if str(one["path"]) in request_body])
        else:
            self.send(
                self.files.get(path.removeprefix(f"/datasets/clinic/notes/resolve/{COMMIT}/"))
            )

    def send(self, body: object) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        self.send_response(404 if body is None else 200)
        if body is None:
            self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = answer


@pytest.fixture
def mirror(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """The files that the mirror serves; Spark's workers have its address and no other."""
    Mirror.files = {}
    with ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        workers(site, monkeypatch, HF_ENDPOINT=f"http://127.0.0.1:{server.server_port}")
        workers(site, monkeypatch, HF_HOME=str(site.folder / "hf"))
        yield Mirror.files
        server.shutdown()
        thread.join()


def workers(site: Site, monkeypatch: pytest.MonkeyPatch, **environment: str) -> None:
    """Environment variables of the workers that the next commands start."""
    for name, value in environment.items():
        monkeypatch.setitem(site.spark.sparkContext.environment, name, value)


@pytest.mark.long
def test_a_data_set_of_the_hub(
    site: Site,
    mirror: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    mirror["train.parquet"] = write(site.folder / "a.parquet", notes(5)[3:])
    mirror["test.parquet"] = write(site.folder / "b.parquet", notes(3))
    card(site, source={"dataset": "clinic/notes", "revision": COMMIT})
    assert ingest(site) == 0
    assert capfd.readouterr().err.splitlines() == [
        "ingest: notes read 5 = 5 kept (3 test, 2 train)"
    ]
    assert {row["source_id"]: row["split"] for row in read(site)} == {
        **dict.fromkeys(("c0", "c1", "c2"), "test"),
        **dict.fromkeys(("c3", "c4"), "train"),
    }
    mirror.clear()
    assert ingest(site) == 0, "a pinned commit is read from the cache once it is there"
    assert len(read(site)) == 5

    other = COMMIT[::-1]
    for revision, message in (
        (other, f"has another revision than {other}"),
        ("v1", "40 hexadecimal digits as its revision, or main, received 'v1'"),
    ):
        card(site, source={"dataset": "clinic/notes", "revision": revision})
        assert ingest(site, lake="other") == 1
        assert message in capfd.readouterr().err

    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", mirror_address(site))
    card(site, source={"dataset": "clinic/notes", "revision": "main"})
    for message in (f"clinic/notes@main is new here and pinned from now on: {COMMIT}\n", ""):
        assert ingest(site, lake="main") == 0
        assert capfd.readouterr().err.startswith(f"ingest: {message or 'notes read 5'}")
    (pin,) = read(site, "pins", lake="main")
    assert (pin["address"], pin["pin"]) == ("clinic/notes@main", COMMIT)


def mirror_address(site: Site) -> str:
    return str(site.spark.sparkContext.environment["HF_ENDPOINT"])


def test_hub_data_that_would_not_stay_as_it_is(
    site: Site, mirror: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    csv.writer(stream).writerows([["case", "note"], ["001", "NA"]])
    mirror["test.csv"] = stream.getvalue().encode()
    card(site, source={"dataset": "clinic/notes", "revision": COMMIT})
    assert ingest(site) == 1
    assert "its files are csv" in only_line(capsys)
    assert not site.rows("instances")


def test_the_hub_without_its_package(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = site.folder / "blocked"
    blocked.mkdir()
    (blocked / "datasets.py").write_text("raise ImportError\n")
    workers(site, monkeypatch, PYTHONPATH=str(blocked))
    card(site, source={"dataset": "clinic/notes", "revision": COMMIT})
    assert ingest(site) == 1
    assert "install 'medhelm-spark[hub]'" in only_line(capsys)
    assert not site.rows("instances")
