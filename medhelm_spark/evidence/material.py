"""All that fills read of a release: its runs and board, what it froze, and the site's files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from medhelm_spark.board import BoardRun, BoardSource, as_of, choose, skipped_in
from medhelm_spark.board.metrics import Metrics, metrics_of
from medhelm_spark.board.schema import load_board, shown_runs
from medhelm_spark.domain.deployment import Deployment, Model
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.scenario import ScenarioCard, ScenarioVersion
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.domain.stages import INGEST
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.releases.pinned import StoredRelease
from medhelm_spark.releases.source import release_of
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.workspace.workspace import Workspace

_VERSIONS = "SELECT * FROM {scenarios}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseMaterial:
    """A release, as fills read it; no fill reads anything else."""

    source: BoardSource
    release: StoredRelease
    lake: Reader
    """The lake as it is now: what no release pins, such as decisions and ratings."""
    frozen: Reader
    """What the release froze."""
    runs: tuple[BoardRun, ...]
    board: Leaderboard
    metrics: Metrics
    versions: Mapping[str, ScenarioVersion]
    """By data version, all that the lake has: data may be made from another version."""
    left_out: tuple[LeftOut, ...]
    policy: Policy
    """The policy in force now."""
    deployments: Mapping[str, Deployment]
    models: Mapping[str, Model]
    cards: Mapping[str, ScenarioCard]

    @property
    def units(self) -> list[str]:
        """The runs by run_spec_id."""
        return [run.run_spec.run_spec_id for run in self.runs]

    @property
    def model_names(self) -> list[str]:
        """The deployments that answered, in the order of the board, then those without a mean."""
        named = [row.model_deployment for row in self.board.rows]
        others = sorted(run.run_spec.model_deployment for run in self.runs)
        return list(dict.fromkeys([*named, *others]))

    def of_model(self, name: str) -> "ReleaseMaterial":
        """The material of one deployment alone; ranks and win rates remain those of all models."""
        runs = tuple(run for run in self.runs if run.run_spec.model_deployment == name)
        units = {run.run_spec.run_spec_id for run in runs}
        rows = tuple(row for row in self.board.rows if row.model_deployment == name)
        names = {row.name for row in rows}
        benchmarks = [
            replace(
                benchmark,
                runs=tuple(run for run in benchmark.runs if run.run.run_spec.run_spec_id in units),
            )
            for benchmark in self.metrics.benchmarks
        ]
        return replace(
            self,
            runs=runs,
            board=replace(
                self.board,
                rows=rows,
                pairs=tuple(p for p in self.board.pairs if {p.first, p.second} & names),
            ),
            metrics=replace(
                self.metrics,
                benchmarks=tuple(benchmark for benchmark in benchmarks if benchmark.runs),
            ),
        )


def material_of(workspace: Workspace, release: str) -> ReleaseMaterial:
    """What fills read of a release.

    Raises:
        LakeError: the lake does not have it.
        IntegrityError: a value behind its board was changed.
    """
    reader = workspace.reader
    source = choose(reader, release=release)
    view = shown_runs(workspace, release=release)
    frozen = as_of(reader, release)
    data = sorted({run.run_spec.data_version for run in view.runs})
    versions = {row.data_version: row for row in reader.rows(_VERSIONS, ScenarioVersion)}
    pinned = frozen.rows(output_of("scenarios", INGEST, "data_version", data), ScenarioVersion)
    versions |= {row.data_version: row for row in pinned}
    registry = workspace.registry
    return ReleaseMaterial(
        source=source,
        release=release_of(reader, release),
        lake=reader,
        frozen=frozen,
        runs=view.runs,
        board=load_board(workspace, view),
        metrics=metrics_of(workspace, view.runs, release=release),
        versions=versions,
        left_out=skipped_in(reader, source),
        policy=registry.policy,
        deployments=registry.deployments,
        models=registry.models,
        cards=registry.cards,
    )
