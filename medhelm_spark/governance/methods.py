"""`evaluation.governance`: what is on record of text that was sent, and of levels."""

from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.governance.declassification import lower_level
from medhelm_spark.governance.disclosures import disclosures_of
from medhelm_spark.governance.level_changes import level_changes_of
from medhelm_spark.governance.results import Disclosures, LevelChanges
from medhelm_spark.lake.user import this_user


class GovernanceMethods(Methods):
    """What was sent where, and which levels were lowered."""

    @at_work
    def disclosures(self) -> Disclosures:
        """What text of this lake was sent where, counted from what was really asked."""
        return Disclosures(tuple(disclosures_of(self._workspace.reader)))

    @at_work
    def level_changes(self) -> LevelChanges:
        """Every lowering of a level on record, and who approves it by the policy in force now."""
        approvals = self._workspace.registry.policy.binding_approvals
        return LevelChanges(tuple(level_changes_of(self._workspace.reader, approvals)))

    @at_work
    def lower_level(self, scenario: str, to: AccessLevel | str, *, reason: str) -> LevelChange:
        """Record that the level of a scenario's newest data is lower than it was said to be.

        Until a site's binding policy names somebody else who approves, it is unreviewed: the rows
        keep their level, and their text stays on local deployments.

        Args:
            scenario: its name, as in `scenarios`.
            to: the lower level.
            reason: why, for whoever reads the record.
        """
        workspace = self._workspace
        policy = workspace.registry.policy
        return lower_level(
            workspace.context(""),
            scenario,
            AccessLevel(to),
            reason,
            changed_by=this_user(),
            approvals=policy.binding_approvals,
        )
