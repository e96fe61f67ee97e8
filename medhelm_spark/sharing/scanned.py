"""Whether a release was scanned for the audiences that get the most of it, for its gate."""

from medhelm_spark.domain.policy import Audience, Policy, ShareContent
from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.reader import Reader
from medhelm_spark.sharing.tables import ReleaseShare

_SHARES = "SELECT * FROM {{shares}} WHERE release_manifest = {manifest}"
_WIDEST = (ShareContent.TEXTS, ShareContent.SCORES, ShareContent.AGGREGATES)


def unscanned(reader: Reader, manifest_hash: str, policy: Policy) -> str:
    """Why a release as it is now counts as not scanned; empty where it passed.

    Each audience that gets the most of what the policy hands on has to have a share of it.
    """
    audiences = _widest(policy)
    if not audiences:
        return "the policy names no audience, so that nothing of it was scanned"
    made = {(row.audience, row.content) for row in _shares(reader, manifest_hash)}
    for audience in audiences:
        if (audience.name, audience.content.value) not in made:
            return (
                f"no share of it for {audience.name} ({audience.content}) passed the scan; "
                "`medhelm-spark release share` makes and scans one"
            )
    return ""


def waived_of(reader: Reader, manifest_hash: str, policy: Policy) -> int:
    """How many matches of patterns were waived in the newest shares that count."""
    newest = {
        row.audience: row
        for row in sorted(_shares(reader, manifest_hash), key=lambda row: row.made_at)
    }
    shares = [newest[each.name] for each in _widest(policy) if each.name in newest]
    return sum(share.num_waived or 0 for share in shares)


def _widest(policy: Policy) -> list[Audience]:
    for content in _WIDEST:
        if audiences := [each for each in policy.audiences if each.content is content]:
            return audiences
    return []


def _shares(reader: Reader, manifest_hash: str) -> list[ReleaseShare]:
    return reader.rows(_SHARES.format(manifest=literal(manifest_hash)), ReleaseShare)
