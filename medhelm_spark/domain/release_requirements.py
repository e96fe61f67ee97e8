"""What a policy requires of a release, and what the checks of its requirements came to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum

from medhelm_spark.domain.ids import LATER
from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.errors import GateError


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequirements:
    """What a policy requires of a release before it is approved or published.

    What is False or None is not required. `every_run`: all runs of its suites are summarised, none
    was left out. `every_answer`: no request is without an answer. `coverage_floor`: the policy's
    `comparison.coverage_floor` of each run's answers has a score. `judge_coverage` is the least
    share of verdicts that can be used, `min_instances` the least number of scored instances of a
    run, `max_interval_width` the widest 95 % interval, in units of the metric.
    """

    every_run: bool = False
    every_answer: bool = False
    coverage_floor: bool = False
    judge_coverage: float | None = None
    validated_judges: bool = False
    provenance: bool = False
    comparable: bool = False
    min_instances: int | None = None
    max_interval_width: float | None = None
    reviewed_levels: bool = False
    redaction_scan: bool = False
    no_demo_juries: bool = field(default=False, metadata=LATER)
    """No run is judged by a deployment for demos alone."""
    complete_models: bool = field(default=False, metadata=LATER)
    """Every model has a mean on every benchmark that models are ranked on."""
    verified_people: bool = field(default=False, metadata=LATER)
    """Who submits and who approves is named by the platform, an issuer or a key."""
    approval_note: bool = field(default=False, metadata=LATER)
    approval_owner: bool = field(default=False, metadata=LATER)
    approval_monitoring: bool = field(default=False, metadata=LATER)
    approval_days: int | None = field(default=None, metadata=LATER)
    """An approval ends after so many days at the latest."""

    @property
    def required(self) -> Mapping[str, bool | int | float]:
        """What is required, by name, in the order in which it is checked."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }


class GateOutcome(StrEnum):
    """The result of a check of a release. UNCHECKED: the lake does not have what it needs."""

    PASSED = "passed"
    FAILED = "failed"
    UNCHECKED = "cannot be checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one requirement came to, for one run or (no name) for the release."""

    requirement: str
    outcome: GateOutcome
    run: str = ""
    reason: str = ""

    def __str__(self) -> str:
        run = f" of {self.run}" if self.run else ""
        why = f": {self.reason}" if self.reason else ""
        return f"{self.requirement}{run} {self.outcome}{why}"


def blocking(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What keeps a release from being approved: requirements that failed or are unchecked."""
    return tuple(each for each in findings if each.outcome is not GateOutcome.PASSED)


def refuse_blocked(release: str, what: str, findings: Sequence[Finding]) -> None:
    """Refuse a step of a release that lacks something required.

    Raises:
        GateError: names what is lacking.
    """
    if lacking := blocking(findings):
        raise GateError(
            f"release {release!r} is not {what}: {first_of([str(each) for each in lacking], 4)}. "
            f"`medhelm-spark release gate {release}` lists all."
        )
