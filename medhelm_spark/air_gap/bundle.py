"""A folder with all that a machine without a network needs, and whether one is as it was made."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

from pyspark import __version__ as pyspark_version

from medhelm_spark.cache import cache_folder
from medhelm_spark.engines.model_files import FILE_SHA256, INDEX, fetch_model
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.lake.jvm import JARS, delta_conf
from medhelm_spark.maintenance.purge_scope import cached_data
from medhelm_spark.pipeline.fetch import Outcome, fetch_data
from medhelm_spark.subprocess_env import FETCHING, child_environment
from medhelm_spark.version import VERSION
from medhelm_spark.whole_files import whole_folder
from medhelm_spark.workspace.workspace import Workspace

MANIFEST, ENVIRONMENT = "bundle.json", "env.sh"
WHEELS, WEIGHTS, CACHE, HUB = "wheels", "weights", "cache", "hub"
IMAGE = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "*.gguf")
OWN = "medhelm-spark"
_UNMADE = re.compile(r"(?:No matching distribution found for|Failed to build) '?([\w.=\[\]-]+)")
"""Where pip names the requirement that it could not get; some, as PySpark, are sources alone."""

_ENVIRONMENT = """\
# . BUNDLE/env.sh: what this machine takes from the bundle in place of the network.
here=$(CDPATH= cd -- "$(dirname -- "${BASH_SOURCE:-$0}")" && pwd)
export MEDHELM_SPARK_CACHE="$here/cache" HF_HOME="$here/hub"
export PIP_NO_INDEX=1 PIP_FIND_LINKS="$here/wheels" UV_OFFLINE=1 UV_FIND_LINKS="$here/wheels"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssetBundle:
    """A bundle that was made."""

    folder: Path
    num_files: int
    num_bytes: int

    def __str__(self) -> str:
        size = f"{self.num_bytes / 1e6:,.1f} MB"
        return f"{self.folder}: {self.num_files:,} files, {size}, hashes in {MANIFEST}"


def make_bundle(
    workspace: Workspace,
    out: Path,
    *,
    wheels: Sequence[Path] = (),
    requirements: Path | None = None,
    weights: Sequence[Path] = (),
    scenarios: Sequence[str] = (),
    image: str | None = None,
) -> AssetBundle:
    """Make a bundle on a machine with a network; an incomplete one is not left behind.

    Args:
        workspace: whose cards name the data.
        out: the folder to make.
        wheels: files to add, as the package's own from `make wheel`.
        requirements: what to download; None: what this environment has installed.
        weights: folders or files of models, with their tokenizers.
        scenarios: whose data to add, by name.
        image: the base image of the site's containers, by digest.

    Raises:
        ConfigError: the folder is there, or what was named is not.
        SetupError: a part cannot be obtained.
    """
    if out.exists():
        raise ConfigError(f"{out} is there already; name a folder that is not.")
    if image and not IMAGE.fullmatch(image):
        raise ConfigError(f"--image {image!r} names no digest; allowed: NAME@sha256:64 digits.")
    for path in (*wheels, *weights, *([requirements] if requirements else [])):
        if not path.exists():
            raise ConfigError(f"{path} is not there.")
    names = [path.name for path in weights]
    for path in weights:
        if names.count(path.name) > 1:
            raise ConfigError(f"--weights has {path.name!r} twice; give each model its own name.")
        _check_tokenizer(path)
    jars, model = _jars(), fetch_model()
    data = list(_data(workspace, scenarios))
    with whole_folder(out) as half:
        _wheels(half / WHEELS, wheels, requirements)
        for path in [*jars, model, *data]:
            _copy(path, half / _path_in_bundle(path))
        for path in weights:
            _copy(path, half / WEIGHTS / path.name)
        (half / ENVIRONMENT).write_text(_ENVIRONMENT, encoding="utf-8")
        files = [_entry(half, name) for name in _names(half)]
        manifest = {
            "made_by": f"{OWN} {VERSION}",
            "python": _python(),
            "spark": pyspark_version,
            "scenarios": list(scenarios),
            "base_image": image,
            "files": files,
        }
        (half / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    size = sum((out / name).stat().st_size for name in _names(out))
    return AssetBundle(folder=out, num_files=len(files), num_bytes=size)


def _check_tokenizer(path: Path) -> None:
    if path.is_dir() and not any(next(path.glob(name), None) for name in TOKENIZERS):
        raise ConfigError(f"{path} has no tokenizer; allowed: one of {', '.join(TOKENIZERS)}.")


def _jars() -> list[Path]:
    named = delta_conf(pyspark_version).get(JARS)
    if named is None:
        raise SetupError(
            "Delta's jars are not in the cache; `medhelm-spark doctor --executors` fetches them."
        )
    return [Path(jar) for jar in named.split(",")]


def _data(workspace: Workspace, scenarios: Sequence[str]) -> Iterator[Path]:
    if not scenarios:
        return
    for done in fetch_data(workspace, scenarios, all_public=False):
        if done.outcome is Outcome.ABSENT:
            raise SetupError(f"{done}.")
    for name in scenarios:
        copies = list(cached_data(workspace, name))
        if not copies:
            raise SetupError(
                f"{name}: its data is no download but was put on this machine by hand; put it on "
                "the other machine in the same way."
            )
        yield from copies


def _path_in_bundle(path: Path) -> Path:
    """Where a file of a cache lies in the bundle: as in the cache, which `env.sh` names then."""
    if path.is_relative_to(cache_folder()):
        return Path(CACHE, path.relative_to(cache_folder()))
    if path.suffix == ".jar":  # the site's own, by MEDHELM_SPARK_JARS
        return Path(CACHE, "ivy", "jars", path.name)
    if path.suffix == ".gguf":  # by MEDHELM_SPARK_SMOLLM2
        return Path(CACHE, "models", path.name)
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    return Path(HUB, path.relative_to(home) if path.is_relative_to(home) else path.name)


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_dir():
        shutil.copy2(path, target)
        return
    shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
    root = path.resolve()
    for link in filter(Path.is_symlink, path.rglob("*")):
        # A snapshot in the hub's cache has links alone, to files beside it.
        if not link.resolve().is_relative_to(root):
            copied = target / link.relative_to(path)
            copied.unlink()
            _copy(link, copied)


def _wheels(folder: Path, own: Sequence[Path], requirements: Path | None) -> None:
    folder.mkdir(parents=True)
    for path in own:
        shutil.copy2(path, folder)
    requirements_file = folder.with_name("requirements.txt")
    if requirements is None:
        requirements_file.write_text(
            "".join(f"{line}\n" for line in _installed()), encoding="utf-8"
        )
    else:
        shutil.copy2(requirements, requirements_file)
    if not requirements_file.read_text(encoding="utf-8").strip():
        return
    command = [
        *_pip(),
        "wheel",
        "--quiet",
        "--wheel-dir",
        str(folder),
        "-r",
        str(requirements_file),
    ]
    command += ["--no-deps"] if requirements is None else ["--find-links", str(folder)]
    env = child_environment((*FETCHING, *INDEX))
    done = subprocess.run(command, capture_output=True, check=False, env=env)
    if done.returncode:
        # The message omits the rest of pip's output, in which an address may contain a password.
        named = _UNMADE.search(done.stderr.decode(errors="replace"))
        which = (
            f"of {named[1]}"
            if named
            else f"of {requirements_file.name} (pip ended with {done.returncode})"
        )
        raise SetupError(f"could not make the wheel {which}; look at it with `pip wheel`.")


def _installed() -> list[str]:
    """This environment's packages with versions, without those installed from a folder."""
    return sorted(
        f"{each.name}=={each.version}"
        for each in distributions()
        if each.read_text("direct_url.json") is None and each.name.lower() != OWN
    )


def _pip() -> list[str]:
    """`pip` of this Python, or of uv where the environment has none."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if not uv:
        raise SetupError("wheels are made by pip or uv; install one of them.")
    return [uv, "tool", "run", "--quiet", "--python", sys.executable, "pip"]


def _names(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def _entry(folder: Path, name: str) -> dict[str, object]:
    path = folder / name
    return {"name": name, "sha256": _sha256(path), "bytes": path.stat().st_size}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def problems_of(folder: Path) -> Iterator[str]:
    """What is wrong with a bundle: changed, missing and foreign files, and parts that it lacks.

    Raises:
        ConfigError: the folder is no bundle.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise ConfigError(f"{folder} has no {MANIFEST}: it is no bundle.")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    hashes = {each["name"]: each["sha256"] for each in manifest["files"]}
    there = set(_names(folder))
    for name in sorted(hashes.keys() - there):
        yield f"{name} is missing"
    for name in sorted(there - hashes.keys()):
        yield f"{name} was added"
    for name in sorted(hashes.keys() & there):
        if _sha256(folder / name) != hashes[name]:
            yield f"{name} was changed"
    if not any(Path(name).name.startswith("medhelm_spark-") for name in there):
        yield "no wheel of medhelm-spark is in it; make it with --wheel"
    if FILE_SHA256 not in hashes.values():
        yield "the embedded model is not in it"
    own = {"python": _python(), "spark": pyspark_version}
    for name, version in own.items():
        if manifest[name] != version:
            yield f"it was made for {name} {manifest[name]}, this machine has {version}"


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
