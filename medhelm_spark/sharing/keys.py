"""Ids of a share: hashes by a key that is made for the share and never stored."""

import hashlib
import hmac
import secrets


class ShareKeys:
    """Keyed ids of one share.

    The key is thrown away with this object: nobody can link an id of a share to a row of the lake
    or of another share, the site included. What was shared is found by the share's own record.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self.share = f"share-{secrets.token_hex(6)}"
        """The share's own name."""

    def id_of(self, kind: str, *parts: object) -> str:
        """The id of a row: the same parts have the same id within this share alone."""
        text = "\x1f".join([kind, *map(str, parts)])
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:20]
