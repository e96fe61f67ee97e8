"""Whether a run is small enough to be computed by this process, without Spark and Java.

The decision changes where rows are computed, never their content: every stage has one
implementation (tests/spark/test_in_process.py compares all tables).
"""

from collections.abc import Iterable, Mapping
from importlib.util import find_spec

from medhelm_spark.config.settings import Platform
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.plan import ResolvedRun, deployments_of
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.engines import factory_of
from medhelm_spark.lake.session import is_started
from medhelm_spark.scenarios import is_uri
from medhelm_spark.stages.ingest.parts import bytes_of, most_rows, paths_of
from medhelm_spark.workspace.workspace import Workspace

PACKAGES = ("duckdb", "sqlglot", "xxhash")
"""The packages that this process computes with; the core installation has only Spark."""

MOST_BYTES = 16 << 20
"""How large the files may be that this process reads itself."""

MOST_READ = 200_000
"""How many rows a table of the lake may have if a command may read all of them."""

MOST_BYTES_READ = 256 << 20
"""How large its files may be then; text in them takes four times as much memory and more."""

MOST_SEARCHED = 50_000_000
"""How many rows it may have if a command looks up the rows of a few requests.

This process searches 20 million in 3 s, where Spark's start alone takes longer.
"""

READ = ("instances", "prompts", "requests", "request_results", "per_instance_stats", "annotations")
"""The tables whose rows grow with the questions."""


def is_small_check(workspace: Workspace, deployments: Iterable[Deployment], requests: int) -> bool:
    """Whether this process sends so many requests about stored answers to these deployments."""
    if not is_computed_here(workspace) or requests > workspace.settings.small_run_requests:
        return False
    return all(map(_runs_here, deployments)) and _most_rows(workspace) <= MOST_SEARCHED


def is_small_lake(workspace: Workspace) -> bool:
    """Whether this process computes any result of a lake, even from all of its rows."""
    return is_computed_here(workspace) and all(
        (each.rows or 0) <= MOST_READ and each.size <= MOST_BYTES_READ
        for each in workspace.lake.sizes(READ)
    )


def is_small(
    workspace: Workspace, runs: Iterable[ResolvedRun], cards: Mapping[str, ScenarioCard]
) -> bool:
    """Whether this process computes these runs; `cards` have the data that they read."""
    runs = list(runs)
    if not is_computed_here(workspace):
        return False
    if not all(map(_runs_here, deployments_of(runs).values())):
        return False
    if not all(map(_is_read_here, cards.values())):
        return False
    if sum(bytes_of(path) for card in cards.values() for path in paths_of(card)) > MOST_BYTES:
        return False
    rows = {name: most_rows(card) for name, card in cards.items()}
    requests = sum(_requests(run, rows[run.card.name]) for run in runs)
    limit = workspace.settings.small_run_requests
    return requests <= limit and _most_rows(workspace) <= MOST_SEARCHED


def is_computed_here(workspace: Workspace) -> bool:
    """Whether this process computes rows of the lake at all; those of a release, however many."""
    is_here = workspace.settings.small_run_requests and all(map(find_spec, PACKAGES))
    return bool(is_here) and is_own_machine(workspace)


def is_own_machine(workspace: Workspace) -> bool:
    """Whether this process writes the lake on its own machine, without a Spark session."""
    settings = workspace.settings
    is_local = settings.platform is Platform.LOCAL and "spark.master" not in settings.spark
    if not is_local or workspace.provided_session is not None or is_started():
        return False
    return settings.slots is None and workspace.lake.is_folder_of_ours


def _most_rows(workspace: Workspace) -> int:
    return max((each.rows or 0 for each in workspace.lake.sizes(READ)), default=0)


def _runs_here(deployment: Deployment) -> bool:
    factory = factory_of(deployment)
    return not factory.needs_worker and factory.gpus(deployment) == 0


def _is_read_here(card: ScenarioCard) -> bool:
    source = card.source
    is_elsewhere = source.table or source.dataset or source.history or source.data_version
    return not is_elsewhere and not any(map(is_uri, paths_of(card)))


def _requests(run: ResolvedRun, rows: int) -> int:
    """How many requests a run has at most, including its judges' requests."""
    most = run.adapter_spec.max_eval_instances
    instances = rows if most is None else min(rows, most)
    copies = 1 + len(run.perturbations) + len(run.card.prompt_variants)
    judges = sum(len(annotator.deployments) for annotator in run.annotators)
    return instances * copies * run.adapter_spec.requests_per_instance * (1 + judges)
