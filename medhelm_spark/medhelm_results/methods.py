"""`evaluation.medhelm`: scenarios and results of MedHELM's, and this lake's results for it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from medhelm_spark.board import choose
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.medhelm_results.export import HelmExport, export_results
from medhelm_spark.medhelm_results.export_scenario import ExportRequest
from medhelm_spark.medhelm_results.import_results import HelmResults, import_results
from medhelm_spark.medhelm_results.scenarios import Imported, import_from_file, import_from_medhelm
from medhelm_spark.workspace.names import check_name


class MedhelmMethods(Methods):
    """What comes from MedHELM, and what goes to it."""

    @at_work
    def import_scenario(
        self,
        export: str | Path | ExportRequest,
        *,
        name: str | None = None,
        access_level: AccessLevel | None = None,
    ) -> Imported:
        """Take a scenario with MedHELM's own prompts into the lake; run entries name it then.

        Args:
            export: a file that MedHELM's installation exported, or what to ask one here for.
            name: what run entries call the scenario (None: MedHELM's name).
            access_level: who may have the data (None: as our own card of it says, else private);
                required for a file where our card is public.
        """
        self._workspace.expect([AccessLevel.PRIVATE])  # its level is not known yet
        if isinstance(export, ExportRequest):
            return import_from_medhelm(
                self._workspace, export, name=name, access_level=access_level
            )
        return import_from_file(self._workspace, str(export), name=name, access_level=access_level)

    @at_work
    def import_results(
        self,
        place: str | Path,
        *,
        suite: str,
        access_level: AccessLevel | None = None,
        rescore: bool = False,
    ) -> HelmResults:
        """Import results that MedHELM or HELM wrote into a suite; no model is asked.

        Their values are stats named `STAT@medhelm-0.8` of runs named `RUN@medhelm-0.8`; judges'
        verdicts are stored. The folder's releases are releases of the lake, status `external`.
        Broken runs are left out and named. What is there already is not read again.

        Args:
            place: HELM's output folder, or one suite or run of it; redacted or not.
            suite: the suite that the runs belong to.
            access_level: who may have their text (None: as our card of the scenario says, else
                private); never looser than the card.
            rescore: whether their stored answers are scored here too: by our card's metrics where
                there is one, as runs named `RUN@rescored`.

        Raises:
            ConfigError: the folder contains no run.
        """
        check_name("suite", suite)
        done = import_results(
            self._workspace, place, suite, access_level=access_level, rescore=rescore
        )
        if not done.imported and not done.already:
            return done
        board = self._host.board(suite)
        self._host.log(self._workspace.context(suite), board.leaderboard, None)
        return replace(done, board=board)

    @at_work
    def export_results(
        self,
        place: str | Path,
        *,
        suite: str,
        text_levels: Iterable[AccessLevel | str] = (AccessLevel.PUBLIC,),
    ) -> HelmExport:
        """Write a suite's runs as the files that `helm-summarize` of MedHELM 0.8.0 reads.

        Every request is written as it is read; no run is in memory as a whole. Imported runs get
        the names, ids and stats that they had.

        Args:
            place: the output folder for HELM; `runs/SUITE` is made below it.
            suite: which.
            text_levels: the levels whose text is written; all other text is `[redacted]`.

        Raises:
            ConfigError: that folder is not empty.
            PolicyError: plug-ins are loaded that the policy does not list beside this text.
        """
        check_name("suite", suite)
        choose(self._workspace.reader, suite)
        levels = {AccessLevel(level) for level in text_levels}
        return export_results(self._workspace, place, suite, levels)
