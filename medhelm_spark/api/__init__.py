"""The product in Python: `Evaluation` and the results that it returns.

It decides what the command line and a notebook have in common: checks, policy, what is ingested,
the order of stages. It prints nothing but progress.
"""

from medhelm_spark.api.at_hand import Needed
from medhelm_spark.api.coverage import Missing, Shortfall
from medhelm_spark.api.demos import demo_benchmark
from medhelm_spark.api.entries import Entries
from medhelm_spark.api.estimates import Estimate, Estimates
from medhelm_spark.api.evaluation import Evaluation
from medhelm_spark.api.fetch import FetchedScenario, Outcome
from medhelm_spark.api.helm_export import HelmExport
from medhelm_spark.api.helm_results import HelmResults
from medhelm_spark.api.imports import Imported
from medhelm_spark.api.maintenance import Rewritten
from medhelm_spark.api.metrics import Metrics
from medhelm_spark.api.own_data import OwnData
from medhelm_spark.api.release_results import Gate, ReleaseComparison, ReleaseRecord, Releases
from medhelm_spark.api.reports import ReportFile
from medhelm_spark.api.results import (
    Answer,
    Answers,
    Board,
    Comparison,
    Disclosures,
    Evaluated,
    Fetched,
    InitializedBenchmark,
    Instances,
    LevelChanges,
    Models,
    Release,
    Robustness,
    Runs,
    Stats,
)
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment, Locality
from medhelm_spark.domain.left_out import LeftOut
from medhelm_spark.domain.listed_model import ListedModel
from medhelm_spark.domain.release import Finding, GateOutcome, ReleaseChange, ReleaseStatus
from medhelm_spark.engines.model_files import fetch_model
from medhelm_spark.helm.export import ExportRequest
from medhelm_spark.helm.schema_file import Schema
from medhelm_spark.lake.maintenance import Files
from medhelm_spark.lake.release import HeldRelease
from medhelm_spark.leaderboard import InstanceDetail, InstanceKey, Only
from medhelm_spark.leaderboard.release_differences import InReleases, RunDifference
from medhelm_spark.stages.gc import Removed
from medhelm_spark.stages.ingest.ingested import Ingested

__all__ = [
    "AccessLevel",
    "Answer",
    "Answers",
    "Board",
    "Comparison",
    "Deployment",
    "Disclosures",
    "Entries",
    "Estimate",
    "Estimates",
    "Evaluated",
    "Evaluation",
    "ExportRequest",
    "Fetched",
    "FetchedScenario",
    "Files",
    "Finding",
    "Gate",
    "GateOutcome",
    "HeldRelease",
    "HelmExport",
    "HelmResults",
    "Imported",
    "InReleases",
    "Ingested",
    "InitializedBenchmark",
    "InstanceDetail",
    "InstanceKey",
    "Instances",
    "LeftOut",
    "LevelChanges",
    "ListedModel",
    "Locality",
    "Metrics",
    "Missing",
    "Models",
    "Needed",
    "Only",
    "Outcome",
    "OwnData",
    "Release",
    "ReleaseChange",
    "ReleaseComparison",
    "ReleaseRecord",
    "ReleaseStatus",
    "Releases",
    "Removed",
    "ReportFile",
    "Rewritten",
    "Robustness",
    "RunDifference",
    "Runs",
    "Schema",
    "Shortfall",
    "Stats",
    "demo_benchmark",
    "fetch_model",
]
