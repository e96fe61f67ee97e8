"""Watches of a release every night for a year: false alarms, and how soon a loss is found.

By simulation: the same instances are asked at each look, as `release watch` does. What finds a loss
is computed exactly beside it, from the binomial distribution of the instances that are lost.

    python -m benchmarks.release_watch [--years 2000] > benchmarks/results/release_watch.md
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from medhelm_spark.statistics.always_valid import (
    STAKES,
    UnitTotals,
    log_evidence_below,
    look_share,
    unit_totals,
)
from medhelm_spark.statistics.student import LEVEL

LOOKS, MARGIN, RIGHT = 365, 0.02, 0.8
SIZES = (100, 300, 1000, 3000)
LOSS = 0.05
CLUSTERS, PER_CLUSTER = 200, 5
STARTS = (1, 30, 180)
"""The first look at which the model has lost."""

Counts = NDArray[np.int64]
"""Instances lost and won against the release, shape (years, looks)."""
Draw = Callable[[np.random.Generator, int], tuple[Counts, Counts]]


def shares(sides: int = 2) -> NDArray[np.float64]:
    """The share of each side of a watch of one line, by look."""
    return np.array([look_share(look) / sides for look in range(1, LOOKS + 1)])


def log_evidence(lost: Counts, won: Counts, n: int) -> NDArray[np.float64]:
    """`log_evidence_below` of many looks at once; a test of this file compares them."""
    stake = 1 + MARGIN
    capital = [
        lost * np.log1p(share * (1 - MARGIN) / stake)
        + (n - lost - won) * np.log1p(-share * MARGIN / stake)
        + (won * np.log1p(-share) if share < 1 else np.where(won > 0, -np.inf, 0.0))
        for share in STAKES
    ]
    summed: NDArray[np.float64] = np.logaddexp.reduce(capital) - math.log(len(STAKES))
    return summed


def alarms(lost: Counts, won: Counts, n: int) -> NDArray[np.bool_]:
    """Whether a loss or a gain beyond the margin is reported, shape (years, looks)."""
    is_alarm = np.zeros(lost.shape, bool)
    for ours, theirs in ((lost, won), (won, lost)):
        evidence = np.cumsum(shares() * np.exp(log_evidence(ours, theirs, n)), axis=1)
        is_alarm |= (evidence >= 1 / LEVEL) & (ours - theirs > MARGIN * n)
    return is_alarm


def same_answers(n: int, years: int) -> Draw:
    """A model that answers as it did."""

    def draw(generator: np.random.Generator, looks: int) -> tuple[Counts, Counts]:
        nothing = np.zeros((years, looks), np.int64)
        return nothing, nothing

    return draw


def other_answers(n: int, years: int, share: float) -> Draw:
    """At each look a share of answers is drawn anew, each right with the same chance as before."""

    def draw(generator: np.random.Generator, looks: int) -> tuple[Counts, Counts]:
        right = generator.binomial(n, RIGHT, (years, 1))
        lost = generator.binomial(right, share * (1 - RIGHT), (years, looks))
        won = generator.binomial(n - right, share * RIGHT, (years, looks))
        return lost, won

    return draw


def at_the_margin(n: int, years: int, *, is_fixed: bool) -> Draw:
    """The model has lost just the margin: the same instances at each look, or others."""

    def draw(generator: np.random.Generator, looks: int) -> tuple[Counts, Counts]:
        lost = generator.binomial(n, MARGIN, (years, 1 if is_fixed else looks))
        return np.broadcast_to(lost, (years, looks)), np.zeros((years, looks), np.int64)

    return draw


def false_alarms(years: int) -> Iterator[str]:
    """How many years have any alarm."""
    yield "| Model that did not move | " + " | ".join(f"n={n}" for n in SIZES) + " |"
    yield "|---|" + "---|" * len(SIZES)
    kinds: dict[str, Callable[[int], Draw]] = {
        "gives the same answers": lambda n: same_answers(n, years),
        "1 % of answers drawn anew": lambda n: other_answers(n, years, 0.01),
        "10 % of answers drawn anew": lambda n: other_answers(n, years, 0.1),
        "all answers drawn anew": lambda n: other_answers(n, years, 1.0),
        f"lost {MARGIN:g}, the margin itself, other instances each night": lambda n: at_the_margin(
            n, years, is_fixed=False
        ),
        f"lost {MARGIN:g}, the margin itself, the same instances": lambda n: at_the_margin(
            n, years, is_fixed=True
        ),
    }
    for name, make_draw in kinds.items():
        cells = []
        for n in SIZES:
            generator = np.random.default_rng([n, years])
            has_alarm = alarms(*make_draw(n)(generator, LOOKS), n).any(axis=1)
            cells.append(f"{100 * has_alarm.mean():.1f} %")
        yield f"| {name} | " + " | ".join(cells) + " |"


def naive_alarms(years: int) -> Iterator[str]:
    """The same by a 95 % interval of each look, as if it were the only one."""
    cells = []
    for n in SIZES:
        generator = np.random.default_rng([n, years, 1])
        lost, won = at_the_margin(n, years, is_fixed=False)(generator, LOOKS)
        mean = (won - lost) / n
        error = np.sqrt(((won + lost) / n - mean**2) / n)
        cells.append(f"{100 * (mean + 1.96 * error < -MARGIN).any(axis=1).mean():.1f} %")
    yield (
        "| for comparison: a 95 % interval each night, lost the margin | "
        + " | ".join(cells)
        + " |"
    )


def clustered_alarms(years: int) -> Iterator[str]:
    """Clusters of instances that are lost together; the loss is the margin."""
    num_alarms = 0
    generator = np.random.default_rng(years)
    labels = np.repeat(np.arange(CLUSTERS), PER_CLUSTER)
    for _ in range(years):
        total = 0.0
        for share in shares():
            lost = generator.random(CLUSTERS) < MARGIN
            values = np.repeat(np.where(lost, -1.0, 0.0), PER_CLUSTER)
            total += share * math.exp(
                log_evidence_below(unit_totals(values, labels, -1.0, 1.0), -MARGIN)
            )
            if total >= 1 / LEVEL:
                num_alarms += 1
                break
    yield (
        f"{CLUSTERS} patients with {PER_CLUSTER} instances each that are lost together, loss equal "
        f"to the margin: {100 * num_alarms / years:.1f} % of {years} years have an alarm."
    )


def least_lost(n: int, start: int, until: int) -> int:
    """How many lost instances are reported, where they are lost from one look to another."""
    total = shares()[start - 1 : until].sum()
    needed = 1 / LEVEL / total
    lost = np.arange(n + 1)
    enough = np.exp(np.minimum(log_evidence(lost, np.zeros(n + 1, np.int64), n), 700)) >= needed
    enough &= lost > MARGIN * n
    return int(np.argmax(enough)) if enough.any() else n + 1


def found_by(years: int) -> Iterator[str]:
    """How many losses are found within some looks, in theory and by simulation."""
    within = (1, 7, 30)
    yield (
        "| Instances | Lost from look | "
        + " | ".join(f"within {looks}: theory | simulated" for looks in within)
        + " |"
    )
    yield "|---|---|" + "---|---|" * len(within)
    for n in SIZES:
        for start in STARTS:
            generator = np.random.default_rng([n, start])
            lost = np.zeros((years, LOOKS), np.int64)
            lost[:, start - 1 :] = generator.binomial(n, LOSS, (years, 1))
            is_alarm = alarms(lost, np.zeros_like(lost), n)
            cells = []
            for looks in within:
                until = start - 1 + looks
                theory = stats.binom.sf(least_lost(n, start, until) - 1, n, LOSS)
                simulated = is_alarm[:, :until].any(axis=1).mean()
                cells += [f"{100 * theory:.1f} %", f"{100 * simulated:.1f} %"]
            yield f"| {n} | {start} | " + " | ".join(cells) + " |"


def least_sizes() -> Iterator[str]:
    """How many instances a watch needs to find a loss at the first look, nine times of ten."""
    yield "| Loss | Margin | at look 1 | at look 30 | at look 365 |"
    yield "|---|---|---|---|---|"
    for loss in (0.03, 0.05, 0.1):
        cells = []
        for look in (1, 30, 365):
            n = 50
            while stats.binom.sf(least_lost(n, look, look) - 1, n, loss) < 0.9:
                n = int(n * 1.05) + 1
            cells.append(f"{n:,}")
        yield f"| {loss:g} | {MARGIN:g} | " + " | ".join(cells) + " |"


def check() -> None:
    """The formula of this file is that of the package."""
    totals = UnitTotals(
        sums=np.array([-1.0, 0.0, 1.0]),
        sizes=np.ones(3),
        counts=np.array([7.0, 90.0, 3.0]),
        low=-1.0,
        high=1.0,
    )
    ours = log_evidence(np.array([[7]]), np.array([[3]]), 100)[0, 0]
    if not math.isclose(ours, log_evidence_below(totals, -MARGIN), rel_tol=1e-9):
        raise SystemExit("release_watch: the formula is not that of the package")


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--years", type=int, default=2000)
    parser.add_argument("--clustered-years", type=int, default=200)
    args = parser.parse_args()
    check()
    lines = [
        "# Watch of a release",
        "",
        f"Made by `make bench-intervals`: {args.years:,} years of {LOOKS} nightly looks at the "
        f"same n instances with scores of 0 and 1, {100 * RIGHT:.0f} % of them right; margin "
        f"{MARGIN:g}.",
        "",
        "## False alarms",
        "",
        "The share of years with any alarm. By construction it is at most 5 %.",
        "",
        *false_alarms(args.years),
        *naive_alarms(args.years),
        "",
        *clustered_alarms(args.clustered_years),
        "",
        f"## A model that loses {100 * LOSS:.0f} points",
        "",
        f"Each instance is lost with a chance of {LOSS:g}, and stays lost. Theory: the chance that "
        "so many instances are lost that their evidence, times the shares of these looks, reaches "
        f"{1 / LEVEL:.0f}. Instances that nobody loses in the sample are found by no number of "
        "looks: looks ask the same ones.",
        "",
        *found_by(args.years),
        "",
        "The instances with which a loss is found at once, nine times of ten (theory):",
        "",
        *least_sizes(),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
