"""Downloads from a server that redirects, breaks off, changes or refuses, and through a proxy."""

import gzip
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios import (
    Pins,
    Presence,
    check_card,
    fetch,
    first_fetch,
    localize,
    presence,
    spread,
)
from tests.unit.scenarios.cards import card, instances

CONTENT = b"id,text\n" + b"".join(b"%d,note %d\n" % (n, n * 7919) for n in range(5000))
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Answers:
    """What the server does: how often it breaks off, and whether it supports Range."""

    content: bytes = CONTENT
    breaks: int = 0
    tag: str = '"v1"'
    kind: str = "text/csv"
    sends_length: bool = True
    is_part_named: bool = True
    requests: list[tuple[str, str]] = field(default_factory=list)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Answers]]:
    """The address of a server, and what it does."""
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.delenv("http_proxy", raising=False)
    answers = Answers()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            span = self.headers.get("Range", "")
            answers.requests.append((self.path, span))
            if self.path.endswith("/moved.csv"):
                self.send_response(302)
                self.send_header("Location", "/a.csv")
                self.end_headers()
            elif not self.path.split("?")[0].endswith(("a.csv", "archive/0123")):
                self.send_error(404)
            else:
                self.send(span)

        def send(self, span: str) -> None:
            is_same = span and self.headers.get("If-Range") == answers.tag
            start = int(span.removeprefix("bytes=").removesuffix("-")) if is_same else 0
            body = answers.content[start:]
            self.send_response(206 if is_same else 200)
            if answers.sends_length:
                self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", answers.kind)
            if answers.tag:
                self.send_header("ETag", answers.tag)
            if is_same and answers.is_part_named:
                size = len(answers.content)
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.end_headers()
            answers.breaks -= 1
            self.wfile.write(body[: len(body) // 2] if answers.breaks >= 0 else body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}", answers
        running.shutdown()
        thread.join()


def cached_files(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


def test_a_redirect_is_followed(server: tuple[str, Answers], tmp_path: Path) -> None:
    url, _ = server
    path = fetch(f"{url}/moved.csv", DIGEST, tmp_path)
    assert (path.name, path.read_bytes()) == ("moved.csv", CONTENT)


def test_a_download_that_breaks_off_goes_on_where_it_broke(
    server: tuple[str, Answers], tmp_path: Path
) -> None:
    url, answers = server
    answers.breaks = 2
    assert fetch(f"{url}/a.csv", DIGEST, tmp_path).read_bytes() == CONTENT
    half = len(CONTENT) // 2
    third = half + (len(CONTENT) - half) // 2
    assert [span for _, span in answers.requests] == ["", f"bytes={half}-", f"bytes={third}-"]


def test_a_part_that_does_not_say_where_it_begins_is_not_taken(
    server: tuple[str, Answers], tmp_path: Path
) -> None:
    url, answers = server
    answers.breaks, answers.is_part_named = 1, False
    assert fetch(f"{url}/a.csv", DIGEST, tmp_path).read_bytes() == CONTENT
    assert [span for _, span in answers.requests] == ["", f"bytes={len(CONTENT) // 2}-", ""]


def test_a_first_fetch_that_nothing_proves_whole_is_refused(
    server: tuple[str, Answers], tmp_path: Path
) -> None:
    url, answers = server
    answers.sends_length = False
    with pytest.raises(DataError, match="does not say how long the file is"):
        first_fetch(f"{url}/a.csv", tmp_path)
    assert cached_files(tmp_path) == []
    assert fetch(f"{url}/a.csv", DIGEST, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("tag", ["", 'W/"v1"'])
def test_without_a_tag_that_pins_the_bytes_it_begins_anew(
    server: tuple[str, Answers], tmp_path: Path, tag: str
) -> None:
    url, answers = server
    answers.breaks, answers.tag = 1, tag
    assert first_fetch(f"{url}/a.csv", tmp_path)[0] == DIGEST
    assert [span for _, span in answers.requests] == ["", ""]


def test_one_that_always_breaks_off_keeps_nothing(
    server: tuple[str, Answers], tmp_path: Path
) -> None:
    url, answers = server
    answers.breaks, answers.tag = 9, ""
    with pytest.raises(DataError) as caught:
        first_fetch(f"{url}/a.csv", tmp_path)
    half = f"after {len(CONTENT) // 2} of {len(CONTENT)} bytes; nothing was kept."
    assert str(caught.value) == f"{url}/a.csv: broke off 3 times, {half}"
    assert cached_files(tmp_path) == []


def test_what_is_no_file_keeps_nothing(server: tuple[str, Answers], tmp_path: Path) -> None:
    url, answers = server
    with pytest.raises(DataError, match="the server answered 404; give the data with --source"):
        first_fetch(f"{url}/b.csv", tmp_path)
    answers.kind = "text/html"
    with pytest.raises(DataError, match="sent a web page in place of the file"):
        first_fetch(f"{url}/a.csv", tmp_path)
    with pytest.raises(ConfigError, match="only http:// and https://"):
        first_fetch("ftp://host/a.csv", tmp_path)
    with pytest.raises(DataError, match="cannot be downloaded"):
        first_fetch("http://127.0.0.1:9/a.csv", tmp_path)
    assert cached_files(tmp_path) == []


def test_through_a_proxy(
    server: tuple[str, Answers], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, answers = server
    monkeypatch.setenv("http_proxy", url)
    assert fetch("http://data.example/x/a.csv", DIGEST, tmp_path).read_bytes() == CONTENT
    assert answers.requests == [("http://data.example/x/a.csv", "")]


def unpinned(url: str) -> ScenarioCard:
    file = SourceFile(path="own/a.csv", url=f"{url}/a.csv")
    return card(
        "free_text",
        source=DataSource(files=(file,)),
        fields={"id": "id", "input": "text"},
        metric="jury_score",
    )


def test_the_first_fetch_pins_and_other_bytes_are_refused_later(
    server: tuple[str, Answers], tmp_path: Path
) -> None:
    url, answers = server
    scenario, pins = unpinned(url), Pins()
    assert scenario.source.is_unpinned
    assert presence(scenario, tmp_path) is Presence.DOWNLOAD
    (local,) = localize(scenario, tmp_path, pins).source.files
    assert pins.new == {f"{url}/a.csv": DIGEST}
    assert (local.sha256, Path(local.path).read_bytes()) == (DIGEST, CONTENT)
    assert presence(scenario, tmp_path) is Presence.HERE

    answers.content = b"id,text\n1,other\n"
    assert localize(scenario, tmp_path).source.files == (local,), "the copy of the first fetch"
    known = Pins(known=pins.new)
    with pytest.raises(DataError) as caught:
        localize(scenario, tmp_path / "elsewhere", known)
    other = hashlib.sha256(answers.content).hexdigest()
    reason = f"SHA-256 is {other}, this lake pinned at its first fetch {DIGEST}; nothing was kept."
    assert str(caught.value) == f"{url}/a.csv: {reason}"
    assert (known.new, cached_files(tmp_path / "elsewhere")) == ({}, [])


def test_a_pattern_is_read_out_of_the_archive_at_its_address(
    server: tuple[str, Answers], tmp_path: Path
) -> None:
    url, answers = server
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in ("a", "b"):
            info = tarfile.TarInfo(f"REPO-0123/notes/{name}.txt")
            info.size = 6
            tar.addfile(info, io.BytesIO(f"note {name}".encode()))
    answers.content = gzip.compress(packed.getvalue())
    where = {"url": f"{url}/archive/0123", "archive": "repo.tar.gz"}
    file = SourceFile(path="own/notes/*.txt", **where)
    scenario = card(
        "free_text",
        source=DataSource(format="text", files=(file,)),
        fields={"id": "file", "input": "text"},
        metric="jury_score",
    )
    check_card(scenario)
    assert presence(scenario, tmp_path) is Presence.DOWNLOAD
    local = localize(scenario, tmp_path)
    assert local.source.files[0].path.endswith("/repo.tar.gz")
    assert spread(local.source) == local.source
    assert {each.source_id: each.input for each in instances(local)} == {
        "a": "note a",
        "b": "note b",
    }
    assert presence(scenario, tmp_path) is Presence.HERE


def test_a_text_has_an_address_too(server: tuple[str, Answers], tmp_path: Path) -> None:
    url, _ = server
    texts = {"texts": {"schema": "own/a.sql"}, "text_urls": {"schema": f"{url}/a.csv"}}
    (tmp_path / "b.csv").write_text("id,q\n1,x\n")
    files = (SourceFile(path=str(tmp_path / "b.csv")),)
    scenario = card(
        "free_text", source=DataSource(files=files, **texts), fields={"input": "schema"}
    )
    pins = Pins()
    path = localize(scenario, tmp_path / "cache", pins).source.texts["schema"]
    assert Path(path).read_bytes() == CONTENT
    assert pins.new == {f"{url}/a.csv": DIGEST}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            DataSource(files=(SourceFile(path="a.csv", archive="a.zip"),)),
            "archive is 'a.zip'; allowed: beside a url",
        ),
        (
            DataSource(files=(SourceFile(path="a.csv", url="https://h.example", archive="a.rar"),)),
            "archive is 'a.rar'; allowed: beside a url, a name that ends in .zip",
        ),
        (DataSource(text_urls={"schema": "https://h.example"}), "unknown text 'schema'"),
    ],
)
def test_addresses_of_a_card_that_make_no_sense(source: DataSource, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_card(card("free_text", source=source, fields={"input": "q"}))
    assert message in str(caught.value)
