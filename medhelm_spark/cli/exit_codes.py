"""How commands end: their exit codes, and the command line that goes on."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from medhelm_spark.domain.names import without_login
from medhelm_spark.medhelm.run_entries import without_model

PROG = "medhelm-spark"

FAILED = 1
"""A mistake that a person can cure, printed in one line. 2 is argparse's: a wrong command line."""

INCOMPLETE = 3
"""Done, but fewer answers than the policy's `coverage_floor` have a score (or there are fewer)."""

OUTAGE = 4
"""A model or judge gave no answers, so asking stopped; the answers that came are stored."""

CHANGED = 5
"""A value that a release pinned was changed since, or one that it would pin has another hash."""

LEFT_OUT = 6
"""Done, but the data of a scenario could not be had.

Where INCOMPLETE or OUTAGE apply too, they are the code: the same command mends those: who repeats
it while it ends with 3 or 4 comes to 0, or to 6, which needs data first.
"""

GATED = 7
"""A release lacks what the policy requires of one that is approved, or this is unknown."""

NO_GO = 8
"""A candidate broke a condition of the gate file, a jury is not to be trusted for a use, or what a
release was made of moved."""

INCONCLUSIVE = 9
"""The data do not decide: a critical condition of the gate file, a use of a jury, a drift."""

INTERRUPTED = 130
"""By Ctrl-C; 128 and the signal's number, as in a shell."""

TERMINATED = 143
"""By SIGTERM, as a cluster or a scheduler stops a job."""

MEANINGS = f"""\
exit codes:
  0    done
  {FAILED}    stopped by a mistake that you can cure
  2    a wrong command line
  {INCOMPLETE}    done, but fewer answers have a score than the policy's coverage_floor
  {OUTAGE}    stopped: a model or judge gave no answers; the same command goes on
  {CHANGED}    stopped: a release is not what was published, or stats are not what the scores give
  {LEFT_OUT}    done, but without scenarios whose data could not be had
  {GATED}    stopped: a release lacks what the policy requires of it
  {NO_GO}    done, and the gate says NO-GO, a jury is not to be trusted, or a release moved
  {INCONCLUSIVE}    done, and the data do not decide
  {INTERRUPTED}  interrupted; the same command goes on
  {TERMINATED}  stopped by SIGTERM; the same command goes on"""

_ENTRIES = ("-r", "--run-entries")
_MODELS = "--models-to-run"

# What would leave the runs alone that are to be repaired.
_SKIPPING = ("--skip-completed-runs",)
RETRY = "--retry-failed"


def again(typed: Sequence[str], *flags: str) -> str:
    """The command line that was typed, to be typed again, with flags that it lacks.

    >>> again(["run", "-r", "a:b=c d", "--skip-completed-runs"], "--retry-failed")
    "medhelm-spark run -r 'a:b=c d' --retry-failed"
    >>> again(["run", "--tracking-uri", "https://me:secret@host"])
    "medhelm-spark run --tracking-uri 'https://***@host'"
    """
    words = [without_login(word) for word in typed if word not in _SKIPPING]
    return shlex.join([PROG, *words, *(flag for flag in flags if flag not in words)])


def for_models(typed: Sequence[str], models: Iterable[str]) -> str:
    """The command line that was typed, for other models than those that it names.

    >>> for_models(["run", "-r", "a:model=x,b=c", "--suite", "s"], ["y", "z"])
    'medhelm-spark run -r a:b=c --suite s --models-to-run y z'
    """
    words = map(without_login, _without_models(typed))
    return shlex.join([PROG, *words, _MODELS, *models])


def _without_models(typed: Sequence[str]) -> Iterator[str]:
    flag = ""
    for word in typed:
        flag = word if word.startswith("-") else flag
        if flag in _ENTRIES and word != flag:
            yield without_model(word)
        elif flag != _MODELS and word not in _SKIPPING:
            yield word
