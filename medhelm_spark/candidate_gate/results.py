"""What the methods of the candidate gate return."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from medhelm_spark.candidate_gate.flips import FlippedInstance, FlipSet
from medhelm_spark.candidate_gate.junit import junit_text
from medhelm_spark.candidate_gate.render import LINE_FIELDS, gate_report
from medhelm_spark.candidate_gate.render_flips import INSTANCE_FIELDS, flips_report
from medhelm_spark.candidate_gate.sides import Compared
from medhelm_spark.candidate_gate.verdict import GateLine, GateVerdict, deciding, verdict_of
from medhelm_spark.render.report import formatted
from medhelm_spark.render.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateGate(Result):
    """Whether a candidate may replace the baseline: the verdict, its lines and the flips."""

    compared: Compared
    lines: tuple[GateLine, ...]
    """In the order of the gate file: critical, supporting, advisory."""
    flips: FlipSet
    supporting_failures_allowed: int = 0

    HEADER = LINE_FIELDS

    @property
    def verdict(self) -> GateVerdict:
        """GO, NO-GO or INCONCLUSIVE."""
        return verdict_of(self.lines, self.supporting_failures_allowed)

    @property
    def banner(self) -> str:
        """The verdict in one sentence."""
        verdicts = deciding(self.lines, self.supporting_failures_allowed)
        decisive = ", ".join(
            self.lines[index].label
            for index, verdict in verdicts.items()
            if verdict is self.verdict
        )
        return f"{self.verdict}: {self._sides_text}{f'; {decisive}' if decisive else ''}"

    @property
    def _sides_text(self) -> str:
        compared, against = self.compared, self.compared.against
        return (
            f"{compared.candidate} (suite {compared.suite}) against {compared.baseline} "
            f"({against.kind} {against.name})"
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per line and benchmark."""
        yield from map(asdict, self.lines)

    def render(self, form: str = "table") -> str:
        """The gate as text: `table`, `md`, `csv`, `json` or `html`.

        Markdown is a summary, for a pull request: it has no single instance.
        """
        facts: dict[str, object] = {
            "verdict": self.verdict.value,
            "candidate": self.compared.candidate,
            "suite": self.compared.suite,
            "baseline": self.compared.baseline,
            "against": self.compared.against.name,
            "against_kind": self.compared.against.kind.value,
            "supporting_failures_allowed": self.supporting_failures_allowed,
        }
        report = gate_report(self.banner, facts, self.lines, self.flips, is_summary=form == "md")
        return formatted(report, form)

    def junit(self) -> str:
        """The lines as JUnit XML; it fails exactly where the verdict is not GO."""
        verdicts = deciding(self.lines, self.supporting_failures_allowed)
        texts = [_message(line) for line in self.lines]
        return junit_text(f"candidate gate: {self._sides_text}", self.lines, verdicts, texts)


def _message(line: GateLine) -> str:
    """`NO-GO: -0.100 [-0.120, -0.080], limit 0.05`."""
    ends = "" if line.low is None or line.high is None else f" [{line.low:z.3f}, {line.high:z.3f}]"
    group = f"{line.group_value}: " if line.group_value else ""
    value = "no value" if line.value is None else f"{group}{line.value:z.3f}{ends}"
    parts = [f"{line.verdict}: {value}", f"limit {line.limit:g}", f"n {line.n or 0}"]
    if line.needed is not None:
        parts.append(f"{line.needed} instances would decide it")
    return ", ".join([*parts, *([line.reason] if line.reason else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips(Result):
    """The instances on which one of two models is better, the losses of the first one first."""

    flips: FlipSet

    HEADER = INSTANCE_FIELDS

    @property
    def instances(self) -> tuple[FlippedInstance, ...]:
        """All of them."""
        return self.flips.instances

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per instance: ids and values, no text."""
        yield from map(asdict, self.flips.instances)

    def render(self, form: str = "table") -> str:
        """The flips as text: `table`, `md`, `csv`, `json` or `html`."""
        return formatted(flips_report(self.flips), form)
