"""`medhelm-spark ...`: parse, wire, call a stage. Prints; decides nothing."""

import logging
import sys
from collections.abc import Sequence

from medhelm_spark import plugins
from medhelm_spark.cli.exit_codes import CHANGED, FAILED, GATED, INTERRUPTED, OUTAGE, again
from medhelm_spark.cli.parser import parse
from medhelm_spark.config.settings import load_settings
from medhelm_spark.errors import GateError, IntegrityError, MedhelmSparkError, OutageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; an error a user can cure is one line on standard error."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = sys.argv[1:] if argv is None else argv
    args = parse(typed)
    args.typed = tuple(typed)
    try:
        if hasattr(args, "plugins"):  # those of the settings first, for every command alike
            args.plugins = [*load_settings(args.local_path).plugins, *args.plugins]
        for plugin in plugins.activate(getattr(args, "plugins", ())):
            sys.stderr.write(f"plug-in {plugin}\n")
        return int(args.command(args) or 0)
    except OutageError as error:
        sys.stderr.write(f"medhelm-spark: {error} When it answers again: {again(typed)}\n")
        return OUTAGE
    except IntegrityError as error:
        sys.stderr.write(f"medhelm-spark: {error}\n")
        return CHANGED
    except GateError as error:
        sys.stderr.write(f"medhelm-spark: {error}\n")
        return GATED
    except MedhelmSparkError as error:
        sys.stderr.write(f"medhelm-spark: {error}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write(
            "medhelm-spark: stopped; what was committed stands, start again to go on.\n"
        )
        return INTERRUPTED
