"""How much a wave may hold: what its slots get through in the time that a wave should take. Pure.

A declared speed is a guess, which may be a hundred times off: a wave of it would hold a run for
hours, or be over in seconds, again and again. So the first wave of a deployment that was never
measured is a small one where more than one is needed, and the next follow what was seen.

Tokens are those that the plan estimates: a prompt's, and all that an answer may have.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import INFER
from medhelm_spark.engines import factory_of

FIRST_WAVE = 0.1
"""The part of a wave's time that the first one takes, by a speed that was only declared."""

MOST_GROWTH = 16.0
"""How many times as much as before a wave may hold: few requests measure badly."""

ESTIMATED = "estimated_tokens"
ASKING = "asking_milliseconds"
"""Counts of a wave in `runs`: what was estimated of its answered requests, and the time from first
request to last answer, times the slots."""


@dataclass(slots=True)
class Speeds:
    """Estimated tokens that one slot gets through in a second, by deployment.

    `measured` holds what was seen, `tried` those that this invocation has sent a wave.
    """

    declared: Mapping[str, float]
    measured: dict[str, float] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)

    def of(self, name: str) -> float:
        """The speed to go by."""
        return self.measured.get(name, self.declared[name])

    def is_known(self, names: Iterable[str]) -> bool:
        """Whether all of these were measured, or at least tried."""
        return all(name in self.measured or name in self.tried for name in names)

    def see(self, name: str, tokens: float, slot_seconds: float) -> None:
        """Note what a wave came to; one without an answer tells nothing."""
        self.tried.add(name)
        if tokens > 0:
            seen = tokens / max(slot_seconds, 0.001)
            self.measured[name] = min(seen, MOST_GROWTH * self.of(name))


def speeds_of(deployments: Iterable[Deployment], records: Iterable[RunRecord]) -> Speeds:
    """What is declared, or else the engine's guess, and what the last measured wave came to."""
    declared = {
        each.name: each.tokens_per_second or factory_of(each).tokens_per_second
        for each in deployments
    }
    measured: dict[str, float] = {}
    for record in sorted(records, key=lambda record: record.finished_at):
        name, counts = record.unit_id.rpartition("|")[0], record.counts
        if record.stage == INFER.name and name in declared and counts.get(ESTIMATED):
            measured[name] = 1000 * counts[ESTIMATED] / max(1, counts.get(ASKING, 0))
    return Speeds(declared, measured)
