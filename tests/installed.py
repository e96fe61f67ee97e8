"""Our wheel in an environment of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = (sys.executable, "-m", "uv")


def uv(*command: str | Path) -> None:
    """Run uv, show what it printed when it fails."""
    done = _uv(*command)
    assert done.returncode == 0, done.stdout[-4000:]


def install_wheel(folder: Path, extras: str, *others: str) -> Path:
    """Build the wheel and install it with its extras; returns the environment, `folder`/env.

    What the checkout's own set-up has fetched is taken from uv's cache: some registries let no
    answer be kept, and every copy of Spark is half a gigabyte.
    """
    uv("build", "--quiet", "--wheel", "--out-dir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "env"
    uv("venv", "--quiet", "--relocatable", "--python", sys.executable, environment)
    install = (
        "pip", "install", "--quiet", "--python", environment / "bin" / "python",
        "--constraints", ROOT / "constraints.txt", f"medhelm-spark{extras} @ {wheel.as_uri()}",
    )  # fmt: skip
    if _uv(*install, *others, "--offline").returncode != 0:
        uv(*install, *others)
    return environment


def _uv(*command: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*UV, *map(str, command)],
        env={**os.environ, "UV_COMPILE_BYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )


def checked(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a command, with environment variables; show what it printed when it fails.

    Returns both streams.
    """
    # A session of this process names its own Python for Spark's workers.
    dropped = ("PYTHONPATH", "PYSPARK_PYTHON")
    environment = {
        key: value for key, value in os.environ.items() if key not in dropped
    } | variables
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout
