"""Every error this project raises on purpose.

A message says what failed, where (file and key, or table and row key), what was received and what
is allowed. A received value is shown only where it comes from configuration or arguments; from
data only its column, row number, type and length may be named, because data is clinical text.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class MedhelmSparkError(Exception):
    """Base of all errors a user can cause or cure; the command line prints it in one line."""


class ConfigError(MedhelmSparkError):
    """A configuration file, run entry, flag or environment variable is wrong."""


class UnknownNameError(ConfigError):
    """A name (scenario, metric, deployment, judge, ...) is in no registry."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str], *, where: str = "", also: str = ""
    ) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        prefix = f"{where}: " if where else ""
        more = f" {also}" if also else ""
        super().__init__(f"{prefix}unknown {kind} {name!r}.{hint} Known: {listed or 'none'}.{more}")


class DataError(MedhelmSparkError):
    """A source file or table does not have the form its scenario card promises. Carries no data."""


class MissingColumnError(DataError):
    """A file or table lacks a column that is needed of it."""


class AbsentDataError(DataError):
    """A scenario's data cannot be had here: no file, no address that gives it, nothing imported.

    A run that is not strict leaves the scenario out and goes on.
    """


class PolicyError(MedhelmSparkError):
    """Policy forbids that text of this access level reaches this locality."""


class BudgetError(MedhelmSparkError):
    """What a plan would cost is more than was allowed for it."""


class LakeError(MedhelmSparkError):
    """A Delta table is missing, of a newer schema, or locked by another driver."""


class LeaseLostError(LakeError):
    """Another driver asks in this one's place, or may: it stopped. Answers that came are stored."""


class NewerLakeError(LakeError):
    """A newer version of this package wrote the lake."""


class IntegrityError(MedhelmSparkError):
    """Stored numbers are not what was published, or not what the scores behind them give.

    Names tables and runs, never values.
    """


class ReleaseError(MedhelmSparkError):
    """A release has a status that a step does not follow from, or a person who may not take it."""


class GateError(ReleaseError):
    """A release lacks what the policy requires, or this cannot be determined."""


class SetupError(MedhelmSparkError):
    """Java, Spark, Delta, an engine, a model file, a key or an extra package is missing."""


class EngineError(MedhelmSparkError):
    """An engine cannot be built or has died. Never raised for a single bad request."""


class OutageError(EngineError):
    """An engine gave no answers, so asking was stopped. The answers that came are stored.

    Carries no command: the command line adds the one that goes on.
    """


class StageError(MedhelmSparkError):
    """A pure function failed on a row inside Spark: names function, error, place and row key."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or a cluster's stop, with a sentence that says what is stored and what was lost.

    No MedhelmSparkError: like every KeyboardInterrupt it passes by what catches exceptions.
    """


def is_interrupt(error: BaseException) -> bool:
    """Whether it is an interrupt, or was raised while one was on its way out.

    PySpark waits for the job that an interrupt cancelled, and raises the job's error instead.
    """
    seen: BaseException | None = error
    while seen and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__context__
    return seen is not None
