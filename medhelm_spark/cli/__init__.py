"""`medhelm-spark ...`: parse, wire, call a stage. Prints; decides nothing."""

import logging
import sys
from collections.abc import Sequence

from medhelm_spark import plugins
from medhelm_spark.cli.parser import parse
from medhelm_spark.errors import MedhelmSparkError

FAILED = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; an error a user can cure is one line on standard error."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    args = parse(sys.argv[1:] if argv is None else argv)
    try:
        for plugin in plugins.activate(getattr(args, "plugins", ())):
            sys.stderr.write(f"plug-in {plugin}\n")
        return int(args.command(args) or 0)
    except MedhelmSparkError as error:
        sys.stderr.write(f"medhelm-spark: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write(
            "medhelm-spark: stopped; what was committed stands, start again to go on.\n"
        )
        return 130
