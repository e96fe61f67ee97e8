"""`evaluation.lake`: what keeps a lake small and fast to read."""

from collections.abc import Sequence

from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.maintenance.commands import Rewritten, collect_garbage, optimize
from medhelm_spark.maintenance.gc import Removed


class LakeMethods(Methods):
    """What is done to the tables of a lake; no row that counts changes."""

    @at_work
    def gc(self, *, dry_run: bool = False) -> Sequence[Removed]:
        """Remove what the policy's `retention` no longer keeps; returns what, by table.

        Raises:
            LakeError: others kept writing one of the tables.
        """
        return collect_garbage(self._workspace, dry_run=dry_run)

    @at_work
    def optimize(self, *, dry_run: bool = False) -> Sequence[Rewritten]:
        """Rewrite tables of many small files into few; returns which. No row changes.

        Raises:
            LakeError: others kept writing one of the tables.
        """
        return optimize(self._workspace, dry_run=dry_run)
