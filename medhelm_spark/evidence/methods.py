"""`evaluation.evidence`: the folder of a release for a committee."""

from pathlib import Path

from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.evidence.folder import EvidenceFolder, make_evidence
from medhelm_spark.evidence.scheme import shipped_schemes


class EvidenceMethods(Methods):
    """Folders for committees, filled from stored results."""

    @at_work
    def make(self, release: str, scheme: str | Path, out: str | Path) -> EvidenceFolder:
        """Make a folder of what a scheme asks: a page, its data, CSV files, and a manifest.

        It makes no claim of compliance. No clinical text, instance id or explanation is in it.

        Args:
            release: its name.
            scheme: a shipped scheme's name, or the path of a YAML file of your own.
            out: the folder to make.

        Raises:
            ConfigError: the scheme is wrong, or the folder is there already.
            LakeError: the lake does not have the release.
            IntegrityError: a value behind its board was changed.
        """
        return make_evidence(self._workspace, release, scheme, Path(out))

    def schemes(self) -> list[str]:
        """The names of the schemes that ship."""
        return shipped_schemes()
