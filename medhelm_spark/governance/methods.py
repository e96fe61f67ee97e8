"""`evaluation.governance`: what is on record of text that was sent, and of levels."""

from datetime import date

from medhelm_spark.board import choose, load_runs
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.errors import ConfigError
from medhelm_spark.governance.declassification import lower_level
from medhelm_spark.governance.disclosures import DisclosureScope, disclosures_of
from medhelm_spark.governance.level_changes import level_changes_of
from medhelm_spark.governance.results import Disclosures, LevelChanges
from medhelm_spark.lake.user import this_user
from medhelm_spark.workspace.names import check_known

_PLANNED = """
SELECT DISTINCT suite, run_spec_id, run_spec['scenario_name'] AS scenario_name FROM {run_specs}
"""


class GovernanceMethods(Methods):
    """What was sent where, and which levels were lowered."""

    @at_work
    def disclosures(
        self,
        *,
        suite: str | None = None,
        release: str | None = None,
        benchmark: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Disclosures:
        """What text of this lake was sent where, counted from the requests that were sent.

        Args:
            suite: only requests of this suite's runs.
            release: only requests of this release's runs.
            benchmark: only requests about this scenario.
            since: the first day, by the lake's clock.
            until: the last day.

        Raises:
            ConfigError: suite and release are both given, or `until` is before `since`.
            UnknownNameError: the lake has no such suite, release or scenario.
        """
        if since and until and until < since:
            raise ConfigError(
                f"until is {until}, before since, {since}; allowed: the same or later."
            )
        reader = self._workspace.reader
        units = None
        if suite or release or benchmark:
            units = self._runs(suite, release, benchmark)
        scope = DisclosureScope(run_spec_ids=units, since=since, until=until)
        filters = {
            "suite": suite,
            "release": release,
            "benchmark": benchmark,
            "since": since,
            "until": until,
        }
        selection = ", ".join(f"{name} {value}" for name, value in filters.items() if value)
        return Disclosures(tuple(disclosures_of(reader, scope)), selection)

    def _runs(self, suite: str | None, release: str | None, benchmark: str | None) -> set[str]:
        """The runs that were planned for the suite, superseded ones too, or are the release's."""
        reader = self._workspace.reader
        if suite and release:
            raise ConfigError("suite and release are both given; give one of them.")
        if release:
            runs = load_runs(reader, choose(reader, release=release))
            rows = [(run.run_spec.run_spec_id, run.run_spec.scenario_name) for run in runs]
        else:
            table = reader.query(_PLANNED).to_pylist()
            check = {row["suite"] for row in table}
            if suite:
                check_known("suite", suite, check)
            rows = [
                (row["run_spec_id"], row["scenario_name"])
                for row in table
                if suite in (None, row["suite"])
            ]
        if benchmark:
            check_known("scenario", benchmark, {scenario for _, scenario in rows})
        return {unit for unit, scenario in rows if benchmark in (None, scenario)}

    @at_work
    def level_changes(self) -> LevelChanges:
        """Every lowering of a level on record, and who approves it by the policy in force now."""
        approvals = self._workspace.registry.policy.binding_approvals
        return LevelChanges(tuple(level_changes_of(self._workspace.reader, approvals)))

    @at_work
    def lower_level(self, scenario: str, to: AccessLevel | str, *, reason: str) -> LevelChange:
        """Record that the level of a scenario's newest data is lower than was stated.

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
