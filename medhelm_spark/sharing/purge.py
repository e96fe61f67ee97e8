"""What shares have of a scenario's text: the folders of this site, and what was handed on."""

import shutil
from hashlib import sha256
from pathlib import Path

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.policy import ShareContent
from medhelm_spark.domain.purge import PurgeScope, Swept
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.sharing.tables import MANIFEST, ReleaseShare
from medhelm_spark.workspace.workspace import Workspace

_RELEASES = """
SELECT DISTINCT manifest_hash FROM {{releases}} WHERE run_spec_id IN (
  SELECT run_spec_id FROM {{run_specs}}
  WHERE run_spec_id IN ({runs}) AND run_spec['access_level'] = '{public}')
"""


def purge(workspace: Workspace, scope: PurgeScope, *, dry_run: bool) -> Swept:
    """Remove the folders of shares with texts of releases whose runs on the scenario are public.

    The text of a gated or private run is in no share. A folder that is not as the share was made
    may be another one, and stays.
    """
    if "releases" not in TABLES:  # that feature is not there
        return Swept(removed={})
    reader = workspace.reader
    runs = literals(scope.run_spec_ids)
    found = reader.query(_RELEASES.format(runs=runs, public=AccessLevel.PUBLIC))
    releases = set(found["manifest_hash"].to_pylist())
    shares = reader.rows("SELECT * FROM {shares}", ReleaseShare)
    removed, unreached = 0, []
    for share in sorted(shares, key=lambda row: row.made_at):
        if share.release_manifest not in releases or share.content != ShareContent.TEXTS:
            continue
        if folder := _folder_of(share):
            removed += 1
            if not dry_run:
                shutil.rmtree(folder)
        made = f"{share.share} of release {share.release}, made on {share.made_at:%Y-%m-%d}"
        unreached.append(f"copies of {made} that {share.audience} received")
    return Swept(removed={"folders of shares": removed}, unreached=tuple(unreached))


def _folder_of(share: ReleaseShare) -> Path | None:
    """The folder where the share was made, if its manifest is there as it was written."""
    if not share.folder:
        return None
    manifest = Path(share.folder, MANIFEST)
    if not manifest.is_file():
        return None
    is_same = sha256(manifest.read_bytes()).hexdigest() == share.manifest_sha256
    # Where the folder was moved and replaced by a link, the target of the link.
    return manifest.parent.resolve() if is_same else None
