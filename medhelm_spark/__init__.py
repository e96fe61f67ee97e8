"""Evaluate medical language models as a Spark batch job over Delta tables.

The names of this module are public: `Evaluation`, what its methods take and return, and the errors.

>>> from medhelm_spark import Evaluation  # doctest: +SKIP
>>> Evaluation("lake").run("pubmed_qa:model=NAME", suite="first")  # doctest: +SKIP
"""

import ast
import inspect
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from medhelm_spark.version import VERSION

if TYPE_CHECKING:
    from medhelm_spark.board import (
        AnswerFilter as AnswerFilter,
        InstanceDetail as InstanceDetail,
        InstanceKey as InstanceKey,
    )
    from medhelm_spark.board.metrics import Metrics as Metrics
    from medhelm_spark.board.reports import ReportFile as ReportFile
    from medhelm_spark.board.results import (
        Answer as Answer,
        Answers as Answers,
        Board as Board,
        Comparison as Comparison,
        Instances as Instances,
        Robustness as Robustness,
        Stats as Stats,
    )
    from medhelm_spark.board.taxonomy import (
        CoveredSubcategory as CoveredSubcategory,
        TaxonomyCoverage as TaxonomyCoverage,
    )
    from medhelm_spark.candidate_gate.flips import (
        FlipCount as FlipCount,
        FlippedInstance as FlippedInstance,
        FlipSet as FlipSet,
    )
    from medhelm_spark.candidate_gate.methods import CandidateGateMethods as CandidateGateMethods
    from medhelm_spark.candidate_gate.results import CandidateGate as CandidateGate, Flips as Flips
    from medhelm_spark.candidate_gate.verdict import (
        GateLine as GateLine,
        GateVerdict as GateVerdict,
    )
    from medhelm_spark.domain.access import AccessLevel as AccessLevel
    from medhelm_spark.domain.deployment import Deployment as Deployment, Locality as Locality
    from medhelm_spark.domain.listed_model import ListedModel as ListedModel
    from medhelm_spark.domain.release import (
        ReleaseChange as ReleaseChange,
        ReleaseStatus as ReleaseStatus,
    )
    from medhelm_spark.domain.release_requirements import (
        Finding as Finding,
        GateOutcome as GateOutcome,
    )
    from medhelm_spark.domain.skipped import LeftOut as LeftOut
    from medhelm_spark.engines.model_files import fetch_model as fetch_model
    from medhelm_spark.errors import (
        AbsentDataError as AbsentDataError,
        BudgetError as BudgetError,
        ConfigError as ConfigError,
        DataError as DataError,
        EngineError as EngineError,
        GateError as GateError,
        IntegrityError as IntegrityError,
        Interrupted as Interrupted,
        LakeError as LakeError,
        LeaseLostError as LeaseLostError,
        MedhelmSparkError as MedhelmSparkError,
        MissingColumnError as MissingColumnError,
        NewerLakeError as NewerLakeError,
        OutageError as OutageError,
        PolicyError as PolicyError,
        ReleaseError as ReleaseError,
        SetupError as SetupError,
        StageError as StageError,
        UnknownNameError as UnknownNameError,
    )
    from medhelm_spark.evaluation import Evaluation as Evaluation
    from medhelm_spark.evidence.folder import EvidenceFolder as EvidenceFolder
    from medhelm_spark.evidence.methods import EvidenceMethods as EvidenceMethods
    from medhelm_spark.governance.methods import GovernanceMethods as GovernanceMethods
    from medhelm_spark.governance.results import (
        Disclosures as Disclosures,
        LevelChanges as LevelChanges,
    )
    from medhelm_spark.judge_checks.lines import (
        EvidenceLine as EvidenceLine,
        LineOutcome as LineOutcome,
        Trust as Trust,
        Use as Use,
        UseVerdict as UseVerdict,
    )
    from medhelm_spark.judge_checks.methods import JudgeMethods as JudgeMethods
    from medhelm_spark.judge_checks.results import (
        JudgeCards as JudgeCards,
        JudgeCheck as JudgeCheck,
    )
    from medhelm_spark.judge_checks.side_by_side_results import (
        JuriesSideBySide as JuriesSideBySide,
    )
    from medhelm_spark.judge_checks.tables import JudgeCard as JudgeCard
    from medhelm_spark.lake.table_maintenance import Files as Files
    from medhelm_spark.maintenance.commands import Rewritten as Rewritten
    from medhelm_spark.maintenance.gc import Removed as Removed
    from medhelm_spark.maintenance.methods import LakeMethods as LakeMethods
    from medhelm_spark.medhelm.schema_file import Schema as Schema
    from medhelm_spark.medhelm_results.export import HelmExport as HelmExport
    from medhelm_spark.medhelm_results.export_scenario import ExportRequest as ExportRequest
    from medhelm_spark.medhelm_results.import_results import HelmResults as HelmResults
    from medhelm_spark.medhelm_results.methods import MedhelmMethods as MedhelmMethods
    from medhelm_spark.medhelm_results.scenarios import Imported as Imported
    from medhelm_spark.notes.methods import NoteMethods as NoteMethods
    from medhelm_spark.notes.tables import AnswerNote as AnswerNote
    from medhelm_spark.pipeline.availability import Needed as Needed
    from medhelm_spark.pipeline.coverage import Missing as Missing, Shortfall as Shortfall
    from medhelm_spark.pipeline.demos import demo_benchmark as demo_benchmark
    from medhelm_spark.pipeline.estimates import Estimate as Estimate, Estimates as Estimates
    from medhelm_spark.pipeline.fetch import FetchedScenario as FetchedScenario, Outcome as Outcome
    from medhelm_spark.pipeline.results import (
        Fetched as Fetched,
        Models as Models,
        RunResult as RunResult,
        Runs as Runs,
    )
    from medhelm_spark.ratings.agreement import Agreement as Agreement
    from medhelm_spark.ratings.import_ratings import ImportedRatings as ImportedRatings
    from medhelm_spark.ratings.invite import (
        PersonalLink as PersonalLink,
        PersonalLinks as PersonalLinks,
    )
    from medhelm_spark.ratings.methods import RatingMethods as RatingMethods
    from medhelm_spark.ratings.progress import (
        InvitationProgress as InvitationProgress,
        Invitations as Invitations,
    )
    from medhelm_spark.ratings.results import Agreements as Agreements
    from medhelm_spark.releases.differences import (
        InReleases as InReleases,
        RunDifference as RunDifference,
    )
    from medhelm_spark.releases.methods import ReleaseMethods as ReleaseMethods
    from medhelm_spark.releases.pinned import StoredRelease as StoredRelease
    from medhelm_spark.releases.results import (
        Gate as Gate,
        Release as Release,
        ReleaseComparison as ReleaseComparison,
        ReleaseRecord as ReleaseRecord,
        Releases as Releases,
    )
    from medhelm_spark.sharing.methods import Shares as Shares, SharingMethods as SharingMethods
    from medhelm_spark.sharing.share import SharedFolder as SharedFolder
    from medhelm_spark.sharing.shared_board import SharedBoard as SharedBoard
    from medhelm_spark.sharing.tables import ReleaseShare as ReleaseShare
    from medhelm_spark.stages.ingest.ingested import Ingested as Ingested
    from medhelm_spark.subgroups.methods import SubgroupMethods as SubgroupMethods
    from medhelm_spark.subgroups.results import (
        GroupComparison as GroupComparison,
        Groups as Groups,
    )
    from medhelm_spark.tracking.methods import TrackingMethods as TrackingMethods
    from medhelm_spark.user_data.init import InitializedBenchmark as InitializedBenchmark
    from medhelm_spark.user_data.own_data import OwnData as OwnData
    from medhelm_spark.workspace.entries import Entries as Entries

__version__ = VERSION


@cache
def _homes() -> dict[str, str]:
    """The module of each public name, as the imports above name it."""
    tree = ast.parse(inspect.getsource(sys.modules[__name__]))
    (public,) = (node for node in tree.body if isinstance(node, ast.If))
    return {
        name.name: str(line.module)
        for line in public.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }


def __getattr__(name: str) -> Any:
    """A public name, imported at first use: importing this package needs no pyspark."""
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("_") or name not in _homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_homes()[name]), name)
