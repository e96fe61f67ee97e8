"""The candidate's runs beside the baseline's, each from its own suite or release."""

from collections.abc import Sequence
from dataclasses import dataclass

from medhelm_spark.board import (
    BoardRun,
    BoardSource,
    Kind,
    as_of,
    board_of,
    choose,
    list_releases,
    list_suites,
)
from medhelm_spark.board.reading import compared, deployment_named
from medhelm_spark.board.schema import shown_runs
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What is compared with what."""

    candidate: str
    suite: str
    """The candidate's."""
    baseline: str
    against: BoardSource
    """The suite or release that the baseline's runs are of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The runs of candidate and baseline, read by one metric, and their pairs."""

    compared: Compared
    reader: Reader
    """It has the scores of both; for a release the scores that it froze."""
    candidate_runs: tuple[BoardRun, ...]
    baseline_runs: tuple[BoardRun, ...]
    coverage_floor: float
    minimum: int
    """The patients that a group of gated and private rows needs to be shown."""

    @property
    def runs(self) -> tuple[BoardRun, ...]:
        """The runs of both."""
        return (*self.candidate_runs, *self.baseline_runs)

    @property
    def both(self) -> tuple[tuple[BoardRun, ...], tuple[BoardRun, ...]]:
        """The candidate's, then the baseline's."""
        return self.candidate_runs, self.baseline_runs

    def pairs(self) -> list[BoardPair]:
        """The candidate less the baseline, by benchmark, as `compare` pairs them."""
        comparison = compared(
            self.reader,
            self.runs,
            (self.compared.candidate, self.compared.baseline),
            coverage_floor=self.coverage_floor,
        )
        ours = {run.run_spec.run_spec_id for run in self.candidate_runs}
        theirs = {run.run_spec.run_spec_id for run in self.baseline_runs}
        return [
            pair
            for pair in comparison.pairs
            if pair.run_spec_ids[0] in ours and pair.run_spec_ids[1] in theirs
        ]

    def why_without_pair(self, scenario: str) -> str:
        """Why the two are not compared on a benchmark."""
        sides = (
            (self.compared.candidate, f"suite {self.compared.suite!r}", self.candidate_runs),
            (
                self.compared.baseline,
                f"{self.compared.against.kind} {self.compared.against.name!r}",
                self.baseline_runs,
            ),
        )
        for model, source, runs in sides:
            own = [run for run in runs if run.run_spec.scenario_name == scenario]
            if not own:
                return f"{source} has no run of {model} on it"
            if not any(run.cell and run.cell.mean is not None for run in own):
                return f"{model} has no summarised score on it"
            if not any(run.is_current for run in own):
                return f"{model} was scored again since it was summarised; summarize its suite"
        board = board_of(self.reader, self.runs, coverage_floor=self.coverage_floor)
        cells = [cell for row in board.rows for cell in row.cells if cell]
        for cell in cells:
            if cell.scenario_name == scenario and cell.differs:
                return f"the runs are not comparable: {cell.differs}"
            if cell.scenario_name == scenario and cell.is_below_floor:
                return f"fewer answers of {cell.model_deployment} have a score than the policy asks"
        return "they have no instance in common"


def sides_of(
    workspace: Workspace,
    *,
    against: str,
    candidate: str,
    baseline: str | None,
    suite: str | None,
    metric: str | None = None,
) -> Sides:
    """The runs of candidate and baseline.

    Args:
        workspace: the lake and its policy.
        against: the release or suite that has the baseline's runs; a release comes first.
        candidate: the candidate's model or deployment.
        baseline: the baseline's (None: the only other one there).
        suite: the suite that has the candidate's runs (None: that planned last).
        metric: the stat to read the runs by (None: each main metric).

    Raises:
        ConfigError: several models may be the baseline, it is the candidate itself, or the release
            was withdrawn.
        LakeError: there is no such suite or release.
        UnknownNameError: there is no such model or metric.
    """
    reader = workspace.reader
    source = _source(reader, against)
    own = choose(reader, suite)
    ours = shown_runs(workspace, own.name, metric=metric).runs
    is_release = source.kind is Kind.RELEASE
    theirs = shown_runs(
        workspace,
        None if is_release else source.name,
        source.name if is_release else None,
        metric=metric,
    ).runs
    name = deployment_named(candidate, ours)
    other = _baseline(baseline, name, theirs, source)
    ours = tuple(run for run in ours if run.run_spec.model_deployment == name)
    beside = [
        unit for run in ours for unit in (run.run_spec.run_spec_id, run.run_spec.data_version)
    ]
    return Sides(
        compared=Compared(candidate=name, suite=own.name, baseline=other, against=source),
        reader=as_of(reader, source.name if is_release else None, beside),
        candidate_runs=ours,
        baseline_runs=tuple(run for run in theirs if run.run_spec.model_deployment == other),
        coverage_floor=workspace.coverage_floor,
        minimum=workspace.registry.policy.small_cells.minimum,
    )


def _source(reader: Reader, name: str) -> BoardSource:
    """The release of this name, else the suite."""
    releases = {source.name: source for source in list_releases(reader)}
    if name in releases:
        source = releases[name]
        if source.status == ReleaseStatus.WITHDRAWN:
            raise ConfigError(f"against (--against): {source.banner}.")
        return source
    suites = list_suites(reader)
    if name not in suites:
        raise LakeError(
            f"{reader.location}: no release or suite {name!r}; the lake has "
            f"{_listed('release', releases)} and {_listed('suite', suites)}."
        )
    return BoardSource(kind=Kind.SUITE, name=name)


def _listed(kind: str, names: Sequence[str] | dict[str, BoardSource]) -> str:
    listed = ", ".join(sorted(map(repr, names)))
    return f"the {kind}s {listed}" if listed else f"no {kind}"


def _baseline(
    named: str | None, candidate: str, runs: Sequence[BoardRun], source: BoardSource
) -> str:
    if named is not None:
        name = deployment_named(named, runs)
        if name == candidate:
            raise ConfigError(f"candidate and baseline are both {name!r}; give models that differ.")
        return name
    others = sorted({run.run_spec.model_deployment for run in runs} - {candidate})
    if len(others) != 1:
        models = (
            f"{', '.join(others)}; name one of them"
            if others
            else f"no other model than {candidate}"
        )
        raise ConfigError(f"baseline (--baseline): {source.kind} {source.name!r} has {models}.")
    return others[0]
