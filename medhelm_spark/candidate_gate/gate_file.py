"""The gate file: conditions on a candidate, in three tiers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from medhelm_spark.config.critical import check_critical
from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.critical import CriticalFailure
from medhelm_spark.errors import ConfigError

ALL = "all"
"""As a benchmark: each benchmark of the baseline that the condition fits."""


class GateTier(StrEnum):
    """What a line of a gate decides: a critical one alone, supporting ones together."""

    CRITICAL = "critical"
    SUPPORTING = "supporting"
    ADVISORY = "advisory"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoWorse:
    """The candidate is no worse than the baseline by the margin."""

    margin: float
    """The loss that is too large, in the metric's own units."""

    benchmark: str = ALL

    metric: str | None = None
    """None: each benchmark's main metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoWiderGap:
    """In no group does the candidate fall behind, beside all other groups, by the margin."""

    by: tuple[str, ...]
    """The group columns."""

    margin: float

    benchmark: str = ALL

    metric: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMoreCriticalFailures:
    """The candidate's share of critical failures is not larger by the margin."""

    margin: float

    critical: CriticalFailure | None = None
    """What counts; None: what each benchmark's file says."""

    benchmark: str = ALL

    metric: str | None = None
    """The metric of `score_at_most`; None: each benchmark's main metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageFloor:
    """The share of the candidate's answers that have a score is at least the floor."""

    floor: float

    benchmark: str = ALL

    metric: str | None = None


Condition: TypeAlias = NoWorse | NoWiderGap | NoMoreCriticalFailures | CoverageFloor


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEntry:
    """One line of the file: exactly one condition, by its name."""

    no_worse: NoWorse | None = None
    no_wider_gap: NoWiderGap | None = None
    no_more_critical_failures: NoMoreCriticalFailures | None = None
    coverage: CoverageFloor | None = None

    @property
    def stated(self) -> dict[str, Condition]:
        """The conditions by name."""
        names = (field.name for field in fields(self))
        return {name: condition for name in names if (condition := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFile:
    """The conditions of a gate."""

    critical: tuple[GateEntry, ...] = ()
    supporting: tuple[GateEntry, ...] = ()
    advisory: tuple[GateEntry, ...] = ()
    supporting_failures_allowed: int = 0
    """How many supporting lines may be NO-GO."""

    def lines(self) -> Iterator["StatedLine"]:
        """The conditions with their tiers and key paths, in the order of the tiers."""
        for tier in GateTier:
            for index, entry in enumerate(getattr(self, tier.value)):
                for kind, condition in entry.stated.items():
                    key_path = f"{tier}[{index}].{kind}"
                    yield StatedLine(tier=tier, kind=kind, condition=condition, key_path=key_path)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedLine:
    """A condition as the file states it."""

    tier: GateTier
    kind: str
    """Its name in the file, as `no_worse`."""
    condition: Condition
    key_path: str
    """Its dotted key, as `critical[0].no_worse`."""


def load_gate(path: Path) -> GateFile:
    """The gate file at a path.

    Raises:
        ConfigError: it is absent, broken or does not fit; names file and key.
    """
    gate = load_yaml(path, GateFile)
    entries = [
        (f"{tier}[{index}]", entry)
        for tier in GateTier
        for index, entry in enumerate(getattr(gate, tier.value))
    ]
    if not gate.critical and not gate.supporting:
        raise ConfigError(f"{path}: no line decides; allowed: one or more critical or supporting.")
    kinds = ", ".join(field.name for field in fields(GateEntry))
    for key_path, entry in entries:
        if len(entry.stated) != 1:
            named = ", ".join(entry.stated) or "none"
            raise ConfigError(f"{path}: {key_path} has {named}; allowed: exactly one of {kinds}.")
    if gate.supporting_failures_allowed < 0:
        raise ConfigError(
            f"{path}: supporting_failures_allowed is {gate.supporting_failures_allowed}; allowed: "
            "a whole number from 0 on."
        )
    for line in gate.lines():
        _check(line, str(path))
    return gate


def _check(line: StatedLine, file: str) -> None:
    condition, where = line.condition, f"{file}: {line.key_path}"
    if isinstance(condition, CoverageFloor):
        if not 0 <= condition.floor <= 1:
            raise ConfigError(f"{where}.floor is {condition.floor}; allowed: 0 to 1.")
        return
    if not 0 < condition.margin < math.inf:
        raise ConfigError(f"{where}.margin is {condition.margin}; allowed: a number above 0.")
    if isinstance(condition, NoWiderGap) and not condition.by:
        raise ConfigError(f"{where}.by is empty; allowed: one or more group columns.")
    if isinstance(condition, NoMoreCriticalFailures):
        check_critical(condition.critical, file, f"{line.key_path}.critical")
