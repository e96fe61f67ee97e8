"""`evaluation.sharing`: releases that are handed on."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from medhelm_spark import features
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.errors import IntegrityError
from medhelm_spark.pipeline.in_process import is_own_machine
from medhelm_spark.render.result import Result
from medhelm_spark.sharing.manifest import changed_files
from medhelm_spark.sharing.share import SharedFolder, share
from medhelm_spark.sharing.shared_board import SharedBoard, board_of
from medhelm_spark.sharing.tables import MANIFEST, ReleaseShare
from medhelm_spark.sharing.verified import newest_by_folder
from medhelm_spark.sharing.waivers import load_waivers


@dataclass(frozen=True, slots=True)
class Shares(Result):
    """What was shared, the newest first."""

    shares: tuple[ReleaseShare, ...]

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per share; `is_here`: whether this machine still has its folder."""
        newest = newest_by_folder(self.shares)
        for row in self.shares:
            is_here = row.folder is not None and Path(row.folder, MANIFEST).is_file()
            is_here = is_here and row is newest[row.folder]
            yield {**asdict(row), "is_here": is_here}


class SharingMethods(Methods):
    """Shares of releases."""

    @at_work
    def share(
        self,
        release: str,
        audience: str,
        out: str | Path,
        *,
        waivers: str | Path | None = None,
        helm: bool = False,
    ) -> SharedFolder:
        """Make a folder that may leave: new files of named columns, scanned before they are there.

        Args:
            release: its name.
            audience: to whom, by a name of the policy's `audiences`.
            out: the folder to make.
            waivers: a YAML file of matches of patterns that somebody answers for.
            helm: whether the files are those of HELM's output folder, which `helm-summarize` reads.

        Raises:
            PolicyError: the policy names no such audience, or the scan found what may not leave.
            ConfigError: the file of waivers is wrong.
        """
        loaded = load_waivers(Path(waivers)) if waivers else None
        made = share(self._workspace, release, audience, Path(out), loaded, helm=helm)
        if chained := features.part("provenance", "chained"):
            is_here = is_own_machine(self._workspace)
            chained.record(self._workspace, self._workspace.context("", is_in_process=is_here))
        return made

    def board(self, metric: str = "") -> SharedBoard | None:
        """The board of the share whose folder was named as the lake; None of any other folder.

        Args:
            metric: the metric to show; empty for main metrics, `all` for all.

        Raises:
            IntegrityError: a file of the share was changed.
            ConfigError: its files are HELM's.
            UnknownNameError: no run of it has the metric.
        """
        return board_of(Path(self._workspace.location), metric)

    @at_work
    def list(self) -> Shares:
        """What was shared of this lake, the newest first."""
        rows = self._workspace.reader.rows("SELECT * FROM {shares}", ReleaseShare)
        return Shares(tuple(sorted(rows, key=lambda row: row.made_at, reverse=True)))

    @at_work
    def verify(self, folder: str | Path) -> ReleaseShare:
        """The record of a share whose files are as they were made.

        Raises:
            IntegrityError: a file was changed, or this lake has no record of the share.
        """
        path = Path(folder)
        if wrong := changed_files(path):
            raise IntegrityError(f"{path}: not as it was made: {', '.join(wrong)}.")
        digest = sha256((path / MANIFEST).read_bytes()).hexdigest()
        for record in self.list().shares:
            if record.manifest_sha256 == digest:
                return record
        raise IntegrityError(f"{path}: this lake has no record of a share with its manifest.")
