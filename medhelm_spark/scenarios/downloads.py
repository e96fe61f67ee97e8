"""Files of the web, fetched once: whole and verified, or not at all.

The cache stores a file under its SHA-256. Where no card pins one, the first fetch computes it: the
cache records it by the address, and a lake pins it for good.
"""

import hashlib
import os
import re
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast
from urllib.request import Request

from medhelm_spark.domain.data_source import SourceFile
from medhelm_spark.errors import AbsentDataError, ConfigError
from medhelm_spark.scenarios.sources import BLOCK, is_web

TIMEOUT_SECONDS = 60.0
ATTEMPTS = 3
"""How often a download that breaks off is taken up again."""
PINNED = "pinned is"
FIRST_FETCH = "this lake pinned at its first fetch"
NOTES = "addresses"
LENGTH = re.compile(r"[0-9]{1,18}")
SHA256 = re.compile(r"[0-9a-fA-F]{64}")
WEB_PAGES = (".html", ".htm")

Received = Callable[[int], None]
"""Receives the size of each block of a download, in bytes."""


def no_progress(_: int) -> None:
    """For callers who show no progress."""


@dataclass(slots=True)
class Pins:
    """What addresses give that no card pins: SHA-256 of a file, commit of a hub data set.

    `known` is what a lake pinned at the first fetch; `new` is what is fetched for the first time.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)


def fetch(
    url: str,
    sha256: str | None,
    cache: Path,
    *,
    name: str = "",
    pinned_by: str = PINNED,
    received: Received = no_progress,
) -> Path:
    """Download `url` to `cache/<sha256>/<name>` unless it is there already.

    Without a `name` it is the one that the address ends in.

    Raises:
        ConfigError: the address has no pinned hash, or is not http or https.
        AbsentDataError: the server cannot be reached, refuses, or sends other bytes.
    """
    if not is_web(url):
        raise ConfigError(f"{url}: only http:// and https:// addresses are downloaded.")
    if sha256 is None:
        raise ConfigError(f"{url}: a download needs a pinned sha256.")
    target = _target(url, sha256, cache, name)
    if not target.is_file():
        with _downloaded(url, cache, received) as (part, actual, _):
            if actual != sha256.lower():
                raise AbsentDataError(
                    f"{url}: SHA-256 is {actual}, {pinned_by} {sha256}; nothing was kept."
                )
            _keep(part, target)
    return target


def first_fetch(
    url: str, cache: Path, *, name: str = "", received: Received = no_progress
) -> tuple[str, Path]:
    """The SHA-256 of what an unpinned address gives, and its copy: that of an earlier fetch.

    Raises:
        ConfigError: the address is not http or https.
        AbsentDataError: the server cannot be reached, refuses, or sends a web page.
    """
    if not is_web(url):
        raise ConfigError(f"{url}: only http:// and https:// addresses are downloaded.")
    sha256 = _noted(url, cache)
    if sha256 and (target := _target(url, sha256, cache, name)).is_file():
        return sha256, target
    with _downloaded(url, cache, received, is_first=True) as (part, sha256, kind):
        if kind == "text/html" and not (name or url).endswith(WEB_PAGES):
            raise AbsentDataError(
                f"{url}: the server sent a web page in place of the file; give the data with "
                "--source."
            )
        _keep(part, _target(url, sha256, cache, name))
    with _part(cache) as (handle, part):
        os.write(handle, sha256.encode())
        _keep(part, _note(url, cache))
    return sha256, _target(url, sha256, cache, name)


def cached(file: SourceFile, cache: Path) -> bool:
    """Whether a file's download is in the cache."""
    if file.url is None:
        return False
    sha256 = file.sha256 or _noted(file.url, cache)
    return bool(sha256) and _target(file.url, sha256, cache, file.archive or "").is_file()


def cached_copies(
    files: Sequence[SourceFile], pins: Mapping[str, str], cache: Path
) -> Iterator[Path]:
    """What the cache has of some files: the folder of each download, then the notes of its hash.

    Args:
        files: of a card.
        pins: by address the hash that a lake pinned.
        cache: the folder of downloads.
    """
    addresses = sorted({file.url for file in files if file.url} | set(pins))
    noted = [url for url in addresses if _note(url, cache).is_file()]
    hashes = {file.sha256 for file in files if file.sha256} | set(pins.values())
    hashes |= {_noted(url, cache) for url in noted}
    folders = (cache / sha256.lower() for sha256 in sorted(hashes) if SHA256.fullmatch(sha256))
    yield from (folder for folder in folders if folder.is_dir())
    yield from (_note(url, cache) for url in noted)


def _target(url: str, sha256: str, cache: Path, name: str) -> Path:
    return cache / sha256.lower() / (name or PurePosixPath(url.split("?")[0]).name or "data")


def _note(url: str, cache: Path) -> Path:
    return cache / NOTES / hashlib.sha256(url.encode()).hexdigest()


def _noted(url: str, cache: Path) -> str:
    note = _note(url, cache)
    return note.read_text(encoding="ascii") if note.is_file() else ""


def _keep(part: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part.replace(target)


@contextmanager
def _part(cache: Path) -> Iterator[tuple[int, Path]]:
    """A file in the making, which is removed afterwards unless it was moved."""
    cache.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=cache, prefix=".part-")
    try:
        yield handle, Path(name)
    finally:
        os.close(handle)
        Path(name).unlink(missing_ok=True)


@contextmanager
def _downloaded(
    url: str, cache: Path, received: Received, *, is_first: bool = False
) -> Iterator[tuple[Path, str, str]]:
    """A download with its SHA-256 and the kind of content that the server named.

    The first one, which no hash proves whole, has to have a stated length.
    """
    with _part(cache) as (handle, part):
        with os.fdopen(os.dup(handle), "wb") as out:
            kind = _copy(url, out, received, is_first=is_first)
        with part.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        yield part, sha256, kind


def _copy(url: str, out: IO[bytes], received: Received, *, is_first: bool) -> str:
    """Write what `url` gives; one that breaks off is taken up again where it broke."""
    copied, whole, tag = 0, None, ""
    for _ in range(ATTEMPTS):
        with _answer(url, copied, tag) as answer:
            if answer.status != 206 or not _begins_at(answer, copied):
                copied = out.seek(0)
                out.truncate()
            if answer.status == 206 and copied == 0:
                continue  # a part from elsewhere: the next request is for the whole file
            tag = answer.headers.get("ETag", "")
            length = _length(answer)
            is_chunked = answer.headers.get("Transfer-Encoding", "").lower() == "chunked"
            if is_first and length is None and not is_chunked:
                raise AbsentDataError(
                    f"{url}: the server does not say how long the file is, and no card has its "
                    "hash: it might be cut off; give the data with --source."
                )
            whole = None if length is None else copied + length
            is_whole = _drain(answer, out, received)
            copied = out.tell()
        if is_whole and (whole is None or copied == whole):
            return answer.headers.get_content_type()
    total = f" of {whole}" if whole else ""
    raise AbsentDataError(
        f"{url}: broke off {ATTEMPTS} times, after {copied}{total} bytes; nothing was kept."
    )


def _begins_at(answer: HTTPResponse, copied: int) -> bool:
    """Whether the server says that its part of a file begins after these bytes."""
    return answer.headers.get("Content-Range", "").startswith(f"bytes {copied}-")


def _length(answer: HTTPResponse) -> int | None:
    length = answer.headers.get("Content-Length", "")
    return int(length) if LENGTH.fullmatch(length) else None


def _drain(answer: HTTPResponse, out: IO[bytes], received: Received) -> bool:
    """Write the rest of an answer; whether it came to its end."""
    while True:
        try:
            block = answer.read(BLOCK)
        except (HTTPException, OSError):  # of TLS and of the network; a full disk is below
            return False
        if not block:
            return True
        out.write(block)
        received(len(block))


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Redirects that leave neither the web nor encryption."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        """The next request; AbsentDataError where its address is of another kind."""
        is_encrypted = req.full_url.lower().startswith("https:")
        if not is_web(newurl) or (is_encrypted and not newurl.lower().startswith("https:")):
            raise AbsentDataError(
                f"{req.full_url}: the server sends on to an address without https; give the data "
                "with --source."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _answer(url: str, copied: int, tag: str) -> HTTPResponse:
    """The server's answer: the rest after `copied` bytes, if the file still has this tag."""
    is_strong = tag.startswith('"')
    rest = {"Range": f"bytes={copied}-", "If-Range": tag} if copied and is_strong else {}
    request = urllib.request.Request(url, headers=rest)
    try:
        # Built anew: the opener that urllib keeps has the proxies of when it was made.
        opener = urllib.request.build_opener(_Redirects)
        return cast(HTTPResponse, opener.open(request, timeout=TIMEOUT_SECONDS))
    except urllib.error.HTTPError as error:
        raise AbsentDataError(
            f"{url}: the server answered {error.code}; give the data with --source."
        ) from None
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        raise AbsentDataError(
            f"{url}: cannot be downloaded ({type(reason).__name__}); give the data with --source."
        ) from None
