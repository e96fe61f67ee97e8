"""The invitations of a lake, and which of them a token opens."""

import hashlib
from datetime import datetime

from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.reader import Reader
from medhelm_spark.ratings.tables import Invitation

_OF_TOKEN = "SELECT * FROM {{rating_invitations}} WHERE token_hash = {token_hash}"
_ALL = "SELECT * FROM {rating_invitations}"


def hash_of(token: str) -> str:
    """What the lake stores of a token. A token has 256 random bits: nobody finds it by trying."""
    return hashlib.sha256(token.encode()).hexdigest()


def opened_by(reader: Reader, token: str, at: datetime) -> Invitation | None:
    """The invitation that a token opens at a moment; None of one that opens none.

    An unknown, an ended and a revoked one are told apart nowhere.
    """
    sql = _OF_TOKEN.format(token_hash=literal(hash_of(token)))
    rows = reader.rows(sql, Invitation)
    is_over = any(row.revoked_at is not None or row.ends_at <= at for row in rows)
    return rows[0] if rows and not is_over else None


def all_invitations(reader: Reader) -> list[Invitation]:
    """The invitations of the lake in the order of their making; of a revoked one its last row."""
    held: dict[str, Invitation] = {}
    for row in reader.rows(_ALL, Invitation):
        if row.invitation_id not in held or row.revoked_at is not None:
            held[row.invitation_id] = row
    return sorted(held.values(), key=lambda row: (row.invited_at, row.invitation_id))
