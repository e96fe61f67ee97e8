"""What a comparison contains, and how its times are measured."""

import math
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import requires
from typing import TypeVar

from packaging.requirements import Requirement

ROUNDS = 5
IMPORT = """
import sys, time
started = time.process_time()
__import__(sys.argv[1])
print(time.process_time() - started)
"""
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Own code beside a library; rates are items per processor second."""

    what: str
    items: str
    equal: str
    own: float
    theirs: float

    def line(self) -> str:
        """A row of the table."""
        ratio = self.own / self.theirs
        cells = (self.what, self.items, self.equal, rate(self.own), rate(self.theirs))
        return f"| {' | '.join(cells)} | {ratio:.2g} |"


def rate(value: float) -> str:
    """Items per second, to three figures."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def timed(
    own: Callable[[], Result], theirs: Callable[[], Result]
) -> tuple[tuple[Result, float], tuple[Result, float]]:
    """The result of each, and the least processor seconds of its rounds, taken in turns."""
    works, least = (own, theirs), [math.inf, math.inf]
    results: list[Result] = []
    for _ in range(ROUNDS):
        results = []
        for index, work in enumerate(works):
            started = time.process_time()
            results.append(work())
            least[index] = min(least[index], time.process_time() - started)
    return (results[0], least[0]), (results[1], least[1])


def import_seconds(module: str) -> float:
    """The least processor seconds that a fresh interpreter needs to import a module."""
    command = [sys.executable, "-c", IMPORT, module]
    return min(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(ROUNDS)
    )


def closure(names: Sequence[str]) -> set[str]:
    """These distributions and all that they need, without extras."""
    visited: set[str] = set()
    remaining = list(names)
    while remaining:
        name = remaining.pop().lower().replace("_", "-")
        if name not in visited:
            visited.add(name)
            needs = map(Requirement, requires(name) or ())
            remaining += [n.name for n in needs if not n.marker or n.marker.evaluate({"extra": ""})]
    return visited
