"""Everything that `benchmarks.gpu` needs on a machine without a network, as files of at most 60 MB.

Wheels of vLLM and of all that it needs, our own wheel, the scripts and a tokenizer, in one archive
that is cut into parts; beside them `install.sh`, which joins, checks and installs them.

    python -m benchmarks.gpu_bundle --output dist/gpu [--vllm 0.33.0] [--python 3.12]
"""

import argparse
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import BinaryIO

from tests.vllm.model import smollm2

ROOT = Path(__file__).resolve().parents[1]
PART_BYTES = 60_000_000
GLIBC = 31
"""Of the second number: the oldest that has a wheel of everything."""
PIP = "26.3"
INSTALL = """\
#!/bin/sh
# Joins and checks the parts, and installs them into ./gpu without a network; needs Python {python}.
set -eu
cd "$(dirname "$0")"
sha256sum --check --quiet SHA256SUMS
mkdir -p gpu
cat gpu.tar.* | tar -x -C gpu
"${{PYTHON:-python{python}}}" -m venv --without-pip gpu/venv
set -- gpu/wheels/pip-*.whl
gpu/venv/bin/python "$1/pip" install --quiet --no-index --no-deps gpu/wheels/*.whl
echo "cd $PWD/gpu && venv/bin/python -m benchmarks.gpu --tokenizer tokenizer --output ../gpu.md"
"""


class Parts(io.RawIOBase):
    """A stream that ends up in files of PART_BYTES each, with their hashes."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._remaining_bytes = folder, 0
        self._file: BinaryIO | None = None
        self.hashes: dict[str, hashlib._Hash] = {}

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        view = memoryview(data)
        while view:
            if self._file is None or not self._remaining_bytes:
                self._file = self._next()
            piece = view[: self._remaining_bytes]
            self._file.write(piece)
            self._hash.update(piece)
            self._remaining_bytes -= len(piece)
            view = view[len(piece) :]
        return len(data)

    def _next(self) -> BinaryIO:
        if self._file:
            self._file.close()
        name = f"gpu.tar.{len(self.hashes):03}"
        self._hash = self.hashes[name] = hashlib.sha256()
        self._remaining_bytes = PART_BYTES
        return (self._folder / name).open("wb")

    def close(self) -> None:
        if self._file:
            self._file.close()
        super().close()


def requirements(uv: str, vllm: str, python: str) -> str:
    """All pins of vLLM, of our core and of pip, for Linux on x86-64."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = "\n".join([f"vllm=={vllm}", f"pip=={PIP}", *project["dependencies"]])
    command = [uv, "pip", "compile", "-", "--quiet", "--python-version", python]
    command += ["--python-platform", f"x86_64-manylinux_2_{GLIBC}", "--only-binary", ":all:"]
    command += ["--no-header", "--no-annotate"]
    return subprocess.run(command, input=packages, stdout=-1, text=True, check=True).stdout


def fetch(uv: str, pins: Path, python: str, wheels: Path) -> None:
    """The wheels of these pins, and our own."""
    tags = [f"manylinux_2_{minor}_x86_64" for minor in range(GLIBC, 4, -1)]
    tags += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]
    command = [
        uv,
        "tool",
        "run",
        "--from",
        f"pip=={PIP}",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
    ]
    command += ["--only-binary", ":all:", "--python-version", python, "--dest", str(wheels)]
    command += [word for tag in tags for word in ("--platform", tag)]
    subprocess.run([*command, "--requirement", str(pins)], check=True)
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", str(wheels), ROOT], check=True)


def tokenizer(folder: Path) -> None:
    """What a model's folder has beside its weights."""
    folder.mkdir()
    for path in smollm2().iterdir():
        if path.suffix in (".json", ".jinja") and path.name != "config.json":
            shutil.copy(path, folder)


def scripts(folder: Path) -> None:
    """The modules of the benchmark, in a package."""
    folder.mkdir()
    for path in (ROOT / "benchmarks").glob("gpu*.py"):
        shutil.copy(path, folder)
    shutil.copy(ROOT / "benchmarks" / "__init__.py", folder)


def bundle(content: Path, output: Path, python: str) -> None:
    """The content as parts, their hashes and the command that installs them."""
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("gpu.tar.*"):
        old.unlink()
    parts = Parts(output)
    with tarfile.open(fileobj=parts, mode="w|", bufsize=1 << 20) as archive:
        for path in sorted(content.iterdir()):
            archive.add(path, path.name)
    parts.close()
    sums = "".join(f"{digest.hexdigest()}  {name}\n" for name, digest in parts.hashes.items())
    (output / "SHA256SUMS").write_text(sums)
    (output / "install.sh").write_text(INSTALL.format(python=python))


def main() -> None:
    """Fetch, pack and print how much it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--vllm", default="0.33.0")
    parser.add_argument("--python", default="3.12")
    parser.add_argument("--uv", default="uv")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.output.parent) as name:
        content = Path(name)
        pins, wheels = content / "requirements.txt", content / "wheels"
        pins.write_text(requirements(args.uv, args.vllm, args.python), encoding="utf-8")
        fetch(args.uv, pins, args.python, wheels)
        tokenizer(content / "tokenizer")
        scripts(content / "benchmarks")
        bundle(content, args.output, args.python)
    files = sorted(args.output.iterdir())
    size = sum(path.stat().st_size for path in files) / 1e9
    sys.stdout.write(f"{len(files)} files, {size:.1f} GB, in {args.output}; there: sh install.sh\n")


if __name__ == "__main__":
    main()
