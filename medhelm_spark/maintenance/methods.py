"""`evaluation.lake`: what keeps a lake small and fast to read."""

from collections.abc import Sequence

from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.domain.purge import Purge
from medhelm_spark.governance.purges import purges_of
from medhelm_spark.maintenance.commands import Rewritten, collect_garbage, optimize
from medhelm_spark.maintenance.gc import Removed
from medhelm_spark.maintenance.purge import purge


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

    @at_work
    def purge(self, scenario: str, *, agreement: str, dry_run: bool = False) -> Purge:
        """Remove the text of a scenario for good: from tables, earlier versions, MLflow and caches.

        Numbers, and what was sent where, stay; a note replaces each text. A purge
        that was killed is finished by the same call.

        Args:
            scenario: its name, as the lake has it.
            agreement: the agreement that ended, by a name that readers of the record recognize.
            dry_run: whether only to print what would be removed.

        Returns:
            The record: what was removed, and what was not reached.

        Raises:
            UnknownNameError: the lake has no data of the scenario.
            ConfigError: it was purged under another agreement.
            LakeError: a run asks about the scenario now, or others kept writing a table.
        """
        return purge(self._workspace, scenario, agreement, dry_run=dry_run)

    @at_work
    def purges(self) -> Sequence[Purge]:
        """The purges on record, oldest first."""
        return purges_of(self._workspace)
