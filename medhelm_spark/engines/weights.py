"""The hash of a model folder, kept between processes: weights are large and change rarely."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.ids import content_id
from medhelm_spark.engines.assets import file_sha256

KINDS = frozenset({".bin", ".gguf", ".jinja", ".json", ".model", ".pt", ".safetensors", ".txt"})
READERS = 4


def folder_sha256(folder: Path) -> str:
    """The sha256 over the names and hashes of a folder's weights, configuration and tokenizer."""
    paths = [one for one in sorted(folder.iterdir()) if one.suffix in KINDS and one.is_file()]
    with ThreadPoolExecutor(READERS) as readers:
        hashes = list(readers.map(_kept_sha256, paths))
    listing = "".join(f"{path.name} {found}\n" for path, found in zip(paths, hashes, strict=True))
    return hashlib.sha256(listing.encode()).hexdigest()


def _kept_sha256(path: Path) -> str:
    """A file's hash, computed once for each path, size and time of change."""
    real = path.resolve()
    status = real.stat()
    note = cache_folder() / "hashes" / content_id(str(real), status.st_size, status.st_mtime_ns)
    if note.is_file():
        return note.read_text(encoding="ascii")
    found = file_sha256(real)
    note.parent.mkdir(parents=True, exist_ok=True)
    half = note.with_suffix(".part")
    half.write_text(found, encoding="ascii")
    half.replace(note)
    return found
