"""`evaluation.candidate_gate`: whether a candidate may replace the model that runs today."""

from collections.abc import Sequence
from pathlib import Path

from medhelm_spark.board import as_of
from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.board.reading import compared
from medhelm_spark.board.schema import shown_runs
from medhelm_spark.candidate_gate.checks import about, check_metrics, lines_of
from medhelm_spark.candidate_gate.flips import flips_of
from medhelm_spark.candidate_gate.gate_file import load_gate
from medhelm_spark.candidate_gate.results import CandidateGate, Flips
from medhelm_spark.candidate_gate.sides import Sides, sides_of
from medhelm_spark.candidate_gate.verdict import GateLine


class CandidateGateMethods(Methods):
    """A candidate against a baseline."""

    @at_work
    def check(
        self,
        gate: str | Path,
        *,
        against: str,
        candidate: str,
        baseline: str | None = None,
        suite: str | None = None,
    ) -> CandidateGate:
        """The outcome of each line of a gate file for a candidate, and the verdict over all lines.

        Differences are those of `Evaluation.compare`: the candidate less the baseline on the same
        instances. Each line is decided by its own 95 % interval.

        Args:
            gate: the gate file.
            against: the release or suite that has the baseline's runs; a release comes first.
            candidate: the candidate's model or deployment.
            baseline: the baseline's (None: the only other one there).
            suite: the suite that has the candidate's runs (None: that planned last).

        Raises:
            ConfigError: the gate file is wrong, a line fits no benchmark, or several models may be
                the baseline.
            UnknownNameError: no run has the model, benchmark, metric or group column.
            LakeError: there is no such suite or release.
        """
        file = load_gate(Path(gate))
        stated = list(file.lines())
        main = sides_of(
            self._workspace,
            against=against,
            candidate=candidate,
            baseline=baseline,
            suite=suite,
        )
        check_metrics(stated, main, str(gate))
        sides: dict[str | None, Sides] = {None: main}
        for metric in {line.condition.metric for line in stated} - {None}:
            sides[metric] = sides_of(
                self._workspace,
                against=against,
                candidate=main.compared.candidate,
                baseline=main.compared.baseline,
                suite=suite,
                metric=metric,
            )
        subjects = [about(line, sides[line.condition.metric], str(gate)) for line in stated]
        pairs = {metric: each.pairs() for metric, each in sides.items()}
        lines: list[GateLine] = []
        for subject in subjects:
            metric = subject.line.condition.metric
            lines += lines_of(subject, sides[metric], pairs[metric])
        return CandidateGate(
            compared=main.compared,
            lines=tuple(lines),
            flips=flips_of(main.reader, main.runs, pairs[None], minimum=main.minimum),
            supporting_failures_allowed=file.supporting_failures_allowed,
        )

    @at_work
    def flips(
        self,
        first: str,
        second: str,
        *,
        suite: str | None = None,
        release: str | None = None,
        scenario: str | Sequence[str] | None = None,
    ) -> Flips:
        """The instances on which one of two models is better, with both values.

        Args:
            first: a model or deployment.
            second: another one.
            suite: the suite to read (None: that planned last).
            release: a release to read instead.
            scenario: the scenarios to compare on (None: all).

        Raises:
            UnknownNameError: a model or scenario is not on the board.
            ConfigError: the same model twice.
        """
        runs = shown_runs(self._workspace, suite, release).runs
        reader = as_of(self._workspace.reader, release)
        comparison = compared(
            reader,
            runs,
            (first, second),
            coverage_floor=self._workspace.coverage_floor,
            scenarios=[scenario] if isinstance(scenario, str) else list(scenario or ()),
        )
        models = {run.run_spec.run_spec_id: run.run_spec.model_deployment for run in runs}
        between = [
            pair
            for pair in comparison.pairs
            if len({models[unit] for unit in pair.run_spec_ids}) == 2
        ]
        minimum = self._workspace.registry.policy.small_cells.minimum
        return Flips(flips=flips_of(reader, runs, between, minimum=minimum))
