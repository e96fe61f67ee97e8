"""`medhelm-spark ...`: parse, wire, call a stage. Prints; decides nothing."""

import gc
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from medhelm_spark import plugins
from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.exit_codes import CHANGED, FAILED, GATED, OUTAGE, again
from medhelm_spark.cli.parser import parse
from medhelm_spark.cli.stopping import end_soon, stoppable
from medhelm_spark.config.settings import load_settings
from medhelm_spark.errors import (
    GateError,
    IntegrityError,
    Interrupted,
    MedhelmSparkError,
    OutageError,
    is_interrupt,
)
from medhelm_spark.features import part
from medhelm_spark.operating_system import refusal_of


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; an error a user can cure is one line on standard error."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    typed = sys.argv[1:] if argv is None else argv
    if argv is None:
        gc.freeze()  # what was imported is no garbage; to look through it takes a tenth of the time
    args = parse(typed)
    args.typed = tuple(typed)
    with stoppable() as stop:
        try:
            return _run(args)
        except BaseException as error:
            if not is_interrupt(error):
                raise
            state = str(error) if isinstance(error, Interrupted) else "what was committed is kept"
            sys.stderr.write(f"medhelm-spark: {stop.cause}; {state}. To go on: {again(typed)}\n")
            if argv is None:
                end_soon(stop.exit_code)
            return stop.exit_code


def _run(args: Namespace) -> int:
    typed = args.typed
    try:
        is_offline = getattr(args, "offline", None) is True
        if is_offline and (guard := part("air_gap", "guard")):
            guard.go_offline(())  # a plug-in's module is imported before its engines can be listed
        if hasattr(args, "plugins"):  # plug-ins of the settings first, for every command
            args.plugins = [*load_settings(args.local_path).plugins, *args.plugins]
        for plugin in plugins.activate(getattr(args, "plugins", ())):
            sys.stderr.write(f"plug-in {plugin}\n")
        if is_offline:
            evaluation(args).air_gap.go_offline(getattr(args, "tracking_uri", None))
        code = int(args.command(args) or 0)
        sys.stdout.flush()
        return code
    except MedhelmSparkError as error:
        if is_interrupt(error):
            raise
        return _print_error(error, typed)
    except BrokenPipeError:  # as `| head` ends it; Python would report the rest at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        refused = "" if is_interrupt(error) else refusal_of(error) or _jvm_end()
        if not refused:
            raise
        sys.stderr.write(
            f"medhelm-spark: {refused}. What was committed is kept; cure this, then: "
            f"{again(typed)}\n"
        )
        return FAILED


def _jvm_end() -> str:
    """Without a session there is no JVM that may have ended, and Spark is not imported for it."""
    session = sys.modules.get("medhelm_spark.lake.session")
    return str(session.jvm_end()) if session else ""


def _print_error(error: MedhelmSparkError, typed: Sequence[str]) -> int:
    """Print an error as one line; returns its exit code."""
    goes_on = f" When it answers again: {again(typed)}" if isinstance(error, OutageError) else ""
    sys.stderr.write(f"medhelm-spark: {error}{goes_on}\n")
    codes = ((OutageError, OUTAGE), (IntegrityError, CHANGED), (GateError, GATED))
    return next((code for family, code in codes if isinstance(error, family)), FAILED)
