"""`evaluation.tracking`: the same numbers in MLflow."""

from medhelm_spark.board import choose
from medhelm_spark.board.host import Host, Methods, at_work
from medhelm_spark.domain.names import without_login
from medhelm_spark.stages.context import Context
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.tracking.experiment import experiment_page, preload
from medhelm_spark.tracking.store import server_command
from medhelm_spark.tracking.track import track, track_released, uri_of


class TrackingMethods(Methods):
    """What is logged to MLflow, and where; `tracking_uri` is the address given to `Evaluation`."""

    def __init__(self, host: Host, tracking_uri: str | None = None) -> None:
        super().__init__(host)
        self._tracking_uri = tracking_uri

    @at_work
    def log(self, *, suite: str | None = None, release: str | None = None) -> None:
        """Log a suite's or release's current numbers to MLflow, unless tracking is off.

        Without a name, it is the suite that was planned last.
        """
        source = choose(self._workspace.reader, suite, release)
        board = self._host.board(suite if release else source.name, release=release)
        ctx = self._workspace.context("" if release else source.name)
        self._host.log(ctx, board.leaderboard, release)

    def log_board(self, ctx: Context, board: Leaderboard, release: str | None) -> None:
        """Log the board of the context's suite, or of a release."""
        if release:
            track_released(self._workspace, ctx, release, board, self._tracking_uri)
        else:
            track(self._workspace, ctx, board, self._tracking_uri)

    def preload(self) -> None:
        """Import MLflow in a thread, which takes as long as a small run."""
        preload()

    @property
    def uri(self) -> str | None:
        """MLflow's address without its login; None for MLflow's own choice."""
        uri = uri_of(self._workspace, self._tracking_uri)
        return uri and without_login(uri)

    @property
    def page(self) -> str | None:
        """The address of MLflow's page with the runs; None where only the platform has it.

        For a lake's own database it is the page of the server that `server` starts.
        """
        return experiment_page(uri_of(self._workspace, self._tracking_uri))

    @property
    def server(self) -> str | None:
        """The line that starts MLflow's server on a database of this machine; None elsewhere."""
        uri = self.uri
        return server_command(uri) if uri and uri.startswith("sqlite:") else None
