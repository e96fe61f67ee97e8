"""Tokens of OpenID Connect: whether an issuer that the policy names signed one, and for whom.

Only signatures by public keys are accepted, and the kind of key decides which one: a token cannot
choose another. The issuer's keys are a file of the site, so that nothing is fetched.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from medhelm_spark.domain.sign_off import TokenIssuer
from medhelm_spark.errors import ConfigError, ReleaseError, SetupError
from medhelm_spark.releases.keys import NEEDED

LEEWAY = 60
"""Seconds by which the clocks of issuer and machine may differ."""


def subject_of(token: str, issuers: Sequence[TokenIssuer], at: datetime) -> tuple[str, str]:
    """The subject of a token and its issuer.

    Raises:
        ReleaseError: no issuer of the policy signed it for this use, or it is not valid now.
        ConfigError: the issuer's file has no keys.
        SetupError: cryptography is not installed.
    """
    try:
        head, body, signature = token.strip().split(".")
        header, claims = _json(head), _json(body)
        signed, mark = f"{head}.{body}".encode(), _bytes(signature)
    except ValueError:
        raise ReleaseError(
            "the token cannot be read; allowed: three parts of Base64 with JSON."
        ) from None
    issuer = next((each for each in issuers if each.issuer == claims.get("iss")), None)
    if issuer is None:
        raise ReleaseError("the token's issuer is none of the policy's release.issuers.")
    keys = [key for key in _keys(issuer) if key.get("kid") == header.get("kid")]
    if not any(_is_signed(key, header.get("alg"), signed, mark) for key in keys):
        raise ReleaseError(f"no key of {issuer.issuer} signed the token.")
    audience = claims.get("aud")
    if issuer.audience not in (audience if isinstance(audience, list) else [audience]):
        raise ReleaseError(f"the token is not for {issuer.audience!r}, as the policy asks.")
    until, since = claims.get("exp"), claims.get("nbf", 0)
    moment = at.timestamp()
    if not isinstance(until, int | float) or not isinstance(since, int | float):
        raise ReleaseError("the token does not say until when it is valid.")
    if not since - LEEWAY <= moment < until + LEEWAY:
        raise ReleaseError("the token is not valid now; log in again.")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise ReleaseError("the token names no subject.")
    return subject, issuer.issuer


def _keys(issuer: TokenIssuer) -> list[Mapping[str, Any]]:
    try:
        keys = json.loads(Path(issuer.keys).read_text(encoding="utf-8"))["keys"]
        return [key for key in keys if isinstance(key, dict)]
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(
            f"release.issuers: {issuer.issuer}: keys is {issuer.keys!r}; allowed: the issuer's "
            "JWKS file."
        ) from None


def _is_signed(key: Mapping[str, Any], algorithm: object, signed: bytes, mark: bytes) -> bool:
    """Whether the key made the signature; the algorithm has to be the one of its kind."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
        from cryptography.hazmat.primitives.hashes import SHA256
    except ModuleNotFoundError:
        raise SetupError(NEEDED) from None
    try:
        match key.get("kty"), algorithm:
            case "RSA", "RS256":
                numbers = rsa.RSAPublicNumbers(_number(key["e"]), _number(key["n"]))
                numbers.public_key().verify(mark, signed, padding.PKCS1v15(), SHA256())
            case "EC", "ES256":
                point = (_number(key["x"]), _number(key["y"]))
                numbers_of = ec.EllipticCurvePublicNumbers(*point, ec.SECP256R1())
                halves = (int.from_bytes(mark[:32], "big"), int.from_bytes(mark[32:], "big"))
                made = utils.encode_dss_signature(*halves)
                numbers_of.public_key().verify(made, signed, ec.ECDSA(SHA256()))
            case "OKP", "EdDSA":
                public_key = ed25519.Ed25519PublicKey.from_public_bytes(_bytes(key["x"]))
                public_key.verify(mark, signed)
            case _:
                return False
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return False
    return True


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _number(text: str) -> int:
    return int.from_bytes(_bytes(text), "big")


def _json(text: str) -> dict[str, Any]:
    parsed = json.loads(_bytes(text))
    if not isinstance(parsed, dict):
        raise ValueError("no object")
    return parsed
