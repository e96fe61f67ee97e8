"""Evaluate medical language models as a Spark batch job over Delta tables.

The names of this module are public: `Evaluation`, what its methods take and return, and the errors.

>>> from medhelm_spark import Evaluation  # doctest: +SKIP
>>> Evaluation("lake").run("pubmed_qa:model=NAME", suite="first")  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from medhelm_spark.version import VERSION

if TYPE_CHECKING:
    from medhelm_spark.board import AnswerFilter, InstanceDetail, InstanceKey
    from medhelm_spark.board.metrics import Metrics
    from medhelm_spark.board.reports import ReportFile
    from medhelm_spark.board.results import (
        Answer,
        Answers,
        Board,
        Comparison,
        Instances,
        Robustness,
        Stats,
    )
    from medhelm_spark.domain.access import AccessLevel
    from medhelm_spark.domain.deployment import Deployment, Locality
    from medhelm_spark.domain.listed_model import ListedModel
    from medhelm_spark.domain.release import Finding, GateOutcome, ReleaseChange, ReleaseStatus
    from medhelm_spark.domain.skipped import LeftOut
    from medhelm_spark.engines.model_files import fetch_model
    from medhelm_spark.errors import (
        AbsentDataError,
        BudgetError,
        ConfigError,
        DataError,
        EngineError,
        GateError,
        IntegrityError,
        Interrupted,
        LakeError,
        LeaseLostError,
        MedhelmSparkError,
        MissingColumnError,
        NewerLakeError,
        OutageError,
        PolicyError,
        ReleaseError,
        SetupError,
        StageError,
        UnknownNameError,
    )
    from medhelm_spark.evaluation import Evaluation
    from medhelm_spark.governance.methods import GovernanceMethods
    from medhelm_spark.governance.results import Disclosures, LevelChanges
    from medhelm_spark.lake.maintenance import Files
    from medhelm_spark.maintenance.commands import Rewritten
    from medhelm_spark.maintenance.gc import Removed
    from medhelm_spark.maintenance.methods import LakeMethods
    from medhelm_spark.medhelm.schema_file import Schema
    from medhelm_spark.medhelm_results.export import HelmExport
    from medhelm_spark.medhelm_results.export_scenario import ExportRequest
    from medhelm_spark.medhelm_results.import_results import HelmResults
    from medhelm_spark.medhelm_results.methods import MedhelmMethods
    from medhelm_spark.medhelm_results.scenarios import Imported
    from medhelm_spark.pipeline.availability import Needed
    from medhelm_spark.pipeline.coverage import Missing, Shortfall
    from medhelm_spark.pipeline.demos import demo_benchmark
    from medhelm_spark.pipeline.estimates import Estimate, Estimates
    from medhelm_spark.pipeline.fetch import FetchedScenario, Outcome
    from medhelm_spark.pipeline.results import Fetched, Models, RunResult, Runs
    from medhelm_spark.releases.differences import InReleases, RunDifference
    from medhelm_spark.releases.methods import ReleaseMethods
    from medhelm_spark.releases.pinned import StoredRelease
    from medhelm_spark.releases.results import (
        Gate,
        Release,
        ReleaseComparison,
        ReleaseRecord,
        Releases,
    )
    from medhelm_spark.stages.ingest.ingested import Ingested
    from medhelm_spark.tracking.methods import TrackingMethods
    from medhelm_spark.user_data.init import InitializedBenchmark
    from medhelm_spark.user_data.own_data import OwnData
    from medhelm_spark.workspace.entries import Entries

__version__ = VERSION

_HOMES = {
    "maintenance.methods": ("LakeMethods",),
    "governance.methods": ("GovernanceMethods",),
    "tracking.methods": ("TrackingMethods",),
    "medhelm_results.methods": ("MedhelmMethods",),
    "releases.methods": ("ReleaseMethods",),
    "board": (
        "InstanceDetail",
        "InstanceKey",
        "AnswerFilter",
    ),
    "board.metrics": ("Metrics",),
    "board.reports": ("ReportFile",),
    "board.results": (
        "Answer",
        "Answers",
        "Board",
        "Comparison",
        "Instances",
        "Robustness",
        "Stats",
    ),
    "domain.access": ("AccessLevel",),
    "domain.deployment": (
        "Deployment",
        "Locality",
    ),
    "domain.skipped": ("LeftOut",),
    "domain.listed_model": ("ListedModel",),
    "domain.release": (
        "Finding",
        "GateOutcome",
        "ReleaseChange",
        "ReleaseStatus",
    ),
    "engines.model_files": ("fetch_model",),
    "errors": (
        "AbsentDataError",
        "BudgetError",
        "ConfigError",
        "DataError",
        "EngineError",
        "GateError",
        "IntegrityError",
        "Interrupted",
        "LakeError",
        "LeaseLostError",
        "MedhelmSparkError",
        "MissingColumnError",
        "NewerLakeError",
        "OutageError",
        "PolicyError",
        "ReleaseError",
        "SetupError",
        "StageError",
        "UnknownNameError",
    ),
    "evaluation": ("Evaluation",),
    "governance.results": (
        "Disclosures",
        "LevelChanges",
    ),
    "lake.maintenance": ("Files",),
    "maintenance.commands": ("Rewritten",),
    "maintenance.gc": ("Removed",),
    "medhelm_results.export_scenario": ("ExportRequest",),
    "medhelm_results.export": ("HelmExport",),
    "medhelm_results.import_results": ("HelmResults",),
    "medhelm_results.scenarios": ("Imported",),
    "medhelm.schema_file": ("Schema",),
    "pipeline.availability": ("Needed",),
    "pipeline.coverage": (
        "Missing",
        "Shortfall",
    ),
    "pipeline.demos": ("demo_benchmark",),
    "pipeline.estimates": (
        "Estimate",
        "Estimates",
    ),
    "pipeline.fetch": (
        "FetchedScenario",
        "Outcome",
    ),
    "pipeline.results": (
        "RunResult",
        "Fetched",
        "Models",
        "Runs",
    ),
    "releases.differences": (
        "InReleases",
        "RunDifference",
    ),
    "releases.pinned": ("StoredRelease",),
    "releases.results": (
        "Gate",
        "Release",
        "ReleaseComparison",
        "ReleaseRecord",
        "Releases",
    ),
    "stages.ingest.ingested": ("Ingested",),
    "user_data.init": ("InitializedBenchmark",),
    "user_data.own_data": ("OwnData",),
    "workspace.entries": ("Entries",),
}
"""By module the names that it gives to this one."""

__all__ = [
    "AbsentDataError",
    "AccessLevel",
    "Answer",
    "AnswerFilter",
    "Answers",
    "Board",
    "BudgetError",
    "Comparison",
    "ConfigError",
    "DataError",
    "Deployment",
    "Disclosures",
    "EngineError",
    "Entries",
    "Estimate",
    "Estimates",
    "Evaluation",
    "ExportRequest",
    "Fetched",
    "FetchedScenario",
    "Files",
    "Finding",
    "Gate",
    "GateError",
    "GateOutcome",
    "GovernanceMethods",
    "HelmExport",
    "HelmResults",
    "Imported",
    "InReleases",
    "Ingested",
    "InitializedBenchmark",
    "InstanceDetail",
    "InstanceKey",
    "Instances",
    "IntegrityError",
    "Interrupted",
    "LakeError",
    "LakeMethods",
    "LeaseLostError",
    "LeftOut",
    "LevelChanges",
    "ListedModel",
    "Locality",
    "MedhelmMethods",
    "MedhelmSparkError",
    "Metrics",
    "Missing",
    "MissingColumnError",
    "Models",
    "Needed",
    "NewerLakeError",
    "OutageError",
    "Outcome",
    "OwnData",
    "PolicyError",
    "Release",
    "ReleaseChange",
    "ReleaseComparison",
    "ReleaseError",
    "ReleaseMethods",
    "ReleaseRecord",
    "ReleaseStatus",
    "Releases",
    "Removed",
    "ReportFile",
    "Rewritten",
    "Robustness",
    "RunDifference",
    "RunResult",
    "Runs",
    "Schema",
    "SetupError",
    "Shortfall",
    "StageError",
    "Stats",
    "StoredRelease",
    "TrackingMethods",
    "UnknownNameError",
    "demo_benchmark",
    "fetch_model",
]


def __getattr__(name: str) -> Any:
    """A public name, imported at first use: importing this package needs no pyspark."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
