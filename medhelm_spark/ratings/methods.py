"""`evaluation.ratings`: what people said of answers, and how judges agree with them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from medhelm_spark.board import BoardRun, choose, load_runs
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import ConfigError
from medhelm_spark.ratings.agreement import agreement_of
from medhelm_spark.ratings.import_ratings import ImportedRatings, import_ratings
from medhelm_spark.ratings.invitations import all_invitations
from medhelm_spark.ratings.invite import ADDRESS, InvitationRequest, PersonalLinks, invite, revoke
from medhelm_spark.ratings.progress import Invitations, progress_of
from medhelm_spark.ratings.pseudonyms import pseudonym, pseudonym_key
from medhelm_spark.ratings.read_ratings import RatingFile
from medhelm_spark.ratings.results import Agreements
from medhelm_spark.ratings.stored import stored_ratings
from medhelm_spark.statistics.agreement import MeasurementLevel
from medhelm_spark.statistics.alt_test import EPSILON
from medhelm_spark.workspace.names import check_known


class RatingMethods(Methods):
    """Ratings of answers by people."""

    @at_work
    def import_file(
        self,
        file: str | Path,
        *,
        scenario: str,
        suite: str | None = None,
        fields: Mapping[str, str] | None = None,
        criteria: Sequence[str] = (),
        scale: tuple[float, float] | None = None,
        key_file: str | Path | None = None,
        sheet: str | None = None,
        separator: str | None = None,
        encoding: str | None = None,
    ) -> ImportedRatings:
        """Store ratings of a suite's answers from a file; every value is checked before.

        Args:
            file: csv, tsv, workbook, JSON lines, JSON or Parquet.
            scenario: the benchmark whose answers were rated.
            suite: the suite (None: that planned last).
            fields: what the file calls `source_id`, `instance_id`, `model`, `rater`, `criterion`,
                `value`, `trial` and `comment`.
            criteria: columns that are criteria, where a record has the values of several.
            scale: the lowest and the highest value (None: those of the benchmark's rubric).
            key_file: the key of the raters' pseudonyms (None: in the user's configuration).
            sheet: of a workbook.
            separator: between columns.
            encoding: of the text.

        Raises:
            ConfigError: no scale is known, or the key is in the lake.
            DataError: a row is unusable; nothing was stored.
        """
        _check_scale(scale)
        runs = self._rated(suite, scenario)
        named = RatingFile(
            path=str(file),
            names=dict(fields or {}),
            criteria=tuple(criteria),
            sheet=sheet,
            separator=separator,
            encoding=encoding,
        )
        key_path = Path(key_file) if key_file else None
        return import_ratings(
            self._workspace, runs, scenario, named, scale=scale, key_file=key_path
        )

    @at_work
    def agreement(
        self,
        *,
        scenario: str,
        suite: str | None = None,
        scale: MeasurementLevel | str = MeasurementLevel.INTERVAL,
        epsilon: float = EPSILON,
        by_model: bool = False,
    ) -> Agreements:
        """How raters agree among themselves, and judges, juries and metrics with them.

        Args:
            scenario: the benchmark whose answers were rated.
            suite: the suite (None: that planned last).
            scale: what a difference of two ratings means: nominal, ordinal, interval or ratio.
            epsilon: of the alternative annotator test, from 0 on and below 1.
            by_model: each model's answers by themselves too.

        Raises:
            ConfigError: there is no rating, or epsilon is not allowed.
            UnknownNameError: the scenario is not on the board, or the scale is not known.
        """
        check_known("scale", scale, MeasurementLevel)
        if not 0 <= epsilon < 1:
            raise ConfigError(f"epsilon is {epsilon!r}; allowed: a number from 0 on and below 1.")
        runs = self._rated(suite, scenario)
        specs = [run.run_spec for run in runs]
        columns = (run.cell.cluster_column for run in runs if run.cell)
        reader = self._workspace.reader
        agreements = agreement_of(
            reader,
            specs,
            stored_ratings(reader, [spec.run_spec_id for spec in specs]),
            scale=MeasurementLevel(scale),
            epsilon=epsilon,
            by_model=by_model,
        )
        return Agreements(
            agreements=tuple(agreements),
            scale=MeasurementLevel(scale),
            cluster_column=next(filter(None, columns), ""),
        )

    @at_work
    def invite(
        self,
        raters: Sequence[str],
        *,
        scenario: str,
        suite: str | None = None,
        items: int | None = None,
        raters_per_item: int | None = None,
        level: AccessLevel | str = AccessLevel.PUBLIC,
        days: int = 14,
        criteria: Sequence[str] = (),
        scale: tuple[float, float] | None = None,
        key_file: str | Path | None = None,
        address: str = ADDRESS,
    ) -> PersonalLinks:
        """Make a personal link to the dashboard for each rater, and share the instances out.

        The lake stores a hash of each link's token; the links themselves are only in the returned
        object. The same raters, invited again, get the same instances, and their ratings stay.

        Args:
            raters: their names; the lake stores pseudonyms.
            scenario: the benchmark whose answers are rated.
            suite: the suite (None: that planned last).
            items: how many instances are rated (None: all).
            raters_per_item: how many raters each instance gets (None: all).
            level: the strictest text that the links open; the policy says what is allowed.
            days: how many days after today the links still open.
            criteria: what answers are rated by, with `scale` (none: the criteria of the rubric).
            scale: the lowest and the highest value of `criteria`.
            key_file: the key of the raters' pseudonyms (None: in the user's configuration).
            address: where the raters reach the dashboard.

        Raises:
            ConfigError: something is not allowed, or no scale is known.
            PolicyError: the policy lets no link open this level.
            DataError: the suite has no answers of the scenario.
        """
        check_known("level", level, AccessLevel)
        _check_scale(scale)
        runs = self._rated(suite, scenario)
        request = InvitationRequest(
            raters=tuple(raters),
            suite=runs[0].planned.suite,
            scenario=scenario,
            items=items,
            raters_per_item=raters_per_item,
            level=AccessLevel(level),
            days=days,
            criteria=tuple(criteria),
            scale=scale,
        )
        key_path = Path(key_file) if key_file else None
        specs = [run.run_spec for run in runs]
        return invite(self._workspace, specs, request, key_file=key_path, address=address)

    @at_work
    def invitations(
        self, *, rater: str | None = None, key_file: str | Path | None = None
    ) -> Invitations:
        """The invitations of the lake with what was rated, oldest first.

        Args:
            rater: a name: those of this rater alone.
            key_file: the key of the raters' pseudonyms (None: in the user's configuration).
        """
        reader = self._workspace.reader
        rows = all_invitations(reader)
        if rater is not None:
            key_path = Path(key_file) if key_file else None
            own = pseudonym(rater, pseudonym_key(key_path, self._workspace.location))
            rows = [row for row in rows if row.rater == own]
        return Invitations(invitations=tuple(progress_of(reader, rows)))

    @at_work
    def revoke(self, invitation_id: str) -> Invitations:
        """End an invitation at once; what was rated stays.

        Raises:
            UnknownNameError: the lake has no such invitation.
        """
        revoked = revoke(self._workspace, invitation_id)
        return Invitations(invitations=tuple(progress_of(self._workspace.reader, [revoked])))

    def _rated(self, suite: str | None, scenario: str) -> list[BoardRun]:
        reader = self._workspace.reader
        runs = load_runs(reader, choose(reader, suite))
        check_known("scenario", scenario, {run.run_spec.scenario_name for run in runs})
        return [run for run in runs if run.run_spec.scenario_name == scenario]


def _check_scale(scale: tuple[float, float] | None) -> None:
    if scale is not None and not scale[0] < scale[1]:
        raise ConfigError(f"scale is {scale}; allowed: two numbers, the lower one first.")
