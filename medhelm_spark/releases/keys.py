"""Ed25519 keys: files that settings and policies name, signatures, and whose they are."""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medhelm_spark.errors import ConfigError, SetupError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NEEDED = "signatures need cryptography: pip install 'medhelm-spark[sign]'."
_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)
SHORT = 12
OTHERS = 0o077
"""The rights of others than the owner of a file."""


def key_name(public: str) -> str:
    """How a key is named to people: the first characters of its SHA-256.

    >>> key_name("AAAA")
    '709e80c88487'
    """
    return hashlib.sha256(base64.b64decode(public)).hexdigest()[:SHORT]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key that was read from a file."""

    private: "Ed25519PrivateKey"

    @property
    def public(self) -> str:
        """The 32 bytes of its public key, as Base64."""
        return _text_of(self.private.public_key())

    def sign(self, text: str) -> str:
        """The signature of a text, as Base64."""
        return base64.b64encode(self.private.sign(text.encode())).decode()


def signing_key(file: str, where: str, lake: str) -> SigningKey:
    """The private key of a PEM file.

    Args:
        file: its path.
        where: what names it, for errors.
        lake: the lake, which may not contain it.

    Raises:
        ConfigError: it is no private Ed25519 key, lies in the lake, or others may read it.
        SetupError: cryptography is not installed.
    """
    path = _file(file, where)
    if path.resolve().is_relative_to(Path(lake).resolve()):
        raise ConfigError(f"{where} is {file!r}, which lies in the lake, beside what it signs.")
    if path.stat().st_mode & OTHERS:
        raise ConfigError(f"{where} is {file!r}, which others may use; `chmod 600` it.")
    serialization, ed25519 = _cryptography()
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise ConfigError(
            f"{where} is {file!r}, which is no private Ed25519 key without a password; "
            f"`openssl genpkey -algorithm ed25519 -out {file}` makes one."
        )
    return SigningKey(key)


def public_keys(file: str, where: str) -> tuple[str, ...]:
    """The public keys of a PEM file, as Base64; several where keys were changed.

    Raises:
        ConfigError: it has none, or one that is no Ed25519 key.
        SetupError: cryptography is not installed.
    """
    serialization, ed25519 = _cryptography()
    blocks = _PEM.findall(_file(file, where).read_bytes())
    keys: list[str] = []
    for block in blocks:
        try:
            key = serialization.load_pem_public_key(block)
        except ValueError:
            key = None
        if not isinstance(key, ed25519.Ed25519PublicKey):
            raise ConfigError(f"{where} is {file!r}: key {len(keys) + 1} is no Ed25519 key.")
        keys.append(_text_of(key))
    if not keys:
        raise ConfigError(
            f"{where} is {file!r}, which has no public key; "
            "`openssl pkey -in KEY -pubout` prints one."
        )
    return tuple(keys)


def is_signed(text: str, signature: str, public: str) -> bool:
    """Whether this key signed the text."""
    _, ed25519 = _cryptography()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(public))
        key.verify(base64.b64decode(signature), text.encode())
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteKeys:
    """The keys by which a site signs and verifies."""

    signing: SigningKey | None = None
    verifying: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """The public keys that count."""
        own = (self.signing.public,) if self.signing else ()
        return (*own, *(key for key in self.verifying if key not in own))


def site_keys(settings: Any, lake: str) -> SiteKeys:
    """The keys that the settings name: `signing_key`, and `verify_keys` to verify without one.

    Raises:
        ConfigError: a file is no such key.
        SetupError: cryptography is not installed.
    """
    private, public = settings.signing_key, settings.verify_keys
    return SiteKeys(
        signing=signing_key(private, "setting signing_key", lake) if private else None,
        verifying=public_keys(public, "setting verify_keys") if public else (),
    )


def _file(file: str, where: str) -> Path:
    path = Path(file).expanduser()
    if not path.is_file():
        raise ConfigError(f"{where} is {file!r}; allowed: an existing file.")
    return path


def _text_of(public: Any) -> str:
    return base64.b64encode(public.public_bytes_raw()).decode()


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise SetupError(NEEDED) from None
    return serialization, ed25519
