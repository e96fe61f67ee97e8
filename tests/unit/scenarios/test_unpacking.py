"""Compressed files that would fill the machine are refused while little of them is unpacked."""

import gzip
import io
import os
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import read_records, unpacking
from medhelm_spark.scenarios.unpacking import FREE_BYTES, MAX_RATIO, Allowance, Unpacked
from tests.meta.tree import ROOT

BOMB_BYTES = 1_850_000_000
MiB = 1 << 20
READ = """
import resource, sys
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import read_records
path, member, form = sys.argv[1:]
file = SourceFile(path=path, member=member or None)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for record in read_records(file, DataSource(format=form, files=(file,), record_path="Q")):
        pass
except DataError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def zeros(count: int) -> Iterator[bytes]:
    block = b"[" + b" " * (MiB - 1)
    yield block
    for _ in range(count // MiB - 1):
        yield block.replace(b"[", b" ")


def as_zip(path: Path, member: str, count: int) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out,
        out.open(member, "w", force_zip64=True) as to,
    ):
        for block in zeros(count):
            to.write(block)


def as_gzip(path: Path, _: str, count: int) -> None:
    with gzip.open(path, "wb") as to:
        for block in zeros(count):
            to.write(block)


def as_tar(path: Path, member: str, count: int) -> None:
    header = tarfile.TarInfo(member)
    header.size = count // MiB * MiB
    with gzip.open(path, "wb") as to:
        to.write(header.tobuf())
        for block in zeros(count):
            to.write(block)


def as_long_header(path: Path, member: str, count: int) -> None:
    """A tar whose extended header, which readers keep in memory, has a huge size."""
    header = tarfile.TarInfo(member)
    header.size, header.type = count // MiB * MiB, tarfile.XHDTYPE
    with gzip.open(path, "wb") as to:
        to.write(header.tobuf())
        for block in zeros(count):
            to.write(block)


BOMBS: dict[str, tuple[Callable[[Path, str, int], None], str, str]] = {
    "a.zip": (as_zip, "data.json", "json"),
    "b.zip": (as_zip, "note.txt", "text"),
    "a.docx": (as_zip, "word/document.xml", "docx"),
    "a.xlsx": (as_zip, "xl/sharedStrings.xml", "xlsx"),
    "a.json.gz": (as_gzip, "", "json"),
    "a.tar.gz": (as_tar, "data.json", "json"),
    "b.tar.gz": (as_long_header, "data.json", "json"),
}


@pytest.mark.attack("inputs", "1.8 MB of zip, gzip, tar, docx or xlsx that unpack to 1.8 GB")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    make, member, form = BOMBS[name]
    make(tmp_path / name, member, BOMB_BYTES if name == "a.zip" else BOMB_BYTES // 6)
    assert (tmp_path / name).stat().st_size < 2 * MiB
    is_office = form in ("docx", "xlsx")
    words = [str(tmp_path / name), "" if is_office else member, form]
    done = subprocess.run(
        [sys.executable, "-c", READ, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    message, grown = done.stdout.splitlines()
    assert "compressed bytes unpack to more than" in message
    assert int(grown) * 1024 < (600 if name == "a.zip" else 150) * MiB, (
        f"{int(grown) // 1024} MiB for {name}"
    )


def rows(path: Path, member: str | None = None, form: str = "csv") -> int:
    file = SourceFile(path=str(path), member=member)
    return len(list(read_records(file, DataSource(format=form, files=(file,)))))


def test_what_shrinks_well_and_is_small_is_read(tmp_path: Path) -> None:
    content = b"id,q\n" + b"1,%b\n" * 80 % ((b"x" * (FREE_BYTES // 100),) * 80)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    assert len(content) / (tmp_path / "a.csv.gz").stat().st_size > MAX_RATIO
    assert rows(tmp_path / "a.csv.gz") == 80


@pytest.mark.attack("inputs", "a zip that states a small size for a member that is larger")
def test_a_size_that_lies_is_no_way_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "FREE_BYTES", 1000)
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a.csv", "id\n" + "1\n" * 200_000)
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    content[central + 24 : central + 28] = (50).to_bytes(4, "little")  # the unpacked size
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.zip!a\.csv: "):
        rows(path, "a.csv")
    # And a compressed size beyond the archive's own bytes earns no larger allowance.
    content[central + 20 : central + 24] = (1 << 30).to_bytes(4, "little")
    content[central + 24 : central + 28] = (400_003).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.zip!a\.csv: "):
        rows(path, "a.csv")


@pytest.mark.attack(
    "inputs", "a sparse member of a tar, some bytes that read as gigabytes of zeros"
)
def test_a_sparse_member_does_not_grow(tmp_path: Path) -> None:
    sparse = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(BOMB_BYTES * 100)}
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as out:
        header = tarfile.TarInfo("a.csv")
        header.size, header.pax_headers = 1, sparse
        out.addfile(header, io.BytesIO(b"i"))
    assert path.stat().st_size < MiB
    with pytest.raises(DataError, match=r"unpack"):
        rows(path, "a.csv", "text")


@pytest.mark.attack(
    "inputs", "a zip of more members than any data set has, or of more bytes in all"
)
def test_members_are_counted_and_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as out:
        for number in range(30):
            out.writestr(f"patient-{number}.csv", "id\n1\n")
    assert rows(path, "patient-7.csv") == 1
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 29)
    with pytest.raises(DataError, match=r"a\.zip: more than 29 members") as too_many:
        rows(path, "patient-7.csv")
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 30)
    monkeypatch.setattr(unpacking, "MAX_TOTAL_BYTES", 100)
    with pytest.raises(DataError, match="first 21 members") as too_large:
        rows(path, "patient-7.csv")
    assert "patient" not in f"{too_many.value}{too_large.value}"


@pytest.mark.attack("inputs", "a zip in a zip, many times over")
def test_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    content = b"id\n1\n"
    for _ in range(5):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as out:
            out.writestr("a.zip", content)
        content = buffer.getvalue()
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(DataError, match="a zip archive or an Office file"):
        rows(tmp_path / "a.zip", "a.zip")


def test_one_can_go_back_and_forth_and_what_is_skipped_counts() -> None:
    def unpacked(size: int) -> Unpacked:
        content = zlib.compress(bytes(size))
        stream = io.BytesIO(zlib.decompress(content))
        return Unpacked(stream, Allowance(path="a", compressed=len(content)))

    small = unpacked(1000)
    assert small.seek(0, io.SEEK_END) == 1000
    assert small.seek(-10, io.SEEK_CUR) == 990
    assert (len(small.read()), small.seek(5), len(small.read(3)), small.tell()) == (10, 5, 3, 8)
    for act in (Unpacked.read, lambda stream: stream.seek(0, io.SEEK_END)):
        with pytest.raises(DataError, match="allowed"):
            act(unpacked(2 * FREE_BYTES))
