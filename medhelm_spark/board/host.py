"""An `Evaluation`, as the features that add methods to it see it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

from medhelm_spark.board.results import Board
from medhelm_spark.stages.context import Context
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.workspace.workspace import Workspace

M = TypeVar("M", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a feature's methods are made of."""

    workspace: Workspace
    at_work: Callable[[], AbstractContextManager[None]]
    """What is active during a call: the object's plug-ins, and the session's settings."""
    is_tracked: bool
    """Whether numbers are logged to MLflow."""
    board: Callable[..., Board]
    """`Evaluation.board`."""
    log: Callable[[Context, Leaderboard, str | None], None]
    """Logs a board to MLflow, of the context's suite or of a release, where that is done."""


class Methods:
    """The methods that a feature adds to an `Evaluation`, as `evaluation.releases`."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._workspace = host.workspace

    def _at_work(self) -> AbstractContextManager[None]:
        return self._host.at_work()


def at_work(method: M) -> M:
    """A public method, with plug-ins and settings active while it works."""

    @wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._at_work():
            return method(self, *args, **kwargs)

    return cast(M, called)
