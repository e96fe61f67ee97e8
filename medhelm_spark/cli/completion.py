"""`medhelm-spark --print-completion SHELL`: the script by which a shell completes command lines."""

import argparse
import sys
from collections.abc import Callable

SHELLS = ("bash", "zsh", "fish")


def print_completion(build: Callable[[], argparse.ArgumentParser]) -> type[argparse.Action]:
    """The action behind the flag; `build` makes the parser whose commands the script completes."""

    class PrintCompletion(argparse.Action):
        def __call__(
            self,
            parser: argparse.ArgumentParser,
            namespace: argparse.Namespace,
            values: object,
            option_string: str | None = None,
        ) -> None:
            import shtab  # which no other command needs

            sys.stdout.write(shtab.complete(build(), str(values)))
            parser.exit()

    return PrintCompletion
