"""Ids and names in a share: hashes by a key that is never stored, and names of runs."""

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Sequence

from medhelm_spark.board import BoardRun


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


def run_names(runs: Sequence[BoardRun]) -> dict[str, str]:
    """The names that a share gives to runs, of scenario and model alone, as in HELM.

    The runs' own names have arguments besides, as instructions and paths.
    """
    counts: Counter[str] = Counter()
    names = {}
    for spec in (run.run_spec for run in runs):
        mark = "," if ":" in spec.scenario_name else ":"
        name = f"{spec.scenario_name}{mark}model={spec.model_deployment}".replace("/", "_")
        counts[name] += 1
        is_first = counts[name] == 1
        names[spec.run_spec_id] = name if is_first else f"{name},run={counts[name]}"
    return names
