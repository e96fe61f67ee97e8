"""What a lake contains: suites and releases to read boards from, access levels of its text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from medhelm_spark import features
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.release import ReleaseChange, ReleaseStatus
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.domain.stats import Stat
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import TABLES

WORKING = "working results"
"""What a suite is, where a release has a status."""
_PUBLISH = "`medhelm-spark publish --suites SUITE --release NAME` makes one"
"""Printed where a lake has no releases; a lake without suites has its own message."""


class Kind(StrEnum):
    """What a board can be read from."""

    SUITE = "suite"
    RELEASE = "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardSource:
    """A suite or a release of the lake; `status` is a release's, empty for a suite.

    `reason` is why a release was withdrawn, empty where it was not; `changes` are the statuses that
    it was given, oldest first.
    """

    kind: Kind
    name: str
    status: str = ""
    reason: str = ""
    changes: tuple[ReleaseChange, ...] = ()
    expired: str = ""
    """When the approval of a release ended; empty where it did not."""

    @property
    def release_status(self) -> str:
        """A release's status; of a suite WORKING."""
        return self.status or WORKING

    @property
    def banner(self) -> str:
        """A line above its board: that it is withdrawn, or its approval over; else empty.

        >>> BoardSource(kind=Kind.RELEASE, name="r", status="withdrawn", reason="wrong key").banner
        "WITHDRAWN: do not use the numbers of release 'r'. Reason: wrong key"
        """
        if self.expired:
            return f"EXPIRED: the approval of release {self.name!r} ended at {self.expired}."
        if self.status != ReleaseStatus.WITHDRAWN:
            return ""
        why = f" Reason: {self.reason}" if self.reason else ""
        return f"WITHDRAWN: do not use the numbers of release {self.name!r}.{why}"

    @property
    def is_approved(self) -> bool:
        """Whether somebody approved its numbers, and that is neither void nor over."""
        is_given = self.status in (ReleaseStatus.APPROVED, ReleaseStatus.PUBLISHED)
        return is_given and not self.expired


LOOKS = "watch/"
"""How the name of a suite begins that has the newest look at a release: named, it is shown."""


def list_suites(reader: Reader) -> list[str]:
    """The suites of the lake, the one planned last first, and after them those of looks."""
    rows = reader.query(
        "SELECT suite FROM {run_specs} GROUP BY suite ORDER BY max(planned_at) DESC, suite DESC"
    )
    suites = rows["suite"].to_pylist()
    return sorted(suites, key=lambda suite: suite.startswith(LOOKS))


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedRuns:
    """The runs of a release, with the write of the stats of each, and these stats."""

    planned: Sequence[SuiteRun]
    pins: Mapping[str, str]
    """By run_spec_id the write of its stats."""
    stats: Mapping[str, Sequence[Stat]]
    """By run_spec_id its stats."""


class ReleaseSource(Protocol):
    """What boards need of releases; the feature `releases` gives it by `read_releases_by`."""

    def sources(self, reader: Reader) -> Sequence[BoardSource]:
        """The releases of the lake, the newest first."""

    def frozen(self, reader: Reader, name: str, beside: Sequence[str]) -> Reader:
        """A reader of the rows that a release froze; of the units `beside`, of the current ones.

        The units are RunSpecs that the release does not have, and data versions.
        """

    def runs(self, reader: Reader, name: str) -> PinnedRuns:
        """The runs of a release.

        Raises:
            IntegrityError: A value behind its board was changed after it was published.
        """

    def left_out(self, reader: Reader, name: str, rows: Sequence[LeftOut]) -> Sequence[LeftOut]:
        """Of these records, those of the release's suites that it was made without."""

    def manifest_hash(self, reader: Reader, name: str) -> str:
        """The hash of all that the release says."""

    def schema_hash(self, reader: Reader, name: str) -> str:
        """The hash of the schema file that it was made for; empty where there was none."""


_SOURCES: list[ReleaseSource] = []


def read_releases_by(source: ReleaseSource) -> None:
    """Have releases read by this from now on."""
    _SOURCES[:] = [source]


def releases() -> ReleaseSource | None:
    """What reads releases; None where the feature is not there."""
    features.parts("source")
    return _SOURCES[0] if _SOURCES else None


def list_releases(reader: Reader) -> list[BoardSource]:
    """The releases of the lake, the newest first."""
    source = releases()
    return list(source.sources(reader)) if source else []


def reader_of(reader: Reader, source: BoardSource) -> Reader:
    """Where the rows behind a board are: the lake, or what a release froze of it."""
    return as_of(reader, source.name if source.kind is Kind.RELEASE else None)


def as_of(reader: Reader, release: str | None, beside: Sequence[str] = ()) -> Reader:
    """The lake's reader; with a release, one of the rows that it froze.

    Args:
        reader: the lake's.
        release: the release.
        beside: RunSpecs that the release does not have, and data versions: of these the reader has
            what is current in the lake, so that their scores are read beside the release's.
    """
    source = releases() if release else None
    return source.frozen(reader, release, beside) if source and release else reader


def manifest_of(reader: Reader, source: BoardSource) -> str:
    """The manifest hash of a release; empty for a suite."""
    releases_here = releases() if source.kind is Kind.RELEASE else None
    return releases_here.manifest_hash(reader, source.name) if releases_here else ""


def choose(reader: Reader, suite: str | None = None, release: str | None = None) -> BoardSource:
    """The suite or release of this name; without a name the suite planned last.

    Raises:
        ConfigError: Both were named.
        LakeError: The lake does not have it.
    """
    if suite and release:
        raise ConfigError(
            f"give suite (--suite) {suite!r} or release (--release) {release!r}, not both."
        )
    if release:
        known = {source.name: source for source in list_releases(reader)}
        if release not in known:
            raise unknown(reader, Kind.RELEASE, release, known)
        return known[release]
    suites = list_suites(reader)
    if not suites:
        raise LakeError(
            f"{reader.location}: no suite was run into this lake yet; `medhelm-spark run` with "
            f"--suite {suite or 'NAME'} and --output-path {reader.location} runs one."
        )
    if suite and suite not in suites:
        raise unknown(reader, Kind.SUITE, suite, suites)
    return BoardSource(kind=Kind.SUITE, name=suite or suites[0])


def preferred(sources: Iterable[BoardSource]) -> BoardSource | None:
    """What is shown where nobody names a suite or release: the newest approved release."""
    return next((source for source in sources if source.is_approved), None)


def unknown(reader: Reader, kind: Kind, name: str, known: Iterable[str]) -> LakeError:
    """The error that the lake has no suite or release of this name."""
    names = ", ".join(sorted(map(repr, known)))
    available = f"the lake has {names}" if names else f"the lake has none; {_PUBLISH}"
    return LakeError(f"{reader.location}: no {kind} {name!r}; {available}.")


def text_levels(reader: Reader) -> set[AccessLevel]:
    """The access levels of all text in the lake, unfinished and superseded writes included."""
    levels: set[AccessLevel] = set()
    for table in TABLES.values():
        if table.has_text:
            rows = reader.query(
                f"SELECT DISTINCT {table.level} AS access_level FROM {{{table.name}}}"
            )
            levels |= {_level(level) for level in rows["access_level"].to_pylist()}
    return levels


def _level(value: str | None) -> AccessLevel:
    """An unknown level counts as private, so that it is never shown as open."""
    return AccessLevel(value) if value in list(AccessLevel) else AccessLevel.PRIVATE
