"""The invitations of a lake, and the invitation that a token opens."""

import hashlib
from datetime import datetime

from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.reader import Reader
from medhelm_spark.ratings.tables import Invitation

_OF_TOKEN = "SELECT * FROM {{rating_invitations}} WHERE token_hash = {token_hash}"
_ALL = "SELECT * FROM {rating_invitations}"


def hash_of(token: str) -> str:
    """The hash that the lake stores. A token has 256 random bits: nobody finds it by trying."""
    return hashlib.sha256(token.encode()).hexdigest()


def opened_by(reader: Reader, token: str, at: datetime) -> Invitation | None:
    """The invitation that a token opens at a moment; None for a token that opens none.

    Nothing shows whether such a token is unknown, ended or revoked.
    """
    sql = _OF_TOKEN.format(token_hash=literal(hash_of(token)))
    rows = reader.rows(sql, Invitation)
    is_over = any(row.revoked_at is not None or row.ends_at <= at for row in rows)
    return rows[0] if rows and not is_over else None


def all_invitations(reader: Reader) -> list[Invitation]:
    """The invitations of the lake, oldest first; of a revoked invitation its last row."""
    invitations: dict[str, Invitation] = {}
    for row in reader.rows(_ALL, Invitation):
        if row.invitation_id not in invitations or row.revoked_at is not None:
            invitations[row.invitation_id] = row
    return sorted(invitations.values(), key=lambda row: (row.invited_at, row.invitation_id))
