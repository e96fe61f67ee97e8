"""`evaluation.releases`: releases from draft to withdrawal."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from medhelm_spark.board import choose
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.board.schema import schema_of
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.sign_off import MONITORED, SignOff
from medhelm_spark.errors import ConfigError, IntegrityError, SetupError
from medhelm_spark.medhelm.schema_file import Schema
from medhelm_spark.pipeline.in_process import is_computed_here
from medhelm_spark.pipeline.summarized import summarized
from medhelm_spark.releases.commands import (
    anchors_of,
    check_may_change,
    check_recordable,
    compared_releases,
    gate,
    keep,
    release_record,
    releases_of,
    take_step,
)
from medhelm_spark.releases.publish import publish
from medhelm_spark.releases.results import Gate, Release, ReleaseComparison, ReleaseRecord, Releases
from medhelm_spark.releases.source import release_of
from medhelm_spark.releases.verify import verify
from medhelm_spark.workspace.names import check_name


class ReleaseMethods(Methods):
    """What can be done to releases."""

    @at_work
    def list(self) -> Releases:
        """The releases of the lake with their statuses, the newest first."""
        return releases_of(self._workspace)

    @at_work
    def show(self, release: str) -> ReleaseRecord:
        """One release: its status and who gave it, its manifest, its runs, what is required.

        Raises:
            LakeError: the lake does not have it.
        """
        return release_record(self._workspace, release)

    @at_work
    def compare(self, first: str, second: str) -> ReleaseComparison:
        """The runs of two releases: which means differ and why, which are in one of them only.

        Raises:
            LakeError: the lake does not have one of them.
            ConfigError: both are the same.
        """
        return compared_releases(self._workspace, first, second)

    @at_work
    def publish(
        self,
        release: str,
        suites: str | Sequence[str] | None = None,
        *,
        schema: Schema | str | Path | None = None,
        note: str = "",
        key: str | Path | None = None,
    ) -> Release:
        """Pin the current numbers of some suites as a draft; without suites, publish the release.

        A run that is in two suites counts as the later one's. A draft is replaced, and a
        release in review or approved becomes a draft again; one that is published does not change.

        Args:
            release: its name.
            suites: whose numbers to pin (None: the release, which is approved, is published).
            schema: a schema file of HELM's that its board is to be shown by; the manifest has its
                hash.
            note: what to keep with the publication.
            key: a file with the private key by which the policy names who publishes.

        Raises:
            ReleaseError: the release has another status than this follows from.
            GateError: it lacks what the policy requires of a release that is published.
            IntegrityError: a number that it pins was changed, or does not follow from its scores.
        """
        check_name("release", release)
        if suites is None:
            record = self._step(release, ReleaseStatus.PUBLISHED, SignOff(note=note), key)
            return Release(
                name=release,
                suites=record.release.suites,
                manifest_hash=record.manifest_hash,
                board=self._host.board(release=release, schema=schema),
                status=record.status,
            )
        schema = schema_of(schema)
        check_may_change(self._workspace, release)
        names = [ctx.suite for ctx in summarized(self._workspace, suites)]
        is_here = is_computed_here(self._workspace)
        ctx = self._workspace.context(names[-1], is_in_process=is_here)
        policy = self._workspace.registry.policy
        schema_hash = content_id(schema) if schema else ""
        check_recordable(self._workspace)
        manifest = publish(ctx, release, names, policy=policy, schema_hash=schema_hash)
        keep(self._workspace, ctx, release_of(self._workspace.reader, release))
        board = self._host.board(release=release)
        self._host.log(ctx, board.leaderboard, release)
        return Release(name=release, suites=tuple(names), manifest_hash=manifest, board=board)

    @at_work
    def gate(self, release: str) -> Gate:
        """What each requirement of the policy (`release.require`) comes to for a release.

        Raises:
            ReleaseError: it is external: made elsewhere.
            IntegrityError: a value behind its board was changed.
        """
        return gate(self._workspace, release)

    @at_work
    def submit(
        self, release: str, *, note: str = "", key: str | Path | None = None
    ) -> ReleaseRecord:
        """Put a draft in review.

        Args:
            release: its name.
            note: what to keep with the status.
            key: a file with the private key by which the policy names who submits (None: the
                settings' key or token, the platform's user, else the operating system's).

        Raises:
            ReleaseError: it is no draft.
        """
        return self._step(release, ReleaseStatus.IN_REVIEW, SignOff(note=note), key)

    @at_work
    def approve(
        self,
        release: str,
        *,
        note: str = "",
        conditions: Sequence[str] = (),
        until: date | str | None = None,
        owner: str = "",
        monitoring: Mapping[str, object] | None = None,
        key: str | Path | None = None,
    ) -> ReleaseRecord:
        """Approve a release in review, as somebody who neither made, ran nor submitted it.

        Args:
            release: its name.
            note: why, for whoever reads the record.
            conditions: what the approval depends on, a sentence each.
            until: the last day on which it counts, as `2027-06-30` (None: it does not end).
            owner: who answers for the model in use.
            monitoring: what `release watch` looks at: `margin`, `answers_margin`, `sample`, and
                after how many `days` again.
            key: as of `submit`.

        Raises:
            ReleaseError: it is not in review, or the user of this process had a hand in it.
            GateError: it lacks what the policy requires.
        """
        stated = SignOff(
            note=note,
            conditions=tuple(conditions),
            expires_at=_end_of(until) if until else None,
            owner=owner,
            monitoring=_plan(monitoring or {}),
        )
        return self._step(release, ReleaseStatus.APPROVED, stated, key)

    @at_work
    def withdraw(
        self, release: str, *, reason: str, key: str | Path | None = None
    ) -> ReleaseRecord:
        """Withdraw a release: all its rows stay, and its boards say so at their top.

        Args:
            release: its name.
            reason: why, for whoever reads its board.
            key: as of `submit`.

        Raises:
            ReleaseError: it is withdrawn already.
            ConfigError: no reason is given.
        """
        return self._step(release, ReleaseStatus.WITHDRAWN, SignOff(note=reason), key)

    @at_work
    def verify(self, release: str) -> str:
        """Hash every row behind a release again; returns the manifest hash, writes nothing.

        Raises:
            IntegrityError: a value was changed since it was published; names tables and runs.
        """
        choose(self._workspace.reader, release=release)
        is_here = is_computed_here(self._workspace)
        ctx = self._workspace.context("", is_in_process=is_here)
        return verify(self._workspace, ctx, release, anchors_of(self._workspace))

    def _step(
        self, release: str, to: ReleaseStatus, stated: SignOff, key: str | Path | None
    ) -> ReleaseRecord:
        """Give a release a status, and log it to MLflow; if that fails, the status stays."""
        record = take_step(self._workspace, release, to, stated, key)
        try:
            if self._host.is_tracked:
                board = self._host.board(release=release).leaderboard
                self._host.log(self._workspace.context(""), board, release)
        except (IntegrityError, SetupError) as error:
            self._workspace.say(f"mlflow: the status is on record and not tracked: {error}")
        return record


def _end_of(day: date | str) -> datetime:
    """The end of a day, in UTC.

    Raises:
        ConfigError: it is no day, or over.
    """
    try:
        named = day if isinstance(day, date) else date.fromisoformat(day)
    except ValueError:
        raise ConfigError(f"until (--until) is {day!r}; allowed: a day as 2027-06-30.") from None
    last = date.max - timedelta(days=1)
    if named > last:
        raise ConfigError(f"until (--until) is {named}; allowed: a day up to {last}.")
    end = datetime.combine(named, time(), UTC) + timedelta(days=1)
    if end <= datetime.now(UTC):
        raise ConfigError(f"until (--until) is {named}, which is over; allowed: today or later.")
    return end


def _plan(monitoring: Mapping[str, object]) -> dict[str, str]:
    """A monitoring plan as it is stored.

    Raises:
        ConfigError: it has another key, or a value that is no number.
    """
    plan = {name: str(value) for name, value in monitoring.items() if value is not None}
    for name, value in plan.items():
        if name not in MONITORED:
            raise ConfigError(f"monitoring: unknown {name!r}; allowed: {', '.join(MONITORED)}.")
        is_margin = name in ("margin", "answers_margin")
        below = 1.0 if name == "answers_margin" else math.inf
        try:
            number = float(value) if is_margin else int(value)
        except ValueError:
            number = math.nan
        if not 0 < number < below:
            kind = "a number" if is_margin else "a whole number"
            limit = "above 0" if below == math.inf else "above 0 and below 1"
            raise ConfigError(f"monitoring: {name} is {value!r}; allowed: {kind} {limit}.")
    return plan
