"""Pseudonyms of raters: keyed hashes of their names, by a key that is never in the lake."""

import hashlib
import hmac
import os
import secrets
import tempfile
from pathlib import Path

from medhelm_spark.errors import ConfigError

FILE = "raters.key"
_BYTES = 32


def pseudonym_key(key_file: Path | None, lake: str) -> bytes:
    """The key of the pseudonyms; a missing file is made, readable only by its owner.

    Whoever has the file can find the name behind a pseudonym; without it a rater gets another
    pseudonym. It is in the user's configuration: a site's folder is often under version control.

    Args:
        key_file: another path of the file.
        lake: the lake; the file may not be in it.

    Raises:
        ConfigError: the file is in the lake, or is too short to be a key.
    """
    path = key_file or _of_user() / FILE
    if Path(lake).resolve() in path.resolve().parents:
        raise ConfigError(
            f"{path}: the key of raters' pseudonyms may not lie in the lake, whose readers could "
            "find the raters' names; name another path by --key-file."
        )
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return _made(path)
    if len(key) < _BYTES:
        raise ConfigError(f"{path}: {len(key)} bytes are no key; {_BYTES} or more are needed.")
    return key


def _of_user() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "medhelm_spark"


def _made(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    key = secrets.token_bytes(_BYTES)
    # A process that is killed here leaves no file that is half a key.
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
    try:
        os.link(part, path)
    except FileExistsError:  # another command made it meanwhile
        return path.read_bytes()
    finally:
        Path(part).unlink()
    return key


def pseudonym(name: str, key: bytes) -> str:
    """`rater-1f0c…`: the same name and key give the same pseudonym."""
    digest = hmac.new(key, " ".join(name.split()).casefold().encode(), hashlib.sha256)
    return f"rater-{digest.hexdigest()[:12]}"
