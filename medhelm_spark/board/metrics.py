"""The metrics of benchmarks side by side: risk, cost and evidence beyond one number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from medhelm_spark.board import BoardRun
from medhelm_spark.board.benchmark_metrics import (
    BenchmarkMetrics,
    benchmark_metrics,
    benchmarks_of,
)
from medhelm_spark.board.render.metric_records import FIELDS, records_of, render_metrics
from medhelm_spark.board.render.risk import check_stated
from medhelm_spark.board.sources import as_of
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.render.result import Result
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics(Result):
    """Of each benchmark: two-by-two table, risk at a prevalence, rates, calibration, tokens, money.

    `prevalence` is what was stated: of all benchmarks, or by scenario name; None for the data's.
    `banner` is printed above, as above a Board.
    """

    benchmarks: tuple[BenchmarkMetrics, ...]
    prevalence: Stated = None
    prices: Mapping[str, Prices] = field(default_factory=dict, repr=False)
    banner: str = ""

    HEADER = FIELDS

    def rows(self) -> list[dict[str, object]]:
        """One per run of a benchmark, and per rule that gives every case the same answer."""
        return [
            record
            for metrics in self.benchmarks
            for record in records_of(metrics, self.prevalence, self.prices)
        ]

    def render(self, form: str = "table") -> str:
        """The metrics as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_metrics(
            self.benchmarks,
            form,
            stated=self.prevalence,
            prices=self.prices,
            banner=self.banner,
        )


def metrics_of(
    workspace: Workspace,
    runs: Sequence[BoardRun],
    *,
    release: str | None = None,
    prevalence: Stated = None,
    banner: str = "",
) -> Metrics:
    """The metrics of these runs of a suite or release.

    Raises:
        ConfigError: a prevalence is not between 0 and 1.
        UnknownNameError: it is stated of a name that is no benchmark with a positive class.
    """
    benchmarks = benchmark_metrics(as_of(workspace.reader, release), benchmarks_of(runs))
    known = {each.benchmark.scenario_name for each in benchmarks if each.prevalence is not None}
    check_stated(prevalence, known)
    prices = prices_in(workspace)
    return Metrics(benchmarks=benchmarks, prevalence=prevalence, prices=prices, banner=banner)


def prices_in(workspace: Workspace) -> dict[str, Prices]:
    """The prices of the site's deployments by name."""
    deployments = workspace.registry.deployments
    return {name: each.prices for name, each in deployments.items() if each.prices}
