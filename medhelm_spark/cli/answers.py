"""`medhelm-spark answers`: answers in a terminal, as the dashboard shows them in a browser."""

import sys
from argparse import Namespace
from collections.abc import Collection

from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.printing import write_by_screens, write_out
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import PolicyError


def answers(args: Namespace) -> int:
    """`answers`: some answers of a suite or release, with the methods that would read them."""
    is_terminal = sys.stdout.isatty() and args.html is None
    chosen = evaluation(args).answers(
        args.benchmark,
        args.model,
        suite=args.suite,
        release=args.release,
        only=args.only,
        limit=args.limit,
        noted=args.noted,
        check=lambda levels: check_output(levels, args.text_levels, is_terminal=is_terminal),
    )
    if args.html is not None:
        write_out(chosen.html, args.html, command=args.name)
    elif is_terminal:
        write_by_screens(str(chosen))
    else:
        write_out(str(chosen))
    return 0


def check_output(
    levels: Collection[AccessLevel], allowed: Collection[str], *, is_terminal: bool
) -> None:
    """Refuse to write gated or private text to anything but a terminal.

    The dashboard shows it to a browser at this machine alone. A terminal is at this machine; a pipe
    or a file may be a job's log.

    Raises:
        PolicyError: it is no terminal, and `allowed` does not name the level.
    """
    hidden = sorted(set(map(str, levels)) - {AccessLevel.PUBLIC.value, *allowed})
    if hidden and not is_terminal:
        raise PolicyError(
            f"{' and '.join(hidden)} text is shown in a terminal, and the output is none; "
            f"--text-levels {' '.join(hidden)} writes it all the same."
        )
