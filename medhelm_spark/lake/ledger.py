"""Rows that only the lake itself needs: leases and release members."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Row of `leases`: a driver's claim to ask one deployment for one suite until `expires_at`.

    `version` counts the suite's lease commits; two drivers cannot commit the same one. A released
    claim is a row whose `expires_at` is its `claimed_at`.
    """

    suite: str
    version: int
    model_deployment: str
    holder: str
    claimed_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseMember:
    """Row of `releases`: one run of a release and the write that holds its stats."""

    release: str
    status: str
    suite: str
    name: str
    run_spec_id: str
    stats_write_id: str
    created_at: datetime
    manifest_hash: str
